package change

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"handrail/steps"
	"handrail/steps/cluster"
	"handrail/steps/kube/act"
	"handrail/steps/kube/stuck"
	"handrail/steps/kube/weaken"
)

// deleteGate deletes one object.
type deleteGate struct {
	env  steps.Env
	says bool // its own terms say what the object limits
}

// Preview implements steps.Gater.
func (g deleteGate) Preview(ctx context.Context, in steps.Params, out steps.Sink) (steps.Preview, error) {
	return unmoved(ctx, in, func() (steps.Preview, error) { return g.preview(ctx, in, out, floors.oneObject) })
}

// preview says what a delete would do; terms are those of a kind beside the ones
// of every delete.
func (g deleteGate) preview(ctx context.Context, in steps.Params, out steps.Sink, terms func(floors, *subject, *steps.Preview)) (steps.Preview, error) {
	s, err := look(ctx, g.env, in, out)
	if err != nil {
		return steps.Preview{}, err
	}
	p := steps.Preview{Target: s.identity(), Shown: s.beside(), Phrase: steps.Phrase("delete", s.t.String())}
	f := floors{&p.Unmet}
	f.identity(s, in.Text("uid"))
	if s.absent {
		return p, nil
	}
	f.deletable(s)
	f.managed(s)
	f.leased(s)
	if err := f.unheld(ctx, s); err != nil {
		return p, err
	}
	p.Effect = fmt.Sprintf("delete %s for good. What it owns is deleted after it, in the background.%s", s.t, s.takesAlong())
	p.Undo = "Cannot be undone: it can only be made again, under a new UID and without what it owned."
	if p.Prior, err = s.prior(); err != nil {
		return p, err
	}
	if err := s.company(ctx, &p); err != nil {
		return p, err
	}
	if !releaseRecord(s.t.String()) {
		p.Owes = []steps.Debt{{Kind: "reconcile", Text: fmt.Sprintf("Git, or the creator of %s, must stop creating it", s.t)}}
	}
	terms(f, s, &p)
	if kind := (weaken.Kind{Group: s.t.Group, Kind: s.t.Kind}); weaken.Control(kind) && !isWebhooks(s.t.Resource) && !g.says {
		f.holdsTo(&p, in, s.t, []weaken.Change{{Sort: weaken.Removes, Path: "/", Why: "it limits others, and what it shut is open without it"}})
	}
	return p, g.rehearse(ctx, s, &p, out)
}

func (g deleteGate) rehearse(ctx context.Context, s *subject, p *steps.Preview, out steps.Sink) error {
	path, uid := s.t.Path(s.t.Namespace, s.t.Name), string(s.o.GetUID())
	shown, err := act.DeleteRequest(path, uid, act.Later)
	if err != nil {
		return err
	}
	typed, err := act.DeleteRequest(path, uid, "")
	if err != nil {
		return err
	}
	p.Request = shown.Text()
	// kubectl delete has no preconditions; its raw form takes them.
	p.Command = fmt.Sprintf("echo %s | %s", steps.Quote(string(typed.Body)), s.c.Kubectl("", "delete", "--raw", path, "-f", "-"))
	p.Shown = append(p.Shown, steps.KV{Key: act.KeyTyped, Value: act.TypedTests})
	a, went, err := s.tryOut(ctx, func(version string) (act.Request, error) { return act.DeleteRequest(path, uid, version, "All") }, p, out)
	if err != nil || !went {
		return err
	}
	p.Diff, err = s.goes(ctx, a, floors{&p.Unmet})
	return err
}

// goes says what a delete takes away. The server answers it with the object, or
// with a Status where the object goes at once.
func (s *subject) goes(ctx context.Context, a act.Answer, f floors) ([]string, error) {
	m, is, err := a.Object()
	if err != nil {
		return nil, err
	}
	line := fmt.Sprintf("- %s (UID %s)", s.t, s.o.GetUID())
	if is {
		if m.UID != s.o.GetUID() {
			return nil, fmt.Errorf("%s: the rehearsal would delete another object, UID %s", s.t, m.UID)
		}
		if n := m.DeletionGracePeriodSeconds; n != nil && *n > 0 {
			line += fmt.Sprintf(", after its grace period of %d s", *n)
		}
		if len(m.Finalizers) > 0 {
			line += ", once nothing holds it: " + strings.Join(m.Finalizers, ", ")
		}
	}
	children, err := s.offspring(ctx, f)
	return append([]string{line}, children...), err
}

// takesAlong warns of what a delete takes beside the object and its children.
func (s *subject) takesAlong() string {
	if s.t.Group == "" && (s.t.Plural == "persistentvolumeclaims" || s.t.Plural == "persistentvolumes") {
		return " The data of its volume goes with it unless the reclaim policy is Retain."
	}
	return ""
}

