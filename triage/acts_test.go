package triage

import "testing"

// TestActsOfAGate: each act of a gate stays known as it was shown, and what is only
// shown again is told apart from what was done.
func TestActsOfAGate(t *testing.T) {
	t.Parallel()
	first := lookedAfter(fix, Repair)
	first.Effect = "delete a"
	second := first
	second.Effect = "delete b"
	done := end(fix, "done")
	done.Response = "a is gone"
	list := func(s State) string {
		out := ""
		for _, g := range s.Acts(fix) {
			out += string(g.Phase) + " " + g.Shown.Effect + ": " + g.Response + g.Again.Outcome + "; "
		}
		return out
	}
	s := tell(t, State{}, bodies(ready(), []Body{first, answered(fix), start(fix), done})...)
	for _, next := range []struct {
		with []Body
		want string
	}{
		{nil, "done delete a: a is gone; "},
		{[]Body{second}, "done delete a: a is gone; armed delete b: ; "},
		{[]Body{reread(fix, Holds)}, "done delete a: a is goneholds; armed delete b: ; "},
		{[]Body{GateClosed{Step: fix, Why: "esc"}}, "done delete a: a is goneholds; "},
		{[]Body{second, answered(fix), start(fix), end(fix, "failed")}, "done delete a: a is goneholds; failed delete b: ; "},
	} {
		if s = tell(t, s, next.with...); list(s) != next.want {
			t.Errorf("acts = %q, want %q", list(s), next.want)
		}
	}
}

// TestItemsOfABatch: what each item came to is kept with the act, and goes with it.
func TestItemsOfABatch(t *testing.T) {
	t.Parallel()
	stopped := end(fix, "failed")
	stopped.Items = []Item{{Object: "a", Outcome: "done"}, {Object: "b", Outcome: "failed"}, {Object: "c", Outcome: "left"}}
	s := tell(t, State{}, bodies(ready(), []Body{lookedAfter(fix, Repair), answered(fix), start(fix), stopped})...)
	if got := s.Gates[fix].Items; len(got) != 3 || got[2].Outcome != "left" {
		t.Errorf("items = %+v", got)
	}
	s = tell(t, s, lookedAfter(fix, Repair), answered(fix), start(fix))
	if got := s.Gates[fix].Items; len(got) > 0 || len(s.Acts(fix)) != 2 || len(s.Acts(fix)[0].Items) != 3 {
		t.Errorf("items of the next act = %+v", got)
	}
}

// TestLookTakesNothingBack: a gate that is shown again after its act and put away stands
// as it stood, whatever put it away.
func TestLookTakesNothingBack(t *testing.T) {
	t.Parallel()
	for name, away := range map[string][]Body{
		"esc":            {GateClosed{Step: fix, Digest: "d-" + fix, Why: "closed by the operator"}},
		"refused":        {GateClosed{Step: fix, Digest: "d-" + fix, Why: "it moved", Refused: true}},
		"confirmed, esc": {answered(fix), GateClosed{Step: fix, Why: "closed"}},
		"another act":    {shown(unlock, Release), answered(unlock), start(unlock)},
		"another fact":   {concluded(TopicReverts, "yes")},
	} {
		for outcome, phase := range map[string]GatePhase{"done": GateDone, "failed": GateFailed, "refused": GateRefused} {
			s := tell(t, State{}, bodies(ready(), []Body{shown(fix, Repair), answered(fix), start(fix), end(fix, outcome)})...)
			s = tell(t, s, append([]Body{shown(fix, Repair)}, away...)...)
			g := s.Gates[fix]
			if g.Phase != phase || g.EndSeq == 0 || len(s.Acts(fix)) != 1 || len(s.Past) != 0 {
				t.Errorf("%s after %s: the gate is %q, with %d acts and %d kept", name, outcome, g.Phase, len(s.Acts(fix)), len(s.Past))
			}
			if st, _ := s.Step(fix); outcome == "done" && (gateWanted(&s, &st, nil) || st.Status != Settled) {
				t.Errorf("%s: it is wanted again", name)
			}
		}
	}
	s := tell(t, State{}, bodies(ready(), []Body{shown(fix, Repair), GateClosed{Step: fix, Why: "esc"}})...)
	if g := s.Gates[fix]; g.Phase != GateIdle || g.Digest != "" {
		t.Errorf("a gate that did not act is %q after a look", g.Phase)
	}
}
