package writers

import (
	"context"
	"fmt"
	"strings"

	"handrail/steps"
	"handrail/steps/cluster"
	"handrail/steps/kube/owner"
	"handrail/steps/kube/rbac"
)

// writeVerbs are those that change or remove an object that is there; creating
// counts only where it is not.
func (w *writers) verbs() []string {
	verbs := []string{"update", "patch", "delete", "deletecollection"}
	if w.absent {
		verbs = append(verbs, "create")
	}
	return verbs
}

// accounts walks the roles and bindings that can reach the object.
func (w *writers) accounts(ctx context.Context) {
	of := rbac.Object{Group: w.t.Group, Resource: w.t.Plural, Namespace: w.t.Namespace, Name: w.t.Name}
	objects := []rbac.Object{of}
	if w.scalable() {
		of.Subresource = "scale"
		objects = append(objects, of)
	}
	walk := rbac.NewWalk(w.verbs(), objects...)
	around := w.indirectly()
	err := RolesAndBindings(ctx, w.c, w.t, func(r rbac.Role) {
		walk.Role(r)
		for _, a := range around {
			a.walk.Role(r)
		}
	}, func(b rbac.Binding) {
		walk.Binding(b)
		for _, a := range around {
			a.walk.Binding(b)
		}
	})
	w.mu.Lock()
	w.grants, w.dangling = rbac.Merge(walk.Grants()), walk.Dangling()
	direct := map[rbac.Subject]bool{}
	for _, g := range w.grants {
		direct[g.Subject] = true
		if g.Subject.Kind == "Group" && (g.Subject.Name == "system:serviceaccounts" || g.Subject.Name == "system:authenticated" || g.Subject.Name == "system:unauthenticated") {
			w.everybody = append(w.everybody, g.Subject.String()+" by "+g.Binding)
		}
	}
	for _, a := range around {
		for _, g := range rbac.Merge(a.walk.Grants()) {
			if !direct[g.Subject] && !strings.HasPrefix(g.Subject.Name, "system:") {
				w.indirect = append(w.indirect, fmt.Sprintf("%s may %s by %s", g.Subject, a.what, g.Binding))
			}
		}
	}
	w.mu.Unlock()
	w.fail("roles and bindings", err, "accounts", "workloads")
}

// indirectRight is a right that leads to the right to write.
type indirectRight struct {
	what string
	walk *rbac.Walk
}

func (w *writers) indirectly() []indirectRight {
	ns := w.t.Namespace
	around := func(what, verb string, of rbac.Object) indirectRight {
		return indirectRight{what, rbac.NewWalk([]string{verb}, of)}
	}
	return []indirectRight{
		around("change roles beyond its own rights", "escalate", rbac.Object{Group: cluster.RBACGroup, Resource: "clusterroles"}),
		around("bind any role", "bind", rbac.Object{Group: cluster.RBACGroup, Resource: "clusterroles"}),
		around("act as any service account", "impersonate", rbac.Object{Resource: "serviceaccounts", Namespace: ns}),
		around("change what admission does to every request", "update", rbac.Object{Group: "admissionregistration.k8s.io", Resource: "mutatingwebhookconfigurations"}),
		around("reach nodes past the API server", "get", rbac.Object{Resource: "nodes", Subresource: "proxy"}),
	}
}

// RolesAndBindings reads those that can grant anything on an object: of other
// namespaces none can.
func RolesAndBindings(ctx context.Context, c *cluster.Client, t cluster.Target, role func(rbac.Role), bind func(rbac.Binding)) error {
	type roles struct {
		Metadata meta        `json:"metadata"`
		Rules    []rbac.Rule `json:"rules"`
	}
	type bindings struct {
		Metadata meta `json:"metadata"`
		RoleRef  struct {
			Kind string `json:"kind"`
			Name string `json:"name"`
		} `json:"roleRef"`
		Subjects []rbac.Subject `json:"subjects"`
	}
	seeRole := func(r roles) { role(rbac.Role{Namespace: r.Metadata.Namespace, Name: r.Metadata.Name, Rules: r.Rules}) }
	seeBinding := func(b bindings) {
		bind(rbac.Binding{Namespace: b.Metadata.Namespace, Name: b.Metadata.Name, RoleKind: b.RoleRef.Kind, RoleName: b.RoleRef.Name, Subjects: b.Subjects})
	}
	of := func(plural, kind string, namespaced bool) cluster.Resource {
		return cluster.Resource{Group: cluster.RBACGroup, Version: "v1", Plural: plural, Kind: kind, Namespaced: namespaced}
	}
	if err := cluster.Each(ctx, c, of("clusterroles", "ClusterRole", false).Path("", ""), nil, seeRole); err != nil {
		return err
	}
	if t.Namespaced {
		if err := cluster.Each(ctx, c, of("roles", "Role", true).Path(t.Namespace, ""), nil, seeRole); err != nil {
			return err
		}
		if err := cluster.Each(ctx, c, of("rolebindings", "RoleBinding", true).Path(t.Namespace, ""), nil, seeBinding); err != nil {
			return err
		}
	}
	return cluster.Each(ctx, c, of("clusterrolebindings", "ClusterRoleBinding", false).Path("", ""), nil, seeBinding)
}

