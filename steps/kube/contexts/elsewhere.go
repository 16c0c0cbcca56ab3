package contexts

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"handrail/steps"
)

// Anywhere gives every kind that reads a cluster the one parameter by which it
// can be asked for another context. Gates have none: they act in the incident's
// own.
func Anywhere(kinds []steps.Kind) []steps.Kind {
	param := steps.Field{Name: steps.ContextParam, Type: steps.String,
		Doc: "another context of your kubeconfig to read instead of the incident's own; its namespace is what --namespace says, else its own. What is read there opens no gate by itself: gates act in the incident's own context alone"}
	for i, k := range kinds {
		if k.Reads == nil || slices.Contains(placeless, k.Name) {
			continue
		}
		kinds[i].Params = append(slices.Clone(k.Params), param)
		kinds[i].Reads = func(e steps.Env) steps.Prober { return contextProbe{e, k.Reads} }
	}
	return kinds
}

// placeless are the kinds that ask no cluster, or name their contexts
// themselves.
var placeless = []string{"kube/contexts", "kube/node-report", "kube/repair-order"}

// contextProbe runs a probe in the context that its step asks for, and says of all
// that it saw which context that is.
type contextProbe struct {
	env   steps.Env
	reads func(steps.Env) steps.Prober
}

// Probe implements steps.Prober.
func (p contextProbe) Probe(ctx context.Context, in steps.Params, out steps.Sink) (steps.Observation, error) {
	env := p.env.At(in.Text(steps.ContextParam))
	var held pinSaid
	if env.Pin != nil {
		env.Pin = held.hear(env.Pin)
	}
	obs, err := p.reads(env).Probe(ctx, in, out)
	// A probe that keeps what it could read must not keep half of another cluster.
	if pin := held.said(); pin != nil {
		obs, err = steps.Observation{}, pin
	}
	if !env.Other {
		return obs, err
	}
	where := fmt.Sprintf("In context %s: ", env.Context)
	if err != nil {
		return steps.Observation{}, fmt.Errorf("context %q: %w", env.Context, err)
	}
	obs.Summary = where + obs.Summary
	for i := range obs.Findings {
		obs.Findings[i].Say = where + obs.Findings[i].Say
	}
	for i := range obs.Gaps {
		obs.Gaps[i] = where + obs.Gaps[i]
	}
	return obs, nil
}

// pinSaid remembers that a pin refused the cluster.
type pinSaid struct {
	mu  sync.Mutex
	err *steps.PinError
}

func (r *pinSaid) hear(pin steps.Pin) steps.Pin {
	return func(ctx context.Context, c steps.Cluster) error {
		err := pin(ctx, c)
		if e := (*steps.PinError)(nil); errors.As(err, &e) {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.err = e
		}
		return err
	}
}

func (r *pinSaid) said() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err == nil {
		return nil
	}
	return r.err
}
