package kube

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"handrail/steps"
)

// workloadTime bounds a probe of this family as a whole; what was read until
// then is kept, and the rest is unknown.
const workloadTime = 50 * time.Second

// workloadDeadline gives a probe its own end. turned says that the caller turned
// away, which is no answer at all.
func workloadDeadline(ctx context.Context) (inner context.Context, turned func() error, cancel context.CancelFunc) {
	inner, cancel = context.WithTimeout(ctx, workloadTime)
	return inner, ctx.Err, cancel
}

// workloadSaying gathers what a probe of this family has to say.
type workloadSaying struct {
	obs steps.Observation
}

func (s *workloadSaying) say(level steps.Level, format string, args ...any) {
	s.obs.Findings = append(s.obs.Findings, steps.Finding{Level: level, Say: fmt.Sprintf(format, args...)})
}

func (s *workloadSaying) gap(format string, args ...any) {
	s.obs.Gaps = append(s.obs.Gaps, fmt.Sprintf(format, args...))
}

// workloadWhy is why something is unknown, without what a person needs not see.
func workloadWhy(err error) string {
	if errors.Is(err, context.DeadlineExceeded) {
		return "no answer in time: " + steps.Clip(err.Error(), 300)
	}
	return steps.Clip(err.Error(), 400)
}

// cmpErr is why the caller gets no answer: that it turned away, else the error.
func cmpErr(turned, err error) error {
	if turned != nil {
		return turned
	}
	return err
}

// notThere is why the facts of an absent object are unknown.
const notThere = "the object is not there"

// mostNames bounds the names in a fact; all of them are in the artifact.
const mostNames = 500

// longestValue bounds one label or annotation in a fact.
const longestValue = 256

// nothing stands for an empty value, so that a line is never read as missing.
const nothing = "none"

func orNothing(s string) string {
	if s == "" {
		return nothing
	}
	return s
}

// ended takes the full stop off a text, for the one that follows it.
func ended(s string) string {
	if s == "" {
		return "no reason was given"
	}
	return strings.TrimSuffix(s, ".")
}
