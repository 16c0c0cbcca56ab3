package triage

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// lookedAfter is shown for a gate whose target is read again half a minute after
// its act.
func lookedAfter(step string, class Class) GateShown {
	b := shown(step, class)
	b.Again = "30s"
	return b
}

// mended is the story up to an act that is done and is to be read again.
func mended(t *testing.T) State {
	t.Helper()
	return tell(t, State{}, bodies(ready(), []Body{lookedAfter(fix, Repair), answered(fix), start(fix), end(fix, "done")})...)
}

func TestRereadIsOwedAfterAnActThatIsDone(t *testing.T) {
	t.Parallel()
	s := mended(t)
	want := Reread{Step: fix, Digest: "d-" + fix, Seq: s.Seq, Due: s.Updated.Add(30 * time.Second)}
	if !slices.Equal(s.Rereads, []Reread{want}) {
		t.Errorf("Rereads = %+v, want %+v", s.Rereads, want)
	}
	refused(t, s, reread(unlock, Holds))
	refused(t, s, ActAgain{Step: fix, Digest: "another", Outcome: Holds})
	refused(t, s, reread(fix, "fine"))
	s = tell(t, s, reread(fix, Holds))
	if g := s.Gates[fix]; len(s.Rereads) > 0 || g.Again.Outcome != Holds || g.Phase != GateDone {
		t.Errorf("after the second look: %+v, %+v", s.Rereads, g)
	}
	refused(t, s, reread(fix, Holds))

	for _, outcome := range []string{"failed", "refused", Unknown} {
		s := tell(t, State{}, bodies(ready(), []Body{lookedAfter(fix, Repair), answered(fix), start(fix), end(fix, outcome)})...)
		if len(s.Rereads) > 0 {
			t.Errorf("an act that is %s is to be read again: %+v", outcome, s.Rereads)
		}
	}
	found := tell(t, State{}, bodies(ready(), []Body{lookedAfter(fix, Repair), answered(fix), start(fix), end(fix, Unknown), end(fix, "done")})...)
	if len(found.Rereads) != 1 {
		t.Errorf("an act that was found to be done is not read again: %+v", found.Rereads)
	}
}

// TestRereadIsOfTheNewestAct: a second act takes the place of the first, and
// nothing that was seen of the first is said of the second.
func TestRereadIsOfTheNewestAct(t *testing.T) {
	t.Parallel()
	s := tell(t, mended(t), lookedAfter(fix, Repair))
	if len(s.Rereads) != 1 {
		t.Errorf("a new preview took the second look away: %+v", s.Rereads)
	}
	s = tell(t, s, answered(fix), start(fix))
	if len(s.Rereads) != 0 {
		t.Errorf("while it acts again, %+v is to be read", s.Rereads)
	}
	s = tell(t, s, end(fix, "done"), reread(fix, Holds), lookedAfter(fix, Repair), answered(fix), start(fix))
	if g := s.Gates[fix]; g.Again.Outcome != "" || g.AgainSeq != 0 {
		t.Errorf("the newest act is said to %+v", g.Again)
	}
}

// TestUndoneShutsRepairs: after an act was undone no repair opens and no green
// counts until it is answered again whether something reverts every fix.
func TestUndoneShutsRepairs(t *testing.T) {
	t.Parallel()
	s := tell(t, mended(t), concluded(TopicReverts, "no"), begin(clean), watched(1, "true"), lookedAfter(again, Rerun))
	s = tell(t, s, reread(fix, Undone))
	if st, _ := s.Step(clean); st.Streak != 0 {
		t.Errorf("a green from before it was undone still counts: streak %d", st.Streak)
	}
	if g := s.Gates[again]; g.Phase != GateIdle {
		t.Errorf("an armed gate stayed %s", g.Phase)
	}
	for gate, class := range map[string]Class{fix: Repair, again: Rerun} {
		if e := refused(t, s, lookedAfter(gate, class)); e.Law != 12 || !strings.Contains(e.Why, "undone") {
			t.Errorf("%s: %v, law %d", gate, e, e.Law)
		}
	}
	for _, o := range Options(s, s.Updated, func(string) []Verdict { return good("ok") }) {
		if o.Recommended && (o.Kind != DoConclude || o.Topic != TopicReverts) {
			t.Errorf("recommended is %s %s %s", o.Kind, o.Step, o.Topic)
		}
	}
	tell(t, s, shown(pause, Contain)) // pausing the writer is the way out
	s = tell(t, s, concluded(TopicReverts, "no"), lookedAfter(fix, Repair))
	if g := s.Gates[fix]; g.Phase != GateArmed {
		t.Errorf("after the writer was found: %s", g.Phase)
	}
}

// TestRedReadsTheActAgain: a proof that was green and turns red has an act that held read
// again at once; another red of the same watch does not, nor takes it the conclusion that
// was drawn after the first.
func TestRedReadsTheActAgain(t *testing.T) {
	t.Parallel()
	s := tell(t, mended(t), reread(fix, Holds), begin(clean), watched(1, "true"))
	if len(s.Rereads) != 0 {
		t.Fatalf("while it is green, %+v is to be read", s.Rereads)
	}
	s = tell(t, s, ProbeStart{Step: clean, N: 2}, watched(2, "false"))
	g := s.Gates[fix]
	if want := (Reread{Step: fix, Digest: g.Digest, Seq: g.EndSeq, Due: s.Updated}); !slices.Equal(s.Rereads, []Reread{want}) {
		t.Fatalf("Rereads = %+v, want %+v", s.Rereads, want)
	}
	if c := s.Topics[TopicConsistent]; c.Value != Unknown {
		t.Errorf("consistent is %q after the red", c.Value)
	}
	s = tell(t, s, concluded(TopicConsistent, "no"), ProbeStart{Step: clean, N: 3}, watched(3, "false"))
	if c := s.Topics[TopicConsistent]; c.Value != "no" || len(s.Rereads) != 1 {
		t.Errorf("after the same red again: consistent %q, %d to be read", c.Value, len(s.Rereads))
	}
	s = tell(t, s, concluded(TopicConsistent, "yes"), ProbeStart{Step: clean, N: 4}, watched(4, "false"))
	if c := s.Topics[TopicConsistent]; c.Value != Unknown {
		t.Errorf("consistent stayed %q over a red", c.Value)
	}
	s = tell(t, s, reread(fix, Undone))
	for _, o := range Options(s, s.Updated, func(string) []Verdict { return good("ok") }) {
		if o.Recommended && (o.Kind != DoConclude || o.Topic != TopicReverts) {
			t.Errorf("recommended is %s %s %s", o.Kind, o.Step, o.Topic)
		}
	}
}

func TestCloseWaitsForTheSecondLook(t *testing.T) {
	t.Parallel()
	s := tell(t, mended(t), begin(clean), watched(1, "true"), ProbeStart{Step: clean, N: 2}, watched(2, "true"))
	if e := refused(t, s, Close{Outcome: "recovered"}); e.Law != 8 || !strings.Contains(e.Why, "read again at") {
		t.Errorf("closing early: %v, law %d", e, e.Law)
	}
	tell(t, s, Close{Outcome: "open"})
	for _, outcome := range []string{Holds, Unknown} {
		tell(t, s, reread(fix, outcome), Close{Outcome: "recovered"})
	}
}
