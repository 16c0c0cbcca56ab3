package centre

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"handrail/steps"
	"handrail/steps/cluster"
	"handrail/steps/gitops/app"
	"handrail/steps/kube/owner"
)

// drift finds what differs from Git by the word of who applies it.
func (s *Centre) drift(ctx context.Context, w *answer) {
	if r, ok := s.kind(ctx, w, "applications.argoproj.io"); ok {
		s.every(ctx, w, r, cluster.AsJSON, nil, func(o cluster.Object) {
			if textIn(o, "status", "sync", "status") != "OutOfSync" {
				return
			}
			row := steps.Standing{Level: steps.Warning, What: "out of sync", Where: r.Label(o.GetNamespace(), o.GetName()), Owner: keptBy(o), Command: s.get(r, o)}
			if names := outOfSync(o); len(names) > 0 {
				row.What = fmt.Sprintf("out of sync: %d of its objects", len(names))
				row.Detail = strings.Join(names[:min(len(names), 10)], ", ")
			}
			if project := textIn(o, "spec", "project"); row.Owner == "" && project != "" {
				row.Owner = "project " + steps.Clip(project, 100)
			}
			w.row(row)
		})
	}
	if r, ok := s.kind(ctx, w, "helmreleases."+owner.FluxHelm); ok {
		s.every(ctx, w, r, cluster.AsJSON, nil, func(o cluster.Object) {
			for kind, c := range conditionsOf(o) {
				if kind == "Drifted" && c.status == "True" || c.reason == "DriftDetected" {
					w.row(steps.Standing{Level: steps.Warning, What: "the cluster differs from the release", Where: r.Label(o.GetNamespace(), o.GetName()),
						Since: c.since, Owner: keptBy(o), Detail: c.message, Command: s.get(r, o)})
					return
				}
			}
		})
	}
}

func outOfSync(app cluster.Object) []string {
	list, _, _ := unstructured.NestedSlice(app.Object, "status", "resources")
	var out []string
	for _, item := range list {
		m, _ := item.(map[string]any)
		if m["status"] == "OutOfSync" {
			out = append(out, strings.ToLower(fmt.Sprint(m["kind"]))+"/"+fmt.Sprint(m["name"]))
		}
	}
	return out
}

// breakGlass finds rights that were given, and controllers that were paused, for
// an emergency: those that bear the mark.
func (s *Centre) breakGlass(ctx context.Context, w *answer) {
	const rbac = "rbac.authorization.k8s.io"
	for _, r := range []cluster.Resource{
		{Group: rbac, Version: "v1", Plural: "clusterrolebindings", Kind: "ClusterRoleBinding"},
		{Group: rbac, Version: "v1", Plural: "rolebindings", Kind: "RoleBinding", Namespaced: true},
	} {
		s.every(ctx, w, r, cluster.AsJSON, nil, func(o cluster.Object) {
			if mark, is := s.marked(o); is {
				w.row(s.granted(r, o, mark))
			}
		})
	}
	for _, name := range []string{"applications.argoproj.io", "kustomizations." + owner.FluxKustomize, "helmreleases." + owner.FluxHelm} {
		r, ok := s.kind(ctx, w, name)
		if !ok {
			continue
		}
		s.every(ctx, w, r, cluster.AsJSON, nil, func(o cluster.Object) {
			mark, is := s.marked(o)
			how := pausedHow(o)
			if how == "" {
				return
			}
			row := steps.Standing{Level: steps.Warning, What: "paused: " + how, Where: r.Label(o.GetNamespace(), o.GetName()), Owner: keptBy(o), Detail: mark, Command: s.get(r, o)}
			now, _ := s.c.Now()
			if !s.forgotten(&row, r, o, now) && !is {
				return
			}
			w.row(row)
		})
	}
}

// pausedLong is how long a pause may last before it is asked after.
const pausedLong = 4 * time.Hour

// forgotten adds to the row of a paused object who paused it, when and why, and reports whether that
// should have been looked at by now. What no field says counts as young: an application without auto-sync
// is none that is paused.
func (s *Centre) forgotten(row *steps.Standing, r cluster.Resource, o cluster.Object, now time.Time) bool {
	raw, err := o.MarshalJSON()
	if err != nil {
		return false
	}
	a, err := app.Parse(r.Group, r.Kind, raw)
	if err != nil || a.Suspension == nil {
		return false
	}
	p := a.Suspension
	if !p.AtLeast {
		row.Since = p.Since
	}
	if p.By != "" {
		row.Owner = steps.Clip(p.By, 128)
	}
	if note := p.Note.String(); note != "" {
		row.Detail = strings.Trim(note+"; "+row.Detail, "; ")
	}
	row.Runbook, row.Params = "gitops-out-of-sync", map[string]string{"resource": r.Plural + "." + r.Group, "name": o.GetName(), "namespace": o.GetNamespace()}
	switch {
	case now.IsZero():
		return false
	case p.Note.Overdue(now):
		row.What += ", should have been looked at " + p.Note.Until.Format("2006-01-02 15:04Z")
	case row.Since.IsZero() || now.Sub(row.Since) <= pausedLong || p.Note.Until.After(now):
		return false
	default:
		row.What += ", and was not looked at since"
	}
	return true
}

// marked finds the mark of break-glass among labels and annotations, with or
// without the prefix of the one who defined it.
func (s *Centre) marked(o cluster.Object) (string, bool) {
	for _, m := range []map[string]string{o.GetLabels(), o.GetAnnotations()} {
		for k, v := range m {
			if (k == s.key || strings.HasSuffix(k, "/"+s.key)) && !strings.EqualFold(v, "false") {
				return k + ": " + v, true
			}
		}
	}
	return "", false
}

func (s *Centre) granted(r cluster.Resource, o cluster.Object, mark string) steps.Standing {
	role := textIn(o, "roleRef", "name")
	row := steps.Standing{Level: steps.Warning, What: "gives " + steps.Clip(role, 100), Where: r.Label(o.GetNamespace(), o.GetName()), Since: o.GetCreationTimestamp().Time,
		Detail: mark, Command: s.get(r, o)}
	if role == "cluster-admin" {
		row.Level = steps.Critical
	}
	var who []string
	subjects, _, _ := unstructured.NestedSlice(o.Object, "subjects")
	for _, item := range subjects {
		if m, _ := item.(map[string]any); m["name"] != nil {
			who = append(who, fmt.Sprint(m["name"]))
		}
	}
	slices.Sort(who)
	row.Owner = steps.Clip(strings.Join(who, ", "), 200)
	return row
}

// pausedHow says how an object of Argo CD or Flux is paused, "" where it is not.
func pausedHow(o cluster.Object) string {
	if skip, err := strconv.ParseBool(o.GetAnnotations()[owner.ArgoSkip]); err == nil && skip {
		return owner.ArgoSkip
	}
	if on, set, _ := unstructured.NestedBool(o.Object, "spec", "syncPolicy", "automated", "enabled"); set && !on {
		return "auto-sync is off"
	}
	if paused, _, _ := unstructured.NestedBool(o.Object, "spec", "suspend"); paused {
		return "spec.suspend is true"
	}
	if _, automated, _ := unstructured.NestedFieldNoCopy(o.Object, "spec", "syncPolicy", "automated"); o.GetKind() == "Application" && !automated {
		return "auto-sync is off"
	}
	return ""
}
