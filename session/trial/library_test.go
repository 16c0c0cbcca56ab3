package trial

import (
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"handrail/runbooks"
	"handrail/session/journal"
	"handrail/steps/catalog"
	"handrail/triage"
)

// mostPlans bounds the plans of a walk that read every object of a module.
const mostPlans = 2

// TestLibrary runs the tests of every runbook that comes with the program, and holds them to
// all of its branches: one that no case can go is none that a runbook should have. Nor has a
// person to say what the loop knows of a difference: but for one case, in which what serves
// is broken and no class says whether Git or the state is right.
func TestLibrary(t *testing.T) {
	t.Parallel()
	cat := catalog.New()
	lib, err := runbooks.Library(cat)
	if err != nil {
		t.Fatal(err)
	}
	overtook := &atomic.Int64{}
	t.Cleanup(func() {
		if overtook.Load() == 0 && !t.Failed() {
			t.Error("no act of any case overtook a read: nothing was held to that")
		}
	})
	for _, rb := range lib {
		t.Run(rb.ID, func(t *testing.T) {
			t.Parallel()
			file, src, err := runbooks.LibraryTest(rb.ID)
			if err != nil {
				t.Fatal(err)
			}
			d, err := Parse(file, src, rb, cat)
			if err != nil {
				t.Fatal(err)
			}
			r, err := run(d, rb, cat, func(s *stage, next triage.Option) { overtook.Add(nothingOvertaken(t, s, next)) })
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range r.Cases {
				asks := strings.Contains(c.Stop, "before the record is written")
				if asks && (rb.ID != "state-collision" || !strings.HasPrefix(c.Name, "something that serves is broken")) {
					t.Errorf("%s: %s: %s", file, c.Name, c.Stop)
				}
				if c.Recovered && c.Plans > mostPlans {
					t.Errorf("%s:%d: %s: %d plans that read every object of the module, at most %d are allowed", file, c.Line, c.Name, c.Plans, mostPlans)
				}
				for _, wrong := range c.Wrong {
					t.Errorf("%s:%d: %s: %s", file, c.Line, c.Name, wrong)
				}
			}
			missed := r.Missed()
			t.Logf("%s: %d of %d branches walked, %d cases", rb.ID, len(r.Branches)-len(missed), len(r.Branches), len(r.Cases))
			for _, m := range missed {
				t.Errorf("%s: no case goes %s", file, m)
			}
		})
	}
}

// nothingOvertaken holds a move of the loop to what an act leaves of the reads before it: no
// proposal stands on one, and whether the states agree is not asked while one is to be read
// again. It counts the reads that were overtaken.
func nothingOvertaken(t *testing.T, s *stage, next triage.Option) (n int64) {
	t.Helper()
	for _, topic := range []triage.Topic{triage.TopicDomain, triage.TopicConsistent, triage.TopicClass} {
		reads, by := s.state.Overtaken(topic)
		if len(reads) == 0 {
			continue
		}
		n += int64(len(reads))
		value, grounds, _ := s.scene().Propose(topic)
		for _, id := range reads {
			st, _ := s.state.Step(id)
			fact := "facts." + journal.Bare(id) + "."
			if i := slices.IndexFunc(grounds, func(g string) bool { return strings.HasPrefix(g, fact) && !strings.HasSuffix(g, " = "+triage.Unknown) }); i >= 0 {
				t.Errorf("%s: %s is proposed as %s by %q, which was read before %s", s.c.Name, topic, value, grounds[i], by)
			}
			asked := next.Kind == triage.DoConclude && next.Topic == triage.TopicConsistent
			if asked && topic == next.Topic && st.Kind == triage.ProbeStep && st.Status == triage.Settled && s.rb.Aside(journal.Bare(id), s.vars()) == "" {
				t.Errorf("%s: whether the states agree is asked, and %s was read before %s", s.c.Name, id, by)
			}
		}
	}
	return n
}
