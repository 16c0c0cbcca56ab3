package journal

import (
	"slices"
	"time"

	"handrail/runbooks"
	"handrail/triage"
	"handrail/triage/record"
)

// Findings judges the newest reading of a step once more with what was read since: now is
// what it is worth saying about, and gone what other readings show to hold no more. ok is
// false where the reading cannot be judged again. redact is what the journal does to a text.
func Findings(rb *runbooks.Runbook, s triage.State, st triage.Step, at time.Time, redact func(string) string) (now []triage.Finding, gone []triage.GoneBy, ok bool) {
	reads := st.Kind == triage.ProbeStep || st.Kind == triage.WatchStep
	untold := slices.ContainsFunc(st.Findings, func(f triage.Finding) bool { return f.Rule == 0 })
	stale := st.Status == triage.Stale
	if !reads || untold || st.EndSeq == 0 || st.Outcome != "ok" && !stale || st.Status == triage.Running || st.Status == triage.Skipped {
		return nil, nil, false
	}
	v := Vars(s, rb.ID, at, false)
	for _, f := range standing(s, st) {
		if stale || f.Rule == record.ByKind {
			now = append(now, f)
		}
	}
	for _, f := range rb.Findings(Bare(st.ID), v) {
		f.Say = redact(f.Say)
		// What moved since it was read is not judged by what it was: only what keeps a gate
		// shut may come.
		if !stale || len(f.Against) > 0 && !slices.ContainsFunc(now, func(x triage.Finding) bool { return x.Rule == f.Rule }) {
			now = append(now, f)
		}
	}
	drop := func(by string, is func(triage.Finding) bool) {
		now = slices.DeleteFunc(now, func(f triage.Finding) bool {
			if !f.Tells() || !is(f) {
				return false
			}
			gone = append(gone, triage.GoneBy{Finding: f.Say, By: by})
			return true
		})
	}
	if later, ok := triage.Again(s, st); ok {
		v.Facts[Bare(st.ID)], v.Read[Bare(st.ID)] = later.Facts, later.Ended
		untrue := rb.Untrue(Bare(st.ID), v)
		// What its kind found stands where the later one found it too, and is asked of that.
		silent := func(was triage.Finding) bool {
			return was.Rule == record.ByKind && !slices.ContainsFunc(later.Findings, func(f triage.Finding) bool {
				return (f.Rule == record.ByKind || f.Rule == 0) && f.Restates(was)
			})
		}
		drop(later.ID, func(f triage.Finding) bool { return untrue[f.Rule] || silent(f) })
	}
	gone = slices.DeleteFunc(gone, func(g triage.GoneBy) bool { return !finds(st.Findings, g.Finding) })
	for _, f := range st.Findings {
		if by := newest(s, st, rb.Grounds(Bare(st.ID), f.Rule)); !stale && f.Tells() && by != "" && !finds(now, f.Say) &&
			!slices.ContainsFunc(now, func(x triage.Finding) bool { return x.Rule == f.Rule }) &&
			!slices.ContainsFunc(gone, func(g triage.GoneBy) bool { return g.Finding == f.Say }) {
			gone = append(gone, triage.GoneBy{Finding: f.Say, By: by})
		}
	}
	return now, gone, true
}

// standing is what a step found by its newest reading, also what another reading shows gone:
// that one may change.
func standing(s triage.State, st triage.Step) []triage.Finding {
	out := slices.Clone(st.Findings)
	for _, g := range s.Gone {
		if g.Step == st.ID && g.By != st.ID && g.Seq > st.EndSeq && !finds(out, g.Finding.Say) {
			out = append(out, g.Finding)
		}
	}
	return out
}

func finds(list []triage.Finding, say string) bool {
	return slices.ContainsFunc(list, func(f triage.Finding) bool { return f.Say == say })
}

// newest is the step among ids that was read last, "" where none was since st.
func newest(s triage.State, st triage.Step, ids []string) string {
	at, out := st.EndSeq, ""
	for _, id := range ids {
		if x, ok := s.Step(id); ok && id != st.ID && x.EndSeq > at && (x.Outcome == "ok" || x.Kind == triage.AskStep) {
			at, out = x.EndSeq, id
		}
	}
	return out
}

// Same compares what two findings say; when time ends one is worked out anew.
func Same(a, b triage.Finding) bool {
	return a.Level == b.Level && a.Say == b.Say && a.Unsure == b.Unsure && slices.Equal(a.Against, b.Against)
}
