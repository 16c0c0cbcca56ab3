package kube

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"handrail/drills/lab"
	"handrail/steps"
	"handrail/steps/kube/owner"
)

// TestSilentGroup lets one API group not say what it serves: what it could hold
// is then not absent.
func TestSilentGroup(t *testing.T) {
	t.Parallel()
	w := newKeepersWorld(t)
	w.create(w.in("", "configmaps", ""), fields{"metadata": fields{"name": "held", "finalizers": []string{"argocd.argoproj.io/hook-finalizer"},
		"labels":          fields{"helm.toolkit.fluxcd.io" + "/name": "chart", "helm.toolkit.fluxcd.io" + "/namespace": w.ns},
		"ownerReferences": []fields{{"apiVersion": "widgets.example.com/v1", "kind": "Widget", "name": "w", "uid": "11111111-2222-3333-4444-555555555555"}}}})
	w.freed(w.in("", "configmaps", "held"))
	silent := w.front(func(rw http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path != "/apis" {
			return false
		}
		req, err := http.NewRequestWithContext(r.Context(), http.MethodGet, w.url+"/apis", nil)
		if err != nil {
			return false
		}
		req.Header.Set("Accept", r.Header.Get("Accept"))
		resp, err := w.admin.Do(req)
		if err != nil {
			return false
		}
		defer resp.Body.Close()
		var all fields
		raw, err := io.ReadAll(resp.Body)
		if err != nil || json.Unmarshal(raw, &all) != nil {
			return false
		}
		items, _ := all["items"].([]any)
		all["items"] = append(items, fields{"metadata": fields{"name": "widgets.example.com"}, "versions": []fields{{"version": "v1", "freshness": "Stale"}}})
		rw.Header().Set("Content-Type", resp.Header.Get("Content-Type"))
		_ = json.NewEncoder(rw).Encode(all)
		return true
	})
	obs := w.probe(silent, "kube/finalizers", "cm", "held")
	wantFact(t, obs, "children", "?widgets.example.com/v1")
	wantFact(t, obs, "remains", "?widgets.example.com/v1")
	wantOwners(w, silent, "cm", "held", map[string]string{"widget/" + w.ns + "/w": owner.PausedUnknown, "helmrelease " + w.ns + "/chart": owner.PausedUnknown})
	wantFact(t, w.probe(silent, "kube/lookalikes", "cm", "held"), "orphan", "?widgets.example.com/v1")
	// Once every group has spoken, a kind that none serves has no objects.
	obs = w.probe(w.env, "kube/owners", "cm", "held")
	wantFinding(t, obs, "garbage collector")
	wantOwners(w, w.env, "cm", "held", map[string]string{"helmrelease " + w.ns + "/chart": owner.PausedUnknown})
}

// TestReadsTurnAway: a read that is cancelled in the middle gives no facts.
func TestReadsTurnAway(t *testing.T) {
	t.Parallel()
	w := newKeepersWorld(t)
	w.job("held", fields{"finalizers": []string{"example.com/hook-cleanup"}})
	w.freed(w.in(batchV1, "jobs", "held"))
	for kind, at := range map[string]string{"kube/finalizers": "/endpoints", "kube/lookalikes": "/jobs", "kube/owners": "/jobs/held"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			w := *w
			w.t = t
			ctx, cancel := context.WithCancel(t.Context())
			env := w.front(func(_ http.ResponseWriter, r *http.Request) bool {
				if strings.HasSuffix(r.URL.Path, at) {
					cancel()
					<-r.Context().Done()
					return true
				}
				return false
			})
			in := steps.Params{"resource": steps.StringOf("job"), "name": steps.StringOf("held"), "controller": steps.StringOf("deployment/absent")}
			for _, k := range Kinds() {
				if k.Name != kind {
					continue
				}
				if obs, err := k.Reads(env).Probe(ctx, in, steps.SecretsOnly(nil)); !errors.Is(err, context.Canceled) || len(obs.Facts) > 0 {
					t.Errorf("Probe() = %v, %v, want context.Canceled alone", obs, err)
				}
			}
		})
	}
}

// TestReadsWriteNothing asks the server's own audit log.
func TestReadsWriteNothing(t *testing.T) {
	t.Parallel()
	w := newKeepersWorld(t)
	w.job("hook", fields{"finalizers": []string{"example.com/hook-cleanup", "cnpg.io/deleteDatabase"}})
	w.freed(w.in(batchV1, "jobs", "hook"))
	began := time.Now()
	for _, kind := range []string{"kube/finalizers", "kube/owners", "kube/lookalikes"} {
		w.probe(w.env, kind, "job", "hook")
	}
	events, err := w.lab.AuditEvents(t.Context(), lab.AuditFilter{User: w.names.Operator, Since: began})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range events {
		if e.Persists() {
			t.Errorf("the operator did %s %s/%s", e.Verb, e.Resource, e.Name)
		}
	}
}

// TestSeveralStrangers: each finalizer needs evidence of its own.
func TestSeveralStrangers(t *testing.T) {
	t.Parallel()
	w := newKeepersWorld(t)
	w.workload("deployments", "hook-cleaner", 0)
	told := podTemplate("teller")
	told["spec"].(fields)["containers"].([]fields)[0]["args"] = []string{"--finalizer=example.com/a"}
	w.create(w.in(appsV1, "deployments", ""), fields{"metadata": fields{"name": "teller"}, "spec": fields{"replicas": 0, "selector": fields{"matchLabels": fields{"app": "teller"}}, "template": told}})
	numbered(t, func() map[string]any { return w.read(w.in(appsV1, "deployments", "teller")) })
	w.guarded("one", "example.com/a")
	w.guarded("two", "example.com/a", "example.com/b")
	w.guarded("known", "example.com/a", "kubernetes.io/pvc-protection")
	for name, want := range map[string]string{"one": "dead", "two": "?nothing in the cluster ties it to \"example.com/b\"", "known": "alive"} {
		obs := w.probe(w.env, "kube/finalizers", "cm", name, "controller", "deployment/teller")
		wantFact(t, obs, "keeper_alive", want)
		wantFinding(t, obs, "its containers are told the finalizer by name")
	}
	obs := w.probe(w.env, "kube/finalizers", "cm", "two", "controller", "deployment/hook-cleaner")
	wantFact(t, obs, "keeper_alive", "dead")
	wantFinding(t, obs, "wrote the finalizer, by managedFields")
}
