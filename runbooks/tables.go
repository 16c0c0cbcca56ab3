package runbooks

import (
	"slices"

	"gopkg.in/yaml.v3"

	"handrail/steps"
	"handrail/triage"
)

// DomainOwner is what a runbook concludes of the owner, unless it has a reason not to:
// the recovery owner that the table names of the domain that was concluded.
const DomainOwner = "owner of the domain"

// ownerOf is the recovery owner of a failure domain, "" for none.
func ownerOf(domain string) string {
	for _, d := range triage.Domains() {
		if d.Slug == domain {
			return d.Owner
		}
	}
	return ""
}

func domains() []string {
	var out []string
	for _, d := range triage.Domains() {
		out = append(out, d.Slug)
	}
	slices.Sort(out)
	return out
}

// phaseKeys are the keys of a runbook that hold steps; declare is not one, for
// it is about the call and not about the failure.
func phaseKeys() []string {
	var out []string
	for _, p := range triage.Phases() {
		if p != triage.Declare {
			out = append(out, string(p))
		}
	}
	return out
}

// failureStates are what a classification may conclude.
func failureStates() []string {
	var out []string
	for _, f := range triage.FailureStates() {
		out = append(out, f.Name)
	}
	return out
}

// topicValues are the values of a topic beside unknown, nil for free text.
func topicValues(t triage.Topic) []string {
	switch t {
	case triage.TopicDomain:
		return domains()
	case triage.TopicMutation, triage.TopicConsistent, triage.TopicReverts:
		return []string{"yes", "no"}
	case triage.TopicClass:
		return failureStates()
	}
	return nil
}

func topics() []string {
	return []string{
		string(triage.TopicDomain), string(triage.TopicMutation), string(triage.TopicConsistent),
		string(triage.TopicClass), string(triage.TopicOwner), string(triage.TopicReverts),
	}
}

func severities() []string {
	var out []string
	for _, l := range triage.SeverityLevels() {
		out = append(out, string(l.Level))
	}
	return out
}

// postConditions are those that a runbook may pick.
func postConditions() []string {
	var out []string
	for _, pc := range triage.PostConditions() {
		if pc.Code != triage.EvidenceWhole {
			out = append(out, pc.Code)
		}
	}
	return out
}

// matrix reads the rows of the decision matrix, the main one first.
func (r *reader) matrix(n *yaml.Node) {
	list := []*yaml.Node{n}
	if n != nil && n.Kind == yaml.SequenceNode {
		list = n.Content
	}
	most := len(triage.MatrixRows())
	for _, item := range list {
		row := r.Number(item, "matrix", 1, most)
		switch {
		case row == 0:
		case slices.Contains(r.book.Matrix, row):
			r.Fail(item, "remove it", "the row %d is named twice", row)
		default:
			r.book.Matrix = append(r.book.Matrix, row)
		}
	}
}

// proves reads which steps of verify show a post-condition.
func (r *reader) proves(n *yaml.Node) {
	if n == nil {
		return
	}
	if n.Kind != yaml.MappingNode {
		r.Fail(n, "as in proves: {PC3: settled}", "proves must be a mapping of post-conditions to steps of verify")
		return
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		code := r.OneOf(n.Content[i], "a post-condition", postConditions())
		list := []*yaml.Node{n.Content[i+1]}
		if list[0].Kind == yaml.SequenceNode {
			list = list[0].Content
		}
		p := triage.Proves{Code: code}
		for _, item := range list {
			id := r.Text(item, "a step")
			s := r.book.step(id)
			switch {
			case id == "":
			case s == nil || s.Phase != triage.Verify:
				r.Fail(item, "name a step of verify", "verify has no step %q", id)
			case !s.shows():
				r.Fail(item, "pick a watch, a question with green answers or a required read", "%q proves nothing: the incident closes without it", id)
			default:
				p.Steps = append(p.Steps, r.book.full(id))
			}
		}
		if code != "" && len(p.Steps) > 0 {
			r.book.Proves = append(r.book.Proves, p)
		}
	}
}

// shows reports whether a step of verify can show a post-condition: no incident closes as
// recovered while it says the opposite.
func (s *Step) shows() bool {
	return s.Kind == triage.WatchStep || s.Kind == triage.AskStep && len(s.Green) > 0 || s.Required && s.Kind == triage.ProbeStep
}

func levels() []string {
	return []string{string(steps.Info), string(steps.Warning), string(steps.Critical)}
}

func paramTypes() []string {
	return []string{
		string(steps.Bool), string(steps.Int), string(steps.String), string(steps.Enum),
		string(steps.Ident), string(steps.Duration), string(steps.Time), string(steps.Path),
	}
}

func debtKinds() []string { return []string{"reconcile", "resume", "unfinished"} }

// textual reports whether values of t are strings in an expression.
func textual(t steps.Type) bool {
	return t == steps.String || t == steps.Enum || t == steps.Ident || t == steps.Path
}
