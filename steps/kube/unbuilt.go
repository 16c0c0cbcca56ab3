package kube

import (
	"context"
	"errors"

	"handrail/steps"
)

var errStub = errors.New("not built yet")

type finalizersProbe struct{ env steps.Env }

// Probe implements steps.Prober.
func (p finalizersProbe) Probe(ctx context.Context, in steps.Params, out steps.Sink) (steps.Observation, error) {
	return steps.Observation{}, errStub
}

type ownersProbe struct{ env steps.Env }

// Probe implements steps.Prober.
func (p ownersProbe) Probe(ctx context.Context, in steps.Params, out steps.Sink) (steps.Observation, error) {
	return steps.Observation{}, errStub
}

type lookalikesProbe struct{ env steps.Env }

// Probe implements steps.Prober.
func (p lookalikesProbe) Probe(ctx context.Context, in steps.Params, out steps.Sink) (steps.Observation, error) {
	return steps.Observation{}, errStub
}

// Preview implements steps.Gater.
func (g stripGate) Preview(ctx context.Context, in steps.Params, out steps.Sink) (steps.Preview, error) {
	return steps.Preview{}, errStub
}

// Act implements steps.Gater.
func (g stripGate) Act(ctx context.Context, a *steps.Approval, out steps.Sink) (steps.Outcome, error) {
	return steps.Outcome{}, errStub
}

// Preview implements steps.Gater.
func (g deleteGate) Preview(ctx context.Context, in steps.Params, out steps.Sink) (steps.Preview, error) {
	return steps.Preview{}, errStub
}

// Act implements steps.Gater.
func (g deleteGate) Act(ctx context.Context, a *steps.Approval, out steps.Sink) (steps.Outcome, error) {
	return steps.Outcome{}, errStub
}
