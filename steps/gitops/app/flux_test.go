package app

import (
	"errors"
	"testing"
	"time"
)

func kustomization(t *testing.T, raw string) App {
	return parsed(t, KustomizeGroup, "Kustomization", raw)
}

// TestFluxLinks: each way in which Flux fails is told apart, by reasons and texts of
// kustomize-controller 1.9 and helm-controller 1.6.
func TestFluxLinks(t *testing.T) {
	t.Parallel()
	ready := func(reason, message string) string {
		return `{"status":{"conditions":[{"type":"Ready","status":"False","reason":"` + reason + `","message":"` + message + `"}]}}`
	}
	for name, tc := range map[string]struct {
		raw   string
		link  Link
		wrote Tristate
	}{
		"well":            {`{"status":{"conditions":[{"type":"Ready","status":"True","reason":"ReconciliationSucceeded","message":"Applied revision: main@sha1:abc"}]}}`, LinkNone, Unknown},
		"never looked at": {`{}`, LinkNone, Unknown},
		"no artifact":     {ready("ArtifactFailed", "Source artifact not found, retrying in 5s"), LinkSource, No},
		"no path":         {ready("ArtifactFailed", "kustomization path not found: stat /tmp/x: no such file or directory"), LinkSource, No},
		"build":           {ready("BuildFailed", "kustomize build failed: accumulating resources: accumulation err"), LinkRender, No},
		"SOPS":            {ready("BuildFailed", "decryption failed for 'Secret.v1//db': cannot get sops data key"), LinkSecret, No},
		"no key named":    {ready("ReconciliationFailed", "Secret/shop/db is SOPS encrypted, configuring decryption is required for this secret to be reconciled"), LinkSecret, No},
		"dependency":      {ready("DependencyNotReady", "dependency 'flux-system/sick' is not ready"), LinkDependency, No},
		"no kind":         {ready("ReconciliationFailed", "Widget/shop/w dry-run failed: no matches for kind \\\"Widget\\\" in version \\\"example.com/v1\\\""), LinkDependency, Unknown},
		"invalid":         {ready("ReconciliationFailed", "Deployment/shop/web dry-run failed (Invalid): Deployment.apps \\\"web\\\" is invalid: spec.selector: Invalid value: field is immutable"), LinkApply, Unknown},
		"admission":       {ready("ReconciliationFailed", "Deployment/shop/web dry-run failed: admission webhook \\\"v.example.com\\\" denied the request: no team label"), LinkAdmission, Unknown},
		"health":          {ready("HealthCheckFailed", "health check failed after 30.02s: timeout waiting for: [Deployment/default/sick status: 'InProgress']"), LinkHealth, Unknown},
		"prune":           {ready("PruneFailed", "ConfigMap/shop/old: has finalizers"), LinkPrune, Unknown},
		"new words":       {ready("Newer", "of a later version"), LinkUnknown, Unknown},
	} {
		a := kustomization(t, tc.raw)
		if a.Link != tc.link || a.Operation.Wrote != tc.wrote {
			t.Errorf("%s: link %s, wrote %d (%s); want %s, %d", name, a.Link, a.Operation.Wrote, a.Says, tc.link, tc.wrote)
		}
	}
}

