package gitops

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"handrail/steps"
	"handrail/steps/cluster"
	"handrail/steps/gitops/app"
	"handrail/steps/kube/act"
	"handrail/steps/kube/report"
)

// look is the time between two looks at an operation that runs.
const look = time.Second

// compares is how many looks after the end of an operation of Argo CD its next comparison is waited for: until then the
// application still says that it differs. It begins by itself and takes seconds; one that failed is made again after the two
// minutes that Argo CD has by default.
const compares = 150

// begun is the operation that an act began, as an application shows it: it is a later one
// than the one before the act.
func begun(o act.Order, now act.Sighting) (a app.App, is bool, err error) {
	group, kind := kindOf(o.Path)
	if a, err = app.Parse(group, kind, now.Raw); err != nil {
		return a, false, err
	}
	return a, !a.Operation.Began.IsZero() && markOf(a.Operation) != steps.Find(o.KVs, keyBefore), nil
}

// judgeSync says what a sync came to. While it runs it has been begun, which is what was
// asked for.
func judgeSync(o act.Order, now act.Sighting) (result, words string) {
	if result, words = act.JudgeAlter(o, now); result != steps.Failed || now.Absent || now.Other != "" {
		return result, words
	}
	// Argo CD takes the request away when it is done, and keeps its outcome.
	a, is, err := begun(o, now)
	switch {
	case err != nil:
		return steps.Failed, fmt.Sprintf("%s: %v", o.Object, err)
	case !is:
		return result, words
	}
	return outcome(a)
}

// outcome says what the operation of an application came to.
func outcome(a app.App) (result, words string) {
	switch op := a.Operation; op.Phase {
	case app.Succeeded:
		return steps.Done, fmt.Sprintf("The operation of %s succeeded at %s: %s", a, shortRevision(op.Revision), steps.OneLine(op.Message, 300))
	case app.Failed, app.Stalled:
		done, of := op.Applied()
		if of == 0 {
			return steps.Failed, fmt.Sprintf("The operation of %s failed at %s: %s", a, a.Link, steps.OneLine(a.Says, 600))
		}
		return steps.Failed, fmt.Sprintf("The operation of %s failed at %s, after %d of %d objects: %s", a, a.Link, done, of, steps.OneLine(a.Says, 600))
	}
	return steps.Done, fmt.Sprintf("The operation of %s runs: %s", a, steps.OneLine(a.Operation.Message, 300))
}

// followSync watches an operation to its end. One that does not end in time is said to
// run on; gitops/terminate ends it.
func followSync(ctx context.Context, env steps.Env, p steps.Preview, done steps.Outcome, out steps.Sink) (steps.Outcome, error) {
	c, o, why := act.Approved(env, p, out)
	if why != "" {
		done.Response += " Its end was not watched: " + why
		return done, nil
	}
	wait, err := time.ParseDuration(steps.Find(p.Shown, keyWait))
	if err != nil {
		wait = 10 * time.Minute
	}
	inner, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	said, after := "", 0
	for {
		now, err := act.SightAt(inner, c, o)
		if err == nil && (now.Absent || now.Other != "") {
			done.Result, done.Response = steps.Failed, "The application went away while it was synced."
			return done, nil
		}
		if err == nil {
			a, ended, perr := endedNow(o, now)
			if perr != nil {
				done.Response += " Its end was not watched: " + perr.Error()
				return done, nil
			}
			if ended {
				done.Result, done.Response = outcome(a)
				done.After = append(now.After(steps.Find(done.After, act.KeyAudit)), results(a)...)
				if after++; comparedSince(a) || after > compares {
					return done, nil
				}
				a.Operation.Message = "waiting for Argo CD to compare again"
			}
			if line := a.Operation.Message; line != said {
				said = line
				out.Line(steps.OneLine(line, 200))
			}
		}
		if err := act.Pause(inner, look); err != nil {
			if ctx.Err() != nil {
				return done, ctx.Err()
			}
			if after > 0 {
				return done, nil
			}
			done.Result = steps.Failed
			done.Response = fmt.Sprintf("It was begun, and has not ended after %s: %s. It goes on; wait and read it again, or end it with gitops/terminate.", wait, steps.OneLine(said, 300))
			return done, nil
		}
	}
}

// endedNow reports whether the operation that an act began has ended.
func endedNow(o act.Order, now act.Sighting) (app.App, bool, error) {
	a, is, err := begun(o, now)
	if err != nil {
		return a, false, err
	}
	if a.Controller == app.Flux {
		return a, app.Handled(now.Raw, requestedAt) && a.Operation.Phase != app.Running, nil
	}
	return a, is && !a.Operation.Ended.IsZero() && a.Operation.Phase != app.Running && a.Operation.Phase != app.Terminating, nil
}

// comparedSince reports whether an application says how it differs now that its operation has ended. Argo CD writes
// whole seconds: a comparison in the second of the end may be one from before it, which its sync status then tells.
func comparedSince(a app.App) bool {
	switch {
	case a.Controller != app.ArgoCD || a.Operation.Phase != app.Succeeded:
		return true
	case a.Checked.Equal(a.Operation.Ended):
		return a.Sync == app.Synced
	}
	return a.Checked.After(a.Operation.Ended)
}

// results are what an operation came to for each object that it changed or failed at.
func results(a app.App) []steps.KV {
	var out []steps.KV
	for _, r := range a.Operation.Results {
		status := r.Status
		if r.Hook != "" {
			status = "hook " + r.HookEnd
		}
		out = append(out, steps.KV{Key: r.String(), Value: steps.OneLine(status+" "+r.Message, 300)})
		if len(out) == mostListed {
			break
		}
	}
	return out
}

// wroteSince tells by the live objects what an operation wrote whose results are not its own: one of them that its
// controller wrote after it began says so, and all of them, written before it, that nothing was. Why is what keeps it unknown.
func wroteSince(ctx context.Context, c *cluster.Client, a app.App) (wrote app.Tristate, why string) {
	op := a.Operation
	if len(op.Earlier) > mostCompared {
		return app.Unknown, fmt.Sprintf("of its %d objects no more than %d are read", len(op.Earlier), mostCompared)
	}
	for _, of := range op.Earlier {
		o, err := booksOf(ctx, c, a, of.Resource)
		if err != nil {
			why = cmp.Or(why, of.String()+": "+report.Why(err))
			continue
		}
		newest, known := o.GetCreationTimestamp().Time, false
		for _, e := range o.GetManagedFields() {
			if e.Subresource == "" && e.Time != nil && slices.Contains(appliers, e.Manager) {
				if known = true; e.Time.After(newest) {
					newest = e.Time.Time
				}
			}
		}
		switch {
		case newest.After(op.Began):
			return app.Yes, ""
		case newest.Equal(op.Began): // books count in seconds
			why = cmp.Or(why, of.String()+" was written in the second in which it began")
		case !known: // others wrote all of its fields since
			why = cmp.Or(why, "on "+of.String()+" it is not recorded when Argo CD wrote it")
		}
	}
	if why != "" {
		return app.Unknown, why
	}
	return app.No, ""
}

// kindOf is the API group and kind of an application, by the path that leads to it.
func kindOf(path string) (group, kind string) {
	parts := strings.Split(strings.TrimPrefix(path, "/apis/"), "/")
	if len(parts) < 3 {
		return "", ""
	}
	kinds := map[string]string{applications: "Application", kustomizations: "Kustomization", helmReleases: "HelmRelease"}
	return parts[0], kinds[parts[len(parts)-2]]
}
