package triage

import (
	"strings"
	"testing"
	"time"
)

// lowersTo is a request to lower the severity of a state.
func lowersTo(s State, to Severity) SeverityAsk {
	return SeverityAsk{GateShown: GateShown{Step: SeverityGate, Digest: "d-severity", Target: s.LoweringTo(to, "nobody is hurt"), Phrase: "lower",
		Until: t0.Add(time.Hour), Second: pair()}}
}

// TestLoweringOfTwo: what a second person was asked for is lowered by what they signed
// and by nothing else.
func TestLoweringOfTwo(t *testing.T) {
	t.Parallel()
	sev1 := tell(t, State{}, append(ready(), SeveritySet{Level: Sev1, Why: "all is down"})...)
	waiting := tell(t, sev1, lowersTo(sev1, Sev3))
	now := next(waiting, nil).At
	lower := SeveritySet{Level: Sev3, Why: "nobody is hurt", Digest: "d-severity"}
	own := approval(SeverityGate, now)
	own.Key = "SHA256:own"
	refused(t, waiting, own)
	for name, tc := range map[string]struct {
		from State
		say  Body
		why  string
	}{
		"unsigned":           {waiting, lower, "has not approved it"},
		"alone":              {waiting, SeveritySet{Level: Sev3, Why: "w"}, "needs a second person"},
		"lower still, alone": {waiting, SeveritySet{Level: Sev4, Why: "w"}, "needs a second person"},
		"not asked":          {sev1, lower, "no such request"},
		"to another":         {tell(t, waiting, approval(SeverityGate, now)), SeveritySet{Level: Sev4, Digest: "d-severity"}, "no such request"},
		"raise":              {sev1, lowersTo(State{Severity: Sev1}, Sev1), "not lower"},
		"of another":         {sev1, lowersTo(State{Severity: Sev2}, Sev3), "another severity"},
		"by one":             {sev1, SeverityAsk{GateShown: GateShown{Step: SeverityGate, Digest: "d"}}, "does not ask a second person"},
	} {
		if bad := refused(t, tc.from, tc.say); !strings.Contains(bad.Why, tc.why) {
			t.Errorf("%s: %q, want %q", name, bad.Why, tc.why)
		}
	}
	late := Event{Seq: waiting.Seq + 2, At: now.Add(11 * time.Minute), Body: lower}
	if _, err := Fold(tell(t, waiting, approval(SeverityGate, now)), late); err == nil {
		t.Error("it is lowered by an approval that has lapsed")
	}
	approved := tell(t, waiting, approval(SeverityGate, now))
	if set, ok := approved.Lowered(now); !ok || set != lower {
		t.Errorf("Lowered = %+v, %v", set, ok)
	}
	st := tell(t, approved, lower)
	if st.Severity != Sev3 || st.Worst != Sev1 || st.Lowering.Phase != GateIdle {
		t.Errorf("severity %s, worst %s, waiting %+v", st.Severity, st.Worst, st.Lowering)
	}
	refused(t, st, lower) // an approval lowers once
	raised := tell(t, approved, SeveritySet{Level: Sev1, Why: "it stays"})
	refused(t, raised, lower)
	if gone := tell(t, waiting, SeveritySet{Level: Sev2, Why: "w"}); gone.Lowering.Phase != GateIdle {
		t.Error("what was asked outlives the severity that it was about")
	}
}

// TestCommanderOfTheWorst: a lower severity frees no repair of its commander, and a
// journal from before that was asked folds as it did.
func TestCommanderOfTheWorst(t *testing.T) {
	t.Parallel()
	st := tell(t, State{}, append(ready(), SeveritySet{Level: Sev1, Why: "w"}, SeveritySet{Level: Sev3, Why: "w"})...)
	in := Intent{Kind: DoPreview, Step: fix}
	holds := func(string) []Verdict { return shown(fix, Repair).Verdicts }
	no := Check(st, in, t0, holds)
	if no == nil || !strings.Contains(no.Error(), "commander, and the incident was there") {
		t.Errorf("after SEV-1: %v", no)
	}
	st = tell(t, st, Person{ID: "ann", Name: "ann", Proof: "claimed", Roles: []string{"commander"}})
	if no := Check(st, in, t0, holds); no != nil {
		t.Errorf("with a commander: %v", no)
	}
	old := append(ready(), SeveritySet{Level: Sev1, Why: "w"}, SeveritySet{Level: Sev3, Why: "w"}, shown(fix, Repair))
	if st := tell(t, State{}, old...); st.Gates[fix].Phase != GateArmed {
		t.Error("an old journal does not fold")
	}
}
