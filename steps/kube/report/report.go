package report

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"handrail/steps"
)

// probeTime bounds a probe of this family as a whole; what was read until
// then is kept, and the rest is unknown.
const probeTime = 50 * time.Second

// Deadline gives a probe its own end. turned says that the caller turned
// away, which is no answer at all.
func Deadline(ctx context.Context) (inner context.Context, turned func() error, cancel context.CancelFunc) {
	inner, cancel = context.WithTimeout(ctx, probeTime)
	return inner, ctx.Err, cancel
}

// Report gathers what a probe has to say.
type Report struct {
	Obs steps.Observation
}

// Gap adds what could not be read.
func (s *Report) Gap(format string, args ...any) {
	s.Obs.Gaps = append(s.Obs.Gaps, fmt.Sprintf(format, args...))
}

// Why is why something is unknown, without what a person needs not see.
func Why(err error) string {
	if errors.Is(err, context.DeadlineExceeded) {
		return "no answer in time: " + steps.Clip(err.Error(), 300)
	}
	return steps.Clip(err.Error(), 400)
}

// Cause is why the caller gets no answer: that it turned away, else the error.
func Cause(turned, err error) error {
	if turned != nil {
		return turned
	}
	return err
}

// NotThere is why the facts of an absent object are unknown.
const NotThere = "the object is not there"

// Absent is the observation of an object that is not there.
func Absent(what fmt.Stringer, command string, f steps.Facts, warnings []steps.Finding) steps.Observation {
	f.Set("exists", steps.BoolOf(false))
	return steps.Observation{Summary: what.String() + " is not there.", Command: command, Facts: f.Rest(NotThere), Findings: warnings}
}

// MostNames bounds the names in a fact; all of them are in the artifact.
const MostNames = 500

// LongestValue bounds one label or annotation in a fact.
const LongestValue = 256

// Nothing stands for an empty value, so that a line is never read as missing.
const Nothing = "none"

// OrNothing is s, or the word for an empty value.
func OrNothing(s string) string {
	if s == "" {
		return Nothing
	}
	return s
}

// Ended takes the full stop off a text, for the one that follows it.
func Ended(s string) string {
	if s == "" {
		return "no reason was given"
	}
	return strings.TrimSuffix(s, ".")
}
