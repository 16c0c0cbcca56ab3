package own

import (
	"errors"
	"fmt"

	"handrail/steps"
)

// trusted says why a step of a runbook may do nothing by itself, nil where a person
// trusts the very text. It is asked at each reading: a bundle from elsewhere brings its
// runbook along.
func trusted(env steps.Env) error {
	if env.TrustedRunbook == nil || env.Runbook == "" {
		return errors.New("nothing says that a person trusts this runbook: what it runs, reads and asks by itself needs that")
	}
	if err := env.TrustedRunbook(env.Runbook); err != nil {
		return fmt.Errorf("the runbook is not trusted for what it runs, reads and asks by itself: %w", err)
	}
	return nil
}