// TestFailing: the object at which an application fails is named, where one is.
func TestFailing(t *testing.T) {
	t.Parallel()
	flux := func(reason, message, inventory string) string {
		return `{"status":{"conditions":[{"type":"Ready","status":"False","reason":"` + reason + `","message":"` + message + `"}],"inventory":{"entries":[{"id":"` + inventory + `"}]}}}`
	}
	for name, tc := range map[string]struct{ group, kind, raw, want string }{
		"a dry run":        {KustomizeGroup, "Kustomization", flux("ReconciliationFailed", "Deployment/shop/web dry-run failed (Invalid): x", "shop_web_apps_Deployment"), "deployment.apps/shop/web"},
		"health":           {KustomizeGroup, "Kustomization", flux("HealthCheckFailed", "health check failed after 30s: timeout waiting for: [Deployment/default/sick status: 'InProgress']", "a_b_c_D"), "deployment/default/sick"},
		"the cluster's":    {KustomizeGroup, "Kustomization", flux("ReconciliationFailed", "ClusterRole/reader dry-run failed: x", "a_b_c_D"), "clusterrole/reader"},
		"a source":         {KustomizeGroup, "Kustomization", flux("ArtifactFailed", "Source/shop not found", "a_b_c_D"), ""},
		"a hook":           {ArgoGroup, "Application", `{"status":{"operationState":{"phase":"Failed","message":"m","syncResult":{"resources":[{"kind":"Service","namespace":"shop","name":"web","status":"Synced"},{"group":"batch","kind":"Job","namespace":"shop","name":"migrate","status":"Synced","hookType":"PreSync","hookPhase":"Failed"}]}}}}`, "job.batch/shop/migrate"},
		"degraded":         {ArgoGroup, "Application", `{"status":{"health":{"status":"Degraded"},"resources":[{"kind":"Service","name":"web","health":{"status":"Healthy"}},{"group":"apps","kind":"Deployment","namespace":"shop","name":"web","health":{"status":"Degraded"}}]}}`, "deployment.apps/shop/web"},
		"held in deletion": {ArgoGroup, "Application", `{"status":{"operationState":{"phase":"Running","message":"waiting for deletion of /ConfigMap/ledger","syncResult":{"resources":[{"kind":"ConfigMap","namespace":"shop","name":"ledger","status":"Pruned"}]}}}}`, "configmap/shop/ledger"},
		"a hook runs":      {ArgoGroup, "Application", `{"status":{"operationState":{"phase":"Running","message":"waiting for completion of hook batch/Job/migrate and 1 more hooks","syncResult":{"resources":[{"group":"batch","kind":"Job","namespace":"shop","name":"migrate","hookType":"PreSync","hookPhase":"Running"}]}}}}`, "job.batch/shop/migrate"},
		"a wave":           {ArgoGroup, "Application", `{"status":{"operationState":{"phase":"Running","message":"waiting for healthy state of apps/Deployment/web"},"resources":[{"group":"apps","kind":"Deployment","namespace":"shop","name":"web"}]}}`, "deployment.apps/shop/web"},
		"one of two":       {ArgoGroup, "Application", `{"status":{"operationState":{"phase":"Running","message":"waiting for deletion of /ConfigMap/ledger","syncResult":{"resources":[{"kind":"ConfigMap","namespace":"a","name":"ledger","status":"Pruned"},{"kind":"ConfigMap","namespace":"b","name":"ledger","status":"Pruned"}]}}}}`, ""},
		"nothing":          {ArgoGroup, "Application", `{"status":{"operationState":{"phase":"Succeeded"}}}`, ""},
	} {
		r, ok := parsed(t, tc.group, tc.kind, tc.raw).Failing()
		if got := r.String(); ok != (tc.want != "") || ok && got != tc.want {
			t.Errorf("%s: %q %v, want %q", name, got, ok, tc.want)
		}
	}
}

// TestBehind: a spec that failed was seen, though the status keeps the generation of the last success.
func TestBehind(t *testing.T) {
	t.Parallel()
	ready := func(status, seen string) string {
		return `{"metadata":{"generation":2},"status":{"observedGeneration":-1,"conditions":[{"type":"Ready","status":"` + status + `","observedGeneration":` + seen + `,"reason":"x"}]}}`
	}
	for raw, want := range map[string]bool{ready("False", "2"): false, ready("False", "1"): true, ready("Unknown", "2"): true, ready("True", "2"): true} {
		if a := kustomization(t, raw); a.Behind != want {
			t.Errorf("%s: behind %v", raw, a.Behind)
		}
	}
}

