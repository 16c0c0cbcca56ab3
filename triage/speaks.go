package triage

import (
	"slices"
	"strconv"
	"strings"
)

// Findings that speak against gates. A gate stays shut while one of them stands:
// until a later read does not find it any more, or until a person, by name and with
// a reason, overrules it. What the newest read cannot tell is not gone.

// Closing stands among the gates for the incident's close as recovered.
const Closing = "close"

// LawNone is the law of a waiver that sets no law aside, but overrules what a step
// found.
const LawNone = 0

// Speaking lists the findings of a step that keep gates shut: those that speak
// against one and were not overruled.
func (st Step) Speaking() []Finding {
	var out []Finding
	for _, f := range st.Findings {
		if len(f.Against) > 0 && !f.Unsure && !slices.Contains(st.Overruled, f.Say) {
			out = append(out, f)
		}
	}
	return out
}

// SpeaksAgainst lists the steps whose findings keep a gate shut.
func (s State) SpeaksAgainst(gate string) []string {
	var out []string
	for i := range s.Steps {
		against := func(f Finding) bool { return slices.Contains(f.Against, gate) }
		if slices.ContainsFunc(s.Steps[i].Speaking(), against) {
			out = append(out, s.Steps[i].ID)
		}
	}
	return out
}

// findingLaws say which findings keep a gate shut.
func findingLaws(s *State, gate string) []Refusal {
	var out []Refusal
	for i := range s.Steps {
		st := &s.Steps[i]
		if gate == Closing && !inPlay(s, st) {
			continue
		}
		for _, f := range st.Speaking() {
			if !slices.Contains(f.Against, gate) {
				continue
			}
			cure := "Fix it and read " + st.ID + " again, or overrule it with a name and a reason."
			if st.Retired {
				cure = "Overrule it with a name and a reason; " + st.ID + " belongs to an earlier plan and is no longer read."
			}
			out = append(out, Refusal{Why: st.ID + " found: " + strings.TrimSpace(f.Say), Cure: cure, At: f.At})
		}
	}
	return out
}

// found is what a step stands with after an attempt: what the attempt found, and
// what an earlier one found against a gate, or that wants an answer, and this one could
// not tell. A rule that could not be told when that was found keeps nothing: it was as
// blind then.
func found(old []Finding, b ProbeEnd) []Finding {
	out := blinded(b.Findings)
	for _, was := range old {
		if len(was.Against) == 0 && !was.Tells() || was.Unsure {
			continue
		}
		again := slices.ContainsFunc(b.Findings, func(f Finding) bool { return f.Say == was.Say && !f.Unsure })
		unsure := slices.ContainsFunc(b.Findings, func(f Finding) bool {
			return f.Unsure && (was.Rule > 0 && f.Rule == was.Rule || meet(f.Against, was.Against) && !slices.Contains(was.Blind, f.Rule))
		})
		if !again && (b.Outcome != "ok" || unsure) {
			out = append(out, was)
		}
	}
	return out
}

// blinded are the findings of one attempt, each with the rules that it could not tell.
func blinded(list []Finding) []Finding {
	var blind []int
	for _, f := range list {
		if f.Unsure && f.Rule > 0 {
			blind = append(blind, f.Rule)
		}
	}
	out := slices.Clone(list)
	for i := range out {
		out[i].Blind = blind
	}
	return out
}

// Judged is what a step stands with once its findings are judged anew: what speaks
// against a gate stays where that cannot be told.
func Judged(old, now []Finding) []Finding {
	return found(old, ProbeEnd{Outcome: "ok", Findings: now})
}

func meet(a, b []string) bool {
	return slices.ContainsFunc(a, func(x string) bool { return slices.Contains(b, x) })
}

// stillOverruled keeps the word of a person for as long as the finding that it was
// about stands; one that comes back later is another one.
func stillOverruled(texts []string, fs []Finding) []string {
	var out []string
	for _, text := range texts {
		if slices.ContainsFunc(fs, func(f Finding) bool { return f.Say == text && len(f.Against) > 0 && !f.Unsure }) {
			out = append(out, text)
		}
	}
	return out
}

// Said are the texts of what is Speaking: a person who overrules it names them.
func (st Step) Said() []string {
	var out []string
	for _, f := range st.Speaking() {
		out = append(out, f.Say)
	}
	return out
}

// overrule records that a person answers for what a step found. It names the very
// findings, so that none that came meanwhile goes with them.
func (f *folder) overrule(b Waive) error {
	i := f.find(b.Subject)
	if i < 0 {
		return f.refuse("the plan has no step %q", b.Subject)
	}
	standing := f.s.Steps[i].Said()
	switch {
	case len(standing) == 0:
		return f.refuse("no finding of %q keeps a gate shut", b.Subject)
	case !slices.Equal(standing, b.Findings):
		return f.refuse("%q did not find what was overruled", b.Subject)
	}
	st := f.step(i)
	st.Overruled = append(slices.Clip(st.Overruled), b.Findings...)
	f.addWaiver(b)
	return nil
}

// Of says in words what a waiver sets aside.
func (w Waive) Of() string {
	if w.Law == LawNone {
		return "what " + w.Subject + " found"
	}
	return "law " + strconv.Itoa(w.Law) + " for " + w.Subject
}

// inPlay reports whether what a step of verify says counts: it is of the plan in
// force, or of an earlier one that began an act.
func inPlay(s *State, st *Step) bool {
	if !st.Retired {
		return true
	}
	for id, g := range s.Gates {
		if g.StartSeq > 0 && runbookOf(id) == runbookOf(st.ID) {
			return true
		}
	}
	return false
}
