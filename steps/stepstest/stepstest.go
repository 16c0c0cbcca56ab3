// Package stepstest helps tests of step kinds: a sink that keeps what a step
// wrote in memory, and a reading that holds a probe to its contract. No product
// code imports it.
package stepstest

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
	"sync"

	"handrail/steps"
)

// Sink keeps what a step wrote. Its methods are safe to share; read the fields
// when the step has ended.
type Sink struct {
	mu        sync.Mutex
	Artifacts map[string]*bytes.Buffer // by role
	Media     map[string]string        // by role
	Secrets   []string
	Schemas   []map[string][]string
}

// NewSink returns an empty Sink.
func NewSink() *Sink {
	return &Sink{Artifacts: map[string]*bytes.Buffer{}, Media: map[string]string{}}
}

type bufferCloser struct{ *bytes.Buffer }

// Close implements io.Closer.
func (bufferCloser) Close() error { return nil }

// Artifact implements steps.Sink.
func (s *Sink) Artifact(role, media string) io.WriteCloser {
	s.mu.Lock()
	defer s.mu.Unlock()
	b := &bytes.Buffer{}
	s.Artifacts[role], s.Media[role] = b, media
	return bufferCloser{b}
}

// Line implements steps.Sink.
func (s *Sink) Line(string) {}

// Sensitive takes the schemas of providers.
func (s *Sink) Sensitive(paths map[string][]string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.Schemas = append(s.Schemas, paths)
}

// Secret implements steps.Sink.
func (s *Sink) Secret(v string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.Secrets = append(s.Secrets, v)
}

// Observe runs a probe and holds what it says to the contract: a summary, a
// command, and each of the declared facts, and no other, with its type.
func Observe(ctx context.Context, p steps.Prober, declared []steps.Field, in steps.Params, out steps.Sink) (steps.Observation, error) {
	obs, err := p.Probe(ctx, in, out)
	if err != nil {
		return obs, err
	}
	if obs.Summary == "" || obs.Command == "" {
		return obs, fmt.Errorf("contract: summary %q, command %q", obs.Summary, obs.Command)
	}
	return obs, Declared(declared, obs.Facts)
}

// Declared says what of the facts of a probe is not as its kind declares.
func Declared(declared []steps.Field, facts map[string]steps.Value) error {
	if names := (steps.Kind{Facts: declared}).Undeclared(facts); len(names) > 0 {
		return fmt.Errorf("contract: %q are not declared", names)
	}
	for _, f := range declared {
		v, ok := facts[f.Name]
		switch {
		case !ok || v.Type() != f.Type:
			return fmt.Errorf("contract: fact %s has type %q, want %q", f.Name, v.Type(), f.Type)
		case f.Type == steps.Enum && v.Known() && !slices.Contains(f.Values, v.Text()):
			return fmt.Errorf("contract: fact %s is %q, want one of %q", f.Name, v.Text(), f.Values)
		}
	}
	return nil
}
