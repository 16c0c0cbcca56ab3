package plain

import (
	"strings"
	"testing"

	"handrail/steps"
)

// TestPlainGraph: a line says of a thing all that a drawing shows of it.
func TestPlainGraph(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	d := &Dialogue{Out: &out}
	d.Graph(nil)
	if out.Len() > 0 {
		t.Errorf("nothing is drawn as %q", out.String())
	}
	d.Graph(&steps.Graph{
		Nodes: []steps.Node{
			{Name: "rbac", What: "an account lacks a right", State: steps.NodeDone, Was: 2},
			{Name: "quota", State: steps.NodeUnsure, Was: 1},
			{Name: "migration", State: steps.NodeOpen, After: []string{"rbac", "quota"}},
		},
		Reasons: []string{"quota before migration: its Pods are not made\x1b[2J"},
	})
	want := `      In this order:
      A person changed it; "was" is the place that was proposed.
      1. rbac (an account lacks a right): done; was 2
      2. quota: unknown, next; was 1
      3. migration: open; waits for quota
      why: quota before migration: its Pods are not made` + `\x1b[2J
`
	if got := out.String(); got != want {
		t.Errorf("said\n%s\nwant\n%s", got, want)
	}
}
