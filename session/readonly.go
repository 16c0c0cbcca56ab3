package session

import (
	"handrail/session/policy"
	"handrail/steps"
	"handrail/triage"
)

// closedError: the session may change nothing.
type closedError struct{ policy.Closed }

func (e *closedError) Error() string { return e.Why }

// mayOpen is an error where a gate may not be armed. To lower the severity is no gate.
func (s *Session) mayOpen(q policy.Question) error {
	if s.cfg.ReadOnly == nil || q.To != "" {
		return nil
	}
	if c := s.cfg.ReadOnly(q); c != (policy.Closed{}) {
		c.Why = s.bundle.Redact("read-only: " + c.Why)
		return &closedError{c}
	}
	return nil
}

// readOnly says in few words by what the incident as a whole is read-only, "" where it is
// not; a gate whose target lies elsewhere may be refused all the same.
func (s *Session) readOnly() string {
	if s.cfg.ReadOnly == nil {
		return ""
	}
	return s.bundle.Redact(s.cfg.ReadOnly(policy.OfGate(s.state, s.header, "", nil)).By)
}

// rules are the team's files in force now, as the journal keeps them, and that nothing may
// be changed where that is so.
func (s *Session) rules() []triage.KV {
	var out []triage.KV
	if s.cfg.Rules != nil {
		out = s.cfg.Rules()
	}
	if by := s.readOnly(); by != "" {
		out = append(out, steps.KV{Key: "read-only", Value: by})
	}
	return out
}
