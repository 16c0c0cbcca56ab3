package kube

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"handrail/steps"
	"handrail/steps/kube/centre"
)

// ask asks one question with the account of env.
func (w *keepersWorld) ask(env steps.Env, question string) steps.Answer {
	w.t.Helper()
	c, err := centre.OpenCentre(env, "", func(string) {})
	if err != nil {
		w.t.Fatal(err)
	}
	a, ok := c.Ask(w.t.Context(), question)
	if !ok || !centre.Asked(question) || a.Question != question {
		w.t.Fatalf("%s: %+v, %v", question, a, ok)
	}
	return a
}

// wantStanding finds the one row about where, and returns it.
func wantStanding(t *testing.T, a steps.Answer, where, what string) steps.Standing {
	t.Helper()
	var hits []steps.Standing
	for _, r := range a.Rows {
		if r.Where == where {
			hits = append(hits, r)
		}
	}
	if len(hits) != 1 || !strings.Contains(hits[0].What, what) {
		t.Errorf("%s: rows about %s = %+v, want one with %q; all: %+v", a.Question, where, hits, what, a.Rows)
		return steps.Standing{}
	}
	return hits[0]
}

func wantQuiet(t *testing.T, a steps.Answer, where ...string) {
	t.Helper()
	for _, r := range a.Rows {
		if slices.ContainsFunc(where, func(s string) bool { return strings.Contains(r.Where, s) }) {
			t.Errorf("%s: row %+v, want none", a.Question, r)
		}
	}
}

func wantGapOf(t *testing.T, a steps.Answer, what string, kind steps.GapKind) {
	t.Helper()
	if !slices.ContainsFunc(a.Gaps, func(g steps.Gap) bool { return strings.HasPrefix(g.What, what) && g.Kind == kind && g.Say != "" }) {
		t.Errorf("%s: gaps = %+v, want %s of kind %s", a.Question, a.Gaps, what, kind)
	}
}

// asked are the questions that have to do with a cluster.
func asked() []string {
	var out []string
	for _, q := range steps.Questions() {
		if centre.Asked(q.ID) {
			out = append(out, q.ID)
		}
	}
	return out
}

// TestCentreForbidden: who may read nothing hears for each question what and why.
func TestCentreForbidden(t *testing.T) {
	t.Parallel()
	w := newKeepersWorld(t)
	w.definitions()
	blind := w.limited("blind", may("", "configmaps", "get"))
	for _, q := range asked() {
		a := w.ask(blind, q)
		if len(a.Rows)+len(a.Seen) > 0 || len(a.Blind()) == 0 || !slices.ContainsFunc(a.Blind(), func(g steps.Gap) bool { return g.Kind == steps.Forbidden }) {
			t.Errorf("%s: %+v, want nothing seen, forbidden", q, a)
		}
	}
}

// TestCentreNamespace: who may read one namespace sees that one, and hears of the
// rest.
func TestCentreNamespace(t *testing.T) {
	t.Parallel()
	w := newKeepersWorld(t)
	a := w.ask(w.env, steps.StuckDeployments)
	if !slices.Contains(a.Seen, "deployments.apps of namespace "+w.ns) {
		t.Errorf("seen %q", a.Seen)
	}
	wantGapOf(t, a, "deployments.apps of other namespaces", steps.Forbidden)
}

