package runbooks

import (
	"fmt"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"handrail/steps"
	"handrail/triage"
)

// green reads which answers of a question prove the recovery.
func (r *reader) green(s *Step, n *yaml.Node) {
	if n == nil {
		return
	}
	if s.Phase != triage.Verify {
		r.Fail(n, "remove it", "only a question of verify is green or not")
		return
	}
	var answers []string
	for _, a := range s.Answers {
		answers = append(answers, a.Value)
	}
	for _, item := range r.Items(n, "green") {
		s.Green = append(s.Green, r.OneOf(item, "a green answer", answers))
	}
	switch {
	case len(s.Green) == 0:
		r.Fail(n, "one of "+strings.Join(answers, ", "), "green is empty, so that nothing could be proven")
	case !slices.ContainsFunc(answers, func(a string) bool { return !slices.Contains(s.Green, a) }):
		r.Fail(n, "add the answer that it failed", "every answer is green, so that the question proves nothing")
	}
}

// Lint is Parse, and what is asked of an author besides: a document that a bundle
// keeps from before it was asked for is still read.
func Lint(file string, src []byte, cat steps.Catalog) (*Runbook, error) {
	b, err := Parse(file, src, cat)
	if err != nil {
		return nil, err
	}
	var bad Problems
	for _, s := range b.Steps {
		if s.Phase == triage.Verify && s.Kind == triage.AskStep && len(s.Green) == 0 {
			bad = append(bad, Problem{File: file, Line: s.Line, Message: "the question \"" + s.ID + "\" does not say which answers prove the recovery",
				Hint: "as in: green: [" + s.Answers[0].Value + "]"})
		}
	}
	if !b.claims() {
		bad = append(bad, Problem{File: file, Line: 1, Message: fmt.Sprintf("its patterns together stay below %d, so that it claims no text", Floor),
			Hint: "give a weight of 5 or more to what occurs in no text of another kind"})
	}
	if err := bad.Sorted(); err != nil {
		return nil, err
	}
	return b, nil
}
