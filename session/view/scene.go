// Package view is what a driver may show of an incident, and how that is worked out.
//
// A [Snapshot] is all that a screen, a dialogue or a script sees: the state, what may
// be done now and why the rest may not, the texts of each step with the facts filled
// in, the gate in front. It is immutable. A [Scene] is what it follows from: the
// state, the runbooks of the incident, the gate in front, the moment. Its methods
// are pure: they ask no clock, read no disk, keep nothing, and give the same for a
// session that is at work, a replay of years ago and a copy from another machine.
//
// [Scene.Texts] is dear, since each card looks at all facts: it is worked out when
// facts, answers or the plan changed. [Scene.Snapshot] is worked out after each
// event. What only the owner of an incident knows, such as what is running, the
// owner adds. The laws are asked here and never decided: [triage.Options] says what
// is open, [Scene.Judge] what the runbook's own conditions say.
package view

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"handrail/runbooks"
	"handrail/session/approval"
	"handrail/session/journal"
	"handrail/steps"
	"handrail/triage"
)

// Scene is what is known of an incident at one moment, and what was worked out from
// it. It is of one goroutine.
type Scene struct {
	State    triage.State
	Now      time.Time
	Books    map[string]*runbooks.Runbook               // by id, as the incident took them up
	Library  func(id string) (*runbooks.Runbook, error) // of this handrail; nil for none
	Catalog  steps.Catalog
	Practice map[string]string // in a drill: by manual step, where a person does what it asks for
	Front    *Front            // the gate in front of the call, nil for none
	Requests approval.Requests // what the newest previews ask of a second person
	Around   []steps.KV        // where the directory and the workspace of the plan are

	seen map[sight]runbooks.Vars
}

// Texts are the parts of a snapshot that change with facts, answers and the plan
// alone.
type Texts struct {
	Cards map[string]Card // by step id
	Next  []Lead
}

// Texts fills the texts of every step with the facts of now.
func (s *Scene) Texts() Texts {
	out := Texts{Cards: make(map[string]Card, len(s.State.Steps))}
	for _, st := range s.State.Steps {
		if s.Books[journal.BookOf(st.ID)] != nil {
			out.Cards[st.ID] = s.card(st)
		}
	}
	rb := s.Books[s.State.Plan().Runbook]
	if rb == nil || s.Library == nil {
		return out
	}
	for _, n := range rb.Next(s.vars(rb.ID, false)) {
		if _, err := s.Library(n.Runbook); err != nil && !errors.Is(err, runbooks.ErrUntrusted) {
			continue // a runbook that this handrail does not have is no way to go on
		}
		out.Next = append(out.Next, Lead{Runbook: n.Runbook, Why: n.Say, Params: n.With})
	}
	return out
}

// Snapshot is what a driver may show with these texts, but for what only the
// owner of the incident knows: what runs, the artifacts, the seal.
func (s *Scene) Snapshot(t Texts) Snapshot {
	return Snapshot{State: s.State, Made: s.Now, Options: triage.Options(s.State, s.Now, s.Judge), Cards: t.Cards, Next: t.Next,
		Where: s.where(), Gate: s.gate(t), Lowers: s.lowers()}
}

// vars is what the expressions of a runbook may see. With fresh set, what is too
// old to open a gate is marked stale. Every card and every gate asks, so that it is
// gathered once; no runbook changes it.
func (s *Scene) vars(runbook string, fresh bool) runbooks.Vars {
	at := sight{runbook, fresh}
	v, ok := s.seen[at]
	if !ok {
		v = journal.Vars(s.State, runbook, s.Now, fresh)
		if s.seen == nil {
			s.seen = map[sight]runbooks.Vars{}
		}
		s.seen[at] = v
	}
	return v
}

// sight is one way to look at the facts.
type sight struct {
	runbook string
	fresh   bool
}

// Judge evaluates the conditions of a step against fresh evidence.
func (s *Scene) Judge(step string) []triage.Verdict {
	rb := s.Books[journal.BookOf(step)]
	if rb == nil {
		return []triage.Verdict{{Result: "error", Why: "the runbook of this step is not loaded"}}
	}
	out := rb.Judge(journal.Bare(step), s.vars(rb.ID, true))
	if !slices.ContainsFunc(out, func(v triage.Verdict) bool { return len(v.Aged) > 0 }) {
		return out
	}
	// Reading again is worth it only where the gate would open on what was read, or
	// on what became of it by age alone.
	for i, v := range rb.Judge(journal.Bare(step), s.vars(rb.ID, false)) {
		if v.Unread { // behind the conditions; what only grew old is none of them above
			break
		}
		switch ripe := !v.At.IsZero() && !s.Now.Before(v.At); {
		case ripe:
			out[i].Aged = v.Aged
		case v.Result != "true":
			out[i].Aged = nil
		}
		out[i].At = v.At
	}
	return out
}

// Propose asks the runbook in force what the facts say of a topic.
func (s *Scene) Propose(t triage.Topic) (value string, grounds []string, say string) {
	rb := s.Books[s.State.Plan().Runbook]
	if rb == nil {
		return triage.Unknown, nil, ""
	}
	return s.propose(rb, t)
}