// deletable: the deletion is one object's, and was not asked for yet.
func (f floors) deletable(s *subject) {
	switch {
	case s.t.Group == "" && s.t.Plural == "namespaces":
		f.unmet("delete what must go one by one", "A namespace takes everything inside it with it: that is not one object.")
	case s.t.Group == "apiextensions.k8s.io" && s.t.Plural == "customresourcedefinitions":
		f.unmet("delete what must go one by one", "A CustomResourceDefinition takes every object of its kind with it: that is not one object.")
	case s.t.Group == cluster.APIServices().Group && s.t.Plural == cluster.APIServices().Plural && stuck.Conditions(s.o)["Available"].Status != "False":
		f.unmet("leave it; where its API is not wanted any more, uninstall what serves it",
			"%s is not known to be dead (Available is %s), and its deletion takes its API from all who use it.", s.t, orUnknown(stuck.Conditions(s.o)["Available"].Status))
	case s.deleted():
		f.unmet("find what holds it: its finalizers, or its node", "%s is being deleted already, since %s.", s.t, act.Stamp(s.o.GetDeletionTimestamp()))
	}
}

func orUnknown(status string) string { return cmp.Or(steps.Clip(status, 40), "unknown") }

// oneObject: what a delete takes is one object of one team, and no rule of the
// cluster.
func (f floors) oneObject(s *subject, _ *steps.Preview) {
	if isWebhooks(s.t.Resource) {
		f.unmet("use kube/delete-webhook, which says what it protects; kube/narrow-webhook takes less",
			"%s decides over requests of the whole cluster.", s.t)
	}
}

// unheld: no finalizer would hold the object, but for those that the control
// plane takes away by itself.
func (f floors) unheld(ctx context.Context, s *subject) error {
	for _, name := range slices.Compact(slices.Sorted(slices.Values(s.o.GetFinalizers()))) {
		k, err := stuck.KeeperOf(ctx, s.c, s.t, s.o, name, "")
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil || !k.Builtin {
			f.unmet("let its owner finish, or strip it first", "The finalizer %q would hold %s in deletion.", name, s.t)
		}
	}
	return nil
}

// Act implements steps.Gater.
func (g deleteGate) Act(ctx context.Context, a *steps.Approval, out steps.Sink) (steps.Outcome, error) {
	p, err := a.Spend()
	if err != nil {
		return steps.Outcome{}, err
	}
	return g.send(ctx, p, out)
}

// send deletes the one object of an approved preview.
func (g deleteGate) send(ctx context.Context, p steps.Preview, out steps.Sink) (steps.Outcome, error) {
	return act.Send(ctx, g.env, p, (*act.Order).Delete, judgeDelete, out)
}

// Find implements steps.Finder.
func (g deleteGate) Find(ctx context.Context, before []steps.KV, _ steps.Params, out steps.Sink) (steps.Outcome, error) {
	return act.Find(ctx, g.env, before, judgeDelete, out)
}

// Again implements steps.Rereader.
func (g deleteGate) Again(ctx context.Context, before []steps.KV, _ steps.Params, out steps.Sink) (steps.Outcome, error) {
	return act.Reread(ctx, g.env, before, nil, standsDeleted, out)
}

// standsDeleted judges an object that was deleted: another of its name means that
// it was created again.
func standsDeleted(o act.Order, now act.Sighting) (result, words string) {
	switch {
	case now.Other != "" && releaseRecord(o.Object):
		return steps.Done, fmt.Sprintf("%s is gone by UID. Helm began the revision again: UID %s%s.", o.Object, now.Other, now.By())
	case now.Other != "":
		return steps.Failed, fmt.Sprintf("%s is gone by UID, and was created again: UID %s%s.", o.Object, now.Other, now.By())
	}
	return judgeDelete(o, now)
}

var releaseRecordForm = regexp.MustCompile(`^(?:secret|configmap)/[^/]+/sh\.helm\.release\.v1\..+\.v[0-9]+$`)

// releaseRecord reports whether an object is the record of one revision of a Helm release.
// Nothing creates it but the next run of helm, which counts on from the revision before it
// and so may use the name again (storage.makeKey of helm.sh/helm/v4/pkg/storage).
func releaseRecord(object string) bool { return releaseRecordForm.MatchString(object) }

// judgeDelete says what a delete came to.
func judgeDelete(o act.Order, now act.Sighting) (result, words string) {
	switch {
	case now.Absent:
		return steps.Done, fmt.Sprintf("%s is gone by UID.", o.Object)
	case now.Other != "":
		return steps.Done, fmt.Sprintf("%s is gone by UID; another object has its name, UID %s: it was created again.", o.Object, now.Other)
	case now.DeletionTimestamp != nil:
		return steps.Done, fmt.Sprintf("%s is being deleted; %s.", o.Object, waits(now))
	case now.ResourceVersion != o.Version:
		return steps.Failed, fmt.Sprintf("%s is there and not being deleted. %s", o.Object, o.Moved(now))
	}
	return "", fmt.Sprintf("%s is as it was.", o.Object)
}

func waits(now act.Sighting) string {
	if len(now.Finalizers) > 0 {
		return "it waits for " + strings.Join(now.Finalizers, ", ")
	}
	if n := now.DeletionGracePeriodSeconds; n != nil && *n > 0 {
		return fmt.Sprintf("its node has %d s to let go of it", *n)
	}
	return "nothing holds it"
}
