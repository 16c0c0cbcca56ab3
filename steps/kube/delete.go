package kube

import "handrail/steps"

// deleteGate deletes one object.
type deleteGate struct{ env steps.Env }
