package rbac_test

import (
	"encoding/json"
	"slices"
	"testing"

	"handrail/steps/kube/rbac"
)

// FuzzWalk reads what a cluster may hold as rules and as subjects. Who is granted
// something is granted it by a rule that says so, however the rules are ordered.
func FuzzWalk(f *testing.F) {
	f.Add(`[{"verbs":["*"],"apiGroups":[""],"resources":["configmaps"],"resourceNames":["a"]}]`, `[{"kind":"ServiceAccount","namespace":"shop","name":"web"}]`, "update", "", "configmaps", "", "a")
	f.Add(`[{"verbs":["create"],"apiGroups":["*"],"resources":["*/scale"]},{"verbs":["get"]}]`, `[{"kind":"Group","name":"system:authenticated"},{"kind":"User"}]`, "create", "apps", "deployments", "scale", "")
	f.Add(`[{"resources":[""],"verbs":[""],"apiGroups":[""]}]`, `[{}]`, "", "", "", "", "")
	f.Fuzz(func(t *testing.T, rawRules, rawSubjects, verb, group, resource, sub, name string) {
		var rules []rbac.Rule
		var subjects []rbac.Subject
		if json.Unmarshal([]byte(rawRules), &rules) != nil || json.Unmarshal([]byte(rawSubjects), &subjects) != nil {
			return
		}
		o := rbac.Object{Group: group, Resource: resource, Subresource: sub, Namespace: "shop", Name: name}
		granted := slices.ContainsFunc(rules, func(r rbac.Rule) bool { return r.Grants(verb, o) })
		walk := func(rules []rbac.Rule) []rbac.Grant {
			w := rbac.NewWalk([]string{verb}, o)
			w.Role(rbac.Role{Namespace: "shop", Name: "r", Rules: rules})
			w.Binding(rbac.Binding{Namespace: "shop", Name: "b", RoleKind: "Role", RoleName: "r", Subjects: subjects})
			if len(w.Dangling()) > 0 {
				t.Fatalf("the role was told and is missing: %q", w.Dangling())
			}
			return w.Grants()
		}
		got := walk(rules)
		if !granted && len(got) > 0 {
			t.Fatalf("%s lets nobody %s %+v, and grants %+v", rawRules, verb, o, got)
		}
		if granted && len(subjects) > 0 && len(got) == 0 {
			t.Fatalf("%s lets somebody %s %+v, and %s are granted nothing", rawRules, verb, o, rawSubjects)
		}
		slices.Reverse(rules)
		if again := walk(rules); len(again) != len(got) {
			t.Fatalf("%d grants, and %d from the last rule to the first", len(got), len(again))
		}
		rbac.Merge(got)
		for _, s := range subjects {
			_, _, _ = s.Account()
			_ = s.Holds("shop", "web") && s.String() == ""
		}
	})
}
