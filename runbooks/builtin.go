package runbooks

import (
	"slices"

	"handrail/steps"
	"handrail/triage"
)

// retryID is the step that the loop itself asks in authority.
const retryID = "retry"

// builtin adds what the loop needs of a phase that the author left out: the
// conclusions of mutation, compare and classify, the owner of the failure
// domain, and the question whether a retry makes it worse. Built-in conclusions
// have no cases, so they propose nothing but unknown.
func (r *reader) builtin(phase triage.Phase) {
	switch phase {
	case triage.Locate:
		if r.empty(phase) {
			r.conclude(phase, triage.TopicDomain, r.book.Domain, "the failure domain that this runbook is for")
			r.conclude(phase, triage.TopicOwner, DomainOwner, "")
		}
	case triage.Mutation:
		r.conclude(phase, triage.TopicMutation, "", "")
	case triage.Compare:
		r.conclude(phase, triage.TopicConsistent, "", "")
	case triage.Classify:
		r.conclude(phase, triage.TopicClass, "", "")
	case triage.Authority:
		if r.empty(phase) {
			r.retry()
		}
	}
}

func (r *reader) empty(phase triage.Phase) bool {
	return !slices.ContainsFunc(r.book.Steps, func(s Step) bool { return s.Phase == phase })
}

func (r *reader) conclude(phase triage.Phase, topic triage.Topic, is, say string) {
	if slices.ContainsFunc(r.book.Steps, func(s Step) bool { return s.Topic == topic }) {
		return
	}
	s := Step{ID: string(topic), Phase: phase, Kind: triage.ConcludeStep, Topic: topic, Builtin: true}
	s.Title = s.plainTitle()
	if is != "" {
		s.cases = []conclusion{{is: is, say: &text{parts: []part{{literal: say}}}}}
	}
	r.book.Steps = append(r.book.Steps, s)
}

func (r *reader) retry() {
	ask := "Can a retry make it worse?"
	s := Step{ID: retryID, Phase: triage.Authority, Kind: triage.AskStep, Title: ask, Builtin: true,
		Answers: []Choice{
			{"yes", "it could write twice, or over what another run is writing"},
			{"no", "it would do the same work once more and nothing else"},
		},
		ask: &text{parts: []part{{literal: ask}}}}
	r.book.Steps = append(r.book.Steps, s)
	r.book.scope.add(variable{"answers." + retryID, retryID, steps.Field{Name: retryID, Type: steps.Enum, Values: []string{"yes", "no"}}})
}
