package session

import (
	"cmp"

	"handrail/triage"
)

// lowers refuses to lower the severity on one person's word where policy asks for two
// by severity: its rules look at the worst one in any case, and the record would say
// less than they do.
func (s *Session) lowers(in triage.Intent) error {
	if in.Kind != triage.DoSeverity || s.cfg.Lowering == nil || in.Severity <= s.state.Severity { // SEV-1 is the worst
		return nil
	}
	worst := cmp.Or(s.state.Worst, s.state.Severity)
	why, err := s.cfg.Lowering(worst, in.Severity, s.state.Drill != "")
	if err != nil {
		return refusal(in, triage.Refusal{Why: s.bundle.Redact(err.Error()), Cure: mendPolicy})
	}
	if why == "" {
		return nil
	}
	return refusal(in, triage.Refusal{Why: why, Cure: "Say in a note that it is less bad; the incident goes on and closes at " + string(s.state.Severity) + "."})
}
