package rbac_test

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"handrail/steps/kube/rbac"
)

func TestGrants(t *testing.T) {
	t.Parallel()
	rule := func(verbs, groups, resources string, names ...string) rbac.Rule {
		return rbac.Rule{Verbs: strings.Fields(verbs), APIGroups: strings.Split(groups, ","), Resources: strings.Fields(resources), ResourceNames: names}
	}
	web := rbac.Object{Group: "apps", Resource: "deployments", Namespace: "shop", Name: "web"}
	scale := web
	scale.Subresource = "scale"
	for _, tc := range []struct {
		rule rbac.Rule
		verb string
		of   rbac.Object
		want bool
	}{
		{rule("update", "apps", "deployments"), "update", web, true},
		{rule("update", "apps", "deployments"), "patch", web, false},
		{rule("update", "", "deployments"), "update", web, false},
		{rule("*", "*", "*"), "update", web, true},
		{rule("*", "*", "*"), "update", scale, true},
		{rule("update", "apps", "deployments"), "update", scale, false},
		{rule("update", "apps", "deployments/scale"), "update", scale, true},
		{rule("update", "apps", "deployments/*"), "update", scale, false},
		{rule("update", "apps", "*/scale"), "update", scale, true},
		{rule("update", "apps", "*/scale"), "update", web, false},
		{rule("update", "apps", "deployments", "web"), "update", web, true},
		{rule("update", "apps", "deployments", "api"), "update", web, false},
		{rule("deletecollection", "apps", "deployments", "web"), "deletecollection", web, false},
		{rule("create", "apps", "deployments", "web"), "create", web, false},
		{rule("create", "apps", "deployments"), "create", web, true},
		{rule("create", "apps", "deployments/scale", "web"), "create", scale, true},
		{rule("list", "apps", "deployments", "web"), "list", web, true},
		{rule("list", "apps", "deployments", "web"), "list", rbac.Object{Group: "apps", Resource: "deployments", Namespace: "shop"}, false},
	} {
		if got := tc.rule.Grants(tc.verb, tc.of); got != tc.want {
			t.Errorf("%+v grants %s of %+v: %v, want %v", tc.rule, tc.verb, tc.of, got, tc.want)
		}
	}
}

