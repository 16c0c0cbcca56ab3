package kube

import (
	"net/http"
	"strings"
	"testing"

	"handrail/steps/kube/owner"
)

const (
	fluxKustomizeV1 = "kustomize.toolkit.fluxcd.io" + "/v1"
	fluxHelmV2      = "helm.toolkit.fluxcd.io" + "/v2"
)

func (w *keepersWorld) app(name string, meta, policy fields) fields {
	w.t.Helper()
	if meta == nil {
		meta = fields{}
	}
	meta["name"] = name
	spec := fields{"project": "default", "destination": fields{"server": "https://kubernetes.default.svc", "namespace": w.ns},
		"source": fields{"repoURL": "https://git.example.com/x", "path": "."}}
	if policy != nil {
		spec["syncPolicy"] = policy
	}
	return w.create(w.in("argoproj.io/v1alpha1", "applications", ""), fields{"apiVersion": "argoproj.io/v1alpha1", "kind": "Application", "metadata": meta, "spec": spec})
}

func (w *keepersWorld) appSet(name string, more fields) fields {
	w.t.Helper()
	spec := fields{"generators": []fields{{"list": fields{"elements": []fields{}}}}, "template": fields{
		"metadata": fields{"name": "x"}, "spec": fields{"project": "default", "destination": fields{},
			"syncPolicy": fields{"automated": fields{"selfHeal": true}}}}}
	for k, v := range more {
		spec[k] = v
	}
	return w.create(w.in("argoproj.io/v1alpha1", "applicationsets", ""), fields{"apiVersion": "argoproj.io/v1alpha1", "kind": "ApplicationSet", "metadata": fields{"name": name}, "spec": spec})
}

// tracked makes a ConfigMap that bears a tracking mark, its own unless told.
func (w *keepersWorld) tracked(name, app, of string) {
	w.t.Helper()
	if of == "" {
		of = name
	}
	w.create(w.in("", "configmaps", ""), fields{"metadata": fields{"name": name, "annotations": fields{
		"argocd.argoproj.io/tracking-id": w.ns + "_" + app + ":/ConfigMap:" + w.ns + "/" + of}}})
}

// TestArgo reads applications of the real definitions.
func TestArgo(t *testing.T) {
	t.Parallel()
	w := newKeepersWorld(t)
	w.definitions()
	auto := func(more fields) fields { return fields{"automated": more} }
	w.app("on", nil, auto(fields{"selfHeal": true}))
	w.app("empty", nil, auto(fields{}))
	w.app("off", nil, auto(fields{"enabled": false, "selfHeal": true}))
	w.app("manual", nil, nil)
	w.app("skipped", fields{"annotations": fields{owner.ArgoSkip: "true"}}, auto(fields{}))
	w.app("unskipped", fields{"annotations": fields{owner.ArgoSkip: "false"}}, auto(fields{}))
	undoes := w.appSet("undoes", nil)
	keeps := w.appSet("keeps", fields{"syncPolicy": fields{"applicationsSync": "create-only"}})
	ignores := w.appSet("ignores", fields{"ignoreApplicationDifferences": []fields{{"jsonPointers": []string{"/spec/syncPolicy"}}}})
	one := w.appSet("one", fields{"ignoreApplicationDifferences": []fields{{"name": "another", "jsonPointers": []string{"/spec/syncPolicy"}}}})
	for name, set := range map[string]fields{"undone": undoes, "kept": keeps, "ignored": ignores, "not-ignored": one} {
		w.app(name, fields{"ownerReferences": []fields{ref("argoproj.io/v1alpha1", "ApplicationSet", set)}}, auto(fields{"enabled": false}))
	}
	for app, want := range map[string]string{
		"on": owner.PausedNo, "empty": owner.PausedNo, "off": owner.PausedYes, "manual": owner.PausedYes, "skipped": owner.PausedYes, "unskipped": owner.PausedNo,
		"undone": owner.PausedUnknown, "kept": owner.PausedYes, "ignored": owner.PausedYes, "not-ignored": owner.PausedUnknown, "absent": owner.PausedUnknown,
	} {
		w.tracked("of-"+app, app, "")
		wantOwners(w, w.env, "cm", "of-"+app, map[string]string{"argocd application " + w.ns + "/" + app: want})
	}
	absent := w.probe(w.env, "kube/owners", "cm", "of-absent")
	wantFact(t, absent, "managed", "?another one")
	wantGap(t, absent, "another one")
	wantFact(t, w.probe(w.env, "kube/owners", "cm", "of-undone"), "managed", "true")

	w.tracked("copied", "on", "original")
	copied := w.probe(w.env, "kube/owners", "cm", "copied")
	wantFact(t, copied, "owners", "[]")
	wantFact(t, copied, "managed", "false")
	wantFinding(t, copied, "was copied")

	w.create(w.in("", "configmaps", ""), fields{"metadata": fields{"name": "garbled", "annotations": fields{"argocd.argoproj.io/tracking-id": "what"}}})
	wantFinding(t, w.probe(w.env, "kube/owners", "cm", "garbled"), "not <app>:")

	// Without a namespace in the mark the application may be in any; only who may
	// list them all can say that there is none.
	w.create(w.in("", "configmaps", ""), fields{"metadata": fields{"name": "plain", "annotations": fields{
		"argocd.argoproj.io/tracking-id": "off:/ConfigMap:" + w.ns + "/plain"}}})
	wantOwners(w, w.root(), "cm", "plain", map[string]string{"argocd application " + w.ns + "/off": owner.PausedYes})
	wantOwners(w, w.env, "cm", "plain", map[string]string{"argocd application off": owner.PausedUnknown})
	blind := w.limited("blind", may("", "configmaps", "get"))
	wantOwners(w, blind, "cm", "of-off", map[string]string{"argocd application " + w.ns + "/off": owner.PausedUnknown})
}

