package persist

import (
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"pgregory.net/rapid"
)

type m = map[string]any

func made(ns, name string, more m) *unstructured.Unstructured {
	o := m{"metadata": m{"name": name, "namespace": ns}}
	for k, v := range more {
		o[k] = v
	}
	return &unstructured.Unstructured{Object: o}
}

func rule(groups, resources, verbs string) m {
	list := func(s string) []any {
		var out []any
		for _, w := range strings.Split(s, " ") {
			out = append(out, strings.ReplaceAll(w, "core", ""))
		}
		return out
	}
	return m{"apiGroups": list(groups), "resources": list(resources), "verbs": list(verbs)}
}

// TestWrites is what counts as writing.
func TestWrites(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name   string
		rule   m
		writes bool
	}{
		{"reads", rule("core apps", "configmaps deployments", "get list watch"), false},
		{"patches", rule("core", "configmaps", "get patch"), true},
		{"everything", rule("*", "*", "*"), true},
		{"a subresource", rule("apps", "deployments/scale", "update"), true},
		{"its own election and events", rule("core coordination.k8s.io", "events leases", "create update patch"), false},
		{"questions", rule("authorization.k8s.io", "subjectaccessreviews", "create"), false},
		{"finalizers of owners", rule("apps", "deployments/finalizers", "update"), false},
		{"acts as another", rule("core", "users", "impersonate"), true},
		{"gives rights", rule("rbac.authorization.k8s.io", "clusterroles", "escalate bind"), true},
		{"makes tokens", rule("core", "serviceaccounts/token", "create"), true},
		{"exec begins as GET", rule("core", "pods/exec", "get"), true},
		{"logs", rule("core", "pods/log", "get"), false},
	} {
		if got := writesOf(tc.rule); (len(got) > 0) != tc.writes {
			t.Errorf("%s: writes %q, want %t", tc.name, got, tc.writes)
		}
	}
}

func bindTo(kind, role string, subjects ...any) m {
	return m{"roleRef": m{"kind": kind, "name": role}, "subjects": subjects}
}

func sa(ns, name string) m { return m{"kind": "ServiceAccount", "namespace": ns, "name": name} }

func TestMay(t *testing.T) {
	t.Parallel()
	g := NewGrants()
	g.Role("clusterrole", made("", "edit", m{"rules": []any{rule("core", "configmaps", "patch")}}))
	g.Role("clusterrole", made("", "sees-all", m{"rules": []any{rule("*", "*", "get list")}}))
	g.Role("clusterrole", made("", "view", m{"rules": []any{rule("core", "pods", "get list")}}))
	g.Role("clusterrole", made("", "system:controller:job-controller", m{"rules": []any{rule("core", "pods", "create")}}))
	g.Role("role", made("a", "edit", m{"rules": []any{rule("core", "secrets", "update")}}))
	g.Bind("clusterrolebinding", made("", "everywhere", bindTo("ClusterRole", "edit", sa("a", "writer"), m{"kind": "Group", "name": "ops"})))
	g.Bind("rolebinding", made("a", "here", bindTo("Role", "edit", m{"kind": "ServiceAccount", "name": "local"}, m{"kind": "User", "name": "system:serviceaccount:b:other"})))
	g.Bind("rolebinding", made("b", "seen", bindTo("ClusterRole", "sees-all", sa("b", "reader"))))
	g.Bind("clusterrolebinding", made("", "seen-all", bindTo("ClusterRole", "sees-all", sa("b", "kubelet-reader"))))
	g.Bind("clusterrolebinding", made("", "viewers", bindTo("ClusterRole", "view", sa("b", "viewer"))))
	g.Bind("clusterrolebinding", made("", "system:controller:job-controller", bindTo("ClusterRole", "system:controller:job-controller",
		sa("kube-system", "job-controller"), sa("kube-system", "intruder"))))
	g.Bind("rolebinding", made("b", "gone", bindTo("Role", "no-such", sa("b", "later"))))
	may := g.May()
	for subject, where := range map[string]string{
		"serviceaccount/a/writer": "", "group/ops": "", "serviceaccount/a/local": "a", "serviceaccount/b/other": "a",
		"serviceaccount/b/kubelet-reader": "", "serviceaccount/kube-system/intruder": "",
	} {
		if gs := may[subject]; len(gs) != 1 || gs[0].Where != where {
			t.Errorf("%s: %+v, want one grant in %q", subject, gs, where)
		}
		delete(may, subject)
	}
	if len(may) > 0 {
		t.Errorf("others may write: %v", may)
	}
	if g.Own != 1 || !slices.Equal(g.Dangling, []string{"rolebinding/b/gone"}) {
		t.Errorf("own %d, dangling %q", g.Own, g.Dangling)
	}
}

