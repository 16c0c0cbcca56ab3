package session

import (
	"handrail/triage"
)

// rules are the team's files in force now, as the journal keeps them.
func (s *Session) rules() []triage.KV {
	if s.cfg.Rules == nil {
		return nil
	}
	return s.cfg.Rules()
}
