package kube

import (
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"handrail/steps"
)

// authored are definitions that no small module has: the group, names and version
// are those of their makers, the schema takes anything. Gatekeeper itself makes that
// of a constraint out of its template.
var authored = []struct{ group, version, plural, kind, scope string }{
	{"constraints.gatekeeper.sh", "v1beta1", "k8srequiredlabels", "K8sRequiredLabels", "Cluster"},
	{"mutations.gatekeeper.sh", "v1", "assign", "Assign", "Cluster"},
	{"fleet.cattle.io", "v1alpha1", "gitrepos", "GitRepo", "Namespaced"},
	{"fleet.cattle.io", "v1alpha1", "bundles", "Bundle", "Namespaced"},
	{"configsync.gke.io", "v1beta1", "rootsyncs", "RootSync", "Namespaced"},
	{"configsync.gke.io", "v1beta1", "reposyncs", "RepoSync", "Namespaced"},
}

// foreign is an object of a custom definition, a change of it that matters, and
// the field that pauses it, where one does.
type foreign struct {
	category, version, plural, kind string
	cluster                         bool
	spec, change                    fields
	pause, said                     string
}

func foreigners() []foreign {
	git := func(pause string) (fields, fields, string) {
		return fields{"repo": "https://git.example.com/x", "branch": "main"}, fields{"branch": "other"}, pause
	}
	fleet, change, paused := git("paused")
	sync, syncChange := fields{"git": fields{"repo": "https://git.example.com/x", "auth": "none"}}, fields{"git": fields{"dir": "else"}}
	return []foreign{
		{category: "policies", version: "kyverno.io/v1", plural: "clusterpolicies", kind: "ClusterPolicy", cluster: true,
			spec: fields{"validationFailureAction": "Audit", "rules": []any{fields{"name": "labels", "match": fields{"any": []any{fields{"resources": fields{"kinds": []string{"Pod"}}}}},
				"validate": fields{"message": "no", "pattern": fields{"metadata": fields{"labels": fields{"app": "?*"}}}}}}}, change: fields{"validationFailureAction": "Enforce"}},
		{category: "policies", version: "policies.kyverno.io/v1", plural: "namespaceddeletingpolicies", kind: "NamespacedDeletingPolicy",
			spec: fields{"schedule": "0 1 * * *", "matchConstraints": fields{"resourceRules": []any{fields{"apiGroups": []string{""}, "apiVersions": []string{"v1"}, "operations": []string{"*"}, "resources": []string{"pods"}}}},
				"conditions": []any{fields{"name": "all", "expression": "true"}}}, change: fields{"schedule": "* * * * *"}},
		{category: "policies", version: "templates.gatekeeper.sh/v1", plural: "constrainttemplates", kind: "ConstraintTemplate", cluster: true,
			spec:   fields{"crd": fields{"spec": fields{"names": fields{"kind": "K8sRequiredLabels"}}}, "targets": []any{fields{"target": "admission.k8s.gatekeeper.sh", "rego": "package a"}}},
			change: fields{"targets": []any{fields{"target": "admission.k8s.gatekeeper.sh", "rego": "package b"}}}},
		{category: "policies", version: "constraints.gatekeeper.sh/v1beta1", plural: "k8srequiredlabels", kind: "K8sRequiredLabels", cluster: true,
			spec: fields{"parameters": fields{"labels": []string{"a"}}}, change: fields{"parameters": fields{"labels": []string{"b"}}}},
		{category: "policies", version: "mutations.gatekeeper.sh/v1", plural: "assign", kind: "Assign", cluster: true,
			spec: fields{"location": "spec.replicas", "parameters": fields{"assign": fields{"value": 0}}}, change: fields{"parameters": fields{"assign": fields{"value": 1}}}},
		{category: "gitops", version: "fleet.cattle.io/v1alpha1", plural: "gitrepos", kind: "GitRepo", spec: fleet, change: change, pause: paused, said: "from https://git.example.com/x, paused"},
		{category: "gitops", version: "fleet.cattle.io/v1alpha1", plural: "bundles", kind: "Bundle", spec: fields{"resources": []any{}}, change: fields{"resources": []any{fields{"content": "x"}}}, pause: paused, said: "paused"},
		{category: "gitops", version: "configsync.gke.io/v1beta1", plural: "rootsyncs", kind: "RootSync", spec: sync, change: syncChange},
		{category: "gitops", version: "configsync.gke.io/v1beta1", plural: "reposyncs", kind: "RepoSync", spec: sync, change: syncChange},
		{category: "gitops", version: fluxKustomizeV1, plural: "kustomizations", kind: "Kustomization", spec: fields{"interval": "1m", "path": "a", "prune": true, "sourceRef": fields{"kind": "GitRepository", "name": "x"}},
			change: fields{"path": "b"}, pause: "suspend", said: "from x, suspended"},
		{category: "gitops", version: "source.toolkit.fluxcd.io/v1", plural: "gitrepositories", kind: "GitRepository", spec: fields{"interval": "1m", "url": "https://git.example.com/x"},
			change: fields{"url": "https://git.example.com/y"}, pause: "suspend", said: "from https://git.example.com/x, suspended"},
		{category: "gitops", version: fluxHelmV2, plural: "helmreleases", kind: "HelmRelease", spec: fields{"interval": "1m", "chart": fields{"spec": fields{"chart": "shop", "sourceRef": fields{"kind": "HelmRepository", "name": "x"}}}},
			change: fields{"chart": fields{"spec": fields{"chart": "other"}}}, pause: "suspend", said: "from shop, suspended"},
		{category: "gitops", version: "argoproj.io/v1alpha1", plural: "applications", kind: "Application", spec: fields{"project": "default", "destination": fields{"server": "https://x", "namespace": "x"},
			"source": fields{"repoURL": "https://git.example.com/x", "path": "."}}, change: fields{"source": fields{"path": "other"}}},
	}
}