// TestOwnNames: a name that looks like the API server's own is not enough.
func TestOwnNames(t *testing.T) {
	t.Parallel()
	const job, bound = "clusterrole//system:controller:job-controller", "clusterrolebinding//system:controller:job-controller"
	o := newOwn()
	for _, tc := range []struct {
		binding, role, subject string
		own                    bool
	}{
		{bound, job, "serviceaccount/kube-system/job-controller", true},
		{bound, "clusterrole//cluster-admin", "serviceaccount/kube-system/job-controller", false},
		{bound, job, "serviceaccount/default/job-controller", false},
		{bound, "role/kube-system/system:controller:job-controller", "serviceaccount/kube-system/job-controller", false},
		{"clusterrolebinding//system:controller:config-audit", "clusterrole//system:controller:config-audit", "serviceaccount/kube-system/config-audit", false},
		{"rolebinding/team-a/system:controller:job-controller", job, "serviceaccount/kube-system/job-controller", false},
		{"clusterrolebinding//cluster-admin", "clusterrole//cluster-admin", "group/system:masters", true},
		{"clusterrolebinding//cluster-admin", "clusterrole//cluster-admin", "user/guest", false},
	} {
		if got := o.binds(tc.binding, tc.role, tc.subject); got != tc.own {
			t.Errorf("%+v: %t", tc, got)
		}
	}
}

// TestOwnText: the text says what the code reads in it, line for line.
func TestOwnText(t *testing.T) {
	t.Parallel()
	o := newOwn()
	binds, rules := 0, 0
	for line := range strings.Lines(ownText) {
		switch {
		case strings.HasPrefix(line, "#"):
		case strings.HasPrefix(line, "bind "):
			binds++
		case strings.HasPrefix(line, "rule "):
			if rules++; !o.roles[strings.Fields(line)[1]] {
				t.Errorf("%q is of a role that nothing binds", line)
			}
		default:
			t.Errorf("%q is neither a binding nor a rule", line)
		}
	}
	if len(o.bound) != binds || len(o.gives) == 0 || rules == 0 {
		t.Errorf("%d of %d bindings, %d roles of %d rules", len(o.bound), binds, len(o.gives), rules)
	}
}

// TestWidened: a role of the API server that was widened is an entry by what
// was added to it, whatever it is, and by nothing else.
func TestWidened(t *testing.T) {
	t.Parallel()
	const name = "system:controller:job-controller"
	given := []any{rule("batch", "jobs", "get list watch update patch"), rule("batch", "jobs/status", "update"), rule("batch", "jobs/finalizers", "update"),
		rule("core", "pods", "list watch create delete patch"), rule("core events.k8s.io", "events", "create patch update")}
	for _, tc := range []struct {
		name  string
		added m
		want  []string
	}{
		{"nothing", nil, nil},
		{"reading", rule("*", "secrets", "get list watch"), nil},
		{"less", m{"apiGroups": []any{""}, "resources": []any{"pods"}, "resourceNames": []any{"one"}, "verbs": []any{"delete"}}, nil},
		{"a verb", rule("core", "pods", "update"), []string{"update /pods"}},
		{"all verbs", rule("core", "pods", "*"), []string{"* /pods"}},
		{"another kind", rule("rbac.authorization.k8s.io", "clusterroles", "escalate bind"), []string{"bind rbac.authorization.k8s.io/clusterroles", "escalate rbac.authorization.k8s.io/clusterroles"}},
		{"all groups", rule("*", "jobs", "patch"), []string{"patch */jobs"}},
		{"exec", rule("core", "pods/exec", "get"), []string{"get /pods/exec"}},
		{"kubelets", rule("core", "nodes/proxy", "get"), []string{"get /nodes/proxy"}},
		{"everything", rule("*", "*", "*"), []string{"* */*"}},
		{"one secret", m{"apiGroups": []any{""}, "resources": []any{"secrets"}, "resourceNames": []any{"admin"}, "verbs": []any{"patch"}}, []string{"patch /secrets named admin"}},
	} {
		rules := slices.Clone(given)
		if tc.added != nil {
			rules = append(rules, tc.added)
		}
		g := NewGrants()
		g.Role("clusterrole", made("", name, m{"rules": rules}))
		g.Bind("clusterrolebinding", made("", name, bindTo("ClusterRole", name, sa("kube-system", "job-controller"))))
		gs := g.May()["serviceaccount/kube-system/job-controller"]
		switch {
		case tc.want == nil && (len(gs) != 0 || g.Own != 1 || len(g.Servers("serviceaccount/kube-system/job-controller")) != 1):
			t.Errorf("%s: %+v, %d own", tc.name, gs, g.Own)
		case tc.want != nil && (len(gs) != 1 || !slices.Equal(gs[0].Writes, tc.want) || g.Own != 0):
			t.Errorf("%s: %+v, want %q", tc.name, gs, tc.want)
		}
	}
}

