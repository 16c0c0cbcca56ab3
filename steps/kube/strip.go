package kube

import "handrail/steps"

// stripGate removes one finalizer of one object.
type stripGate struct{ env steps.Env }
