package runbooks

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"handrail/steps"
	"handrail/steps/strict"
	"handrail/triage"
)

// Problem is one thing that is wrong in a runbook, and where.
type Problem = strict.Problem

// Problems are all that a reading found, in the order of the file.
type Problems = strict.Problems

// What an author may not go beyond. A document that a bundle keeps from before is still
// read: [Parse] does not ask.
const (
	maxFresh = time.Hour
	minApart = 10 * time.Second
)

// Lint is Parse, and what is asked of an author besides: a document that a bundle
// keeps from before it was asked for is still read. It is what every runbook passes that
// does not come with the program, before its first step.
func Lint(file string, src []byte, cat steps.Catalog) (*Runbook, error) {
	b, err := Parse(file, src, cat)
	if err != nil {
		return nil, err
	}
	l := linter{b: b}
	for i := range b.Steps {
		l.step(&b.Steps[i])
	}
	l.tables()
	l.groups()
	if !b.claims() {
		l.fail(nil, "give a weight of 5 or more to what occurs in no text of another kind", "its patterns together stay below %d, so that it claims no text", Floor)
	}
	if err := l.bad.Sorted(); err != nil {
		return nil, err
	}
	return b, nil
}

type linter struct {
	b   *Runbook
	bad Problems
}

// fail fails where a step begins, or for the whole document.
func (l *linter) fail(s *Step, hint, format string, args ...any) {
	p := Problem{File: l.b.File, Line: 1, Col: 1, Message: fmt.Sprintf(format, args...), Hint: hint}
	if s != nil {
		p.Line, p.Col = s.Line, s.Col
	}
	l.bad = append(l.bad, p)
}

// at fails where an expression stands.
func (l *linter) at(e *expr, hint, format string, args ...any) {
	l.bad = append(l.bad, Problem{File: l.b.File, Line: e.node.Line, Col: e.node.Column, Message: fmt.Sprintf(format, args...), Hint: hint})
}

// tables holds a runbook to the tables of the loop: to the row of the decision matrix that
// it is a case of, to the post-conditions that show a recovery, and to the owners of the
// failure domains.
func (l *linter) tables() {
	b := l.b
	if b.OnlyReads() {
		return // a watchdog's: it recovers nothing
	}
	if len(b.Matrix) == 0 {
		l.fail(nil, "as in matrix: 8, or matrix: [7, 6] with the main row first; see docs/doctrine.md", "it names no row of the decision matrix")
	} else if row, ok := triage.Matrix(b.Matrix[0]); ok && b.Departs == "" {
		if s, what := b.firstTransition(); s != nil && !row.Begins(what, s.Class) {
			l.fail(s, "say why under departs:, or begin with what the row prefers",
				"its first transition is %q (%s), and row %d of the decision matrix begins otherwise: %s", s.ID, what, row.Number, row.Action)
		}
	}
	if mends := slices.ContainsFunc(b.Steps, func(s Step) bool { return s.Kind == triage.GateStep || s.Phase == triage.Verify }); mends && len(b.Proves) == 0 {
		l.fail(nil, "as in proves: {PC3: settled}; see docs/doctrine.md", "it picks none of the post-conditions that show a recovery")
	}
	for i := range b.Steps {
		s := &b.Steps[i]
		if s.Builtin || s.Topic != triage.TopicOwner {
			continue
		}
		for _, c := range s.cases {
			if c.is != DomainOwner && c.is != triage.Unknown && c.reason == "" {
				l.fail(s, "is: "+DomainOwner+", or say why under reason:", "%q gets the next transition, whatever the failure domain is, and no reason says why", c.is)
			}
		}
	}
}

// OnlyReads reports whether all that the author wrote are probes, watches and notes.
func (r *Runbook) OnlyReads() bool {
	return !slices.ContainsFunc(r.Steps, func(s Step) bool {
		return !s.Builtin && s.Kind != triage.ProbeStep && s.Kind != triage.WatchStep && s.Kind != triage.NoteStep
	})
}

// groups refuses a named group that was likely meant to fill a parameter and fills none. A
// group of another name is shown by match, and fills nothing.
func (l *linter) groups() {
	var names, empty []string
	for _, p := range l.b.Params {
		names = append(names, p.Name)
		if p.Required && !slices.ContainsFunc(l.b.Recognise, func(x Pattern) bool { return slices.Contains(x.re.SubexpNames(), p.Name) }) {
			empty = append(empty, p.Name)
		}
	}
	for _, p := range l.b.Recognise {
		for _, group := range p.re.SubexpNames() {
			if group == "" || slices.Contains(names, group) {
				continue
			}
			meant := slices.IndexFunc(empty, func(name string) bool {
				return strings.Contains(group, name) || strings.Contains(name, group) || strict.Nearest(group, []string{name}) != ""
			})
			if meant >= 0 {
				l.bad = append(l.bad, Problem{File: l.b.File, Line: p.line, Col: p.col, Hint: "name it (?P<" + empty[meant] + ">…)",
					Message: fmt.Sprintf("the group %q fills no parameter, and nothing else fills %q, which must be given", group, empty[meant])})
			}
		}
	}
}

// firstTransition is the first step of recover that changes something, in the words of the
// matrix. To contain comes before any action, and so does what is done on the way to a pause.
func (r *Runbook) firstTransition() (s *Step, what string) {
	for i := range r.Steps {
		s := &r.Steps[i]
		switch {
		case s.Phase != triage.Recover && s.Phase != triage.Authority || s.Class == triage.Contain:
		case s.Kind == triage.GateStep:
			return s, s.Uses
		case s.Kind == triage.ManualStep && s.Phase == triage.Recover:
			return s, triage.ByHand
		}
	}
	return nil, ""
}

func (l *linter) step(s *Step) {
	if s.Builtin {
		return
	}
	if s.Phase == triage.Verify && s.Kind == triage.AskStep && len(s.Green) == 0 {
		l.fail(s, "as in: green: ["+s.Answers[0].Value+"]", "the question %q does not say which answers prove the recovery", s.ID)
	}
	if s.Fresh > maxFresh {
		l.fail(s, "at most 1h", "what %q says would count for %s: evidence that old opens no gate", s.ID, s.Fresh)
	}
	if s.Kind == triage.WatchStep && s.Greens > 1 && s.Apart < minApart {
		l.fail(s, "at least 10s", "the looks of %q are %s apart, which is one look", s.ID, s.Apart)
	}
	for _, d := range s.require {
		if len(d.when.refs) == 0 {
			l.at(d.when, "name a fact, an answer or a parameter, or drop it", "the requirement %q of the gate %q looks at nothing", d.when.src, s.ID)
		}
	}
	if s.Kind != triage.ConcludeStep || s.Topic != triage.TopicMutation && s.Topic != triage.TopicConsistent {
		return
	}
	for _, c := range s.cases {
		switch {
		case c.is == triage.Unknown:
		case c.when == nil:
			l.fail(s, "give it a when: that names what shows it", "%s would be concluded as %s whatever is found", s.Topic, c.is)
		case len(c.when.refs) == 0:
			l.at(c.when, "name what shows it", "%s would be concluded as %s from %q, which looks at nothing", s.Topic, c.is, c.when.src)
		}
	}
}