// TestArgoLabel: nearly every chart sets it, so that it is a lead alone.
func TestArgoLabel(t *testing.T) {
	t.Parallel()
	w := newKeepersWorld(t)
	w.definitions()
	app := "labelled-" + w.ns
	w.app(app, nil, nil)
	w.create(w.in("", "configmaps", ""), fields{"metadata": fields{"name": "of-app", "labels": fields{"app.kubernetes.io/instance": app}}})
	w.create(w.in("", "configmaps", ""), fields{"metadata": fields{"name": "of-chart", "labels": fields{"app.kubernetes.io/instance": "no-app-" + w.ns}}})
	if got := ownersOf(w, w.root(), "cm", "of-chart"); len(got) != 0 {
		t.Errorf("owners = %v, want none: no application has that name", got)
	}
	wantFact(t, w.probe(w.env, "kube/owners", "cm", "of-app"), "managed", "?not known")
	w.create(w.in("", "configmaps", ""), fields{"metadata": fields{"name": "own", "labels": fields{"argocd.argoproj.io/instance": "no-app-" + w.ns}}})
	app = "argocd application " + w.ns + "/" + app
	for _, tc := range []struct {
		data string
		of   string
		want map[string]string
	}{
		{`{}`, "of-app", map[string]string{}},
		{`{"application.resourceTrackingMethod":"annotation"}`, "of-app", map[string]string{}},
		{`{"application.resourceTrackingMethod":"label"}`, "of-app", map[string]string{app: owner.PausedYes}},
		{`{"application.resourceTrackingMethod":"annotation+label"}`, "of-app", map[string]string{app: owner.PausedYes}},
		{`{"application.resourceTrackingMethod":"label","application.instanceLabelKey":"example.com/x"}`, "of-app", map[string]string{}},
		{`{"application.resourceTrackingMethod":"label"}`, "own", map[string]string{}},
		{`{"application.resourceTrackingMethod":"label","application.instanceLabelKey":"argocd.argoproj.io/instance"}`, "own",
			map[string]string{"argocd application no-app-" + w.ns: owner.PausedUnknown}},
	} {
		env := w.front(func(rw http.ResponseWriter, r *http.Request) bool {
			if r.URL.Path != "/api/v1/namespaces/argocd/configmaps/argocd-cm" {
				return false
			}
			rw.Header().Set("Content-Type", "application/json")
			_, _ = rw.Write([]byte(`{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"argocd-cm","uid":"1"},"data":` + tc.data + `}`))
			return true
		})
		wantOwners(w, env, "cm", tc.of, tc.want)
	}
}

