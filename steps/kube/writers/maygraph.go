package writers

import (
	"context"
	"strings"

	"handrail/steps"
	"handrail/steps/cluster"
	"handrail/steps/kube/podstate"
	"handrail/steps/kube/rbac"
	"handrail/steps/kube/report"
)

type mayRole struct {
	Metadata podstate.Metadata `json:"metadata"`
	Rules    []rbac.Rule       `json:"rules"`
}

type mayBinding struct {
	Metadata podstate.Metadata           `json:"metadata"`
	RoleRef  struct{ Kind, Name string } `json:"roleRef"`
	Subjects []rbac.Subject              `json:"subjects"`
}

// graph reads the roles and bindings that can grant it: those of the cluster,
// and those of the one namespace. A part that may not be read leaves the others.
func (r *mayRun) graph(ctx context.Context) {
	type at struct {
		plural, kind string
		namespaced   bool
	}
	path := func(a at) string {
		return cluster.Resource{Group: cluster.RBACGroup, Version: "v1", Plural: a.plural, Kind: a.kind, Namespaced: a.namespaced}.Path(r.of.Namespace, "")
	}
	rules := map[string][]rbac.Rule{} // by kind/name
	read := map[string]bool{}         // kinds of roles that were read whole
	for _, a := range []at{{"clusterroles", "ClusterRole", false}, {"roles", "Role", true}} {
		if a.namespaced && r.of.Namespace == "" {
			continue
		}
		err := cluster.Each(ctx, r.c, path(a), nil, func(m mayRole) { rules[a.kind+"/"+m.Metadata.Name] = m.Rules })
		if err != nil {
			r.unread = append(r.unread, a.plural+": "+report.Why(err))
			continue
		}
		read[a.kind] = true
	}
	r.role.look(rules, read)
	for _, a := range []at{{"clusterrolebindings", "ClusterRoleBinding", false}, {"rolebindings", "RoleBinding", true}} {
		if a.namespaced && r.of.Namespace == "" {
			continue
		}
		err := cluster.Each(ctx, r.c, path(a), nil, func(b mayBinding) { r.weigh(b, rules, read) })
		if err != nil {
			r.unread = append(r.unread, a.plural+": "+report.Why(err))
		}
	}
}

// weigh says what one binding means for the account.
func (r *mayRun) weigh(b mayBinding, rules map[string][]rbac.Rule, read map[string]bool) {
	mine := false
	for _, s := range b.Subjects {
		if s.Kind == "ServiceAccount" && s.Namespace == "" {
			s.Namespace = b.Metadata.Namespace
		}
		mine = mine || r.who.is(s)
	}
	if !mine {
		return
	}
	by := "clusterrolebinding/" + b.Metadata.Name
	if ns := b.Metadata.Namespace; ns != "" {
		by = "rolebinding/" + ns + "/" + b.Metadata.Name
	}
	role := strings.ToLower(b.RoleRef.Kind) + "/" + b.RoleRef.Name
	r.own = append(r.own, steps.Clip(by+" to "+role, 600))
	list, there := rules[b.RoleRef.Kind+"/"+b.RoleRef.Name]
	if !there {
		if read[b.RoleRef.Kind] {
			r.lost = append(r.lost, by+" names "+role+", which does not exist")
		}
		return
	}
	for _, rule := range list {
		if rule.Grants(r.verb, r.of) {
			r.grants = append(r.grants, steps.Clip(by+" to "+role, 600))
			return
		}
	}
}

// ask asks the server, about all accounts where that is allowed, else within the namespace
// alone.
func (r *mayRun) ask(ctx context.Context) (allowed bool, reason string, err error) {
	attributes := map[string]any{"verb": r.verb, "group": r.of.Group, "resource": r.of.Resource,
		"subresource": r.of.Subresource, "namespace": r.of.Namespace}
	if r.of.Named(r.verb) { // a name that no such request carries would make a rule fit that never does
		attributes["name"] = r.of.Name
	}
	spec := map[string]any{"resourceAttributes": attributes, "groups": r.who.groups}
	if r.who.user != "" {
		spec["user"] = r.who.user
	}
	allowed, reason, err = r.c.Review(ctx, "subjectaccessreviews", "SubjectAccessReview", "", spec)
	if cluster.IsForbidden(err) && r.of.Namespace != "" {
		return r.c.Review(ctx, "localsubjectaccessreviews", "LocalSubjectAccessReview", r.of.Namespace, spec)
	}
	return allowed, reason, err
}
