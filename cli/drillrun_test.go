package cli

import (
	"strings"
	"testing"

	"handrail/cli/process"
)

// TestDrillRunByCommand: a drill that is walked by its script acts in the lab,
// with the lab's identities, and nowhere else.
func TestDrillRunByCommand(t *testing.T) {
	t.Parallel()
	p := newPractice(t, demoHome(t))
	if out := p.run(process.ExitDone, "", "drill", "run", "killed-runner", "--auto"); !strings.Contains(out, "lab: 1, each named by an act: true") {
		t.Errorf("the drill says:\n%s", out)
	}
}
