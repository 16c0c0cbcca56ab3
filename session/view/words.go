package view

import (
	"regexp"
	"slices"
	"strings"

	"handrail/triage"
)

// What stands in the way, in the words of the runbook: a condition names the question
// that it asks about, never the expression that judges it.

var (
	// meets is the cure of a condition that wants one answer.
	meets = regexp.MustCompile(`^Make it true: answers\.([a-z0-9_]+) == ['"]([^'"]+)['"]$`)
	// concludes is the cure of what only a conclusion settles.
	concludes = regexp.MustCompile(`^Conclude (?:the )?([a-z]+)`)
	// whole is the id of a step, with that of its runbook.
	whole = regexp.MustCompile(`[a-z0-9][a-z0-9-]*/[a-z0-9_-]+`)
	// parameter is one of the runbook in an expression.
	parameter = regexp.MustCompile(`\bparams\.([a-z0-9_]+)`)
	// starts is what a step says that cannot, of itself.
	starts = regexp.MustCompile(`^step \S+ cannot start: `)
	// named is an answer or a fact in an expression.
	named = regexp.MustCompile(`\b(answers|facts|green|settled)\.([a-z0-9_]+)(?:\.([a-z0-9_.]+))?`)
)

// Title is what a step is called, for people: "" for one that is not there.
func (s Snapshot) Title(id string) string {
	st, _ := s.State.Step(id)
	for _, t := range []string{s.Cards[id].Title, st.Title} {
		if t != "" {
			return t
		}
	}
	return id[strings.LastIndexByte(id, '/')+1:]
}

// Words writes a reason or a cure about a step of a runbook with the titles of what
// it names.
func (s Snapshot) Words(of, text string) string {
	if m := meets.FindStringSubmatch(text); m != nil {
		return "Answer " + s.called(beside(of, m[1])) + " with " + m[2] + "."
	}
	if said := unspoken(text); said != "" {
		text = said
	}
	return s.name(of, starts.ReplaceAllString(text, "It cannot start: "))
}

// name puts titles in the place of what a text names.
func (s Snapshot) name(of, text string) string {
	text = named.ReplaceAllStringFunc(text, func(t string) string {
		m := named.FindStringSubmatch(t)
		if m[3] != "" {
			return s.called(beside(of, m[2])) + " " + strings.ReplaceAll(m[3], "_", " ")
		}
		return s.called(beside(of, m[2]))
	})
	text = parameter.ReplaceAllString(text, "the parameter $1")
	return whole.ReplaceAllStringFunc(text, func(id string) string {
		if _, ok := s.State.Step(id); !ok {
			return id
		}
		return s.called(id)
	})
}

// longTitle bounds what is quoted of a title: one may be several sentences.
const longTitle = 90

// called is the title of a step, quoted.
func (s Snapshot) called(id string) string {
	t := []rune(s.Title(id))
	if len(t) > longTitle {
		t = append(t[:longTitle-1], '…')
	}
	return "“" + string(t) + "”"
}

// beside is a step of the runbook of another one.
func beside(of, name string) string {
	if i := strings.LastIndexByte(of, '/'); i >= 0 {
		return of[:i+1] + name
	}
	return name
}

// Behind is the step on which a refusal of another one can be met, "" where no step
// can.
func (s Snapshot) Behind(of string, f triage.Refusal) string {
	has := func(id string) bool {
		st, ok := s.State.Step(id)
		return ok && !st.Retired && id != of
	}
	if m := concludes.FindStringSubmatch(f.Cure); m != nil {
		if i := slices.IndexFunc(s.State.Steps, func(st triage.Step) bool { return st.Kind == triage.ConcludeStep && st.Uses == m[1] && !st.Retired }); i >= 0 {
			return s.State.Steps[i].ID
		}
	}
	for _, text := range []string{f.Cure, f.Why} {
		for _, m := range named.FindAllStringSubmatch(text, -1) {
			if id := beside(of, m[2]); has(id) {
				return id
			}
		}
		for _, id := range whole.FindAllString(text, -1) {
			if has(id) {
				return id
			}
		}
	}
	if f.Law != 0 && f.Law != 11 {
		return ""
	}
	st, _ := s.State.Step(of)
	if i := slices.IndexFunc(st.Refs, func(id string) bool {
		ref, ok := s.State.Step(id)
		return ok && !ref.Retired && ref.Status != triage.Settled && ref.Status != triage.Skipped
	}); i >= 0 {
		return st.Refs[i]
	}
	return ""
}