// TestCentreAbsent hides the groups of custom resources from discovery.
func TestCentreAbsent(t *testing.T) {
	t.Parallel()
	w := newKeepersWorld(t)
	w.definitions()
	bare := w.front(func(rw http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path != "/apis" {
			return false
		}
		_, out, err := w.try(http.MethodGet, "/apis", "application/json", nil)
		if err != nil {
			return false
		}
		groups, _ := out["groups"].([]any)
		out["groups"] = slices.DeleteFunc(groups, func(g any) bool {
			name := g.(fields)["name"].(string)
			return strings.Contains(name, "argoproj") || strings.Contains(name, "fluxcd") || strings.Contains(name, "external-secrets") || strings.Contains(name, "wgpolicy")
		})
		rw.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(rw).Encode(out)
		return true
	})
	for _, q := range []string{steps.DegradedApps, steps.OpenDrift, steps.FailedSecrets} {
		a := w.ask(bare, q)
		if len(a.Seen) > 0 || len(a.Blind()) != len(a.Gaps) || len(a.Gaps) == 0 {
			t.Errorf("%s: %+v, want nothing seen", q, a)
		}
		for _, g := range a.Gaps {
			if g.Kind != steps.Absent || !strings.Contains(g.Say, "serves no") {
				t.Errorf("%s: %+v, want absent", q, g)
			}
		}
	}
	for _, q := range []string{steps.DenyingPolicies, steps.BreakGlass} {
		if a := w.ask(bare, q); len(a.Seen) == 0 || len(a.Blind()) > 0 || len(a.Gaps) == 0 {
			t.Errorf("%s: %+v, want the rest seen, and no gap that counts", q, a)
		}
	}
}

// TestCentreLate: a server that does not answer costs the time of a question and
// no more.
func TestCentreLate(t *testing.T) {
	t.Parallel()
	w := newKeepersWorld(t)
	hung := w.front(func(_ http.ResponseWriter, r *http.Request) bool {
		<-r.Context().Done()
		return true
	})
	c, err := centre.OpenCentre(hung, "", func(string) {})
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range asked() {
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		a, _ := c.Ask(ctx, q)
		cancel()
		if len(a.Seen)+len(a.Rows) > 0 || len(a.Gaps) == 0 {
			t.Errorf("%s: %+v, want nothing seen", q, a)
		}
		for _, g := range a.Gaps {
			if g.Kind != steps.TimedOut {
				t.Errorf("%s: %+v, want timed out", q, g)
			}
		}
	}
}

// TestCentreStuck lets the real controllers say that a rollout does not go on.
func TestCentreStuck(t *testing.T) {
	t.Parallel()
	w := newKeepersWorld(t)
	rollout := func(name string, replicas int, meta fields) {
		meta["name"] = name
		w.create(w.in("apps/v1", "deployments", ""), fields{"metadata": meta, "spec": fields{"replicas": replicas, "progressDeadlineSeconds": 1,
			"selector": fields{"matchLabels": fields{"app": name}}, "template": fields{"metadata": fields{"labels": fields{"app": name}},
				"spec": fields{"containers": []fields{{"name": "a", "image": "example.com/a"}}}}}})
	}
	rollout("stuck", 2, fields{"labels": fields{"team": "shop"}})
	rollout("idle", 0, fields{})
	rollout("leaving", 0, fields{"finalizers": []string{"example.com/hold"}})
	w.freed(w.in("apps/v1", "deployments", "leaving"))
	w.remove(w.in("apps/v1", "deployments", "leaving"), nil)
	label := func(name string) string { return "deployment/" + w.ns + "/" + name }
	var a steps.Answer
	w.until("the deadline of the rollout", func() bool {
		a = w.ask(w.env, steps.StuckDeployments)
		return slices.ContainsFunc(a.Rows, func(r steps.Standing) bool {
			return r.Where == label("stuck") && strings.Contains(r.Detail, "ProgressDeadlineExceeded")
		})
	})
	row := wantStanding(t, a, label("stuck"), "0 of 2 available")
	if row.Level != steps.Critical || row.Owner != "shop" || row.Since.IsZero() || row.Runbook != "" || !strings.Contains(row.Command, "describe deployments.apps stuck") {
		t.Errorf("%+v", row)
	}
	wantQuiet(t, a, label("idle"))
	held := wantStanding(t, a, label("leaving"), "hangs in deletion")
	if held.Runbook != "stuck-finalizer" || held.Params["resource"] != "deployments.apps" || held.Params["name"] != "leaving" ||
		held.Params["namespace"] != w.ns || held.Params["finalizer"] != "example.com/hold" {
		t.Errorf("%+v", held)
	}
}

