package gitops

import (
	"cmp"
	"fmt"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"handrail/steps"
	"handrail/steps/gitops/app"
	"handrail/steps/kube/act"
	"handrail/steps/kube/patch"
)

const appPath = "/apis/argoproj.io/v1alpha1/namespaces/argocd/applications/shop"

func sighted(version, raw string) act.Sighting {
	return act.Sighting{ObjectMeta: metav1.ObjectMeta{UID: "u", ResourceVersion: version}, Raw: []byte(raw)}
}

// TestJudgeSync: a sync is done once it was begun, failed once its operation failed, and
// what came before it says nothing about it.
func TestJudgeSync(t *testing.T) {
	t.Parallel()
	o := act.Order{Object: "application/argocd/shop", Path: appPath, UID: "u", Version: "1",
		Ops: []patch.Op{{Op: patch.Add, Path: "/operation", Value: map[string]any{"sync": map[string]any{"revision": "abc"}}}},
		KVs: []steps.KV{{Key: keyBefore, Value: "2026-11-24T09:00:00Z"}}}
	state := func(began, phase string) string {
		return fmt.Sprintf(`{"metadata":{"name":"shop","namespace":"argocd"},"status":{"operationState":{"phase":%q,"message":"m","startedAt":%q,"finishedAt":%q}}}`, phase, began, began)
	}
	const before, after = "2026-11-24T09:00:00Z", "2026-11-24T09:05:00Z"
	for name, tc := range map[string]struct {
		now   act.Sighting
		want  string
		words string
	}{
		"not yet":            {sighted("1", state(before, "Succeeded")), "", "is as it was"},
		"taken":              {sighted("2", `{"operation":{"sync":{"revision":"abc"}},"status":{}}`), steps.Done, "as the patch wants it"},
		"another one's":      {sighted("2", `{"operation":{"sync":{"revision":"def"}},"status":{}}`), steps.Failed, "not as the patch wants"},
		"runs":               {sighted("3", state(after, "Running")), steps.Done, "runs"},
		"succeeded":          {sighted("4", state(after, "Succeeded")), steps.Done, "succeeded"},
		"failed":             {sighted("4", state(after, "Failed")), steps.Failed, "failed at"},
		"an error":           {sighted("4", state(after, "Error")), steps.Failed, "failed at"},
		"the old one failed": {sighted("4", state(before, "Failed")), steps.Failed, "not as the patch wants"},
		"gone":               {act.Sighting{Absent: true}, steps.Failed, "gone"},
		"another object":     {act.Sighting{Other: "v"}, steps.Failed, "another object"},
	} {
		if result, words := judgeSync(o, tc.now); result != tc.want || !strings.Contains(words, tc.words) {
			t.Errorf("%s: %q %q, want %q %q", name, result, words, tc.want, tc.words)
		}
	}
}

// TestEndedNow: an operation has ended when it is the one that was begun, has an end, and
// no longer runs; a reconciliation of Flux when the request was answered.
func TestEndedNow(t *testing.T) {
	t.Parallel()
	argo := act.Order{Path: appPath, KVs: []steps.KV{{Key: keyBefore, Value: "2026-11-24T09:00:00Z"}}}
	flux := act.Order{Path: "/apis/kustomize.toolkit.fluxcd.io/v1/namespaces/flux-system/kustomizations/shop", KVs: []steps.KV{{Key: keyBefore, Value: "none"}}}
	op := func(began, ended, phase string) string {
		end := ""
		if ended != "" {
			end = `,"finishedAt":"` + ended + `"`
		}
		return `{"status":{"operationState":{"phase":"` + phase + `","startedAt":"` + began + `"` + end + `}}}`
	}
	asked := func(handled, ready string) string {
		return `{"metadata":{"annotations":{"` + requestedAt + `":"t2"}},"status":{"lastHandledReconcileAt":"` + handled + `","conditions":[{"type":"Ready","status":"` + ready + `"},{"type":"Reconciling","status":"` + map[string]string{"Unknown": "True"}[ready] + `"}]}}`
	}
	for name, tc := range map[string]struct {
		o    act.Order
		raw  string
		want bool
	}{
		"the one before":        {argo, op("2026-11-24T09:00:00Z", "2026-11-24T09:00:05Z", "Succeeded"), false},
		"runs":                  {argo, op("2026-11-24T09:05:00Z", "", "Running"), false},
		"is being ended":        {argo, op("2026-11-24T09:05:00Z", "", "Terminating"), false},
		"succeeded":             {argo, op("2026-11-24T09:05:00Z", "2026-11-24T09:05:05Z", "Succeeded"), true},
		"failed":                {argo, op("2026-11-24T09:05:00Z", "2026-11-24T09:05:05Z", "Failed"), true},
		"Flux has not heard":    {flux, asked("t1", "True"), false},
		"Flux reconciles":       {flux, asked("t2", "Unknown"), false},
		"Flux answered":         {flux, asked("t2", "True"), true},
		"Flux answered, failed": {flux, asked("t2", "False"), true},
	} {
		if _, got, err := endedNow(tc.o, act.Sighting{Raw: []byte(tc.raw)}); err != nil || got != tc.want {
			t.Errorf("%s: %v, %v; want %v", name, got, err, tc.want)
		}
	}
}

