package gitops

import (
	"context"
	"errors"
	"fmt"

	"handrail/steps"
	"handrail/steps/cluster"
	"handrail/steps/gitops/app"
	"handrail/steps/kube/report"
)

// Annotations of what is run at a sync and not kept. Argo CD knows both, Helm its own; a Kustomization
// applies what has one as any other object.
const (
	argoHook = "argocd.argoproj.io/hook"
	helmHook = "helm.sh/hook"
)

// runsOf says which hooks a sync runs: those of the commit, else those that the last operation ran.
func runsOf(a app.App, ch changes) (names []string, say string) {
	if ch.rendered {
		return ch.hooks, "hooks that run with it"
	}
	for _, h := range a.Hooks() {
		names = append(names, h.String()+" ("+h.HookEnd+")")
	}
	return names, "hooks that ran last time, and run again if Git still has them"
}

// asRan reads what is left of each hook that Git has, and tells which of them the next sync would
// run as they ran. One that was deleted after it ran leaves nothing to tell by.
func (r *desiredRun) asRan(ctx context.Context) error {
	var all, same, unread []string
	for _, i := range r.hooks {
		o := r.wanted.Objects[i]
		of, _, err := r.resourceOf(o)
		s := &side3{name: of.String(), of: of, desired: placed(o, of.Namespace), unrecorded: true}
		s.version, _ = o["apiVersion"].(string)
		all = append(all, s.name)
		if other := r.wanted.Varies[i]; other != nil {
			s.varies = apart(s.desired, placed(other, of.Namespace)) // what comes out otherwise each time tells nothing
		}
		if why := r.wanted.Unsaid[i]; err == nil && why != "" {
			err = errors.New(why)
		}
		if err == nil {
			s.live, err = r.live(ctx, s)
		}
		switch {
		case errors.Is(err, context.Canceled):
			return err
		case errors.Is(err, cluster.ErrAbsent):
		case err != nil:
			unread = append(unread, s.name+": "+report.Why(err))
		default:
			if s.actual = s.live.Object; len(s.lines()) == 0 {
				same = append(same, s.name)
			}
		}
	}
	if len(all) > mostListed {
		r.f.Unknown(fmt.Sprintf("there are %d, and a fact holds %d", len(all), mostListed), "hooks", "hooks_same")
		return nil
	}
	r.f.Set("hooks", steps.StringsOf(all))
	if len(unread) > 0 {
		r.f.Unknown(unread[0], "hooks_same")
		return nil
	}
	r.f.Set("hooks_same", steps.StringsOf(same))
	return nil
}