// TestCentreLocked tells a lock that is held from what one left behind.
func TestCentreLocked(t *testing.T) {
	t.Parallel()
	w := newKeepersWorld(t)
	lease := func(name, holder, info string) {
		w.create(w.in("coordination.k8s.io/v1", "leases", ""), fields{"metadata": fields{"name": name, "annotations": fields{"app.terraform.io/lock-info": info}},
			"spec": fields{"holderIdentity": holder}})
	}
	info := `{"ID":"5e1c9a70","Operation":"OperationTypeApply","Who":"runner@ci","Created":"2026-11-20T01:27:00Z"}`
	lease("lock-tfstate-default-net", "5e1c9a70", info)
	lease("lock-tfstate-default-free", "", info)
	lease("lock-tfstate-default-mute", "0b6f", "what")
	lease("leader", "somebody", "")
	a := w.ask(w.env, steps.LockedRuns)
	row := wantStanding(t, a, w.ns+"/lock-tfstate-default-net", "OperationTypeApply")
	if row.Owner != "runner@ci" || row.Since.UTC().Format(time.RFC3339) != "2026-11-20T01:27:00Z" {
		t.Errorf("%+v", row)
	}
	if row := wantStanding(t, a, w.ns+"/lock-tfstate-default-mute", "locked"); row.Owner != "" || row.Detail == "" {
		t.Errorf("%+v", row)
	}
	wantQuiet(t, a, "free", "leader")
}

// status writes the status of an object as its controller would.
func (w *keepersWorld) status(path string, status fields, sub bool) {
	w.t.Helper()
	if sub {
		path += "/status"
	}
	w.merge(path, fields{"status": status})
}

func conditions(kind, status, reason, message string) fields {
	return fields{"conditions": []fields{{"type": kind, "status": status, "reason": reason, "message": message, "lastTransitionTime": "2026-11-20T01:27:00Z", "observedGeneration": 1}}}
}

// TestCentreApps reads applications and objects of Flux of the real definitions,
// for two questions.
func TestCentreApps(t *testing.T) {
	t.Parallel()
	w := newKeepersWorld(t)
	w.definitions()
	for name, status := range map[string]fields{
		"degraded": {"health": fields{"status": "Degraded", "lastTransitionTime": "2026-11-20T01:27:00Z"}, "sync": fields{"status": "Synced"}},
		"failed": {"health": fields{"status": "Healthy"}, "sync": fields{"status": "OutOfSync"}, "operationState": fields{"phase": "Failed", "message": "one or more objects failed to apply",
			"startedAt": "2026-11-20T01:26:00Z", "finishedAt": "2026-11-20T01:27:00Z", "operation": fields{}}, "resources": []fields{{"kind": "ConfigMap", "name": "a", "status": "OutOfSync"}}},
		"blind": {"health": fields{"status": "Healthy"}, "sync": fields{"status": "Unknown"}, "conditions": []fields{{"type": "ComparisonError", "message": "cannot render"}}},
		"well":  {"health": fields{"status": "Healthy"}, "sync": fields{"status": "Synced"}, "conditions": []fields{{"type": "OrphanedResourceWarning", "message": "one"}}},
	} {
		w.app(name, nil, nil)
		w.status(w.in("argoproj.io/v1alpha1", "applications", name), status, false)
	}
	git := func(name string, status fields, suspend bool) {
		const v = "source.toolkit.fluxcd.io/v1"
		w.create(w.in(v, "gitrepositories", ""), fields{"apiVersion": v, "kind": "GitRepository", "metadata": fields{"name": name}, "spec": fields{"interval": "1m", "url": "https://git.example.com/x", "suspend": suspend}})
		w.status(w.in(v, "gitrepositories", name), status, true)
	}
	git("gone", conditions("Ready", "False", "GitOperationFailed", "authentication required"), false)
	git("stalled", conditions("Stalled", "True", "URLInvalid", "no"), false)
	git("asleep", conditions("Ready", "False", "GitOperationFailed", "before"), true)
	git("fine", conditions("Ready", "True", "Succeeded", "stored"), false)
	label := func(kind, name string) string { return kind + "/" + w.ns + "/" + name }

	a := w.ask(w.env, steps.DegradedApps)
	if row := wantStanding(t, a, label("application", "degraded"), "Degraded"); row.Level != steps.Critical || row.Owner != "project default" || row.Since.IsZero() {
		t.Errorf("%+v", row)
	}
	wantStanding(t, a, label("application", "failed"), "last sync: Failed")
	wantStanding(t, a, label("application", "blind"), "ComparisonError")
	if row := wantStanding(t, a, label("gitrepository", "gone"), "GitOperationFailed"); row.Detail != "authentication required" {
		t.Errorf("%+v", row)
	}
	if row := wantStanding(t, a, label("gitrepository", "stalled"), "stalled: URLInvalid"); row.Level != steps.Critical {
		t.Errorf("%+v", row)
	}
	wantQuiet(t, a, label("application", "well"), label("gitrepository", "asleep"), label("gitrepository", "fine"))

	a = w.ask(w.env, steps.OpenDrift)
	if row := wantStanding(t, a, label("application", "failed"), "out of sync: 1 of its objects"); row.Detail != "configmap/a" {
		t.Errorf("%+v", row)
	}
	wantQuiet(t, a, label("application", "degraded"), label("application", "well"))
}

