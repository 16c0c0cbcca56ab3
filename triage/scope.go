package triage

import (
	"fmt"
	"strings"
)

// Scope is how far a transition reaches that stops something.
type Scope struct {
	Kind  string // of the gate
	Loop  string // what it stops: of one loop, the lower width is the narrower
	Reach string
	Width int
}

// PauseScopes lists the kinds of gates that stop a loop, each with its scope.
func PauseScopes() []Scope {
	return []Scope{
		{"terraform/pause", "infrastructure", "the applies of one root module", 1},
		{"kube/suspend", "reconciler", "one CronJob, Job, Application, Flux object or ExternalSecret", 1},
		{"kube/suspend-batch", "reconciler", "CronJobs, Jobs, Applications, Flux objects and ExternalSecrets by name", 1},
		{"kube/stop-batch", "reconciler", "whole workloads; of a controller, all that it reconciles", 2},
		{"kube/narrow-webhook", "admission", "one entry of a webhook configuration", 1},
		{"kube/except-policy", "admission", "one object of a policy", 1},
		{"kube/delete-webhook", "admission", "a whole webhook configuration", 2},
		{"kube/delete-policy", "admission", "a whole policy, or its binding", 2},
	}
}

// terminates reports whether a kind of gate ends one operation that runs. It stops no loop:
// what would begin the next one is paused by another gate.
func terminates(kind string) bool { return strings.HasSuffix(kind, "/terminate") }

// ScopeOf is the scope of a gate that stops something. The second result is false for
// another.
func ScopeOf(kind string) (Scope, bool) {
	for _, sc := range PauseScopes() {
		if sc.Kind == kind {
			return sc, true
		}
	}
	return Scope{}, false
}

// scopeLaws keep a wider pause shut while a narrower one of the same loop is at hand: it
// applies, and was neither tried nor passed over by a word. A reason alone does not open it.
// They are asked of what is yet to come.
func scopeLaws(s *State, st *Step, judge func(step string) []Verdict) []Refusal {
	sc, ok := ScopeOf(st.Uses)
	if !ok || sc.Width < 2 {
		return nil
	}
	var out []Refusal
	for i := range s.Steps {
		p := &s.Steps[i]
		other, ok := ScopeOf(p.Uses)
		if !ok || p.Retired || p.Kind != GateStep || other.Loop != sc.Loop || other.Width >= sc.Width {
			continue
		}
		g := s.Gates[p.ID]
		tried := g.StartSeq > 0 || g.WasRefused && !g.ByItself || g.Phase == GateRefused || p.Status == Skipped
		if tried || aside(p.ID, judge) {
			continue
		}
		out = append(out, Refusal{
			Law: 7, Why: fmt.Sprintf("%s stops %s, and %s, which stops only %s, was not tried", st.ID, sc.Reach, p.ID, other.Reach),
			Cure: "Use " + p.ID + ", or skip it and say why it does not cover the fault.",
		})
	}
	return out
}