// TestFlux reads Kustomizations and HelmReleases of the real definitions.
func TestFlux(t *testing.T) {
	t.Parallel()
	w := newKeepersWorld(t)
	w.definitions()
	kustomization := func(name string, suspend bool, inventory ...string) {
		w.create(w.in(fluxKustomizeV1, "kustomizations", ""), fields{"apiVersion": fluxKustomizeV1, "kind": "Kustomization",
			"metadata": fields{"name": name}, "spec": fields{"interval": "10m", "prune": true, "suspend": suspend,
				"sourceRef": fields{"kind": "GitRepository", "name": "x"}}})
		if inventory == nil {
			return
		}
		var entries []fields
		for _, id := range inventory {
			entries = append(entries, fields{"id": id, "v": "v1"})
		}
		w.merge(w.in(fluxKustomizeV1, "kustomizations", name)+"/status", fields{"status": fields{"inventory": fields{"entries": entries}}})
	}
	kustomization("running", false)
	kustomization("suspended", true)
	kustomization("listing", false, w.ns+"_of-listing__ConfigMap", w.ns+"_x__ConfigMap")
	kustomization("other", false, w.ns+"_x__ConfigMap")
	w.create(w.in(fluxHelmV2, "helmreleases", ""), fields{"apiVersion": fluxHelmV2, "kind": "HelmRelease", "metadata": fields{"name": "chart"},
		"spec": fields{"interval": "10m", "suspend": true, "chart": fields{"spec": fields{"chart": "x", "sourceRef": fields{"kind": "HelmRepository", "name": "x"}}}}})
	configMap := func(name, group, by string, notes fields) {
		w.create(w.in("", "configmaps", ""), fields{"metadata": fields{"name": name, "annotations": notes,
			"labels": fields{group + "/name": by, group + "/namespace": w.ns}}})
	}
	for by, want := range map[string]map[string]string{
		"running":   {"kustomization " + w.ns + "/running": owner.PausedNo},
		"suspended": {"kustomization " + w.ns + "/suspended": owner.PausedYes},
		"listing":   {"kustomization " + w.ns + "/listing": owner.PausedNo},
		"other":     {},
		"absent":    {"kustomization " + w.ns + "/absent": owner.PausedUnknown},
	} {
		configMap("of-"+by, "kustomize.toolkit.fluxcd.io", by, nil)
		wantOwners(w, w.env, "cm", "of-"+by, want)
	}
	configMap("left-alone", "kustomize.toolkit.fluxcd.io", "running", fields{"kustomize.toolkit.fluxcd.io" + "/reconcile": "disabled"})
	wantOwners(w, w.env, "cm", "left-alone", map[string]string{"kustomization " + w.ns + "/running": owner.PausedYes})
	configMap("of-chart", "helm.toolkit.fluxcd.io", "chart", nil)
	wantOwners(w, w.env, "cm", "of-chart", map[string]string{"helmrelease " + w.ns + "/chart": owner.PausedYes})
	wantFinding(t, w.probe(w.env, "kube/owners", "cm", "of-other"), "labels were copied")
	blind := w.limited("blind", may("", "configmaps", "get"))
	wantOwners(w, blind, "cm", "of-suspended", map[string]string{"kustomization " + w.ns + "/suspended": owner.PausedUnknown})
}

