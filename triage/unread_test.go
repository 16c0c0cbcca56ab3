package triage

import (
	"slices"
	"testing"
)

// unreadPlan asks about a fact of a read.
func unreadPlan() Plan {
	p := demoPlan()
	for i := range p.Steps {
		if p.Steps[i].ID == holder || p.Steps[i].ID == page {
			p.Steps[i].About = []string{lock + ".held"}
		}
	}
	return p
}

// TestUnreadIsNotAsked: a question whose subject was not read is refused, with what is
// missing and how to get it, and is never what is proposed next.
func TestUnreadIsNotAsked(t *testing.T) {
	t.Parallel()
	s := tell(t, State{}, Open{Incident: "i1", Severity: Sev3}, unreadPlan(), begin(lock), read(lock, 1, "failed", "false"))
	judge := func(step string) []Verdict {
		if step == holder || step == page {
			return []Verdict{{Expr: "facts.lock.held", Result: Unknown, Unread: true, Why: "what it asks about was not read: denied", Missing: []string{"facts.lock.held"}}}
		}
		return nil
	}
	for kind, in := range map[IntentKind]Intent{
		DoAnswer: {Kind: DoAnswer, Step: holder, Value: "dead", Text: "sure"},
		DoManual: {Kind: DoManual, Step: page, Text: "done"},
	} {
		r := Check(s, in, s.Updated, judge)
		if r == nil || r.Refusals[0].Cure != "Read it first: facts.lock.held" {
			t.Errorf("%s = %v", kind, r)
		}
		i := slices.IndexFunc(Options(s, s.Updated, judge), func(o Option) bool { return o.Recommended && o.Kind == kind })
		if i >= 0 {
			t.Errorf("%s is proposed", kind)
		}
		if r := Check(s, in, s.Updated, func(string) []Verdict { return nil }); r != nil {
			t.Errorf("%s of what was read = %v", kind, r)
		}
	}
	// A condition that is unknown is no subject: a person may know.
	aside := func(string) []Verdict { return []Verdict{{Expr: "x", Result: Unknown, Aside: true}} }
	if r := Check(s, Intent{Kind: DoAnswer, Step: holder, Value: "dead", Text: "sure"}, s.Updated, aside); r != nil {
		t.Errorf("a question whose condition is unknown = %v", r)
	}
}

// TestWordsAreAboutOneReading: what was said of a fact ends when the fact changes.
func TestWordsAreAboutOneReading(t *testing.T) {
	t.Parallel()
	story := ready()
	story[1] = unreadPlan()
	s := tell(t, State{}, append(story, Manual{Step: page, Proof: "seen"}, shown(unlock, Release))...)
	status := func(s State, id string) Status { st, _ := s.Step(id); return st.Status }
	same := tell(t, s, ProbeStart{Step: lock, N: 2}, read(lock, 2, "ok", "true"))
	if status(same, holder) != Settled || status(same, page) != Settled || same.Gates[unlock].Phase != GateArmed {
		t.Error("the same fact ends what was said of it")
	}
	other := tell(t, s, ProbeStart{Step: lock, N: 2}, read(lock, 2, "ok", "false"))
	if status(other, holder) != Stale || status(other, page) != Stale || other.Gates[unlock].Phase != GateIdle {
		t.Errorf("holder %s, page %s, gate %s after another reading", status(other, holder), status(other, page), other.Gates[unlock].Phase)
	}
}
