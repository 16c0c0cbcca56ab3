package owner

import (
	"handrail/steps"
)

// Ownership gathers who writes an object.
type Ownership struct {
	Owners    []steps.Owner
	Findings  []steps.Finding
	Gaps      []string
	Confirmed bool     // one of the owners was read and claims the object
	Doubts    []string // why it cannot be said that there is no other
}

// The answers to whether an owner is paused.
const (
	PausedYes     = "yes"
	PausedNo      = "no"
	PausedUnknown = "unknown"
)

// add names one owner; the first word on it stays, since two marks may lead to
// the same one.
func (w *Ownership) add(name, paused, how string) {
	for _, o := range w.Owners {
		if o.Name == name {
			return
		}
	}
	w.Owners = append(w.Owners, steps.Owner{Name: name, Paused: paused, How: how})
	if paused != PausedUnknown {
		w.Confirmed = true
	}
}

// doubt names an owner that could not be read.
func (w *Ownership) doubt(name, why, how string) {
	w.add(name, PausedUnknown, how)
	w.Doubts = append(w.Doubts, name+": "+why)
	w.Gaps = append(w.Gaps, name+": "+why)
}

func (w *Ownership) find(level steps.Level, format string, args ...any) {
	w.Findings = append(w.Findings, steps.Findingf(level, format, args...))
}
