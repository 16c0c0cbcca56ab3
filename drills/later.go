package drills

import (
	"context"
	"fmt"
	"slices"

	"gopkg.in/yaml.v3"

	"handrail/triage"
)

// later is what is injected once a gate was shown: a race between the preview
// and the act.
type later struct {
	shown  string // step of the gate, as the runbook has it
	inject []step
}

func (p parser) later(n *yaml.Node) []later {
	out := []later{}
	for _, item := range p.Items(n, "later") {
		f := p.Fields(item, "later", "shown", "inject")
		l := later{shown: p.form(p.need(item, f, "shown"), "shown", nameForm), inject: p.steps(p.need(item, f, "inject"))}
		if slices.ContainsFunc(out, func(o later) bool { return o.shown == l.shown }) {
			p.Fail(item, "put it into one list", "later for %q again", l.shown)
		}
		out = append(out, l)
	}
	return out
}

// Before is what session.Script calls: a script types faster than anybody can
// watch it, so it waits for what comes between the preview and the act.
func (r *Running) Before(ctx context.Context, in triage.Intent) error {
	if in.Kind != triage.DoConfirm {
		return nil
	}
	return r.shown(ctx, bare(in.Step))
}

// shown injects what comes once this gate was shown, if that was not begun yet.
// It is written down before it is done: half of it again would be another race
// than the one that the drill tells of.
func (r *Running) shown(ctx context.Context, gate string) error {
	r.doors.Lock()
	defer r.doors.Unlock()
	i := slices.IndexFunc(r.scene.later, func(l later) bool { return l.shown == gate })
	if i < 0 || r.rec.Later[gate] != "" {
		return nil
	}
	if r.rec.Later == nil {
		r.rec.Later = map[string]string{}
	}
	r.rec.Later[gate] = "begun"
	if err := r.save(); err != nil {
		return err
	}
	if err := r.inject(ctx, r.scene.later[i].inject); err != nil {
		return err
	}
	r.rec.Later[gate] = "done"
	return r.save()
}

func (st *stage) inject(ctx context.Context, steps []step) error {
	for _, in := range steps {
		if err := in.act.apply(ctx, st); err != nil {
			return fmt.Errorf("%s: %w", in.verb, err)
		}
	}
	return nil
}
