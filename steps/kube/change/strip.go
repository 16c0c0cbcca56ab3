package change

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"handrail/steps"
	"handrail/steps/cluster"
	"handrail/steps/kube/act"
	"handrail/steps/kube/blame"
	"handrail/steps/kube/object"
	"handrail/steps/kube/owner"
	"handrail/steps/kube/report"
	"handrail/steps/kube/stuck"
)

// stripGate removes one finalizer of one object.
type stripGate struct{ env steps.Env }

// Preview implements steps.Gater.
func (g stripGate) Preview(ctx context.Context, in steps.Params, out steps.Sink) (steps.Preview, error) {
	return unmoved(ctx, in, func() (steps.Preview, error) { return g.preview(ctx, in, out) })
}

func (g stripGate) preview(ctx context.Context, in steps.Params, out steps.Sink) (steps.Preview, error) {
	s, err := look(ctx, g.env, in, out)
	if err != nil {
		return steps.Preview{}, err
	}
	name := in.Text("finalizer")
	p := steps.Preview{
		Target: append(s.identity(), steps.KV{Key: act.KeyFinalizer, Value: name}),
		Shown:  s.beside(),
		Phrase: steps.Phrase("patch", s.t.String()),
	}
	f := floors{&p.Unmet}
	f.identity(s, in.Text("uid"))
	if s.absent {
		return p, nil
	}
	if !cluster.Matches(cluster.FinalizerName, name) {
		return p, fmt.Errorf("%q is not a finalizer that can be removed", steps.Clip(name, 100))
	}
	if !s.deleted() { // of one that is, the status may tell that its clean-up runs
		still, err := act.ContentBut(s.o, s.t.Resource)
		if err != nil {
			return p, err
		}
		p.Shown = append(p.Shown, steps.KV{Key: act.KeyRest, Value: still})
	}
	f.finalizer(s, name)
	f.managed(s)
	k, err := stuck.KeeperOf(ctx, s.c, s.t, s.o, name, in.Text("controller"))
	if ctx.Err() != nil {
		return p, ctx.Err()
	}
	if said := stuck.Says(in.Text("keeper")); err == nil && k.Unseen && said != "" {
		// No floor of the kind can tell: it takes the name of a person (law 12).
		p.Owners = append(p.Owners, steps.Owner{Name: "the controller of " + name, Paused: owner.PausedUnknown,
			How: said + ", and nothing here is tied to it: a person answers for that it is gone, by name and with a reason"})
	} else {
		f.keeper(s, name, k, err)
	}
	p.Shown = append(p.Shown, steps.KV{Key: "keeper", Value: fmt.Sprintf("%s: %s", report.OrNothing(k.Name), report.OrNothing(k.State))})
	for _, tie := range k.Ties {
		p.Shown = append(p.Shown, steps.KV{Key: "its keeper by", Value: tie})
	}
	for _, w := range blame.SetBy(s.o, name) {
		p.Shown = append(p.Shown, steps.KV{Key: "set by", Value: w.String()})
	}
	p.Effect, p.Undo = s.stripWords(name, k), s.stripUndo(name)
	if s.deleted() { // it goes now or later; else the finalizer can be put back
		if p.Prior, err = s.prior(); err != nil {
			return p, err
		}
	}
	if err := s.company(ctx, &p); err != nil {
		return p, err
	}
	p.Owes = []steps.Debt{{Kind: "unfinished", Text: fmt.Sprintf("the clean-up of %s never ran for %s: %s", name, s.t, leakOf(k))}}
	return p, g.rehearse(ctx, s, name, &p, out)
}

// rehearse writes the request into the preview, and what the server says it
// would change.
func (g stripGate) rehearse(ctx context.Context, s *subject, name string, p *steps.Preview, out steps.Sink) error {
	index := slices.Index(s.o.GetFinalizers(), name)
	if index < 0 {
		return nil
	}
	path, uid := s.t.Path(s.t.Namespace, s.t.Name), string(s.o.GetUID())
	at := func(version string) (act.Request, error) { return act.StripRequest(path, uid, version, name, index) }
	shown, err := at(act.Later)
	if err != nil {
		return err
	}
	typed, err := at("")
	if err != nil {
		return err
	}
	p.Request = shown.Text()
	p.Command = s.c.Kubectl(s.t.Namespace, "patch", s.t.Resource.String(), s.t.Name, "--type=json", "--field-manager="+cluster.FieldManager, "-p", string(typed.Body))
	p.Shown = append(p.Shown, steps.KV{Key: act.KeyTyped, Value: act.TypedTests})
	a, went, err := s.tryOut(ctx, at, p, out)
	if err != nil || !went {
		return err
	}
	changed, err := object.Diff(s.o.Raw, a.Body)
	if err != nil {
		return err
	}
	p.Diff = changed.Lines(s.t.Group == "" && s.t.Kind == "Secret")
	if !changed.OnlyFinalizer(name) {
		floors{&p.Unmet}.unmet("find the admission webhook or policy that does it; with it in place this cannot be one small change",
			"The server would change more than this one finalizer: %d fields, see the diff.", len(changed))
	}
	if !s.vanishes(name) {
		return nil
	}
	p.Diff = append(p.Diff, fmt.Sprintf("- %s: it is being deleted and nothing else holds it", s.t))
	children, err := s.offspring(ctx, floors{&p.Unmet})
	p.Diff = append(p.Diff, children...)
	return err
}

