package tui

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"handrail/triage"
	"handrail/tui/ink"
	"handrail/tui/screen"
)

// TestCellLeadsToItsEvidence: enter on a cell opens the entry that it stands on,
// and back is at the same cell.
func TestCellLeadsToItsEvidence(t *testing.T) {
	t.Parallel()
	s := onStage(t, 80, 24, true, "")
	s.toMatrix()
	s.press("down", "down")
	s.want(t, "▸ enter  Show the evidence: replicas, actual", "lock.value · entries 5 7")
	before := s.screen()
	s.press("enter")
	if s.At != screen.AtEvidence {
		t.Fatal("enter on a cell does not open its evidence")
	}
	s.want(t, "ENTRY 7")
	s.press("esc")
	if got := s.screen(); got != before {
		t.Errorf("back is another screen:\n%s\nwant\n%s", got, before)
	}
	// Another cell of the same field, another entry.
	s.press("left", "left", "enter")
	s.want(t, "ENTRY 9")
	s.press("q")
	s.want(t, "Show the evidence: replicas, desired")
	// The evidence that is opened by its own key goes back to its list.
	s.press("e", "enter", "esc")
	s.want(t, "EVIDENCE  ")
}

// TestNothingIsPickedAtFirst: enter alone goes on with the loop, and what was
// picked can be let go.
func TestNothingIsPickedAtFirst(t *testing.T) {
	t.Parallel()
	s := onStage(t, 80, 24, true, "")
	s.toMatrix()
	on := "Say this: Is the process"
	s.want(t, on)
	s.press("down", "esc")
	s.want(t, on)
	s.press("down", "up")
	s.want(t, on)
	s.press("down", "down", "down", "down", "down", "down", "down", "down", "down")
	s.want(t, "Show the evidence: zone, desired")
	s.press("right") // zone has no record
	s.want(t, "Show the evidence: zone, actual")
	s.press("]")
	if s.run.Focus == id("serials") {
		s.press("esc", "]")
	}
	s.press("[")
	s.want(t, on)
	for _, in := range s.bench.sent {
		if in.Kind != triage.DoProbe && in.Kind != triage.DoConclude {
			t.Errorf("walking in a comparison sent %q", in.Kind)
		}
	}
}

// TestUnreadCellIsFirst: the cell that is picked with a field is the one that
// makes the difference.
func TestUnreadCellIsFirst(t *testing.T) {
	t.Parallel()
	s := onStage(t, 140, 45, true, "")
	s.toMatrix()
	for _, want := range []string{"network, desired", "replicas, actual", "image, desired", "subnet_a, recorded", "route, desired", "subnet_b, actual", "zone, desired"} {
		s.press("down")
		s.want(t, "Show the evidence: "+want)
	}
	s.press("up")
	s.want(t, "? unknown: facts.live.subnet_b is unknown: denied")
}

// TestMatrixFitsEveryWidth: no width loses a field, its sign or its direction.
func TestMatrixFitsEveryWidth(t *testing.T) {
	t.Parallel()
	s := onStage(t, 140, 45, true, "")
	s.toMatrix()
	st, _ := s.run.Snap.State.Step(s.run.Focus)
	blocks := false
	for w := 100; w >= 30; w-- {
		p := ink.Page{W: w, Theme: &s.Theme}
		s.run.DrawMatrix(s.Env, &p, st)
		var all strings.Builder
		for _, r := range p.Rows {
			if n := ansi.StringWidth(string(r)); n > w {
				t.Fatalf("a line of %d cells in %d", n, w)
			}
			all.WriteString(ansi.Strip(string(r)) + "\n")
		}
		for _, want := range []string{"= network", "≠ replicas", "actual drifted", "≠ image", "not applied yet", "the record is behind", "all differ", "? subnet_b", "? unknown", "actual is not as desired"} {
			if !strings.Contains(all.String(), want) {
				t.Fatalf("%d cells lose %q:\n%s", w, want, all.String())
			}
		}
		now := s.run.Grid.Layout(w).Blocks
		if blocks && !now {
			t.Errorf("%d cells have columns and %d have not", w, w+1)
		}
		blocks = now
	}
	if !blocks {
		t.Error("30 cells have columns")
	}
}

// TestMatrixInReplay: the comparison of a replay can be walked in, and asks for
// nothing.
func TestMatrixInReplay(t *testing.T) {
	t.Parallel()
	r := recorded(t, "", (*stage).toMatrix)
	s := onTape(t, r, 80, 24)
	for n := 0; s.run.Focus != id("serials") || s.run.Snap.State.Steps[6].Attempts == 0 || len(s.run.Snap.State.Steps[6].Rows) == 0; n++ {
		if n > 60 {
			t.Fatal("the replay has no comparison")
		}
		s.press("right")
	}
	s.want(t, "≠ replicas", "actual drifted")
	s.press("down", "down")
	s.want(t, "lock.value · entries 5 7")
	s.press("enter")
	s.want(t, "ENTRY 7")
	s.press("esc")
	s.want(t, "lock.value · entries 5 7")
}
