package gitops

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"handrail/steps"
	"handrail/steps/cluster"
	"handrail/steps/gitops/app"
	"handrail/steps/gitops/manifests"
	"handrail/steps/kube/act"
	"handrail/steps/kube/change"
	"handrail/steps/kube/patch"
	"handrail/steps/kube/report"
)

// What a sync holds to and shows.
const (
	keyRevision = "revision"
	keyApplied  = "applied before"
	keyDiffers  = "differs"
	keyPruned   = "would be deleted"
	keyBefore   = "last operation before"
	keyWait     = "is watched for"
)

// requestedAt asks Flux to reconcile now; it answers by status.lastHandledReconcileAt.
const requestedAt = app.FluxRequest

// initiator is who begins an operation, as Argo CD records it.
const initiator = "handrail"

func syncParams() []steps.Field {
	return cluster.ObjectParams(
		steps.Field{Name: "uid", Type: steps.Ident, Required: true, Doc: "UID of the application as it was read"},
		steps.Field{Name: "revision", Type: steps.Ident, Required: true, Doc: "commit, digest or version to sync to: the whole of it, never a branch"},
		steps.Field{Name: "prune", Type: steps.Bool, Default: "false", Doc: "whether what is no longer wanted may be deleted"},
		steps.Field{Name: "unchanged", Type: steps.Bool, Default: "false", Doc: "whether it must change nothing: a sync that proves that Git has what is live"},
		steps.Field{Name: "clone", Type: steps.Path, Doc: "a local clone of its repository that has the commit: what the sync changes is then rendered, and rehearsed object by object"},
		steps.Field{Name: "wait", Type: steps.Duration, Default: "10m", Doc: "how long the operation is watched for its end"},
	)
}

// newSyncGate makes the gate that applies a revision.
func newSyncGate(env steps.Env) steps.Gater {
	return change.Alter(env, "sync", planSync, judgeSync, followSync)
}

// planSync holds a sync to one revision, which must be the one that the controller compared
// with: what is shown is then what would be applied.
func planSync(ctx context.Context, p change.Plan) error {
	t := p.Target()
	a, err := app.Parse(t.Group, t.Kind, p.Object().Raw)
	if errors.Is(err, app.ErrNotOne) {
		p.Unmet("name the Application, Kustomization or HelmRelease that applies it", "%s cannot be synced: %v.", t, app.ErrNotOne)
		return nil
	}
	if err != nil {
		return fmt.Errorf("%s: %w", t, err)
	}
	revision := p.Params().Text("revision")
	from := manifests.SourceOf(ctx, p.Client(), a)
	p.Hold(keyRevision, revision)
	p.Hold(keyApplied, report.OrNothing(app.Commit(a.Applied)))
	p.Hold(keyBefore, markOf(a.Operation))
	p.Show(keyWait, "%s", p.Params().Duration("wait"))
	p.Name("sync", t.Namespace+"/"+t.Name+"@"+shortRevision(revision))
	if err := compared(p, a, from, revision); err != nil {
		return err
	}
	idle(p, a)
	ch, err := changesOf(ctx, p, a, revision)
	if err != nil {
		return err
	}
	if a.Controller == app.Flux {
		planReconcile(p, a, revision, ch)
		return nil
	}
	planOperation(ctx, p, a, revision, ch)
	return nil
}

// compared: the revision is a whole one, and the one that the controller looked at last.
func compared(p change.Plan, a app.App, from manifests.Source, revision string) error {
	switch {
	case from.Fails != "":
		p.Unmet("repair the source first", "The source of %s cannot be had: %s.", a, report.Ended(steps.OneLine(from.Fails, 300)))
	case from.Unread != "":
		p.Unmet("ask for the right to read it", "Which revision the source of %s holds is not known: %s.", a, report.Ended(from.Unread))
	case app.Commit(from.Revision) != revision:
		p.Unmet("let the controller compare with that revision first (refresh it), then read the application again",
			"%s was compared with %s, not with %s: what would be applied has not been looked at.", a, report.OrNothing(app.Commit(from.Revision)), revision)
	}
	if a.Controller == app.ArgoCD && a.Sync == app.SyncUnknown {
		p.Unmet("repair what keeps it from comparing: "+report.OrNothing(steps.OneLine(a.Says, 300)), "Argo CD does not know how %s differs.", a)
	}
	if a.Behind {
		p.Unmet("wait until its controller has seen it", "The controller of %s has not seen its newest spec yet.", a)
	}
	return nil
}

