package kube

import (
	"fmt"
	"net/http"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"handrail/steps"
	"handrail/steps/cluster"
)

// generatedRule is a rule over what the questions of TestMayAgrees are about.
func generatedRule(verbs, groups, resources []string) *rapid.Generator[fields] {
	return rapid.Custom(func(r *rapid.T) fields {
		some := func(label string, of []string, most int) []string {
			return rapid.SliceOfNDistinct(rapid.SampledFrom(of), 1, most, rapid.ID[string]).Draw(r, label)
		}
		rule := fields{"verbs": some("verbs", verbs, 5), "apiGroups": some("groups", groups, 3), "resources": some("resources", resources, 5)}
		if rapid.IntRange(0, 2).Draw(r, "named") == 0 {
			rule["resourceNames"] = some("names", []string{"one", "two"}, 2)
		}
		return rule
	})
}

// right is what one account of TestMayAgrees is given, and what it is asked.
type right struct {
	roles   [][]fields // rules of each role
	cluster []bool     // whether it is a ClusterRole, bound in the namespace
	as      []string   // how the binding names the account
	lost    bool       // one binding more, to a role that does not exist
	asked   [][3]string
}

func rights() *rapid.Generator[right] {
	verbs := []string{"get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"}
	rule := generatedRule(append(slices.Clone(verbs), "*"), []string{"", "apps", "batch", "*"},
		[]string{"configmaps", "deployments", "deployments/scale", "*/scale", "deployments/*", "jobs", "jobs/status", "*"})
	return rapid.Custom(func(r *rapid.T) right {
		var out right
		for range rapid.IntRange(2, 4).Draw(r, "roles") {
			out.roles = append(out.roles, rapid.SliceOfN(rule, 1, 2).Draw(r, "rules"))
			out.cluster = append(out.cluster, rapid.Bool().Draw(r, "cluster"))
			out.as = append(out.as, rapid.SampledFrom([]string{"account", "account", "user", "another", "elsewhere"}).Draw(r, "as"))
		}
		out.lost = rapid.Bool().Draw(r, "lost")
		for range 4 {
			out.asked = append(out.asked, [3]string{rapid.SampledFrom(verbs).Draw(r, "verb"),
				rapid.SampledFrom([]string{"configmaps", "deployments", "deployments/scale", "jobs", "jobs/status"}).Draw(r, "resource"),
				rapid.SampledFrom([]string{"", "one", "two", "three"}).Draw(r, "name")})
		}
		return out
	})
}

// mayAccounts is how many generated accounts a run asks about, the same each time.
const mayAccounts = 20

// TestMayAgrees lays what the graph of roles and bindings says of generated
// rights beside what the server itself says.
func TestMayAgrees(t *testing.T) {
	t.Parallel()
	w := newKeepersWorld(t)
	w.create(w.in(rbacV1, "roles", ""), fields{"metadata": fields{"name": "everyone"}, "rules": []fields{may("batch", "jobs", "watch")}})
	w.create(w.in(rbacV1, "rolebindings", ""), fields{"metadata": fields{"name": "everyone"}, "roleRef": fields{"apiGroup": cluster.RBACGroup, "kind": "Role", "name": "everyone"},
		"subjects": []fields{{"kind": "Group", "apiGroup": cluster.RBACGroup, "name": "system:serviceaccounts:" + w.ns}}})
	home := t.TempDir()
	yes, no := 0, 0
	for i := range mayAccounts {
		right := rights().Example(i)
		name := fmt.Sprintf("account-%d", i)
		w.entitle(name, right)
		for _, q := range right.asked {
			in := what("namespace", w.ns, "account", name, "verb", q[0], "resource", q[1])
			if q[2] != "" {
				in["name"] = steps.StringOf(q[2])
			}
			env := w.root()
			env.Home = home
			var obs steps.Observation
			w.until(fmt.Sprintf("the graph and the server agree on %s %q of %+v", name, q, right), func() bool {
				obs = w.aboutAs(env, "kube/may", in) // the server hears of a role a moment later
				return obs.Facts["agree"].Known() && obs.Facts["agree"].Bool()
			})
			if obs.Facts["allowed"].Bool() != (len(obs.Facts["by"].Strings()) > 0) || obs.Facts["missing_role"].Bool() != right.lost {
				t.Errorf("%s %q of %+v: %v", name, q, right, obs.Facts)
			}
			if obs.Facts["allowed"].Bool() {
				yes++
			} else {
				no++
			}
		}
	}
	if yes < mayAccounts/2 || no < mayAccounts/2 {
		t.Errorf("%d questions were answered yes and %d no: the rights prove little", yes, no)
	}
}

// entitle gives an account what was generated for it.
func (w *keepersWorld) entitle(name string, of right) {
	w.t.Helper()
	bind := func(binding, kind, role string, subject fields) {
		w.create(w.in(rbacV1, "rolebindings", ""), fields{"metadata": fields{"name": binding}, "subjects": []fields{subject},
			"roleRef": fields{"apiGroup": cluster.RBACGroup, "kind": kind, "name": role}})
	}
	account := fields{"kind": "ServiceAccount", "name": name, "namespace": w.ns}
	for i, rules := range of.roles {
		role, kind := fmt.Sprintf("%s-%d", name, i), "Role"
		if of.cluster[i] {
			const roles = "/apis/rbac.authorization.k8s.io/v1/clusterroles"
			kind, role = "ClusterRole", w.ns+"-"+role
			w.create(roles, fields{"metadata": fields{"name": role}, "rules": rules})
			w.t.Cleanup(func() { _, _, _ = w.try(http.MethodDelete, roles+"/"+role, "", nil) })
		} else {
			w.create(w.in(rbacV1, "roles", ""), fields{"metadata": fields{"name": role}, "rules": rules})
		}
		bind(fmt.Sprintf("%s-%d", name, i), kind, role, map[string]fields{
			"account":   account,
			"user":      {"kind": "User", "apiGroup": cluster.RBACGroup, "name": "system:serviceaccount:" + w.ns + ":" + name},
			"another":   {"kind": "ServiceAccount", "name": name + "-other", "namespace": w.ns},
			"elsewhere": {"kind": "ServiceAccount", "name": name, "namespace": "elsewhere"},
		}[of.as[i]])
	}
	if of.lost {
		bind(name+"-lost", "Role", name+"-gone", account)
	}
}