func TestRuns(t *testing.T) {
	t.Parallel()
	pod := func(image string, more m) m {
		p := m{"serviceAccountName": "x", "containers": []any{m{"name": "a", "image": image, "command": []any{"run"}}}}
		for k, v := range more {
			p[k] = v
		}
		return p
	}
	base := Sum(RunsOf(pod("registry:5000/team/app:1.2", nil)))
	for name, same := range map[string]m{
		"another tag": pod("registry:5000/team/app:1.3", nil), "a digest": pod("registry:5000/team/app@sha256:00", nil),
		"a defaulted field": pod("registry:5000/team/app:1.2", m{"restartPolicy": "Always", "schedulerName": "default-scheduler"}),
	} {
		if Sum(RunsOf(same)) != base {
			t.Errorf("%s is another thing", name)
		}
	}
	for name, other := range map[string]m{
		"another repository": pod("registry:5000/team/other:1.2", nil), "another account": pod("registry:5000/team/app:1.2", m{"serviceAccountName": "y"}),
		"the host": pod("registry:5000/team/app:1.2", m{"hostPID": true}), "a mount": pod("registry:5000/team/app:1.2", m{"volumes": []any{m{"secret": m{"secretName": "admin"}}}}),
		"another init": pod("registry:5000/team/app:1.2", m{"initContainers": []any{m{"name": "i", "image": "x"}}}),
	} {
		if Sum(RunsOf(other)) == base {
			t.Errorf("%s makes no difference", name)
		}
	}
	if got := RunsOf(m{}).Account; got != "default" {
		t.Errorf("account = %q", got)
	}
}

// TestStrangeObjects: whatever stands in an object, reading it is not a fault,
// and its digest is always the same.
func TestStrangeObjects(t *testing.T) {
	t.Parallel()
	leaf := rapid.OneOf(rapid.Just(any(nil)), rapid.Just(any(true)), rapid.Just(any("x")), rapid.Just(any(int64(7))))
	var value func(depth int) *rapid.Generator[any]
	value = func(depth int) *rapid.Generator[any] {
		if depth == 0 {
			return leaf
		}
		keys := []string{"spec", "containers", "volumes", "hostPath", "secret", "path", "webhooks", "clientConfig", "rules", "subjects", "roleRef", "kind", "name", "syncPolicy", "automated", "metadata"}
		return rapid.OneOf(leaf,
			rapid.Custom(func(t *rapid.T) any { return rapid.SliceOfN(value(depth-1), 0, 3).Draw(t, "list") }),
			rapid.Custom(func(t *rapid.T) any {
				return rapid.MapOfN(rapid.SampledFrom(keys), value(depth-1), 0, 4).Draw(t, "map")
			}))
	}
	rapid.Check(t, func(t *rapid.T) {
		whole := rapid.MapOfN(rapid.SampledFrom([]string{"spec", "webhooks", "rules", "subjects", "roleRef", "metadata"}), value(4), 0, 5).Draw(t, "object")
		o := &unstructured.Unstructured{Object: whole}
		g := NewGrants()
		g.Role("clusterrole", o)
		g.Bind("rolebinding", o)
		g.May()
		if a, b := Sum([]any{Hooks(o), Sync("", o), Body(o), RunsOf(Part(whole, "spec"))}), Sum([]any{Hooks(o), Sync("", o), Body(o), RunsOf(Part(whole, "spec"))}); a != b || a == "?" {
			t.Fatalf("digests %s and %s", a, b)
		}
	})
}