// TestHooks: what an operation began beside its objects is told, however the rest of it ended.
func TestHooks(t *testing.T) {
	t.Parallel()
	a := argo(t, `{"status":{"operationState":{"phase":"Failed","message":"m","syncResult":{"resources":[
		{"group":"batch","kind":"Job","namespace":"shop","name":"migrate","hookType":"PreSync","hookPhase":"Succeeded"},
		{"group":"batch","kind":"Job","namespace":"shop","name":"warm","hookType":"PostSync"},
		{"kind":"Service","namespace":"shop","name":"web","status":"SyncFailed","hookPhase":"Failed","message":"is invalid"}]}}}}`)
	if got := a.Hooks(); len(got) != 1 || got[0].String() != "job.batch/shop/migrate" || a.Link != LinkApply {
		t.Errorf("Hooks() = %v at link %s, want the Job that ran, and the failing Service", got, a.Link)
	}
}

// TestKustomizationSync: it is synced only where its newest spec and the last revision were
// applied whole.
func TestKustomizationSync(t *testing.T) {
	t.Parallel()
	const ok = `"conditions":[{"type":"Ready","status":"True","reason":"ReconciliationSucceeded"}]`
	for name, tc := range map[string]struct {
		raw  string
		want Sync
	}{
		"applied":     {`{"status":{` + ok + `,"lastAppliedRevision":"main@sha1:a","lastAttemptedRevision":"main@sha1:a"}}`, Synced},
		"new spec":    {`{"metadata":{"generation":2},"status":{"observedGeneration":1,` + ok + `,"lastAppliedRevision":"a","lastAttemptedRevision":"a"}}`, SyncUnknown},
		"tried":       {`{"status":{"conditions":[{"type":"Ready","status":"False","reason":"ReconciliationFailed"}],"lastAppliedRevision":"a","lastAttemptedRevision":"b"}}`, OutOfSync},
		"never":       {`{"status":{` + ok + `}}`, SyncUnknown},
		"reconciling": {`{"status":{"conditions":[{"type":"Reconciling","status":"True"},{"type":"Ready","status":"Unknown"}],"lastAppliedRevision":"a","lastAttemptedRevision":"a"}}`, SyncUnknown},
	} {
		if a := kustomization(t, tc.raw); a.Sync != tc.want {
			t.Errorf("%s: %s, want %s", name, a.Sync, tc.want)
		}
	}
}

// TestFluxSuspension: the author is who holds spec.suspend, and without one the last
// transition is a lower bound.
func TestFluxSuspension(t *testing.T) {
	t.Parallel()
	a := kustomization(t, `{"metadata":{"managedFields":[{"manager":"flux","time":"2026-11-24T09:00:00Z","fieldsType":"FieldsV1","fieldsV1":{"f:spec":{"f:suspend":{}}}}]},"spec":{"suspend":true},"status":{"conditions":[{"type":"Ready","status":"True"}]}}`)
	if a.AutoSync || a.SelfHeal || a.Suspension == nil || a.Suspension.By != "flux" || a.Suspension.AtLeast || a.Suspension.Since.IsZero() {
		t.Errorf("%+v", a.Suspension)
	}
	a = kustomization(t, `{"spec":{"suspend":true},"status":{"conditions":[{"type":"Ready","status":"True","lastTransitionTime":"2026-11-24T08:00:00Z"}]}}`)
	if s := a.Suspension; s == nil || !s.AtLeast || !s.Since.Equal(time.Date(2026, 11, 24, 8, 0, 0, 0, time.UTC)) {
		t.Errorf("%+v", s)
	}
}

