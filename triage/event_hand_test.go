package triage

import (
	"slices"
	"strings"
	"testing"
)

// samples are looks of the watch, counted on.
func samples(n int, green ...string) []Body {
	var out []Body
	for i, g := range green {
		out = append(out, ProbeStart{Step: clean, N: n + i}, watched(n+i, g))
	}
	return out
}

func handed(proof string) HandAct {
	return HandAct{ID: "proof", What: "kubectl scale deploy/web --replicas=3", Object: "deploy/web", Person: "ada", Proof: proof, Shows: "three Pods are ready"}
}

// TestHandRepairIsOwedUntilItIsShown: a read from before it, or one that was under way,
// pays nothing.
func TestHandRepairIsOwedUntilItIsShown(t *testing.T) {
	t.Parallel()
	s := tell(t, State{}, bodies(ready(), []Body{begin(extra), read(extra, 1, "ok", "true"), ProbeStart{Step: extra, N: 2}, handed(extra)})...)
	paid := Settle{Debt: "proof", How: "paid", Proof: "three Pods"}
	refused := func(s State, want string) {
		t.Helper()
		if err := Follows(s, next(s, paid)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("paid without its proof: %v, want %q", err, want)
		}
	}
	if len(s.Debts) != 1 || s.Debts[0].Kind != ProofDebt || s.Debts[0].Of != extra || !strings.Contains(s.Debts[0].Text, "three Pods are ready") {
		t.Fatalf("it owes %+v", s.Debts)
	}
	refused(s, "was not read since")
	s = tell(t, s, read(extra, 2, "ok", "true"))
	refused(s, "was not read since") // it began before the repair was recorded
	s = tell(t, s, ProbeStart{Step: extra, N: 3})
	refused(s, "was not read since")
	failed := tell(t, s, read(extra, 3, "failed", "true"))
	refused(failed, "could not be read since")
	s = tell(t, s, read(extra, 3, "ok", "true"))
	if byHand(&s, 0) {
		t.Error("a repair counts before a person says that its proof shows it")
	}
	s = tell(t, s, paid)
	if !byHand(&s, 0) || byHand(&s, s.Debts[0].Seq) {
		t.Error("a repair that was shown does not count, or counts for what was said after it")
	}
}

// TestHandRepairIsShownByAWatch takes nothing but a watch that turned green after it.
func TestHandRepairIsShownByAWatch(t *testing.T) {
	t.Parallel()
	s := tell(t, State{}, bodies(ready(), samples(1, "true", "true"), []Body{handed(clean)})...)
	paid := Settle{Debt: "proof", How: "paid", Proof: "green"}
	if err := Follows(s, next(s, paid)); err == nil || !strings.Contains(err.Error(), "not read since") {
		t.Errorf("a green from before it pays: %v", err)
	}
	s = tell(t, s, samples(3, "true")...)
	if err := Follows(s, next(s, paid)); err == nil || !strings.Contains(err.Error(), "not green since") {
		t.Errorf("one green of two pays: %v", err)
	}
	s = tell(t, s, samples(4, "true")...)
	tell(t, s, paid)
}

// TestHandRepairMovesItsTarget: nothing from before it proves anything, and no gate
// stays armed.
func TestHandRepairMovesItsTarget(t *testing.T) {
	t.Parallel()
	told := ready()
	told[1] = Plan{Runbook: "demo", Digest: "p1", Steps: slices.Clone(demoPlan().Steps)}
	for i := range told[1].(Plan).Steps {
		if st := &told[1].(Plan).Steps[i]; st.ID == diff {
			st.Refs = []string{lock}
		}
	}
	s := tell(t, State{}, bodies(told, samples(1, "true", "true"), []Body{begin(extra), read(extra, 1, "ok", "true"), shown(unlock, Release), handed(extra)})...)
	watch, _ := s.Step(clean)
	probe, _ := s.Step(extra)
	compared, _ := s.Step(lock)
	switch {
	case s.Gates[unlock].Phase != GateIdle:
		t.Errorf("the gate is %s", s.Gates[unlock].Phase)
	case s.Topics[TopicConsistent].Value != Unknown || s.Return != Compare:
		t.Errorf("consistent is %q, it returns to %q", s.Topics[TopicConsistent].Value, s.Return)
	case compared.Status != Stale:
		t.Errorf("what is compared is %s", compared.Status)
	case watch.Status != Stale || watch.Streak != 0 || probe.Status != Stale:
		t.Errorf("the watch is %s (%d), the proof %s", watch.Status, watch.Streak, probe.Status)
	}
}

