package watchdog

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"handrail/runbooks"
	"handrail/steps"
	"handrail/triage"
)

// State is what a watch came to.
type State string

// The states of a watch.
const (
	Green   State = "green"
	Red     State = "red"     // its condition does not hold
	Unknown State = "unknown" // whether it holds cannot be told
)

// Reading is a probe as it was read.
type Reading struct {
	ID       string                 `json:"id"`
	Title    string                 `json:"title"`
	Uses     string                 `json:"uses"`
	Why      string                 `json:"why"` // in a sentence: what was seen, or why it could not be
	Findings []steps.Finding        `json:"findings"`
	Gaps     []string               `json:"gaps"`
	Facts    map[string]steps.Value `json:"facts"`
	Took     time.Duration          `json:"took_ns"`
}

// Check is a watch as it was read.
type Check struct {
	Reading

	State State `json:"state"`
}

// Report is all that a run of a watchdog says.
type Report struct {
	Runbook  string    `json:"runbook"`
	Title    string    `json:"title"`
	Severity string    `json:"severity"`
	Domain   string    `json:"domain"`
	At       time.Time `json:"at"`
	Reads    []Reading `json:"reads"`
	Checks   []Check   `json:"checks"`
}

// Read runs one probe, and gives what it told, redacted. The error is redacted too.
type Read func(context.Context, steps.Kind, steps.Params) (steps.Observation, error)

// ErrAlien: the runbook has a step that a watchdog does not take.
var ErrAlien = errors.New("a watchdog takes a runbook of probes, watches and notes alone")

// Takes says why a runbook is none for a watchdog; nil where it is one. The error is ErrAlien.
func Takes(rb *runbooks.Runbook) error {
	if !rb.OnlyReads() {
		return fmt.Errorf("%w: %s has others", ErrAlien, rb.ID)
	}
	if !slices.ContainsFunc(rb.Steps, func(s runbooks.Step) bool { return s.Kind == triage.WatchStep }) {
		return fmt.Errorf("%w: %s has no watch", ErrAlien, rb.ID)
	}
	return nil
}

// Run reads each probe and each watch once, in the order of the runbook. The error is that of the context: what could not be
// read is in the report.
func Run(ctx context.Context, rb *runbooks.Runbook, params steps.Params, cat steps.Catalog, now func() time.Time, read Read) (Report, error) {
	out := Report{Runbook: rb.ID, Title: rb.Title, Severity: string(rb.Severity), Domain: string(rb.Domain), At: now(), Reads: []Reading{}, Checks: []Check{}}
	v := runbooks.Vars{Params: params, Facts: map[string]map[string]steps.Value{}}
	for _, s := range rb.Steps {
		if s.Kind != triage.ProbeStep && s.Kind != triage.WatchStep || rb.Aside(s.ID, v) != "" {
			continue
		}
		kind, ok := rb.Kind(s.ID, cat)
		if !ok || kind.Reads == nil {
			return out, fmt.Errorf("runbook %s, step %s: there is no probe %q", rb.ID, s.ID, s.Uses)
		}
		began := now()
		obs, err := readStep(ctx, rb, s, kind, v, read)
		if ctx.Err() != nil {
			return out, fmt.Errorf("stopped at %s: %w", s.ID, context.Cause(ctx))
		}
		v.Facts[s.ID] = told(kind, obs, err)
		r := Reading{ID: s.ID, Title: s.Title, Uses: s.Uses, Why: strings.TrimSpace(obs.Summary), Facts: v.Facts[s.ID], Took: now().Sub(began),
			Gaps: append([]string{}, obs.Gaps...), Findings: append(append([]steps.Finding{}, obs.Findings...), rb.Findings(s.ID, v)...)}
		if err != nil {
			r.Why = err.Error()
		}
		if s.Kind == triage.WatchStep {
			out.Checks = append(out.Checks, judge(r, rb.Green(s.ID, v), err))
		} else {
			out.Reads = append(out.Reads, r)
		}
	}
	return out, nil
}

func readStep(ctx context.Context, rb *runbooks.Runbook, s runbooks.Step, k steps.Kind, v runbooks.Vars, read Read) (steps.Observation, error) {
	if rb.Moot(s.ID, v) {
		return steps.Observation{Summary: runbooks.NothingHere}, nil
	}
	with, err := rb.With(s.ID, v)
	if err != nil {
		return steps.Observation{}, err
	}
	return read(ctx, k, with)
}

// told are the facts of a step, each that its kind declares: unknown where the read failed or gave none.
func told(k steps.Kind, obs steps.Observation, err error) map[string]steps.Value {
	out := make(map[string]steps.Value, len(k.Facts))
	for _, f := range k.Facts {
		got, ok := obs.Facts[f.Name]
		switch {
		case err != nil:
			got = steps.Unknown(f.Type, err.Error())
		case !ok || got.Type() != f.Type:
			got = steps.Unknown(f.Type, "the probe gave no value")
		}
		out[f.Name] = got
	}
	return out
}

// judge says what a watch came to: one whose read failed is unknown, whatever its condition says.
func judge(r Reading, green steps.Value, err error) Check {
	c := Check{Reading: r, State: Red}
	switch {
	case err != nil:
		c.State = Unknown
	case !green.Known():
		c.State, c.Why = Unknown, green.Why()
	case green.Bool():
		c.State = Green
	}
	return c
}

// Green reports whether every check is.
func (r Report) Green() bool { return r.count(Green) == len(r.Checks) }

func (r Report) count(s State) (n int) {
	for _, c := range r.Checks {
		if c.State == s {
			n++
		}
	}
	return n
}
