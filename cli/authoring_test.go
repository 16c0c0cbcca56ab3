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

// TestAuthoringIsTrue: the runbook of docs/authoring.md passes the linter, its tests hold,
// and they go every branch but those that the page leaves to the reader.
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
	rb, err := settings.LintBook(p, "disk-full.yaml", files["disk-full.yaml"])
	if err != nil {
		t.Fatal(err)
	}
	d, err := trial.Parse("disk-full.test.yaml", files["disk-full.test.yaml"], rb, catalog.New())
	if err != nil {
		t.Fatal(err)
	}
	r, err := trial.Run(d, rb, catalog.New())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range r.Cases {
		for _, wrong := range c.Wrong {
			t.Errorf("%s: %s", c.Name, wrong)
		}
	}
	if missed := r.Missed(); len(missed) > 0 {
		t.Errorf("not gone: %v", missed)
	}
}
