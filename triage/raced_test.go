package triage

import (
	"strings"
	"testing"
)

// TestWriterIsNotPassed: while something reverts every fix the loop goes past no
// repair. What the word rests on is read again, then the word is given anew, and
// nothing has recovered before it is no.
func TestWriterIsNotPassed(t *testing.T) {
	t.Parallel()
	const calm = "demo/calm"
	plan := demoPlan()
	var steps []PlanStep
	for _, st := range plan.Steps {
		switch st.ID {
		case unlock, again, page:
			continue
		case fix:
			steps = append(steps, PlanStep{ID: calm, Phase: Recover, Kind: ConcludeStep, Uses: "reverts", Refs: []string{extra, holder}})
		}
		steps = append(steps, st)
	}
	plan.Steps = steps
	all := func(string) []Verdict { return good("ok") }
	s := tell(t, State{}, Open{Incident: "i", Severity: Sev3}, plan, begin(lock), read(lock, 1, "ok", "true"), begin(heavy), read(heavy, 1, "ok", "true"),
		begin(extra), read(extra, 1, "ok", "true"), Answer{Step: holder, Value: "dead", How: "looked"}, concluded(TopicMutation, "yes"),
		begin(diff), read(diff, 1, "ok", "true"), concluded(TopicConsistent, "no"), concluded(TopicClass, "LiveStateDiverged"), Skip{Step: pause, Why: "nobody"})
	for _, x := range []struct {
		want string
		then []Body
	}{
		{"conclude " + calm + " reverts", []Body{concluded(TopicReverts, "yes")}},
		{"probe " + extra, []Body{ProbeStart{Step: extra, N: 2}, read(extra, 2, "ok", "true")}},
		{"conclude " + calm + " reverts", []Body{concluded(TopicReverts, "yes")}},
		{"probe " + extra, []Body{ProbeStart{Step: extra, N: 3}, read(extra, 3, "ok", "true")}},
		{"conclude " + calm + " reverts", []Body{concluded(TopicReverts, "no")}},
		{"preview " + fix, []Body{lookedAfter(fix, Repair), answered(fix), start(fix), end(fix, "done"), reread(fix, Holds)}},
		{"probe " + clean, []Body{ProbeStart{Step: clean, N: 1}, watched(1, "true"), ProbeStart{Step: clean, N: 2}, watched(2, "true")}},
		{"close recovered", nil},
	} {
		if got := strings.Join(strings.Fields(recommended(s, all)), " "); got != x.want {
			t.Fatalf("recommended %q, want %q", got, x.want)
		}
		s = tell(t, s, x.then...)
	}
	s = tell(t, s, concluded(TopicReverts, "yes"))
	if e := refused(t, s, Close{Outcome: "recovered"}); e.Law != 12 {
		t.Errorf("closing while something reverts every fix: %v, law %d", e, e.Law)
	}
	if got := recommended(s, all); got != "probe "+extra {
		t.Errorf("recommended %q, want what the word rests on", got)
	}
	tell(t, s, Close{Outcome: "open"})
}