func (w *writers) accountTexts() []string {
	var out []string
	for _, g := range w.grants {
		out = append(out, grantText(g))
	}
	return out
}

func grantText(g rbac.Grant) string {
	return steps.Clip(fmt.Sprintf("%s: may %s by %s of %s", g.Subject, strings.Join(g.Verbs, ", "), g.Binding, g.Role), 600)
}

// scalable reports whether the object has replicas that others set.
func (w *writers) scalable() bool {
	spec, _ := specOf(w.o)
	_, has := spec["replicas"]
	return has || w.t.Group == "apps" && w.t.Plural != "daemonsets"
}

func specOf(o cluster.Object) (map[string]any, bool) {
	if o.Unstructured == nil {
		return nil, false
	}
	spec, ok := o.Object["spec"].(map[string]any)
	return spec, ok
}

// owners are the parents and the tools whose marks the object bears.
func (w *writers) owners(ctx context.Context) {
	if w.absent {
		return
	}
	own, err := owner.Resolve(ctx, w.c, w.t, w.o)
	if err != nil {
		w.fail("owners", err, "controllers")
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.controllers = append(w.controllers, own.Owners...)
	w.findings = append(w.findings, own.Findings...)
	if len(own.Gaps) > 0 {
		if w.lost == nil {
			w.lost = map[string]bool{}
		}
		w.lost["controllers"] = true
		w.unread = append(w.unread, own.Gaps...)
	}
}

// scalers are the autoscalers that write the object.
func (w *writers) scalers(ctx context.Context) {
	if !w.t.Namespaced {
		return
	}
	type reference struct {
		APIVersion string `json:"apiVersion"`
		Kind       string `json:"kind"`
		Name       string `json:"name"`
	}
	type scaler struct {
		Metadata meta `json:"metadata"`
		Spec     struct {
			ScaleTargetRef reference `json:"scaleTargetRef"`
			TargetRef      reference `json:"targetRef"`
			UpdatePolicy   struct {
				UpdateMode string `json:"updateMode"`
			} `json:"updatePolicy"`
		} `json:"spec"`
	}
	for _, of := range []struct{ version, kind, how string }{
		{"autoscaling/v2", "HorizontalPodAutoscaler", "it sets replicas through the scale subresource, every 15 s by default: change its minReplicas and maxReplicas instead"},
		{"keda.sh/v1alpha1", "ScaledObject", "it makes a HorizontalPodAutoscaler: annotate it with autoscaling.keda.sh/paused"},
		{"autoscaling.k8s.io/v1", "VerticalPodAutoscaler", "it rewrites the requests of its Pods: set its updatePolicy.updateMode to Off"},
	} {
		r, err := w.c.AnyVersion(of.version, of.kind)
		if err == nil {
			err = cluster.Each(ctx, w.c, r.Path(w.t.Namespace, ""), nil, func(s scaler) {
				ref := s.Spec.ScaleTargetRef
				if ref.Name == "" {
					ref = s.Spec.TargetRef
				}
				group, _, _ := strings.Cut(ref.APIVersion, "/")
				if ref.Name != w.t.Name || ref.Kind != "" && ref.Kind != w.t.Kind || strings.Contains(ref.APIVersion, "/") && group != w.t.Group {
					return
				}
				paused := owner.PausedNo
				if s.Spec.UpdatePolicy.UpdateMode == "Off" {
					paused = owner.PausedYes
				}
				w.mu.Lock()
				w.controllers = append(w.controllers, steps.Owner{Name: r.Label(w.t.Namespace, s.Metadata.Name), Paused: paused, How: of.how})
				w.mu.Unlock()
			})
		}
		w.fail(strings.ToLower(of.kind)+"s", err, "controllers")
	}
}