// vanishes reports whether the object goes with this finalizer.
func (s *subject) vanishes(name string) bool {
	return s.deleted() && !s.graceful() && len(s.o.GetFinalizers()) == 1 && s.o.GetFinalizers()[0] == name
}

func (s *subject) stripWords(name string, k stuck.Keeper) string {
	rest := slices.DeleteFunc(slices.Clone(s.o.GetFinalizers()), func(x string) bool { return x == name })
	leak := fmt.Sprintf("Its clean-up never runs; what stays behind is %s.", leakOf(k))
	switch {
	case s.vanishes(name):
		return fmt.Sprintf("remove the last finalizer of %s: it goes at once, and what it alone owns goes after it. %s", s.t, leak)
	case len(rest) > 0 && s.deleted():
		return fmt.Sprintf("remove %s from %s, which stays until %s is gone too. %s", name, s.t, strings.Join(rest, ", "), leak)
	case s.deleted():
		return fmt.Sprintf("remove the last finalizer of %s: it goes as soon as its node lets go of it. %s", s.t, leak)
	}
	return fmt.Sprintf("remove %s from %s. It is not being deleted and stays; when it is deleted, nothing waits. %s", name, s.t, leak)
}

func (s *subject) stripUndo(name string) string {
	if s.vanishes(name) {
		return "Cannot be undone: the object is gone. It can only be made again, under a new UID."
	}
	if s.deleted() {
		return "Cannot be undone: no finalizer can be added to an object that is being deleted. It can only be made again once it is gone, under a new UID."
	}
	var back any = []act.Operation{{Op: "add", Path: "/metadata/finalizers/-", Value: name}}
	if len(s.o.GetFinalizers()) == 1 { // the list goes with its last item
		back = []map[string]any{{"op": "add", "path": "/metadata/finalizers", "value": []string{name}}}
	}
	body, err := act.Compact(back)
	if err != nil {
		return "Can be put back while it is not being deleted."
	}
	return "Can be put back while it is not being deleted: " + s.c.Kubectl(s.t.Namespace, "patch", s.t.Resource.String(), s.t.Name, "--type=json", "-p", string(body))
}

func leakOf(k stuck.Keeper) string {
	if k.Leak == "" {
		return "it is not known what"
	}
	return report.Ended(k.Leak)
}

// judgeStrip says what a strip came to. What removed the finalizer cannot be
// told from the object: a removal leaves no author in managedFields.
func judgeStrip(o act.Order, now act.Sighting) (result, words string) {
	switch {
	case now.Absent:
		return steps.Done, fmt.Sprintf("%s is gone by UID.", o.Object)
	case now.Other != "":
		return steps.Done, fmt.Sprintf("%s is gone by UID; another object has its name, UID %s.", o.Object, now.Other)
	case !slices.Contains(now.Finalizers, o.Finalizer):
		return steps.Done, fmt.Sprintf("%s has no finalizer %s any more; it has %s.", o.Object, o.Finalizer, report.OrNothing(strings.Join(now.Finalizers, ", ")))
	case now.ResourceVersion != o.Version:
		return steps.Failed, fmt.Sprintf("%s still has the finalizer %s. %s", o.Object, o.Finalizer, o.Moved(now))
	}
	return "", fmt.Sprintf("%s is as it was.", o.Object)
}

// Act implements steps.Gater.
func (g stripGate) Act(ctx context.Context, a *steps.Approval, out steps.Sink) (steps.Outcome, error) {
	p, err := a.Spend()
	if err != nil {
		return steps.Outcome{}, err
	}
	return act.Send(ctx, g.env, p, (*act.Order).Strip, judgeStrip, out)
}

// Find implements steps.Finder.
func (g stripGate) Find(ctx context.Context, before []steps.KV, _ steps.Params, out steps.Sink) (steps.Outcome, error) {
	return act.Find(ctx, g.env, before, judgeStrip, out)
}

// Again implements steps.Rereader.
func (g stripGate) Again(ctx context.Context, before []steps.KV, _ steps.Params, out steps.Sink) (steps.Outcome, error) {
	return act.Reread(ctx, g.env, before, nil, judgeStrip, out)
}
