package view

import (
	"maps"
	"slices"

	"handrail/steps"
	"handrail/triage"
)

// Lead is a runbook that the present one proposes to go on with.
type Lead struct {
	Runbook string
	Why     string
	Params  map[string]string
}

// LeadsAt are the runbooks to go on with where the loop would go past a gate that stays closed: what the gate lacks is
// likely what they settle. It is empty for any other option.
func (s *Snapshot) LeadsAt(o triage.Option) []Lead {
	if st, ok := s.State.Step(o.Step); !ok || st.Kind != triage.GateStep || o.Kind != triage.DoSkip {
		return nil
	}
	return s.Next
}

// subjects are the parameters that mean the same in every runbook: what an incident is
// about.
var subjects = []string{"dir", "workspace", "log", "resource", "name", "namespace"}

// Carried is what another runbook, with the parameters fs, is given: what a runbook that proposes it says, and of the
// parameters with the same name what they are now.
func (s *Snapshot) Carried(runbook string, fs []steps.Field) map[string]string {
	out := map[string]string{}
	for _, p := range fs {
		for _, from := range []string{s.State.Plan().Runbook, runbook} {
			if v := s.State.Params(from)[p.Name]; v.Known() && v.Text() != "" && slices.Contains(subjects, p.Name) {
				out[p.Name] = v.Text()
			}
		}
	}
	for _, l := range s.Next {
		if l.Runbook == runbook {
			maps.Copy(out, l.Params)
		}
	}
	return out
}
