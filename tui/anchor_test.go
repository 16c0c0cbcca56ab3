package tui

import (
	"context"
	"testing"

	"handrail/session/view"
)

// anchoring is an incident whose line should be posted.
type anchoring struct {
	*bench
	anchor view.Anchor
	line   string
	where  string
}

func (a *anchoring) Snapshot() view.Snapshot {
	s := a.bench.Snapshot()
	s.Anchor = a.anchor
	return s
}

func (a *anchoring) Anchored(_ context.Context, line, where string) error {
	a.line, a.where = line, where
	return nil
}

func TestAnchorIsCopiedAndItsPlaceRecorded(t *testing.T) {
	t.Parallel()
	const line = "handrail-seal 20261120-021400-state-lock-k7qd 4 c29tZSByb290"
	s := onStage(t, 80, 24, true, "")
	inc := &anchoring{bench: s.bench, anchor: view.Anchor{Line: line, Due: "the incident is open"}}
	s.enterIncident(inc)
	s.want(t, "post this line in the channel, since the incident is open: handrail-seal")
	_, cmd := s.Update(keyPress("A"))
	if cmd == nil || cmd() == nil {
		t.Error("nothing goes to the clipboard")
	}
	s.want(t, line)
	inc.anchor.Line = "handrail-seal later"
	s.write("#incident-42")
	s.press("enter")
	if inc.line != line || inc.where != "#incident-42" {
		t.Errorf("recorded %q at %q, want the line that was shown", inc.line, inc.where)
	}
	s.want(t, "Recorded where")
	inc.anchor = view.Anchor{Line: line}
	s.enterIncident(inc)
	if s.run.AnchorLine(s.Env) != "" {
		t.Error("a line that need not be posted is shown")
	}
}

func TestNothingToAnchor(t *testing.T) {
	t.Parallel()
	s := onStage(t, 80, 24, true, "")
	if _, cmd := s.Update(keyPress("A")); cmd != nil || s.Sheet != nil {
		t.Error("an incident without a line asks where it was posted")
	}
}
