package change

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"handrail/steps"
	"handrail/steps/cluster"
	"handrail/steps/fault"
	"handrail/steps/kube/act"
	"handrail/steps/kube/course"
	"handrail/steps/kube/patch"
	"handrail/steps/kube/report"
)

// single is a gate about one object, as a batch drives it: what it refuses alone, it
// refuses among others.
type single interface {
	steps.Gater
	steps.Finder
	steps.Rereader
	send(ctx context.Context, p steps.Preview, out steps.Sink) (steps.Outcome, error)
}

// courseGate does the same to each of several objects, or the changes of a list in
// its order, each by a request of its own.
type courseGate struct {
	env  steps.Env
	verb string // of the phrase
	plan func(steps.Env, steps.Params) ([]coursePlan, error)
}

// courseItem is one object of a batch, as it was previewed.
type courseItem struct {
	plan coursePlan
	p    steps.Preview
}

func namedField() steps.Field {
	return steps.Field{Name: "uids", Type: steps.Table, Required: true, Doc: "the objects, as resource/namespace/name or resource/name, each with its UID as it was read"}
}

func newSuspendBatch(env steps.Env) steps.Gater {
	return courseGate{env, "pause", func(env steps.Env, in steps.Params) ([]coursePlan, error) {
		why := func(*alterPlan) string { return in.Text("reason") } // one for all of them
		return plansOf(in, func(course.Name) (single, []patch.Op) {
			return suspendGate(env, why), []patch.Op{{Op: patch.Add, Path: "/spec/suspend", Value: true}}
		})
	}}
}

func newDeleteBatch(env steps.Env) steps.Gater {
	return courseGate{env, "delete", func(env steps.Env, in steps.Params) ([]coursePlan, error) {
		return plansOf(in, func(n course.Name) (single, []patch.Op) {
			switch one := (deleteGate{env, true}); {
			case strings.Contains(n.Resource, "webhookconfiguration"):
				return webhookDeleteGate{one}, nil
			case strings.Contains(n.Resource, "admissionpolic"):
				return policyDeleteGate{one}, nil
			}
			return deleteGate{env: env}, nil
		})
	}}
}

func newChangeBatch(env steps.Env) steps.Gater {
	return courseGate{env, "patch", func(env steps.Env, in steps.Params) ([]coursePlan, error) {
		list, err := course.Read(env, in.Text("changes"))
		if err != nil {
			return nil, err
		}
		var out []coursePlan
		for _, c := range list {
			plan, err := planOf(env, c, in)
			if err != nil {
				return nil, err
			}
			for _, key := range []string{"removes", "widens", "settle"} {
				if v, is := in[key]; is {
					plan.in[key] = v
				}
			}
			out = append(out, plan)
		}
		return out, nil
	}}
}

// Preview implements steps.Gater.
func (g courseGate) Preview(ctx context.Context, in steps.Params, out steps.Sink) (steps.Preview, error) {
	plans, err := g.plan(g.env, in)
	if err != nil {
		return steps.Preview{}, err
	}
	p := steps.Preview{}
	f := floors{&p.Unmet}
	switch {
	case len(plans) == 0:
		f.unmet("read again what is named", "No object is named.")
		return p, nil
	case len(plans) > course.Most:
		f.unmet(fmt.Sprintf("take at most %d at a time", course.Most), "%d objects are more than a person reads.", len(plans))
		return p, nil
	}
	if g.verb == "patch" {
		if err := g.known(ctx, plans, in["uids"].Table(), out); err != nil {
			return steps.Preview{}, err
		}
	}
	items, done, err := g.each(ctx, plans, out)
	if err != nil {
		return steps.Preview{}, err
	}
	if len(done) > 0 {
		p.Shown = append(p.Shown, steps.KV{Key: "done already", Value: steps.Clip(strings.Join(done, ", "), 600)})
	}
	if len(items) == 0 {
		f.unmet("nothing: look who did it, and go on", "Each of the %d objects is so already, or gone.", len(done))
		return p, nil
	}
	g.together(items, &p)
	return p, ctx.Err()
}

// known gives each change the UID of its object as it was read. One of which none was read is refused by the gate of the one.
func (g courseGate) known(ctx context.Context, plans []coursePlan, uids map[string]string, out steps.Sink) error {
	seen := map[string]bool{}
	for i, plan := range plans {
		if _, makes := plan.gate.(createGate); makes {
			continue
		}
		_, t, err := cluster.Reach(ctx, g.env, plan.in, out)
		if err != nil {
			return err
		}
		key := course.Key(t)
		if seen[key] {
			return fmt.Errorf("%s stands in the list twice: make one change of them", key)
		}
		seen[key] = true
		plans[i].key = key
		plans[i].in["uid"] = steps.IdentOf(uids[key])
	}
	return nil
}

