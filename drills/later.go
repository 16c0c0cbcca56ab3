package drills

import (
	"cmp"
	"context"
	"slices"
	"time"

	"gopkg.in/yaml.v3"

	"handrail/drills/inject"
	"handrail/drills/stage"
	"handrail/steps/fault"
	"handrail/triage"
)

// later is what is injected once a gate was shown: a race between the preview
// and the act; or once a manual step is done: what another person does meanwhile.
type later struct {
	step   string // of the gate or the manual step, as the runbook has it
	manual bool
	inject inject.Steps
}

func (p parser) later(n *yaml.Node) []later {
	out := []later{}
	for _, item := range p.Items(n, "later") {
		var when struct {
			Shown string `key:"shown" as:"name"`
			Done  string `key:"done" as:"name"`
		}
		f := p.Struct(item, "later", &when, "inject")
		if (f["shown"] == nil) == (f["done"] == nil) {
			p.Fail(item, "", "later is for a gate that is shown or for a manual step that is done")
		}
		l := later{step: cmp.Or(when.Done, when.Shown), manual: f["done"] != nil, inject: inject.Read(p.Reader, p.Need(item, f, "inject"))}
		if slices.ContainsFunc(out, func(o later) bool { return o.step == l.step }) {
			p.Fail(item, "put it into one list", "later for %q again", l.step)
		}
		out = append(out, l)
	}
	return out
}

// Before is what walk.Script calls: a script types faster than a person can
// watch it, so it waits for what comes between the preview and the act, and for
// what others do once a manual step says that it was done. It has no hands either,
// so what a manual step wants done is done here.
func (r *Running) Before(ctx context.Context, in triage.Intent) error {
	if in.Kind != triage.DoConfirm && in.Kind != triage.DoManual {
		return nil
	}
	if in.Kind == triage.DoManual {
		if err := r.scene.hands[stage.StepName(in.Step)].Apply(ctx, &r.stage); err != nil {
			return err
		}
	}
	return r.comes(ctx, stage.StepName(in.Step))
}

// leaveWithin is how long a person who leaves waits for what the drill has begun to inject.
const leaveWithin = 30 * time.Second

// comes injects what comes once this gate was shown or this manual step done, if
// that was not begun yet. It is written down before it is done: half of it again
// would be another race than the one that the drill tells of. So it goes on to its end
// where ctx ends meanwhile, for as long as leaveWithin.
func (r *Running) comes(ctx context.Context, gate string) error {
	r.doors.Lock()
	defer r.doors.Unlock()
	i := slices.IndexFunc(r.scene.later, func(l later) bool { return l.step == gate })
	if i < 0 || r.stage.Rec.Later[gate] != "" {
		return nil
	}
	if r.stage.Rec.Later == nil {
		r.stage.Rec.Later = map[string]string{}
	}
	r.stage.Rec.Later[gate] = "begun"
	if err := r.stage.Save(); err != nil {
		return err
	}
	whole, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	defer context.AfterFunc(ctx, func() {
		defer fault.To(func(error) { stop() })
		time.AfterFunc(leaveWithin, stop)
	})()
	if err := r.scene.later[i].inject.Apply(whole, &r.stage); err != nil {
		return err
	}
	r.stage.Rec.Later[gate] = "done"
	return r.stage.Save()
}
