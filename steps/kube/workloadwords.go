package kube

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
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

// workloadSweep reads a list in pages and builds of each item what T keeps of it.
func workloadSweep[T any](ctx context.Context, c *client, path string, query url.Values, see func(T)) error {
	return workloadPages(ctx, c, path, asJSON, query, see)
}

func workloadPages[T any](ctx context.Context, c *client, path, accept string, query url.Values, see func(T)) error {
	if query == nil {
		query = url.Values{}
	}
	p := newPages(c, path, accept, query)
	for {
		raw, err := p.next(ctx)
		if err != nil {
			return err
		}
		rows := 0
		md, err := page{items: "items", item: func(s *scan) error {
			part, err := s.value()
			if err != nil {
				return err
			}
			var v T
			if err := json.Unmarshal(part, &v); err != nil {
				return err
			}
			rows++
			see(v)
			return nil
		}}.parse(raw)
		if err != nil {
			return fmt.Errorf("%s: the answer of %s cannot be read: %w", path, c.Server, err)
		}
		if done, err := p.took(md, rows, len(raw)); done || err != nil {
			return err
		}
	}
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
		return "no answer in time: " + clip(err.Error(), 300)
	}
	return clip(err.Error(), 400)
}

// workloadSpace is the namespace of a probe that is about one.
func (c *client) workloadSpace(in steps.Params) string {
	if ns := in.Text("namespace"); ns != "" {
		return ns
	}
	return c.Namespace
}