// each previews every object by itself. One that is so already is left out, and named.
func (g courseGate) each(ctx context.Context, plans []coursePlan, out steps.Sink) (items []courseItem, done []string, err error) {
	got, so, errs := make([]courseItem, len(plans)), make([]bool, len(plans)), make([]error, len(plans))
	slots := make(chan struct{}, previewsAtOnce)
	var wait sync.WaitGroup
	for i, plan := range plans {
		wait.Go(func() {
			defer fault.To(func(err error) { errs[i] = err })
			select {
			case slots <- struct{}{}:
				defer func() { <-slots }()
			case <-ctx.Done():
				errs[i] = ctx.Err()
				return
			}
			got[i].plan = plan
			var doc map[string]any
			if so[i], doc, errs[i] = g.already(ctx, plan, out); errs[i] != nil || so[i] {
				return
			}
			got[i].p, errs[i] = plan.gate.Preview(ctx, plan.in, out)
			for _, op := range plan.ops {
				if patch.Counted(doc, op) {
					floors{&got[i].p.Unmet}.unmet("write [name=NAME] or [=VALUE] for the item, or - for the end of the list",
						"The change of %s counts the items of a list (%s %s), so the object does not show whether it was made already.", plan.key, op.Op, op.Path)
				}
			}
		})
	}
	wait.Wait()
	for i, plan := range plans {
		switch {
		case errs[i] != nil:
			return nil, nil, fmt.Errorf("%s: %w", plan.key, errs[i])
		case so[i]:
			done = append(done, plan.key)
		default:
			items = append(items, got[i])
		}
	}
	return items, done, nil
}

// already reports whether an object is as its change would leave it, and returns the object.
// One that is another by UID is not.
func (g courseGate) already(ctx context.Context, plan coursePlan, out steps.Sink) (so bool, doc map[string]any, err error) {
	c, err := cluster.Connect(g.env, out)
	if err != nil {
		return false, nil, err
	}
	var t cluster.Target
	if one, makes := plan.gate.(createGate); makes {
		_, t, err = one.wantedObject(ctx, c, plan.in)
	} else {
		t, err = c.Target(ctx, plan.in)
	}
	if err != nil {
		return false, nil, err
	}
	o, err := c.Get(ctx, t.Resource, t.Namespace, t.Name)
	if errors.Is(err, cluster.ErrAbsent) {
		return plan.ops == nil, nil, nil
	}
	if err != nil || plan.ops == nil {
		return false, nil, err
	}
	if doc, err = patch.Decode(o.Raw); err != nil {
		return false, nil, err
	}
	if uid := plan.in.Text("uid"); uid != "" && uid != string(o.GetUID()) {
		return false, doc, nil
	}
	return !slices.ContainsFunc(plan.ops, func(op patch.Op) bool { return patch.Counted(doc, op) || !course.Shows(doc, op) }), doc, nil
}

// together makes one preview of those of the items, in their order.
func (g courseGate) together(items []courseItem, p *steps.Preview) {
	var objects, versions, requests, commands, undo []string
	seen := map[string]bool{}
	mine := map[string]bool{}
	for _, it := range items {
		mine[steps.Find(it.p.Target, act.KeyObject)] = true
	}
	for _, key := range []string{act.KeyServer, act.KeyCluster} {
		p.Target = append(p.Target, steps.KV{Key: key, Value: steps.Find(items[0].p.Target, key)})
	}
	var beside []steps.KV
	for n, it := range items {
		object := steps.Find(it.p.Target, act.KeyObject)
		objects = append(objects, object)
		versions = append(versions, report.OrNothing(steps.Find(it.p.Shown, act.KeyVersion)))
		requests, commands = append(requests, it.p.Request), append(commands, it.p.Command)
		undo = append(undo, object+": "+it.p.Undo)
		p.Target = append(p.Target, steps.KV{Key: keyItem(n), Value: it.line()})
		for _, line := range it.p.Diff {
			p.Diff = append(p.Diff, object+": "+line)
		}
		for _, u := range it.p.Unmet {
			if !strings.Contains(u.Why, object) {
				u.Why = object + ": " + u.Why
			}
			p.Unmet = append(p.Unmet, u)
		}
		for _, o := range it.p.Owners {
			if !slices.ContainsFunc(p.Owners, func(have steps.Owner) bool { return have.Name == o.Name }) {
				p.Owners = append(p.Owners, o)
			}
		}
		for _, d := range it.p.Owes {
			d.Item = object
			p.Owes = append(p.Owes, d)
		}
		for _, kv := range it.p.Shown {
			name, _, _ := strings.Cut(kv.Value, ":")
			switch {
			case kv.Key == act.KeyVersion || kv.Key == act.KeyRest || kv.Key == "age" || seen[kv.Key+kv.Value]:
			case kv.Key == act.KeyAlike && (mine[name] || kv.Value == report.Nothing):
			default:
				seen[kv.Key+kv.Value] = true
				beside = append(beside, kv)
			}
		}
	}
	p.Shown = append(append(p.Shown, beside...), steps.KV{Key: keyVersions, Value: strings.Join(versions, ", ")})
	p.Shown = append(p.Shown, spaces(objects)...)
	p.Phrase = items[0].p.Phrase
	if len(items) > 1 {
		p.Phrase = steps.BatchPhrase(g.verb, objects)
	}
	p.Target = append(p.Target, steps.KV{Key: act.KeyObject, Value: strings.Join(strings.Fields(p.Phrase)[1:], " ")})
	p.Request, p.Command, p.Undo = strings.Join(requests, "\n"), strings.Join(commands, "\n"), strings.Join(undo, "\n")
	p.Effect = fmt.Sprintf("%s %d objects in this order, each read again before its turn and after it. It stops at the first that does not come out as rehearsed or does not stay so, and leaves the rest: %s.",
		g.verb, len(items), strings.Join(objects, ", "))
	if len(items) == 1 {
		p.Effect, p.Undo = items[0].p.Effect, items[0].p.Undo
	}
	p.Prior = priorOfCourse(items)
	p.Args = items
}

