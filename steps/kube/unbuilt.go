package kube

import (
	"context"
	"errors"

	"handrail/steps"
)

var errStub = errors.New("not built yet")

type getProbe struct{ env steps.Env }

// Probe implements steps.Prober.
func (p getProbe) Probe(ctx context.Context, in steps.Params, out steps.Sink) (steps.Observation, error) {
	return steps.Observation{}, errStub
}

type listProbe struct{ env steps.Env }

// Probe implements steps.Prober.
func (p listProbe) Probe(ctx context.Context, in steps.Params, out steps.Sink) (steps.Observation, error) {
	return steps.Observation{}, errStub
}