func TestWalk(t *testing.T) {
	t.Parallel()
	w := rbac.NewWalk([]string{"update", "delete"}, rbac.Object{Resource: "configmaps", Namespace: "shop", Name: "a"})
	all := []rbac.Rule{{Verbs: []string{"*"}, APIGroups: []string{"*"}, Resources: []string{"*"}}}
	w.Role(rbac.Role{Name: "admin", Rules: all})
	w.Role(rbac.Role{Name: "view", Rules: []rbac.Rule{{Verbs: []string{"get"}, APIGroups: []string{""}, Resources: []string{"configmaps"}}}})
	w.Role(rbac.Role{Namespace: "shop", Name: "one", Rules: []rbac.Rule{{Verbs: []string{"update"}, APIGroups: []string{""}, Resources: []string{"configmaps"}, ResourceNames: []string{"a"}}}})
	sa := func(ns, name string) []rbac.Subject {
		return []rbac.Subject{{Kind: "ServiceAccount", Namespace: ns, Name: name}}
	}
	w.Binding(rbac.Binding{Name: "root", RoleKind: "ClusterRole", RoleName: "admin", Subjects: sa("kube-system", "root")})
	w.Binding(rbac.Binding{Name: "looks", RoleKind: "ClusterRole", RoleName: "view", Subjects: sa("shop", "reader")})
	w.Binding(rbac.Binding{Namespace: "other", Name: "there", RoleKind: "ClusterRole", RoleName: "admin", Subjects: sa("other", "x")})
	w.Binding(rbac.Binding{Namespace: "shop", Name: "one", RoleKind: "Role", RoleName: "one", Subjects: sa("", "writer")})
	w.Binding(rbac.Binding{Namespace: "shop", Name: "lost", RoleKind: "Role", RoleName: "gone", Subjects: sa("shop", "y")})
	w.Binding(rbac.Binding{Namespace: "shop", Name: "too", RoleKind: "ClusterRole", RoleName: "admin", Subjects: []rbac.Subject{{Kind: "User", Name: "system:serviceaccount:shop:writer"}, {Kind: "Group", Name: "system:serviceaccounts:ci"}}})
	var got []string
	for _, g := range w.Grants() {
		got = append(got, g.Subject.String()+" "+strings.Join(g.Verbs, ",")+" "+g.Binding+" "+g.Role+" "+string('0'+rune(g.Reach)))
	}
	want := []string{
		"group/system:serviceaccounts:ci update,delete rolebinding/shop/too clusterrole/admin 2",
		"serviceaccount/kube-system/root update,delete clusterrolebinding/root clusterrole/admin 2",
		"serviceaccount/shop/writer update rolebinding/shop/one role/shop/one 0",
		"user/system:serviceaccount:shop:writer update,delete rolebinding/shop/too clusterrole/admin 2",
	}
	if !slices.Equal(got, want) {
		t.Errorf("Grants() =\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if got := w.Dangling(); len(got) != 1 || !strings.Contains(got[0], "rolebinding/shop/lost names role/shop/gone") {
		t.Errorf("Dangling() = %q", got)
	}
	if n := len(rbac.Merge(w.Grants())); n != 4 {
		t.Errorf("%d merged grants, want 4", n)
	}
	ci := rbac.Subject{Kind: "Group", Name: "system:serviceaccounts:ci"}
	if !ci.Holds("ci", "any") || ci.Holds("shop", "any") {
		t.Error("a group of a namespace holds other accounts than its own")
	}
}

// TestWalkAgreesWithTheNaiveModel draws graphs and asks each question one by one.
func TestWalkAgreesWithTheNaiveModel(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		some := func(name string, of ...string) []string {
			return rapid.SliceOfNDistinct(rapid.SampledFrom(of), 1, 2, rapid.ID[string]).Draw(t, name)
		}
		object := rbac.Object{Group: rapid.SampledFrom([]string{"", "apps"}).Draw(t, "group"), Resource: "things", Namespace: "a", Name: "x",
			Subresource: rapid.SampledFrom([]string{"", "scale"}).Draw(t, "sub")}
		verbs := []string{"update", "delete", "create"}
		w := rbac.NewWalk(verbs, object)
		var roles []rbac.Role
		for range rapid.IntRange(0, 5).Draw(t, "roles") {
			r := rbac.Role{Namespace: rapid.SampledFrom([]string{"", "a", "b"}).Draw(t, "ns"), Name: rapid.SampledFrom([]string{"r", "s"}).Draw(t, "name")}
			if slices.ContainsFunc(roles, func(o rbac.Role) bool { return o.Namespace == r.Namespace && o.Name == r.Name }) {
				continue
			}
			for range rapid.IntRange(0, 2).Draw(t, "rules") {
				r.Rules = append(r.Rules, rbac.Rule{Verbs: some("verbs", "*", "update", "delete", "get", "create"), APIGroups: some("groups", "", "*", "apps"),
					Resources: some("resources", "things", "*", "things/scale", "*/scale", "others"), ResourceNames: rapid.SampledFrom([][]string{nil, {"x"}, {"y"}}).Draw(t, "names")})
			}
			roles = append(roles, r)
			w.Role(r)
		}
		may := map[string]bool{}
		for i := range rapid.IntRange(0, 6).Draw(t, "bindings") {
			b := rbac.Binding{Namespace: rapid.SampledFrom([]string{"", "a", "b"}).Draw(t, "ns"), Name: string('a' + rune(i)), RoleKind: "ClusterRole",
				RoleName: rapid.SampledFrom([]string{"r", "s"}).Draw(t, "role"), Subjects: []rbac.Subject{{Kind: "User", Name: rapid.SampledFrom([]string{"u", "v"}).Draw(t, "user")}}}
			if b.Namespace != "" && rapid.Bool().Draw(t, "local") {
				b.RoleKind = "Role"
			}
			w.Binding(b)
			for _, r := range roles {
				if r.Name != b.RoleName || (b.RoleKind == "Role") != (r.Namespace != "") || b.RoleKind == "Role" && r.Namespace != b.Namespace || b.Namespace == "b" {
					continue
				}
				for _, rule := range r.Rules {
					for _, v := range verbs {
						if rule.Grants(v, object) {
							may[b.Subjects[0].Name+" "+v] = true
						}
					}
				}
			}
		}
		got := map[string]bool{}
		for _, g := range rbac.Merge(w.Grants()) {
			for _, v := range g.Verbs {
				v, _, _ = strings.Cut(v, "/")
				got[g.Subject.Name+" "+v] = true
			}
		}
		for k := range may {
			if !got[k] {
				t.Fatalf("%s is missing in %v", k, got)
			}
		}
		if len(got) != len(may) {
			t.Fatalf("%v, want %v", got, may)
		}
	})
}