// TestLookalikes tells the orphan from the decoy that must not be touched.
func TestLookalikes(t *testing.T) {
	t.Parallel()
	w := newKeepersWorld(t)
	w.definitions()
	hook := func(name string, labels, notes fields) {
		notes["argocd.argoproj.io/hook"] = "PreSync"
		w.job(name, fields{"labels": labels, "annotations": notes, "finalizers": []string{"example.com/hook-cleanup"}})
		w.freed(w.in(batchV1, "jobs", name))
	}
	hook("orphan-hook", fields{"app": "shop"}, fields{})
	hook("orphan-hook-decoy", fields{"app": "shop", "example.com/owner": "payments"}, fields{"argocd.argoproj.io/hook-delete-policy": "HookSucceeded"})
	hook("migrate", fields{}, fields{})
	w.job("shop-worker", fields{"labels": fields{"app": "shop"}})
	w.job("foreign", fields{"labels": fields{"app": "other"}})
	obs := w.probe(w.env, "kube/lookalikes", "job", "orphan-hook")
	wantFact(t, obs, "orphan", "true")
	wantFact(t, obs, "hook", "true")
	wantFact(t, obs, "policy", "")
	wantFact(t, obs, "owned_by", "")
	wantFact(t, obs, "decoys", `["orphan-hook-decoy" "shop-worker" "migrate"]`) // the closest first
	for name, parts := range map[string][]string{
		"orphan-hook-decoy": {"alike by name", "app=shop", "delete policy HookSucceeded", "owner label example.com/owner=payments", "uid "},
		"migrate":           {"a hook too"},
		"shop-worker":       {"no hook", "no finalizer (the object: example.com/hook-cleanup)"},
	} {
		for _, part := range parts {
			if got := obs.Facts["apart"].Table()[name]; !strings.Contains(got, part) {
				t.Errorf("apart of %s = %q, want %q in it", name, got, part)
			}
		}
	}
	decoy := w.probe(w.env, "kube/lookalikes", "job", "orphan-hook-decoy")
	wantFact(t, decoy, "orphan", "false")
	wantFact(t, decoy, "policy", "HookSucceeded")
	wantFact(t, decoy, "owned_by", "payments")
	wantFact(t, w.probe(w.env, "kube/lookalikes", "job", "foreign"), "orphan", "false") // no finalizer
	wantFact(t, w.probe(w.env, "kube/lookalikes", "job", "gone"), "orphan", "?not there")

	// One doubt is enough to keep it from being called an orphan.
	w.app("shop", nil, nil)
	for name, more := range map[string]struct {
		notes fields
		want  string
	}{
		"tracked": {fields{"argocd.argoproj.io/tracking-id": w.ns + "_shop:/ConfigMap:" + w.ns + "/tracked"}, "false"},
		"lost":    {fields{"argocd.argoproj.io/tracking-id": w.ns + "_gone:/ConfigMap:" + w.ns + "/lost"}, "?another one"},
		"copied":  {fields{"argocd.argoproj.io/tracking-id": w.ns + "_shop:/ConfigMap:" + w.ns + "/original"}, "true"},
	} {
		w.create(w.in("", "configmaps", ""), fields{"metadata": fields{"name": name, "annotations": more.notes, "finalizers": []string{"example.com/hold"}}})
		w.freed(w.in("", "configmaps", name))
		wantFact(t, w.probe(w.env, "kube/lookalikes", "cm", name), "orphan", more.want)
	}
	blind := w.probe(w.limited("blind", may("", "configmaps", "get")), "kube/lookalikes", "cm", "tracked")
	wantFact(t, blind, "decoys", "?permission denied")
	wantFact(t, blind, "orphan", "?permission denied")
}

// TestManyLookalikes: a list that is cut is no list.
func TestManyLookalikes(t *testing.T) {
	t.Parallel()
	w := newKeepersWorld(t)
	for i := range 50 + 2 {
		w.create(w.in("", "configmaps", ""), fields{"metadata": fields{"name": "part-" + string(rune('a'+i/26)) + string(rune('a'+i%26))}})
	}
	w.create(w.in("", "configmaps", ""), fields{"metadata": fields{"name": "part"}})
	obs := w.probe(w.env, "kube/lookalikes", "cm", "part")
	wantFact(t, obs, "decoys", "?52 objects")
	wantGap(t, obs, "52 objects")
	if !strings.HasPrefix(obs.Summary, "52 ") {
		t.Errorf("summary = %q", obs.Summary)
	}
}