func (f foreign) path(w *keepersWorld, name string) string {
	if !f.cluster {
		return w.in(f.version, f.plural, name)
	}
	return strings.TrimSuffix("/apis/"+f.version+"/"+f.plural+"/"+name, "/")
}

// entry is how a sweep names it.
func (f foreign) entry(w *keepersWorld) string {
	name := strings.ToLower(f.kind) + "/one"
	if !f.cluster {
		name = w.ns + "/" + name
	}
	return name
}

// sweepOfOthers makes an object of each definition that others bring: each is an
// entry, a pause does not change it, and a change makes it one that is not accounted
// for.
func sweepOfOthers(t *testing.T, w *keepersWorld) {
	if err := w.define(slices.Concat(pinned()[:4], pinnedPolicies())); err != nil {
		t.Fatal(err)
	}
	for _, d := range authored {
		definition := fields{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": fields{"name": d.plural + "." + d.group},
			"spec": fields{"group": d.group, "scope": d.scope, "names": fields{"plural": d.plural, "singular": strings.ToLower(d.kind), "kind": d.kind, "listKind": d.kind + "List"},
				"versions": []any{fields{"name": d.version, "served": true, "storage": true, "schema": fields{"openAPIV3Schema": fields{"type": "object", "x-kubernetes-preserve-unknown-fields": true}}}}}}
		if err := w.establish(d.plural+"."+d.group, definition); err != nil {
			t.Fatal(err)
		}
	}
	all := foreigners()
	for _, f := range all {
		var said any
		w.until(f.kind+" can be made", func() bool {
			code, out, err := w.try(http.MethodPost, f.path(w, ""), "application/json", fields{"apiVersion": f.version, "kind": f.kind, "metadata": fields{"name": "one"}, "spec": f.spec})
			if said = out["message"]; err == nil && code == http.StatusUnprocessableEntity {
				t.Fatalf("%s: %v", f.kind, said)
			}
			return err == nil && code == http.StatusCreated
		})
	}
	// The server says a while after it serves a kind that it does.
	var obs steps.Observation
	var sink *readsSink
	has := func(f foreign, as string) bool {
		return slices.Contains(obs.Facts[f.category].Strings(), f.entry(w)+as)
	}
	w.until("every kind is swept", func() bool {
		obs, sink = w.sweepAs(w.root(), steps.Params{})
		return !slices.ContainsFunc(all, func(f foreign) bool { return !has(f, "") })
	})
	allow := filepath.Join(t.TempDir(), "allow.yaml")
	text := strings.NewReplacer(`accounts: ""`, `accounts: "team platform"`, `until: ""`, `until: "2099-12-31"`).Replace(sink.text("allow"))
	if err := os.WriteFile(allow, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	in := steps.Params{"allow": steps.PathOf(allow)}
	for _, f := range all {
		if f.pause != "" {
			w.merge(f.path(w, "one"), fields{"spec": fields{f.pause: true}})
		}
	}
	obs, sink = w.sweepAs(w.root(), in)
	wantFact(t, obs, "unaccounted", "0")
	for _, f := range all {
		line := "\t" + strings.TrimPrefix(f.entry(w), w.ns+"/") + "\t"
		i := slices.IndexFunc(strings.Split(sink.text("entries"), "\n"), func(l string) bool { return strings.Contains(l, line) && strings.HasSuffix(l, f.said) })
		if f.said != "" && i < 0 {
			t.Errorf("%s is not said to be %q:\n%s", f.kind, f.said, sink.text("entries"))
		}
		w.merge(f.path(w, "one"), fields{"spec": f.change})
	}
	obs, _ = w.sweepAs(w.root(), in)
	for _, f := range all {
		if !has(f, " (changed since team platform accounted for it)") {
			t.Errorf("%s has changed, and %s = %q", f.kind, f.category, obs.Facts[f.category].Strings())
		}
	}
	wantFact(t, obs, "complete", "true")
}