// TestCentreSecrets reads ExternalSecrets of the real definition.
func TestCentreSecrets(t *testing.T) {
	t.Parallel()
	w := newKeepersWorld(t)
	w.definitions()
	const v = externalSecrets
	external := func(name, every string, status fields) {
		w.create(w.in(v, "externalsecrets", ""), fields{"apiVersion": v, "kind": "ExternalSecret", "metadata": fields{"name": name},
			"spec": fields{"refreshInterval": every, "secretStoreRef": fields{"name": "vault"}}})
		w.status(w.in(v, "externalsecrets", name), status, true)
	}
	fresh := time.Now().UTC().Format(time.RFC3339)
	old := time.Now().Add(-5 * time.Hour).UTC().Format(time.RFC3339)
	with := func(refreshed string) fields {
		out := conditions("Ready", "True", "SecretSynced", "ok")
		out["refreshTime"] = refreshed
		return out
	}
	external("refused", "1h", conditions("Ready", "False", "SecretSyncedError", "could not get secret data from provider"))
	external("stale", "1h", with(old))
	external("once", "0", with(old))
	external("fresh", "1h", with(fresh))
	label := func(name string) string { return "externalsecret/" + w.ns + "/" + name }
	a := w.ask(w.env, steps.FailedSecrets)
	if row := wantStanding(t, a, label("refused"), "SecretSyncedError"); row.Owner != "store vault" || !strings.Contains(row.Detail, "provider") {
		t.Errorf("%+v", row)
	}
	wantStanding(t, a, label("stale"), "twice its interval")
	wantQuiet(t, a, label("once"), label("fresh"))
	wantGapOf(t, a, "sealedsecrets.bitnami.com", steps.Absent)
}