// propose is what a runbook says of a topic, and of the class what the evidence lacks.
func (s *Scene) propose(rb *runbooks.Runbook, t triage.Topic) (value string, grounds []string, say string) {
	value, grounds, say = rb.Propose(t, s.since(rb.ID, t))
	if t != triage.TopicClass {
		return value, grounds, say
	}
	lack, instead := triage.UnprovenClass(s.State, value, value != triage.Unknown || say == runbooks.NoRule)
	if !instead {
		return value, grounds, say
	}
	for _, c := range lack {
		grounds = append(grounds, c.Item+" is "+string(c.Standing))
	}
	return triage.EvidenceIncomplete, grounds, "Something changed, the states agree, and a part of the proof cannot be had: " + triage.UnprovenLine(lack) + "."
}

// since is what a proposal for a topic may rest on: what an act overtook is not known any more.
func (s *Scene) since(runbook string, t triage.Topic) runbooks.Vars {
	v := s.vars(runbook, false)
	reads, by := s.State.Overtaken(t)
	if len(reads) == 0 {
		return v
	}
	v.Stale = maps.Clone(v.Stale)
	for _, id := range reads {
		if journal.BookOf(id) == runbook {
			v.Stale[journal.Bare(id)] = "it was read before " + by + "; read it again first"
		}
	}
	return v
}

// ProposeAnswer asks the runbook of a question what the facts say to it, "" for
// nothing.
func (s *Scene) ProposeAnswer(step string) string {
	rb := s.Books[journal.BookOf(step)]
	if rb == nil {
		return ""
	}
	value, _, _ := rb.ProposeAnswer(journal.Bare(step), s.vars(rb.ID, false))
	return value
}

// barred says why a probe or a watch cannot be started now, beyond what the loop
// has against it.
func (s *Scene) barred(st triage.Step, withErr error) []triage.Refusal {
	if st.Status != triage.Pending && st.Status != triage.Stale {
		return nil // it was started before
	}
	switch st.Kind {
	case triage.ProbeStep, triage.WatchStep:
		return append(s.BarredBy(st.ID), s.Lacks(withErr)...)
	case triage.CompareStep:
		return s.BarredBy(st.ID)
	}
	return nil
}

// BarredBy are the conditions of the runbook that a step does not meet.
func (s *Scene) BarredBy(step string) []triage.Refusal {
	for _, v := range s.Judge(step) {
		if v.Result != "true" {
			return []triage.Refusal{{Why: v.Why, Cure: "skip it"}}
		}
	}
	return nil
}

// Lacks says what must be known before a step can start whose parameters gave
// withErr, unless it was looked for in vain.
func (s *Scene) Lacks(withErr error) []triage.Refusal {
	var missing *runbooks.MissingError
	if !errors.As(withErr, &missing) || s.tried(withErr) {
		return nil // nothing that is read later can mend a parameter that is no good: that it cannot be read is evidence
	}
	return []triage.Refusal{{Why: withErr.Error(), Cure: MissingCure(withErr)}}
}

// tried reports whether everything that a parameter misses was looked for, so
// that waiting for it would be in vain: read, answered as unknown, or of a step that
// does not apply.
func (s *Scene) tried(err error) bool {
	var m *runbooks.MissingError
	if !errors.As(err, &m) || len(m.Missing) == 0 {
		return false
	}
	for _, name := range m.Missing {
		part := strings.Split(name, ".")
		if len(part) < 2 || part[0] != "facts" && part[0] != "answers" {
			return false
		}
		st, ok := s.State.Step(journal.BookOf(m.Step) + "/" + part[1])
		if !ok {
			st, ok = s.State.Step(s.State.Plan().Runbook + "/" + part[1])
		}
		if !ok || !s.settled(st) {
			return false
		}
	}
	return true
}

// settled reports whether a step will tell nothing more by itself.
func (s *Scene) settled(st triage.Step) bool {
	switch {
	case st.Status == triage.Running:
		return false
	case st.Kind == triage.AskStep:
		return st.Status != triage.Pending && st.Status != triage.Stale
	case st.Attempts > 0 || st.Status == triage.Skipped:
		return true
	}
	return slices.ContainsFunc(s.Judge(st.ID), func(v triage.Verdict) bool { return v.Aside && v.Result == "false" })
}

// MissingCure is the next move where the parameters of a step are missing.
func MissingCure(err error) string {
	var m *runbooks.MissingError
	if errors.As(err, &m) {
		return "complete the step that yields it first"
	}
	return ""
}

// Words says why the words of an answer or of a step by hand do not settle it, nil when
// they do. An answer that the facts propose stands on them, not on its words.
func (s *Scene) Words(in triage.Intent) *triage.Refused {
	rb := s.Books[journal.BookOf(in.Step)]
	if rb == nil || in.Kind != triage.DoManual && in.Kind != triage.DoAnswer || in.Kind == triage.DoAnswer && in.Value == in.Proposed {
		return nil
	}
	err := rb.Takes(journal.Bare(in.Step), in.Value, in.Text, s.vars(rb.ID, false))
	if err == nil {
		return nil
	}
	why := triage.Refusal{Why: err.Error(), Cure: "Write the proof as the step asks for it."}
	if named, ok := errors.AsType[*runbooks.NamesError](err); ok {
		why.Cure = named.Cure()
	}
	if _, ok := errors.AsType[*runbooks.HollowError](err); ok {
		why.Cure = "Write what another person could look up: a name, a time, a link, an id."
	}
	return &triage.Refused{Intent: in.Kind, Step: in.Step, Refusals: []triage.Refusal{why}}
}
