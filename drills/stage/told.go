package stage

import (
	"fmt"
	"strings"

	"handrail/session/journal"
)

// StepName is the id of a step without that of its runbook.
func StepName(step string) string { return step[strings.LastIndexByte(step, '/')+1:] }

// Fact is the text of a fact that a step of the incident has read.
func (st *Stage) Fact(step, fact string) (string, error) {
	if st.Rec.Bundle == "" {
		return "", fmt.Errorf("no incident walks this drill yet, so %s has read nothing", step)
	}
	state, err := journal.LoadState(st.Rec.Bundle)
	if err != nil {
		return "", err
	}
	for _, s := range state.Steps {
		if v := s.Facts[fact]; StepName(s.ID) == step && v.Known() {
			return v.Text(), nil
		}
	}
	return "", fmt.Errorf("%s of %s is not known yet", fact, step)
}
