package permit

import (
	"slices"
	"testing"

	"handrail/steps"
)

func TestFind(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"job": "jobs.batch", "Jobs": "jobs.batch", "jobs.batch": "jobs.batch", "jobs.v1.batch": "jobs.batch",
		"deploy": "deployments.apps", "pods.v1": "pods", "event": "events", "events.events.k8s.io": "events.events.k8s.io",
		"applications.argoproj.io": "applications.argoproj.io", "applications.v1alpha1.argoproj.io": "applications.argoproj.io", "widget": "", "": "",
	} {
		r, _, ok := Find(name)
		if got := r.String(); ok != (want != "") || ok && got != want {
			t.Errorf("Find(%q) = %q, %v, want %q", name, got, ok, want)
		}
	}
}

// TestMerge: what another right holds is left out, and never the other way around.
func TestMerge(t *testing.T) {
	t.Parallel()
	pods := func(verb string, wide bool, what string) steps.Right {
		return steps.Right{Resource: "pods", Verbs: []string{verb}, Wide: wide, For: what}
	}
	list := steps.Right{Group: "*", Resource: "*", Verbs: []string{"list"}}
	system := steps.Right{Resource: "namespaces", Verbs: []string{"get"}, Name: "kube-system", Wide: true}
	spaces := steps.Right{Resource: "namespaces", Verbs: []string{"get"}, Wide: true}
	for name, tc := range map[string]struct {
		rights []steps.Right
		have   []steps.Right
		want   []Grant
		always int
	}{
		"twice":                        {rights: []steps.Right{pods("get", false, ""), pods("get", false, "")}, want: []Grant{{Resource: "pods", Verb: "get"}}, always: 1},
		"here, and everywhere":         {rights: []steps.Right{pods("list", false, ""), pods("list", true, "")}, want: []Grant{{Wide: true, Resource: "pods", Verb: "list"}}, always: 1},
		"another verb":                 {rights: []steps.Right{pods("get", false, ""), pods("list", true, "")}, want: []Grant{{Wide: true, Resource: "pods", Verb: "list"}, {Resource: "pods", Verb: "get"}}, always: 2},
		"every kind here":              {rights: []steps.Right{list, pods("list", false, "")}, want: []Grant{{Group: "*", Resource: "*", Verb: "list"}}, always: 1},
		"every kind here, one wide":    {rights: []steps.Right{list, pods("list", true, "")}, want: []Grant{{Wide: true, Resource: "pods", Verb: "list"}, {Group: "*", Resource: "*", Verb: "list"}}, always: 2},
		"one object of all":            {rights: []steps.Right{system, spaces}, want: []Grant{{Wide: true, Resource: "namespaces", Verb: "get"}}, always: 1},
		"sometimes, and always":        {rights: []steps.Right{pods("get", false, "a parent"), pods("get", false, "")}, want: []Grant{{Resource: "pods", Verb: "get"}}, always: 1},
		"always here, sometimes wide":  {rights: []steps.Right{pods("get", false, ""), pods("get", true, "a parent")}, want: []Grant{{Wide: true, Resource: "pods", Verb: "get"}, {Resource: "pods", Verb: "get"}}, always: 1},
		"sometimes here, always wide":  {rights: []steps.Right{pods("get", false, "a parent"), pods("get", true, "")}, want: []Grant{{Wide: true, Resource: "pods", Verb: "get"}}, always: 1},
		"what another role has":        {rights: []steps.Right{pods("get", false, ""), pods("patch", false, "")}, have: []steps.Right{pods("get", true, "")}, want: []Grant{{Resource: "pods", Verb: "patch"}}, always: 1},
		"what another role may lack":   {rights: []steps.Right{pods("get", false, "")}, have: []steps.Right{pods("get", true, "a parent")}, want: []Grant{{Resource: "pods", Verb: "get"}}, always: 1},
		"another thing may go":         {rights: []steps.Right{pods("get", false, "a parent"), pods("get", true, "Flux")}, want: []Grant{{Wide: true, Resource: "pods", Verb: "get"}, {Resource: "pods", Verb: "get"}}},
		"the same thing may go":        {rights: []steps.Right{pods("get", false, "Flux"), pods("get", true, "Flux")}, want: []Grant{{Wide: true, Resource: "pods", Verb: "get"}}},
		"what another role has nearly": {rights: []steps.Right{pods("get", true, "")}, have: []steps.Right{pods("get", false, "")}, want: []Grant{{Wide: true, Resource: "pods", Verb: "get"}}, always: 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var needs []Need
			for _, r := range tc.rights {
				needs = append(needs, Need{"kube/x", r})
			}
			var before []Need
			for _, r := range tc.have {
				before = append(before, Need{"kube/y", r})
			}
			roles := Merge(needs, Merge(before, Roles{}))
			got := roles.Grants()
			slices.SortFunc(got, func(a, b Grant) int {
				if a.Wide != b.Wide && a.Wide {
					return -1
				}
				return 1
			})
			if !slices.Equal(got, tc.want) {
				t.Errorf("Merge() = %+v, want %+v", got, tc.want)
			}
			if n := len(roles.Always().Grants()); n != tc.always {
				t.Errorf("%d of them for every run, want %d", n, tc.always)
			}
		})
	}
}

// TestMergeKeepsWhatIsUntold: a resource that only the run tells is said once, and granted
// by no role.
func TestMergeKeepsWhatIsUntold(t *testing.T) {
	t.Parallel()
	get := steps.Right{Verbs: []string{"get"}}
	roles := Merge([]Need{{"kube/get", get}, {"kube/get", get}, {"kube/owners", get}}, Roles{})
	if len(roles.Untold) != 2 || len(roles.Grants()) != 0 {
		t.Errorf("Merge() = %+v", roles)
	}
}