// TestCentreDenials lets a real policy refuse the Pods of a real Job, and reads a
// report of the real definition.
func TestCentreDenials(t *testing.T) {
	t.Parallel()
	w := newKeepersWorld(t)
	w.definitions()
	const api = "/apis/admissionregistration.k8s.io/v1/"
	name := "handrail-" + w.ns
	gone := func(path string) {
		t.Cleanup(func() { _, _, _ = w.try(http.MethodDelete, path, "application/json", fields{}) })
	}
	w.create(api+"validatingadmissionpolicies", fields{"metadata": fields{"name": name}, "spec": fields{"failurePolicy": "Fail",
		"matchConstraints": fields{"namespaceSelector": fields{"matchLabels": fields{"kubernetes.io/metadata.name": w.ns}},
			"resourceRules": []fields{{"apiGroups": []string{""}, "apiVersions": []string{"v1"}, "operations": []string{"CREATE"}, "resources": []string{"pods"}}}},
		"validations": []fields{{"expression": "false", "message": "no Pods today"}}}})
	gone(api + "validatingadmissionpolicies/" + name)
	w.create(api+"validatingadmissionpolicybindings", fields{"metadata": fields{"name": name}, "spec": fields{"policyName": name, "validationActions": []string{"Deny"}}})
	gone(api + "validatingadmissionpolicybindings/" + name)
	w.until("the policy", func() bool {
		code, _, err := w.try(http.MethodPost, w.in("", "pods", "")+"?dryRun=All", "application/json", fields{"metadata": fields{"name": "probe"},
			"spec": fields{"containers": []fields{{"name": "a", "image": "example.com/a"}}}})
		return err == nil && code/100 != 2
	})
	w.job("refused", fields{})
	const v = "wgpolicyk8s.io/v1alpha2"
	w.create(w.in(v, "policyreports", ""), fields{"apiVersion": v, "kind": "PolicyReport", "metadata": fields{"name": "report"}, "results": []fields{
		{"policy": "labels-" + w.ns, "rule": "team", "result": "fail", "message": "no team"}, {"policy": "labels-" + w.ns, "rule": "owner", "result": "fail"},
		{"policy": "other-" + w.ns, "result": "pass"}}})
	who := "validatingadmissionpolicy/" + name + " by " + name
	var a steps.Answer
	w.until("the denial", func() bool {
		a = w.ask(w.root(), steps.DenyingPolicies)
		return slices.ContainsFunc(a.Rows, func(r steps.Standing) bool { return r.Where == who })
	})
	if row := wantStanding(t, a, who, "last job/"+w.ns+"/refused"); row.Count < 1 || row.Since.IsZero() || !strings.Contains(row.Detail, "no Pods today") {
		t.Errorf("%+v", row)
	}
	if row := wantStanding(t, a, "policy labels-"+w.ns+" in policyreports", "2 results fail"); row.Level != steps.Info {
		t.Errorf("%+v", row)
	}
	wantQuiet(t, a, "other-"+w.ns)
	if !slices.ContainsFunc(a.Seen, func(s string) bool { return strings.HasSuffix(s, " deny)") && s != "policy bindings (0 deny)" }) {
		t.Errorf("seen %q, want how many bindings deny", a.Seen)
	}
}

