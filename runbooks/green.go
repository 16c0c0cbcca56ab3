package runbooks

import (
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

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
