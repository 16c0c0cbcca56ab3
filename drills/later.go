package drills

import (
	"context"
	"fmt"
	"slices"

	"gopkg.in/yaml.v3"

	"handrail/triage"
)

// later is what is injected once a gate was shown: a race between the preview
// and the act; or once a manual step is done: what somebody else does meanwhile.
type later struct {
	step   string // of the gate or the manual step, as the runbook has it
	manual bool
	inject []step
}

func (p parser) later(n *yaml.Node) []later {
	out := []later{}
	for _, item := range p.Items(n, "later") {
		f := p.Fields(item, "later", "shown", "done", "inject")
		l := later{manual: f["done"] != nil}
		if l.manual {
			l.step = p.form(f["done"], "done", nameForm)
		} else {
			l.step = p.form(p.need(item, f, "shown"), "shown", nameForm)
		}
		if f["shown"] != nil && l.manual {
			p.Fail(item, "", "later is for a gate that is shown or for a manual step that is done")
		}
		l.inject = p.steps(p.need(item, f, "inject"))
		if slices.ContainsFunc(out, func(o later) bool { return o.step == l.step }) {
			p.Fail(item, "put it into one list", "later for %q again", l.step)
		}
		out = append(out, l)
	}
	return out
}

// Before is what session.Script calls: a script types faster than anybody can
// watch it, so it waits for what comes between the preview and the act, and for
// what others do once a manual step says that it was done. It has no hands either,
// so what a manual step wants done is done here.
func (r *Running) Before(ctx context.Context, in triage.Intent) error {
	if in.Kind != triage.DoConfirm && in.Kind != triage.DoManual {
		return nil
	}
	if in.Kind == triage.DoManual {
		if err := r.inject(ctx, r.scene.hands[bare(in.Step)]); err != nil {
			return err
		}
	}
	return r.comes(ctx, bare(in.Step))
}

// comes injects what comes once this gate was shown or this manual step done, if
// that was not begun yet. It is written down before it is done: half of it again
// would be another race than the one that the drill tells of.
func (r *Running) comes(ctx context.Context, gate string) error {
	r.doors.Lock()
	defer r.doors.Unlock()
	i := slices.IndexFunc(r.scene.later, func(l later) bool { return l.step == gate })
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