// TestCentreBreakGlass finds what bears the mark, and only that.
func TestCentreBreakGlass(t *testing.T) {
	t.Parallel()
	w := newKeepersWorld(t)
	w.definitions()
	const rbac = "rbac.authorization.k8s.io/v1"
	bind := func(name, role string, notes fields) {
		w.create(w.in(rbac, "rolebindings", ""), fields{"metadata": fields{"name": name, "annotations": notes}, "subjects": []fields{{"kind": "User", "name": "ana"}},
			"roleRef": fields{"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role}})
	}
	bind("opened", "cluster-admin", fields{"example.com/break-glass": "INC-7"})
	bind("over", "view", fields{"break-glass": "false"})
	bind("usual", "view", fields{"example.com/other": "x"})
	off := fields{"automated": fields{"enabled": false}}
	w.app("paused", fields{"labels": fields{"break-glass": "yes"}}, off)
	w.app("running", fields{"labels": fields{"break-glass": "yes"}}, fields{"automated": fields{"selfHeal": true}})
	w.app("own", nil, off)
	w.app("late", fields{"annotations": fields{steps.PauseUntil: "2026-01-01T00:00:00Z", steps.PauseIncident: "i-9"}}, fields{"automated": fields{}})
	w.merge(w.in("argoproj.io/v1alpha1", "applications", "late")+"?fieldManager=handrail", fields{"spec": fields{"syncPolicy": off}})
	a := w.ask(w.env, steps.BreakGlass)
	if row := wantStanding(t, a, "rolebinding/"+w.ns+"/opened", "gives cluster-admin"); row.Level != steps.Critical || row.Owner != "ana" || row.Since.IsZero() || row.Detail != "example.com/break-glass: INC-7" {
		t.Errorf("%+v", row)
	}
	wantStanding(t, a, "application/"+w.ns+"/paused", "auto-sync is off")
	if row := wantStanding(t, a, "application/"+w.ns+"/late", "should have been looked at 2026-01-01"); row.Owner != "handrail" || !strings.Contains(row.Detail, "incident i-9") || row.Runbook != "gitops-out-of-sync" || row.Params["name"] != "late" {
		t.Errorf("%+v", row)
	}
	wantQuiet(t, a, "/over", "/usual", "/running", "/own")
	wantGapOf(t, a, "clusterrolebindings", steps.Forbidden)
	c, err := centre.OpenCentre(w.env, "other", func(string) {})
	if err != nil {
		t.Fatal(err)
	}
	a, _ = c.Ask(t.Context(), steps.BreakGlass)
	wantStanding(t, a, "rolebinding/"+w.ns+"/usual", "gives view")
	wantQuiet(t, a, "/opened", "/paused")
}

// TestCentreManual writes as Flux and as a person do, and lets the server keep
// who owns what.
func TestCentreManual(t *testing.T) {
	t.Parallel()
	w := newKeepersWorld(t)
	path := func(name string) string { return w.in("", "configmaps", name) }
	apply := func(name, value string, tracked bool) {
		labels := fields{}
		if tracked {
			labels = fields{"kustomize.toolkit.fluxcd.io" + "/name": "shop", "kustomize.toolkit.fluxcd.io" + "/namespace": w.ns}
		}
		w.send(http.MethodPatch, path(name)+"?fieldManager=kustomize-controller&force=true", "application/apply-patch+yaml",
			fields{"apiVersion": "v1", "kind": "ConfigMap", "metadata": fields{"name": name, "labels": labels}, "data": fields{"a": value}})
	}
	edit := func(name, manager, value string) {
		w.send(http.MethodPatch, path(name)+"?fieldManager="+manager, "application/merge-patch+json", fields{"data": fields{"a": value}})
	}
	for _, name := range []string{"edited", "adopted", "restored", "labelled", "stranger"} {
		apply(name, "git", name != "stranger")
	}
	for _, name := range []string{"edited", "adopted", "restored", "stranger"} {
		edit(name, "kubectl-edit", "hand")
	}
	edit("labelled", "some-controller", "hand")
	apply("adopted", "hand", true)
	apply("restored", "git", true)
	a := w.ask(w.env, steps.ManualChanges)
	row := wantStanding(t, a, "configmap/"+w.ns+"/edited", "kubectl-edit wrote it after kustomize-controller")
	if row.Owner != "kustomization "+w.ns+"/shop" || row.Since.IsZero() || row.Detail != "Fields: .data.a" {
		t.Errorf("%+v", row)
	}
	wantQuiet(t, a, "/adopted", "/restored", "/labelled", "/stranger")
	if got := fmt.Sprint(len(a.Seen)); got != fmt.Sprint(10) {
		t.Errorf("seen %q, want all %d kinds", a.Seen, 10)
	}
}

// TestCentreRefused: what kubectl shows as refused is no green at home: a webhook
// without a service, and a quota.
func TestCentreRefused(t *testing.T) {
	t.Parallel()
	w := newKeepersWorld(t)
	const api = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"
	name := "dead-" + w.ns
	hook := func(name, policy, service string) fields {
		return fields{"name": name + ".example.com", "failurePolicy": policy, "sideEffects": "None", "admissionReviewVersions": []string{"v1"},
			"namespaceSelector": fields{"matchLabels": fields{"kubernetes.io/metadata.name": "no-such-" + w.ns}},
			"clientConfig":      fields{"service": fields{"namespace": w.ns, "name": service}},
			"rules":             []fields{{"apiGroups": []string{""}, "apiVersions": []string{"v1"}, "operations": []string{"DELETE"}, "resources": []string{"configmaps"}}}}
	}
	w.create(w.in("", "services", ""), fields{"metadata": fields{"name": "empty"}, "spec": fields{"ports": []fields{{"port": 443}}}})
	w.create(w.in("", "services", ""), fields{"metadata": fields{"name": "alive"}, "spec": fields{"ports": []fields{{"port": 443}}}})
	w.create(w.in("discovery.k8s.io/v1", "endpointslices", ""), fields{"metadata": fields{"name": "alive-1", "labels": fields{"kubernetes.io/service-name": "alive"}},
		"addressType": "IPv4", "ports": []fields{{"port": 443}}, "endpoints": []fields{{"addresses": []string{"192.0.2.7"}, "conditions": fields{"ready": true}}}})
	w.create(api, fields{"metadata": fields{"name": name}, "webhooks": []fields{hook("absent", "Fail", "gone"), hook("empty", "Fail", "empty"), hook("open", "Ignore", "gone"), hook("alive-"+w.ns, "Fail", "alive")}})
	t.Cleanup(func() { _, _, _ = w.try(http.MethodDelete, api+"/"+name, "application/json", fields{}) })
	a := w.ask(w.root(), steps.RefusedRequests)
	said := ""
	for _, r := range a.Rows {
		if r.Where == "validatingwebhookconfiguration/"+name {
			if r.Level != steps.Critical || r.Since.IsZero() || r.Runbook != "admission-denied" || !strings.Contains(r.What, "webhook "+r.Params["webhook"]+" fails") {
				t.Errorf("%+v", r)
			}
			said += r.What + "\n"
		}
	}
	want := "webhook absent.example.com fails closed, and its service " + w.ns + "/gone does not exist\nwebhook empty.example.com fails closed, and its service " + w.ns + "/empty has no endpoint that is ready\n"
	if said != want {
		t.Errorf("rows say %q, want %q", said, want)
	}
	// An endpoint that is ready proves no answer: it is said, and no green stands for it.
	if row := wantStanding(t, a, "webhooks that fail closed", "are not asked here"); !strings.Contains(row.Detail, "alive-"+w.ns+".example.com") || strings.Contains(row.Detail, "open.example.com") {
		t.Errorf("%+v", row)
	}

	w.create(w.in("", "resourcequotas", ""), fields{"metadata": fields{"name": "none"}, "spec": fields{"hard": fields{"pods": "0"}}})
	w.until("the quota counts", func() bool {
		code, _, err := w.try(http.MethodPost, w.in("", "pods", "")+"?dryRun=All", "application/json", fields{"metadata": fields{"name": "probe"},
			"spec": fields{"containers": []fields{{"name": "a", "image": "example.com/a"}}}})
		return err == nil && code/100 != 2
	})
	w.job("refused", fields{})
	quota := "quota none in namespace " + w.ns
	w.until("the refusal", func() bool {
		a = w.ask(w.root(), steps.RefusedRequests)
		return slices.ContainsFunc(a.Rows, func(r steps.Standing) bool { return r.Where == quota })
	})
	if row := wantStanding(t, a, quota, "last job/"+w.ns+"/refused"); !strings.Contains(row.Detail, "exceeded quota: none") {
		t.Errorf("%+v", row)
	}
	for _, r := range w.ask(w.root(), steps.DenyingPolicies).Rows {
		if strings.Contains(r.Detail, "exceeded quota: none") {
			t.Errorf("the quota is a policy too: %+v", r)
		}
	}
}

// TestCentreHanging names what should be gone for longer than a minute, as an
// object of another time says it.
func TestCentreHanging(t *testing.T) {
	t.Parallel()
	old := time.Now().Add(-time.Hour).UTC().Format(time.RFC3339)
	young := time.Now().UTC().Format(time.RFC3339)
	list := func(items ...string) string { return `{"metadata":{},"items":[` + strings.Join(items, ",") + `]}` }
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		rw.Header().Set("Content-Type", "application/json")
		body := list()
		switch r.URL.Path {
		case "/api/v1/namespaces":
			body = list(`{"metadata":{"name":"shop","deletionTimestamp":"`+old+`"},"status":{"phase":"Terminating","conditions":[{"type":"NamespaceContentRemaining","status":"True","message":"Some resources are remaining: jobs.batch has 1 resource instances"},{"type":"NamespaceDeletionDiscoveryFailure","status":"False","message":"fine"}]}}`,
				`{"metadata":{"name":"going","deletionTimestamp":"`+young+`"}}`, `{"metadata":{"name":"stays"}}`)
		case "/api/v1/pods":
			body = list(`{"metadata":{"name":"lost","namespace":"shop","deletionTimestamp":"` + old + `"}}`)
		case "/apis/batch/v1/jobs":
			body = list(`{"metadata":{"name":"migrate","namespace":"shop","deletionTimestamp":"` + old + `","finalizers":["example.com/hold"]}}`)
		}
		_, _ = rw.Write([]byte(body))
	}))
	defer server.Close()
	w := &keepersWorld{t: t}
	a := w.ask(steps.Env{Kubeconfig: kubeconfig(t, server.URL, "one"), Home: t.TempDir(), Now: time.Now}, steps.HangingDeletions)
	if row := wantStanding(t, a, "namespace/shop", "hangs in deletion: NamespaceContentRemaining: Some resources are remaining"); row.Params["space"] != "shop" || row.Detail != "NamespaceContentRemaining: Some resources are remaining: jobs.batch has 1 resource instances" {
		t.Errorf("%+v", row)
	}
	wantStanding(t, a, "pod/shop/lost", "no finalizer holds it")
	if row := wantStanding(t, a, "job/shop/migrate", "held by example.com/hold"); row.Runbook != "stuck-finalizer" || row.Params["finalizer"] != "example.com/hold" {
		t.Errorf("%+v", row)
	}
	if len(a.Rows) != 3 || len(a.Gaps) > 0 {
		t.Errorf("%+v", a)
	}
}