// TestInventory: entries are read as cli-utils writes them, names with colons too.
func TestInventory(t *testing.T) {
	t.Parallel()
	a := kustomization(t, `{"spec":{"path":"./app","sourceRef":{"kind":"GitRepository","name":"shop"}},"metadata":{"namespace":"flux-system"},"status":{"inventory":{"entries":[{"id":"shop_web_apps_Deployment"},{"id":"_system__node_rbac.authorization.k8s.io_ClusterRole"},{"id":"shop_c__ConfigMap"},{"id":"nonsense"}]}}}`)
	var got []string
	for _, r := range a.Resources {
		got = append(got, r.String())
	}
	if len(got) != 3 || got[0] != "deployment.apps/shop/web" || got[1] != "clusterrole.rbac.authorization.k8s.io/system:node" || got[2] != "configmap/shop/c" {
		t.Errorf("%q", got)
	}
	if a.Sources[0].Ref != "GitRepository/flux-system/shop" {
		t.Errorf("%+v", a.Sources)
	}
}

// TestHelmRelease: a drift is corrected only where that is switched on, and a failed
// release wrote.
func TestHelmRelease(t *testing.T) {
	t.Parallel()
	a := parsed(t, HelmGroup, "HelmRelease", `{"metadata":{"namespace":"flux-system","name":"shop"},"spec":{"chart":{"spec":{"chart":"./chart","sourceRef":{"kind":"GitRepository","name":"shop"}}}},
		"status":{"lastAttemptedRevision":"0.2.0","failures":1,"history":[{"version":2,"status":"failed","chartVersion":"0.2.0"},{"version":1,"status":"deployed","chartVersion":"0.1.0"}],
		"conditions":[{"type":"Ready","status":"False","reason":"UpgradeFailed","message":"Helm upgrade failed for release default/shop with chart shop@0.2.0: server-side apply failed: Deployment.apps \"web\" is invalid: x"},{"type":"Stalled","status":"True","reason":"RetriesExceeded","message":"Failed to upgrade after 1 attempt(s)"}]}}`)
	if a.Operation.Phase != Stalled || a.Link != LinkApply || a.Operation.Wrote != Yes || a.Sync != OutOfSync || a.Applied != "0.1.0" || a.SelfHeal || !a.AutoSync {
		t.Errorf("%+v", a)
	}
}

func TestCommit(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{"main@sha1:abc": "abc", "abc": "abc", "6.5.4@sha256:de": "de", "v1.2.3": "v1.2.3", "latest@x:y": "x:y"} {
		if got := Commit(in); got != want {
			t.Errorf("Commit(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestNotOne(t *testing.T) {
	t.Parallel()
	if _, err := Parse("apps", "Deployment", []byte(`{}`)); !errors.Is(err, ErrNotOne) {
		t.Errorf("a Deployment: %v", err)
	}
	if _, err := Parse(ArgoGroup, "Application", []byte(`{"status":{"history":"yes"}}`)); err == nil || errors.Is(err, ErrNotOne) {
		t.Errorf("a history that is no list: %v", err)
	}
}

// FuzzParse: no object makes the reader fall, and what it says keeps its promises.
func FuzzParse(f *testing.F) {
	for _, raw := range []string{`{}`, `{"spec":{"suspend":true}}`, `{"status":{"operationState":{"phase":"Failed","syncResult":{"resources":[{"status":"Synced"}]}}}}`,
		`{"status":{"conditions":[{"type":"Ready","status":"False","reason":"BuildFailed"}],"inventory":{"entries":[{"id":"a_b_c_d"}]}}}`} {
		f.Add([]byte(raw))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		for _, of := range [][2]string{{ArgoGroup, "Application"}, {KustomizeGroup, "Kustomization"}, {HelmGroup, "HelmRelease"}} {
			a, err := Parse(of[0], of[1], raw)
			if err != nil {
				continue
			}
			if a.Link == LinkNone && a.Says != "" || a.Sync == "" || a.Health == "" || a.Operation.Phase == "" {
				t.Errorf("%s: %+v", of[1], a)
			}
			if done, all := a.Operation.Applied(); done > all || done > 0 && a.Operation.Wrote != Yes {
				t.Errorf("%s: %d of %d, wrote %d", of[1], done, all, a.Operation.Wrote)
			}
		}
	})
}
