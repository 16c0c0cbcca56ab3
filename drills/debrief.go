package drills

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"handrail/triage"
)

// Debrief says in a few lines how a drill was walked: how soon there was
// evidence, what unsafe thing was stopped, and the path that was taken. It
// reads the state and nothing else.
func Debrief(st triage.State) []string {
	var lines []string
	add := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	if t, ok := firstMoment(st, "probe.end"); ok {
		add("First evidence after %s.", since(st, t))
	} else {
		add("No evidence was gathered.")
	}
	if t, ok := firstMoment(st, "act.start"); ok {
		add("First act after %s, with %d pieces of evidence before it.", since(st, t), evidenceBefore(st, t))
	} else {
		add("Nothing was changed.")
	}
	refused := 0
	for _, id := range slices.Sorted(maps.Keys(st.Gates)) {
		if g := st.Gates[id]; g.WasRefused {
			refused++
			add("Stopped: %s. %s", id, g.Why)
		}
	}
	if refused == 0 {
		add("No unsafe attempt had to be stopped.")
	}
	if p := walked(st); len(p) > 0 {
		add("Path: %s.", strings.Join(p, " → "))
	}
	for _, w := range st.Waivers {
		add("Set aside by %s: law %d for %s. %s", w.Person, w.Law, w.Subject, w.Why)
	}
	for _, d := range st.Debts {
		add("Debt %s, %s: %s", d.Kind, or(d.Settled.How, "open"), d.Text)
	}
	if st.Outcome != "" {
		add("Closed as %s after %s.", st.Outcome, since(st, st.Closed))
	} else {
		add("Still open after %s.", since(st, st.Updated))
	}
	return lines
}

func firstMoment(st triage.State, typ string) (time.Time, bool) {
	i := slices.IndexFunc(st.Timeline, func(m triage.Moment) bool { return m.Type == typ })
	if i < 0 {
		return time.Time{}, false
	}
	return st.Timeline[i].At, true
}

func evidenceBefore(st triage.State, at time.Time) int {
	n := 0
	for _, m := range st.Timeline {
		if m.At.Before(at) && (m.Type == "probe.end" || m.Type == "answer" || m.Type == "manual") {
			n++
		}
	}
	return n
}

// walked lists the steps in the order in which they were last settled.
func walked(st triage.State) []string {
	var done []triage.Step
	for _, s := range st.Steps {
		if s.EndSeq > 0 && s.Status != triage.Skipped && s.Status != triage.Pending {
			done = append(done, s)
		}
	}
	slices.SortStableFunc(done, func(a, b triage.Step) int { return int(a.EndSeq - b.EndSeq) })
	var ids []string
	for _, s := range done {
		ids = append(ids, bare(s.ID))
	}
	return ids
}

func since(st triage.State, t time.Time) time.Duration {
	return t.Sub(st.Opened).Round(100 * time.Millisecond)
}