// idle: nothing of it runs, and its controller would act on what it is told.
func idle(p change.Plan, a app.App) {
	if ph := a.Operation.Phase; ph == app.Running && a.Controller == app.ArgoCD || ph == app.Terminating {
		p.Unmet("wait for its end, or end it with gitops/terminate", "An operation of %s is %s: %s.", a, ph, report.Ended(steps.OneLine(a.Operation.Message, 300)))
	}
	switch s := a.Suspension; {
	case s == nil:
	case a.Controller == app.Flux:
		p.Unmet("let it go on first, with kube/resume", "%s is suspended (%s), and would not be reconciled.", a, s.How)
	case strings.Contains(s.How, "skip-reconcile"):
		p.Unmet("take the annotation away first, with kube/patch", "Argo CD passes over %s (%s).", a, s.How)
	}
}

// planOperation asks Argo CD for one sync, to one revision.
func planOperation(ctx context.Context, p change.Plan, a app.App, revision string, ch changes) {
	prune := p.Params().Bool("prune")
	var differing, pruned []string
	for _, r := range a.Differing() {
		if r.Prune {
			pruned = append(pruned, r.String())
		} else {
			differing = append(differing, r.String())
		}
	}
	p.Hold(keyDiffers, listed(differing))
	p.Hold(keyPruned, listed(pruned))
	var back []steps.KV
	if !ch.rendered {
		back = backwards(ctx, p.Client(), a)
	}
	for _, line := range back {
		p.Show(line.Key, "%s", line.Value)
	}
	if len(differing)+len(pruned) == 0 && app.Commit(a.Applied) == revision {
		p.Unmet("nothing: it is so already", "%s has no difference to %s.", a, shortRevision(revision))
	}
	if p.Params().Bool("unchanged") {
		mustStay(p, a, revision, append(differing, pruned...), ch)
	}
	effect := fmt.Sprintf("apply %s to %s: %d of its %d objects differ, and the live side of each is written over.", shortRevision(revision), a, len(differing), len(a.Resources))
	if len(back) == 1 {
		effect += " Now live: " + steps.Clip(back[0].Value, 200) + "."
	}
	effect += ch.effect()
	if hooks, say := runsOf(a, ch); len(hooks) > 0 {
		p.Show(say, "%s", steps.Clip(listed(hooks), 600))
		effect += fmt.Sprintf(" There are %d %s.", len(hooks), say)
	}
	switch {
	case prune && len(pruned) > 0:
		effect += fmt.Sprintf(" %d that are no longer wanted are deleted.", len(pruned))
	case len(pruned) > 0:
		effect += fmt.Sprintf(" %d that are no longer wanted stay.", len(pruned))
	}
	p.Change(effect, "Sync to the revision before ("+report.OrNothing(shortRevision(a.Applied))+"). What was changed by hand and stands nowhere else is lost: the manifests of what differs are in the evidence.",
		patch.Op{Op: patch.Add, Path: "/operation", Value: map[string]any{
			"initiatedBy": map[string]any{"username": initiator},
			"sync":        map[string]any{"revision": revision, "prune": prune, "syncStrategy": map[string]any{"hook": map[string]any{}}},
		}})
}

// mustStay: a sync that is a check changes nothing, by the comparison of the controller and by
// what is rendered here.
func mustStay(p change.Plan, a app.App, revision string, differing []string, ch changes) {
	const cure = "stop, and find out which side of it is right, before anything else is synced"
	switch {
	case len(differing) > 0:
		p.Unmet(cure, "This sync is to change nothing, and %d objects of %s differ from %s: %s.", len(differing), a, shortRevision(revision), steps.Clip(listed(differing), 400))
	case !ch.rendered:
		p.Unmet("name a clone of its repository that has the commit", "This sync is to change nothing, and what %s has was not rendered here.", shortRevision(revision))
	case ch.untried > 0:
		p.Unmet(cure, "This sync is to change nothing, and what it does to %d objects of %s is not known.", ch.untried, a)
	case ch.fields > 0:
		p.Unmet(cure, "This sync is to change nothing, and would change %d fields of %s.", ch.fields, a)
	}
}