// TestHandRepairSaysAll: what, on what, by whom and what shows it.
func TestHandRepairSaysAll(t *testing.T) {
	t.Parallel()
	s := tell(t, State{}, ready()...)
	for name, edit := range map[string]func(*HandAct){
		"no name":       func(b *HandAct) { b.ID = " " },
		"nothing done":  func(b *HandAct) { b.What = "" },
		"no object":     func(b *HandAct) { b.Object = "" },
		"no person":     func(b *HandAct) { b.Person = "" },
		"no proof":      func(b *HandAct) { b.Proof = "" },
		"no read":       func(b *HandAct) { b.Proof = page },
		"no such step":  func(b *HandAct) { b.Proof = "demo/nowhere" },
		"a gate":        func(b *HandAct) { b.Proof = fix },
		"another debts": func(b *HandAct) {},
	} {
		b, at := handed(extra), s
		if edit(&b); name == "another debts" {
			at = tell(t, s, handed(extra))
		}
		if err := Follows(at, next(at, b)); err == nil {
			t.Errorf("%s: it folds", name)
		}
	}
	again := tell(t, s, handed(extra))
	body, _ := Draft(again, Intent{Kind: DoHand, Hand: HandAct{What: "w", Object: "o", Person: "p", Proof: lock}})
	if got := body.(HandAct).ID; got != "proof2" {
		t.Errorf("the second is called %q", got)
	}
}

// TestNoGate says at once that no gate serves, and no earlier.
func TestNoGate(t *testing.T) {
	t.Parallel()
	differ := topic(TopicConsistent, Conclusion{Value: "no", Seq: 10})
	green := func(s *State) { s.Incident, s.Steps[1].Status = "i", Pending }
	asides := func(ids ...string) func(string) []Verdict {
		return func(id string) []Verdict {
			if slices.Contains(ids, id) {
				return []Verdict{{Aside: true, Result: "false", Why: "only where x"}}
			}
			return good("x")
		}
	}
	none := asides(unlock, fix, again)
	open := func(s *State) { s.Steps[0].Status = Pending }
	hand := func(s *State) { s.Hands = []Hand{{Seq: 1}} }
	refused := func(id string) func(*State) {
		return func(s *State) { s.Gates[id] = GateState{Step: id, WasRefused: true, Why: "no backup", ClosedSeq: 99} }
	}
	for name, tc := range map[string]struct {
		edit  func(*State)
		judge func(string) []Verdict
		want  bool
	}{
		"none applies":            {all(differ, green), none, true},
		"none applies, all agree": {green, none, false},
		"unread evidence":         {all(differ, green, open), none, false},
		"one may open":            {all(differ, green), asides(unlock, fix), false},
		"one was refused":         {all(differ, green, refused(again)), asides(unlock, fix), true},
		"refused, all agree":      {all(green, refused(again)), asides(unlock, fix), true},
		"passed over":             {all(differ, green, skipped(again)), asides(unlock, fix), true},
		"one acted":               {all(differ, green, did(fix, 11)), asides(unlock, again), false},
		"a lock was released":     {all(differ, green, did(unlock, 11)), asides(fix, again), false},
		"one was undone":          {all(differ, green, did(fix, 11, func(g *GateState) { g.Again = ActAgain{Outcome: Undone} }), topic(TopicReverts, Conclusion{Value: "no", Seq: 20}), skipped(fix)), none, true},
		"recorded":                {all(differ, green, hand), none, false},
		"closed":                  {all(differ, green, func(s *State) { s.Outcome = "open" }), none, false},
		"done by a step of the plan": {all(differ, green, func(s *State) {
			st := &s.Steps[len(s.Steps)-1]
			st.Status, st.EndSeq = Settled, 12
		}), none, false},
	} {
		s := recovers(tc.edit)
		list, got := s.NoGate(Options(s, s.Updated, tc.judge))
		if got != tc.want {
			t.Errorf("%s: no gate is %v (%v), want %v", name, got, list, tc.want)
		}
	}
	s := recovers(all(differ, green, refused(again)))
	review := s
	review.Kind = Readiness
	if _, none := review.NoGate(Options(s, s.Updated, asides(unlock, fix))); none {
		t.Error("a review is told that no gate serves its repair")
	}
	list, _ := s.NoGate(Options(s, s.Updated, asides(unlock, fix)))
	if want := []Unserved{{unlock, "it does not apply", true}, {fix, "it does not apply", true}, {again, "no backup", false}}; !slices.Equal(list, want) {
		t.Errorf("they do not serve since %v", list)
	}
}
