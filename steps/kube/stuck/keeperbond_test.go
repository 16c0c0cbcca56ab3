package stuck

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"handrail/steps/cluster"
	"handrail/steps/kube/blame"
	"handrail/steps/kube/owner"
)

// TestBond holds each piece of evidence to one workload that has it alone.
func TestBond(t *testing.T) {
	t.Parallel()
	b := keeperEvidence{
		finalizer: "hooks.example.com/cleanup", writers: []string{"cleaner"}, api: "hooks.example.com", release: "ops/hooks",
		served:  []webhookService{{"ops", map[string]string{"app": "front"}, "the conversion of hooks.hooks.example.com"}},
		granted: []string{"ops/hooks"}, led: []string{"leader-7d9-x"},
	}
	with := func(name string, pod, meta fields) cluster.Object {
		m := fields{"name": name, "namespace": "ops"}
		for key, v := range meta {
			m[key] = v
		}
		return objectFrom(t, fields{"kind": "Deployment", "metadata": m, "spec": fields{"template": fields{"metadata": fields{"labels": fields{"app": name}}, "spec": pod}}})
	}
	one := func(c fields) fields { return fields{"containers": []fields{c}} }
	for _, tc := range []struct {
		name string
		o    cluster.Object
		want string
	}{
		{"its name", with("cleaner", one(fields{"name": "c", "image": "x"}), nil), "wrote the finalizer"},
		{"its container", with("other", one(fields{"name": "cleaner", "image": "x"}), nil), "wrote the finalizer"},
		{"its image", with("other", one(fields{"name": "c", "image": "host:5000/team/cleaner:1@sha256:0"}), nil), "wrote the finalizer"},
		{"its program", with("other", one(fields{"name": "c", "image": "x", "command": []string{"/bin/cleaner", "-v"}}), nil), "wrote the finalizer"},
		{"an argument", with("other", one(fields{"name": "c", "image": "x", "args": []string{"--finalizer=hooks.example.com/cleanup"}}), nil), "told the finalizer"},
		{"a variable", with("other", one(fields{"name": "c", "image": "x", "env": []fields{{"name": "F", "value": "a,hooks.example.com/cleanup"}}}), nil), "told the finalizer"},
		{"a longer finalizer", with("other", one(fields{"name": "c", "image": "x", "args": []string{"hooks.example.com/cleanup-all", "my-hooks.example.com/cleanup"}}), nil), ""},
		{"its Service", with("front", one(fields{"name": "c", "image": "x"}), nil), "the conversion of"},
		{"its release", with("other", one(fields{"name": "c", "image": "x"}), fields{"annotations": fields{owner.HelmRelease: "hooks", owner.HelmReleaseNS: "ops"}}), "Helm release"},
		{"another release", with("other", one(fields{"name": "c", "image": "x"}), fields{"annotations": fields{owner.HelmRelease: "hooks", owner.HelmReleaseNS: "dev"}}), ""},
		{"its account", with("other", fields{"serviceAccountName": "hooks", "containers": []fields{{"name": "c", "image": "x"}}}, nil), "may write objects"},
		{"its Lease", with("leader", one(fields{"name": "c", "image": "x"}), nil), "held the Lease"},
		{"nothing", with("other", one(fields{"name": "c", "image": "x"}), fields{"annotations": fields{"note": "hooks.example.com/cleanup"}}), ""},
	} {
		got := b.ties(tc.o)
		if tc.want == "" && len(got) > 0 || tc.want != "" && (len(got) != 1 || !strings.Contains(got[0], tc.want)) {
			t.Errorf("%s: ties() = %q, want %q", tc.name, got, tc.want)
		}
	}
	if got := telling([]blame.Writer{{Manager: "kubectl-client-side-apply"}, {Manager: "manager"}, {Manager: "Helm"}, {Manager: ""}, {Manager: "cleaner"}, {Manager: "argocd-controller"}, {Manager: cluster.FieldManager}}); !slices.Equal(got, []string{"cleaner"}) {
		t.Errorf("telling() = %q", got)
	}
	same := with("a", one(fields{"name": "c", "image": "team/tool:1", "command": []string{"run"}}), nil)
	for image, want := range map[string]bool{"team/tool:2": true, "team/tool@sha256:0": true, "other/tool:1": false} {
		if got := sibling(same, with("b", one(fields{"name": "d", "image": image, "command": []string{"run"}}), nil)); got != want {
			t.Errorf("sibling(%s) = %v", image, got)
		}
	}
	if sibling(same, with("b", one(fields{"name": "d", "image": "team/tool:1", "command": []string{"serve"}}), nil)) {
		t.Error("another part of the same image is taken for the same program")
	}
}

// TestDeadOnlyOnProof draws what could be seen of a keeper: a death needs a
// workload that is there, is dead and is tied, and nothing beside it that lives or
// was not read.
func TestDeadOnlyOnProof(t *testing.T) {
	t.Parallel()
	told := fields{"containers": []fields{{"name": "c", "image": "x", "args": []string{"example.com/hold"}}}}
	workload := func(pod fields) cluster.Object {
		return objectFrom(t, fields{"metadata": fields{"name": "w", "namespace": "ns"}, "spec": fields{"template": fields{"spec": pod}}})
	}
	rapid.Check(t, func(rt *rapid.T) {
		p := Place{cluster.Workloads()[0], "ns", "w"}
		x := &proof{Client: &cluster.Client{}, o: workload(told), keeperEvidence: keeperEvidence{finalizer: "example.com/hold"}, p: &p}
		own := Sight{Alive: rapid.SampledFrom([]Verdict{Alive, Dead, Unknown}).Draw(rt, "own"), Why: "own"}
		tied := rapid.Bool().Draw(rt, "tied")
		switch {
		case rapid.Bool().Draw(rt, "absent"):
			own.absent, own.Alive = true, Unknown
		case tied:
			own.seen = workload(told)
		default:
			own.seen = workload(fields{"containers": []fields{{"name": "c", "image": "x"}}})
		}
		clean, lives := true, own.Alive == Alive
		if rapid.Bool().Draw(rt, "scaled by itself") {
			x.scaled, clean = "scaledobject/w", false
		}
		for _, v := range rapid.SliceOfN(rapid.SampledFrom([]Verdict{Alive, Dead, Unknown}), 0, 3).Draw(rt, "others") {
			x.found = append(x.found, candidate{Resource: cluster.Workloads()[1], Object: workload(told), ties: []string{"told"}, Sight: Sight{Alive: v, Why: "other"}})
			clean, lives = clean && v == Dead, lives || v == Alive
		}
		if rapid.Bool().Draw(rt, "gap") {
			x.gaps, clean = []string{"not read"}, false
		}
		if rapid.Bool().Draw(rt, "narrow") {
			x.narrow, x.homes = "denied", []string{"ns"}
		}
		want := Unknown
		switch {
		case lives:
			want = Alive
		case clean && own.Alive == Dead && tied && !own.absent:
			want = Dead
		}
		if got := x.judge(own); got.Alive != want || got.Why == "" {
			rt.Fatalf("judge() = %s %q, want %s", got.Alive, got.Why, want)
		}
	})
}
