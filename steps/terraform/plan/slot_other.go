//go:build !linux

package plan

import "handrail/steps"

// newPlanSlot is a directory: what /dev/fd names elsewhere cannot be opened anew.
func newPlanSlot(env steps.Env) (planSlot, error) { return namedSlot(env) }