// priorOfCourse is one list of what is changed or goes.
func priorOfCourse(items []courseItem) *steps.Prior {
	var was []stripItem
	for _, it := range items {
		was = append(was, stripItem{p: it.p})
	}
	prior := priorOf(was)
	if prior != nil {
		prior.Optional = slices.ContainsFunc(items, func(it courseItem) bool { return it.p.Prior != nil && it.p.Prior.Optional })
	}
	return prior
}

// Act implements steps.Gater. Each object is previewed once more directly before its
// request, and read again once it had time to be undone.
func (g courseGate) Act(ctx context.Context, a *steps.Approval, out steps.Sink) (steps.Outcome, error) {
	p, err := a.Spend()
	if err != nil {
		return steps.Outcome{}, err
	}
	approved, err := steps.ArgsOf[[]courseItem](p)
	if err != nil {
		return act.Unsent(err.Error()), nil
	}
	var requests []string
	var list []steps.Item
	for n, it := range approved {
		if steps.Find(p.Target, keyItem(n)) != it.line() {
			return act.Unsent(fmt.Sprintf("%s is not the object that was shown as %s", it.plan.key, keyItem(n))), nil
		}
		effect, _, _ := strings.Cut(it.p.Effect, ". ")
		requests = append(requests, it.p.Request)
		list = append(list, steps.Item{Object: steps.Find(it.p.Target, act.KeyObject), Effect: effect, Command: it.p.Command, Before: it.p.Target})
	}
	if steps.Find(p.Target, keyItem(len(approved))) != "" || strings.Join(requests, "\n") != p.Request {
		return act.Unsent("the requests are not those that were shown"), nil
	}
	return steps.Batch(ctx, list, func(i int) (steps.Outcome, error) { return g.turn(ctx, approved[i], out) })
}

// turn is the act of one object.
func (g courseGate) turn(ctx context.Context, shown courseItem, out steps.Sink) (steps.Outcome, error) {
	fresh, err := readAtTurn(ctx, shown.p, func() (steps.Preview, error) { return shown.plan.gate.Preview(ctx, shown.plan.in, out) })
	switch now := (courseItem{shown.plan, fresh}); {
	case err != nil:
		return act.Unsent("it could not be read again: " + err.Error()), nil
	case now.line() != shown.line():
		return act.Unsent(fmt.Sprintf("it is not what was shown any more: %s, and it was %s", now.line(), shown.line())), nil
	}
	if why := strayedFrom(fresh, shown.p); why != "" {
		return act.Unsent(why), nil
	}
	done, err := shown.plan.gate.send(ctx, fresh, out)
	settle := shown.plan.settle()
	if err != nil || done.Result != steps.Done || settle <= 0 {
		return done, err
	}
	wait := time.NewTimer(settle)
	defer wait.Stop()
	select {
	case <-ctx.Done():
		return done, nil // what was sent is done; the batch ends before the next
	case <-wait.C:
	}
	later, err := shown.plan.gate.Again(ctx, slices.Concat(fresh.Target, fresh.Shown), shown.plan.in, out)
	switch {
	case err != nil:
		return steps.Outcome{}, fmt.Errorf("it was done, and could not be read again after %s: %w", settle, err)
	case later.Result != steps.Done:
		later.Result = steps.Failed
		later.Response = fmt.Sprintf("It was done, and did not stay so for %s: %s", settle, later.Response)
		return later, nil
	}
	return done, nil
}