// TestComparedSince: an application says how it differs now once it was compared after its operation.
func TestComparedSince(t *testing.T) {
	t.Parallel()
	end := time.Date(2026, 11, 24, 9, 5, 5, 0, time.UTC)
	for name, tc := range map[string]struct {
		a    app.App
		want bool
	}{
		"before":                    {app.App{Checked: end.Add(-time.Second)}, false},
		"never":                     {app.App{}, false},
		"in that second, differs":   {app.App{Checked: end, Sync: app.OutOfSync}, false},
		"in that second, no more":   {app.App{Checked: end, Sync: app.Synced}, true},
		"after, and still differs":  {app.App{Checked: end.Add(time.Second), Sync: app.OutOfSync}, true},
		"failed: it is as it was":   {app.App{Operation: app.Operation{Phase: app.Failed}}, true},
		"Flux compares as it syncs": {app.App{Controller: app.Flux}, true},
	} {
		a := tc.a
		a.Controller = cmp.Or(a.Controller, app.ArgoCD)
		a.Operation = app.Operation{Phase: cmp.Or(a.Operation.Phase, app.Succeeded), Ended: end}
		if got := comparedSince(a); got != tc.want {
			t.Errorf("%s: %v, want %v", name, got, tc.want)
		}
	}
}

// TestJudgeTerminate: it is over once it failed, and a later operation is not it.
func TestJudgeTerminate(t *testing.T) {
	t.Parallel()
	o := act.Order{Object: "application/argocd/shop", Path: appPath, UID: "u", Version: "1",
		Ops: []patch.Op{{Op: patch.Replace, Path: "/status/operationState/phase", Value: "Terminating"}},
		KVs: []steps.KV{{Key: keyBefore, Value: "2026-11-24T09:00:00Z"}}}
	state := func(began, phase string) string {
		return `{"status":{"operationState":{"phase":"` + phase + `","startedAt":"` + began + `"}}}`
	}
	for name, tc := range map[string]struct{ raw, want string }{
		"is being ended":  {state("2026-11-24T09:00:00Z", "Terminating"), steps.Done},
		"ended":           {state("2026-11-24T09:00:00Z", "Failed"), steps.Done},
		"came to its end": {state("2026-11-24T09:00:00Z", "Succeeded"), steps.Failed},
		"runs on":         {state("2026-11-24T09:00:00Z", "Running"), steps.Failed},
		"a later one":     {state("2026-11-24T09:09:00Z", "Failed"), steps.Failed},
	} {
		if result, words := judgeTerminate(o, sighted("2", tc.raw)); result != tc.want {
			t.Errorf("%s: %q %q, want %q", name, result, words, tc.want)
		}
	}
}

func TestKindOf(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{appPath: "argoproj.io Application", "/apis/helm.toolkit.fluxcd.io/v2/namespaces/a/helmreleases/b": "helm.toolkit.fluxcd.io HelmRelease", "/api/v1/pods/a": " "} {
		if group, kind := kindOf(path); group+" "+kind != want {
			t.Errorf("%s: %q %q", path, group, kind)
		}
	}
}

// TestMarkOf: a sync that follows another in one second is told from it by who began it.
func TestMarkOf(t *testing.T) {
	t.Parallel()
	o := act.Order{Path: appPath, KVs: []steps.KV{{Key: keyBefore, Value: "2026-11-24T09:00:00Z"}}}
	raw := `{"status":{"operationState":{"phase":"Succeeded","startedAt":"2026-11-24T09:00:00Z","finishedAt":"2026-11-24T09:00:00Z","operation":{"initiatedBy":{"username":"handrail"}}}}}`
	if _, ended, err := endedNow(o, act.Sighting{Raw: []byte(raw)}); err != nil || !ended {
		t.Errorf("ended %v, %v", ended, err)
	}
}