// planReconcile asks Flux to apply what its source holds. It cannot be told to prune or
// not for one time.
func planReconcile(p change.Plan, a app.App, revision string, ch changes) {
	if ch.rendered {
		p.Hold(keyPruned, listed(ch.pruned))
	}
	if a.Kind == "HelmRelease" && len(ch.pruned) > 0 && !p.Params().Bool("prune") {
		p.Unmet("bring them back to the chart, or say prune: true where they may go", "%s would delete what its chart no longer has, and cannot be asked to leave that once: %s.", a, steps.Clip(listed(ch.pruned), 600))
	}
	if a.Prune && a.Kind == "Kustomization" && !p.Params().Bool("prune") {
		switch {
		case !ch.rendered:
			p.Unmet("look at its inventory, and say prune: true where it may delete, or name a clone of its repository", "%s deletes what is no longer in its source, and cannot be asked to leave that once.", a)
		case len(ch.pruned) > 0:
			p.Unmet("bring them back to Git, or say prune: true where they may go", "%s would delete what is no longer in Git, and cannot be asked to leave that once: %s.", a, steps.Clip(listed(ch.pruned), 600))
		}
	}
	notes := p.Object().GetAnnotations()
	op := patch.Op{Op: patch.Add, Path: patch.Join([]string{"metadata", "annotations"}), Value: map[string]any{requestedAt: act.AtAct}}
	if notes != nil {
		op = patch.Op{Op: patch.Add, Path: patch.Join([]string{"metadata", "annotations", requestedAt}), Value: act.AtAct}
	}
	effect := fmt.Sprintf("let Flux apply %s to %s now: each of its %d objects is written over by what the source has.", shortRevision(revision), a, len(a.Resources))
	switch {
	case a.Prune && !ch.rendered:
		effect += " What is no longer in the source is deleted."
	case len(ch.pruned) > 0 && (a.Prune || a.Kind == "HelmRelease"):
		effect += fmt.Sprintf(" %d that are no longer in it are deleted.", len(ch.pruned))
	}
	effect += ch.effect()
	p.Change(effect, "Reconcile the revision before ("+report.OrNothing(shortRevision(a.Applied))+") from Git. What was changed by hand and stands nowhere else is lost.", op)
}

// listed is a list as it is held to, in order and whole.
func listed(of []string) string { return report.OrNothing(strings.Join(of, ", ")) }

// markOf tells an operation from another one. Its time has whole seconds, in one of which a
// sync can follow another.
func markOf(op app.Operation) string {
	if op.Began.IsZero() {
		return report.Nothing
	}
	mark := stampOf(op.Began)
	if op.By != "" {
		mark += " by " + steps.OneLine(op.By, 100)
	}
	return mark
}

// stampOf is a time as a target holds it.
func stampOf(at time.Time) string {
	if at.IsZero() {
		return report.Nothing
	}
	return at.UTC().Format(time.RFC3339)
}

func terminateParams() []steps.Field {
	return cluster.ObjectParams(steps.Field{Name: "uid", Type: steps.Ident, Required: true, Doc: "UID of the application as it was read"})
}

// newTerminateGate makes the gate that ends an operation of Argo CD, as argocd app
// terminate-op does.
func newTerminateGate(env steps.Env) steps.Gater {
	return change.Alter(env, "terminate", planTerminate, judgeTerminate, nil)
}

func planTerminate(_ context.Context, p change.Plan) error {
	t := p.Target()
	a, err := app.Parse(t.Group, t.Kind, p.Object().Raw)
	if err != nil || a.Controller != app.ArgoCD {
		p.Unmet("suspend it with kube/suspend", "%s has no operation that could be ended: that is a thing of Argo CD.", t)
		return nil
	}
	op := a.Operation
	p.Hold(keyBefore, markOf(op))
	if op.Phase != app.Running || op.Began.IsZero() {
		p.Unmet("nothing: it is over, or never began", "No operation of %s runs; the last one is %s.", a, op.Phase)
		return nil
	}
	done, of := op.Applied()
	p.Show("so far", "%d of %d objects: %s", done, of, steps.OneLine(op.Message, 300))
	p.Change(fmt.Sprintf("end the operation of %s that began at %s. What it applied so far (%d of %d objects) stays; hooks that run are deleted.", a, stampOf(op.Began), done, of),
		"Cannot be undone: a new sync begins from the first object.",
		patch.Op{Op: patch.Replace, Path: "/status/operationState/phase", Value: "Terminating"})
	return nil
}

// judgeTerminate says whether that operation is over, or about to be.
func judgeTerminate(o act.Order, now act.Sighting) (result, words string) {
	if result, words = act.JudgeAlter(o, now); result == steps.Done || result == "" || now.Absent || now.Other != "" {
		return result, words
	}
	a, later, err := begun(o, now)
	switch {
	case err != nil:
		return steps.Failed, err.Error()
	case later:
		return steps.Failed, fmt.Sprintf("Another operation of %s began since: %s.", a, a.Operation.Phase)
	case a.Operation.Phase == app.Failed:
		return steps.Done, fmt.Sprintf("The operation of %s ended: %s", a, steps.OneLine(a.Operation.Message, 300))
	case a.Operation.Phase == app.Succeeded:
		return steps.Failed, fmt.Sprintf("The operation of %s came to its end before it was ended.", a)
	}
	return result, words
}