// TestCentreWorstContainer: the row of a stuck Deployment says what its Pods say,
// the gravest first.
func TestCentreWorstContainer(t *testing.T) {
	t.Parallel()
	pod := func(name, waiting, message string) string {
		return `{"metadata":{"name":"` + name + `"},"spec":{"nodeName":"n","containers":[{"name":"web","image":"example.com/web:1.7"}]},` +
			`"status":{"phase":"Pending","conditions":[{"type":"PodScheduled","status":"True"}],"containerStatuses":[{"name":"web","state":{"waiting":{"reason":"` + waiting + `","message":"` + message + `"}}}]}}`
	}
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		rw.Header().Set("Content-Type", "application/json")
		switch {
		case r.URL.Path == "/apis/apps/v1/deployments":
			_, _ = rw.Write([]byte(`{"metadata":{},"items":[{"metadata":{"name":"web","namespace":"shop"},"spec":{"replicas":2,"selector":{"matchLabels":{"app":"web"}}},` +
				`"status":{"conditions":[{"type":"Progressing","status":"False","reason":"ProgressDeadlineExceeded","message":"late"}]}}]}`))
		case r.URL.Path == "/apis/batch/v1/jobs":
			_, _ = rw.Write([]byte(`{"metadata":{},"items":[{"metadata":{"name":"migrate","namespace":"shop"},"spec":{"selector":{"matchLabels":{"job":"migrate"}}},` +
				`"status":{"active":1,"startTime":"2026-01-02T03:04:05Z"}}]}`))
		case r.URL.Path == "/api/v1/namespaces/shop/pods" && r.URL.Query().Get("labelSelector") == "job=migrate":
			_, _ = rw.Write([]byte(`{"metadata":{},"items":[` + pod("c", "CreateContainerConfigError", "secret db is missing") + `]}`))
		case r.URL.Path == "/api/v1/namespaces/shop/pods" && r.URL.Query().Get("labelSelector") == "app=web":
			_, _ = rw.Write([]byte(`{"metadata":{},"items":[` + pod("a", "CrashLoopBackOff", "back-off") + `,` + pod("b", "ImagePullBackOff", "no such tag") + `]}`))
		default:
			http.NotFound(rw, r)
		}
	}))
	defer server.Close()
	w := &keepersWorld{t: t}
	a := w.ask(steps.Env{Kubeconfig: kubeconfig(t, server.URL, "one"), Home: t.TempDir(), Now: time.Now}, steps.StuckDeployments)
	row := wantStanding(t, a, "deployment/shop/web", "rollout does not go on, 0 of 2 available; web: ImagePullBackOff (example.com/web:1.7)")
	if !strings.HasPrefix(row.Detail, "no such tag\n") || len(a.Gaps) > 0 {
		t.Errorf("%+v", a)
	}
	wantStanding(t, a, "job/shop/migrate", "hangs: none of its 1 Pods is ready; web: CreateContainerConfigError")
}
