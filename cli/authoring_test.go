package cli

import (
	"os"
	"regexp"
	"testing"

	"handrail/cli/process"
	"handrail/cli/settings"
	"handrail/session/trial"
	"handrail/steps/catalog"
)

var namedBlock = regexp.MustCompile("(?ms)^```yaml (\\S+)\\n(.*?)^```$")

// TestAuthoringIsTrue: the runbooks of docs/authoring.md pass the linter, their tests hold,
// and they go every branch.
func TestAuthoringIsTrue(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../docs/authoring.md")
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{}
	for _, m := range namedBlock.FindAllSubmatch(page, -1) {
		files[string(m[1])] = m[2]
	}
	p := &process.Program{Environ: []string{"HOME=" + t.TempDir()}}
	for _, id := range []string{"disk-full", "queue-paused"} {
		rb, err := settings.LintBook(p, id+".yaml", files[id+".yaml"])
		if err != nil {
			t.Fatal(err)
		}
		d, err := trial.Parse(id+".test.yaml", files[id+".test.yaml"], rb, catalog.New())
		if err != nil {
			t.Fatal(err)
		}
		r, err := trial.Run(d, rb, catalog.New())
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range r.Cases {
			for _, wrong := range c.Wrong {
				t.Errorf("%s: %s: %s", id, c.Name, wrong)
			}
		}
		if missed := r.Missed(); len(missed) > 0 {
			t.Errorf("%s: not gone: %v", id, missed)
		}
	}
}
