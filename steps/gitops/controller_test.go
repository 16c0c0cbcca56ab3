package gitops

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"handrail/steps"
	"handrail/steps/cluster"
	"handrail/steps/gitops/app"
	"handrail/steps/kube/podstate"
)

func at(minutes int) time.Time {
	return time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC).Add(time.Duration(minutes) * time.Minute)
}

func rfc(minutes int) string { return at(minutes).Format(time.RFC3339) }

// TestLate: an application is late at the first bound that its own object gives, never before, and
// one that is suspended never is.
func TestLate(t *testing.T) {
	t.Parallel()
	r := controllerRun{now: at(0), in: steps.Params{"patience": steps.DurationOf(2 * time.Minute)}, every: 3 * time.Minute, everyKnown: true,
		sources: map[string]app.Held{"GitRepository/f/shop": {Revision: "main@sha1:bbbb", Updated: at(-3)}, "GitRepository/f/young": {Revision: "main@sha1:bbbb", Updated: at(-1)}}}
	flux := func(spec, status string) string {
		return `{"metadata":{"namespace":"f","name":"a","generation":1,"annotations":{"` + app.FluxRequest + `":"t1"}},"spec":{"interval":"10m","timeout":"1m","sourceRef":{"kind":"GitRepository","name":"shop"}` + spec + `},"status":{"observedGeneration":1,"lastHandledReconcileAt":"t1","lastAttemptedRevision":"main@sha1:bbbb"` + status + `}}`
	}
	argo := func(meta, status string) string {
		return `{"metadata":{"namespace":"a","name":"b"` + meta + `},"spec":{"syncPolicy":{"automated":{}}},"status":{` + status + `}}`
	}
	for name, of := range map[string]struct{ group, kind, raw, why string }{
		"in time":            {app.KustomizeGroup, "Kustomization", flux("", `,"history":[{"lastReconciled":"`+rfc(-11)+`"}]`), ""},
		"past its interval":  {app.KustomizeGroup, "Kustomization", flux("", `,"history":[{"lastReconciled":"`+rfc(-40)+`"},{"lastReconciled":"`+rfc(-12)+`"}]`), "last reconciled " + rfc(-12)},
		"no history":         {app.KustomizeGroup, "Kustomization", flux("", ``), ""},
		"a commit waits":     {app.KustomizeGroup, "Kustomization", strings.Replace(flux("", ""), `"lastAttemptedRevision":"main@sha1:bbbb"`, `"lastAttemptedRevision":"main@sha1:aaaa"`, 1), "its source holds bbbb since " + rfc(-3)},
		"it came just now":   {app.KustomizeGroup, "Kustomization", strings.Replace(strings.Replace(flux("", ""), `bbbb`, `aaaa`, 1), `"name":"shop"`, `"name":"young"`, 1), ""},
		"it waits for other": {app.KustomizeGroup, "Kustomization", strings.Replace(flux("", `,"conditions":[{"type":"Ready","status":"False","reason":"DependencyNotReady"}]`), `bbbb`, `aaaa`, 1), ""},
		"suspended":          {app.KustomizeGroup, "Kustomization", strings.Replace(flux(`,"suspend":true`, `,"history":[{"lastReconciled":"`+rfc(-130)+`"}]`), `bbbb`, `aaaa`, 1), ""},
		"asked in vain":      {app.KustomizeGroup, "Kustomization", strings.Replace(flux("", ""), `"lastHandledReconcileAt":"t1"`, `"lastHandledReconcileAt":"t0"`, 1), "is not answered, since when is not recorded"},
		"spec not seen":      {app.KustomizeGroup, "Kustomization", strings.Replace(flux("", ""), `"generation":1`, `"generation":2`, 1), "newest spec has not been seen"},
		"it runs":            {app.KustomizeGroup, "Kustomization", flux("", `,"conditions":[{"type":"Ready","status":"Unknown","lastTransitionTime":"`+rfc(-2)+`"},{"type":"Reconciling","status":"True"}]`), ""},
		"it runs for ever":   {app.KustomizeGroup, "Kustomization", flux("", `,"conditions":[{"type":"Ready","status":"Unknown","lastTransitionTime":"`+rfc(-4)+`"},{"type":"Reconciling","status":"True"}]`), "its reconciliation runs since " + rfc(-4)},
		"compared":           {app.ArgoGroup, "Application", argo("", `"reconciledAt":"`+rfc(-4)+`"`), ""},
		"not compared":       {app.ArgoGroup, "Application", argo("", `"reconciledAt":"`+rfc(-5)+`"`), "last compared " + rfc(-5)},
		"never compared":     {app.ArgoGroup, "Application", argo("", ``), "it was never compared"},
		"skipped":            {app.ArgoGroup, "Application", argo(`,"annotations":{"argocd.argoproj.io/skip-reconcile":"true"}`, `"reconciledAt":"`+rfc(-600)+`"`), ""},
		"refresh in vain":    {app.ArgoGroup, "Application", argo(`,"annotations":{"argocd.argoproj.io/refresh":"hard"}`, `"reconciledAt":"`+rfc(0)+`"`), "annotation argocd.argoproj.io/refresh is not answered"},
		"a sync in vain":     {app.ArgoGroup, "Application", strings.Replace(argo("", `"reconciledAt":"`+rfc(0)+`","operationState":{"phase":"Succeeded"}`), `"spec"`, `"operation":{"sync":{"revision":"main"}},"spec"`, 1), "operation is not answered"},
		"a sync that runs":   {app.ArgoGroup, "Application", strings.Replace(argo("", `"reconciledAt":"`+rfc(0)+`","operationState":{"phase":"Running"}`), `"spec"`, `"operation":{"sync":{"revision":"main"}},"spec"`, 1), ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, err := app.Parse(of.group, of.kind, []byte(of.raw))
			if err != nil {
				t.Fatal(err)
			}
			if why, _ := r.judge(a); (why == "") != (of.why == "") || !strings.Contains(why, of.why) {
				t.Errorf("late: %q, want %q", why, of.why)
			}
		})
	}
}

// TestTouched: what a person or another tool wrote after the controller is told, with who did, and
// what machines write is not.
func TestTouched(t *testing.T) {
	t.Parallel()
	entry := func(manager, sub string, minutes int) metav1.ManagedFieldsEntry {
		return metav1.ManagedFieldsEntry{Manager: manager, Subresource: sub, Time: &metav1.Time{Time: at(minutes)}}
	}
	applied := entry("kustomize-controller", "", -60)
	for name, of := range map[string]struct {
		books []metav1.ManagedFieldsEntry
		want  string
	}{
		"as applied":            {[]metav1.ManagedFieldsEntry{applied}, ""},
		"by hand since":         {[]metav1.ManagedFieldsEntry{applied, entry("kubectl-edit", "", -10)}, "was changed by kubectl-edit at " + rfc(-10)},
		"in the same second":    {[]metav1.ManagedFieldsEntry{applied, entry("kubectl-edit", "", -60)}, "kubectl-edit"},
		"by hand before":        {[]metav1.ManagedFieldsEntry{entry("before-first-apply", "", -90), applied}, ""},
		"status":                {[]metav1.ManagedFieldsEntry{applied, entry("kubectl", "status", -1)}, ""},
		"its controller":        {[]metav1.ManagedFieldsEntry{applied, entry("kube-controller-manager", "", -1)}, ""},
		"scaled":                {[]metav1.ManagedFieldsEntry{applied, {Manager: "kubectl", Subresource: "scale"}}, "when is not recorded"},
		"scaled by a machine":   {[]metav1.ManagedFieldsEntry{applied, entry("kube-controller-manager", "scale", -1)}, ""},
		"without a book":        {[]metav1.ManagedFieldsEntry{entry("Mozilla", "", -1)}, "Mozilla"},
		"before the operation":  {[]metav1.ManagedFieldsEntry{entry("helm", "", -100)}, ""},
		"a name without a time": {[]metav1.ManagedFieldsEntry{applied, {Manager: "other"}}, ""},
	} {
		if got := touchedBy(of.books, at(-50)); (got == "") != (of.want == "") || !strings.Contains(got, of.want) {
			t.Errorf("%s: %q, want %q", name, got, of.want)
		}
	}
}

// TestParts: components are known by name, label and chart, those of others are not, and what is
// wrong with one is said.
func TestParts(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		`{"metadata":{"name":"kustomize-controller"}}`:                                                               "kustomize-controller",
		`{"metadata":{"name":"argocd-application-controller"}}`:                                                      "application-controller",
		`{"metadata":{"name":"argocd-server"}}`:                                                                      "server",
		`{"metadata":{"name":"prod-argo-cd-repo-server"}}`:                                                           "repo-server",
		`{"metadata":{"name":"x","labels":{"app.kubernetes.io/part-of":"argocd","app.kubernetes.io/name":"redis"}}}`: "redis",
		`{"metadata":{"name":"shop-server"}}`:                                                                        "",
		`{"metadata":{"name":"redis"}}`:                                                                              "",
		`{"metadata":{"name":"kustomize-controllers"}}`:                                                              "",
		`[1]`: "",
	} {
		got := ""
		if p := partOf(cluster.Workloads()[0], []byte(raw)); p != nil {
			got = p.role
		}
		if got != want {
			t.Errorf("%s is %q, want %q", raw, got, want)
		}
	}
	for name, of := range map[string]struct{ workload, pod, want string }{
		"well":          {`{"spec":{"replicas":1},"status":{"readyReplicas":1}}`, `{"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"},{"type":"PodScheduled","status":"True"}]}}`, ""},
		"scaled away":   {`{"spec":{"replicas":0}}`, ``, "scaled to 0"},
		"no Pod":        {`{"spec":{},"status":{"conditions":[{"type":"ReplicaFailure","status":"True","reason":"FailedCreate","message":"exceeded quota"}]}}`, ``, "FailedCreate exceeded quota"},
		"killed":        {`{"spec":{"replicas":1}}`, crashing(`false`), "CrashLoopBackOff ended for want of memory (OOMKilled)"},
		"between kills": {`{"spec":{"replicas":2},"status":{"readyReplicas":2}}`, crashing(`false`), "ready, and a Pod of it crashes"},
	} {
		var p part
		if err := json.Unmarshal([]byte(of.workload), &p.w); err != nil {
			t.Fatal(err)
		}
		if of.pod != "" {
			pod, err := podstate.ParsePod([]byte(of.pod))
			if err != nil {
				t.Fatal(err)
			}
			p.pods = append(p.pods, pod)
		}
		if got := p.trouble(); (got == "") != (of.want == "") || !strings.Contains(got, of.want) {
			t.Errorf("%s: %q, want %q", name, got, of.want)
		}
	}
}

func crashing(ready string) string {
	return `{"spec":{"nodeName":"n","containers":[{"name":"manager"}]},"status":{"phase":"Running","conditions":[{"type":"PodScheduled","status":"True"}],"containerStatuses":[{"name":"manager","ready":` + ready + `,"restartCount":6,"state":{"waiting":{"reason":"CrashLoopBackOff"}},"lastState":{"terminated":{"exitCode":137,"reason":"OOMKilled"}}}]}}`
}

// TestConcluded: what the controller is worth follows from its Pods first, then from what is late;
// what was not read decides nothing.
func TestConcluded(t *testing.T) {
	t.Parallel()
	kustomize := func(ready int64) *part {
		p := &part{name: "kustomize-controller", role: "kustomize-controller", of: app.Flux, stops: true}
		p.w.Status.ReadyReplicas = ready
		return p
	}
	helm := &part{name: "helm-controller", role: "helm-controller", of: app.Flux, stops: true}
	notify := &part{name: "notification-controller", role: "notification-controller", of: app.Flux}
	one := app.App{Controller: app.Flux, Kind: "Kustomization", AutoSync: true}
	release := app.App{Controller: app.Flux, Kind: "HelmRelease", AutoSync: true}
	off := app.App{Controller: app.Flux, Kind: "Kustomization"}
	for name, of := range map[string]struct {
		parts             []*part
		apps, late        []app.App
		partsWhy, appsWhy string
		want              string
	}{
		"well":                        {parts: []*part{kustomize(1)}, apps: []app.App{one}, want: controllerOK},
		"gone":                        {parts: []*part{kustomize(0)}, apps: []app.App{one}, want: controllerDown},
		"gone, the rest unread":       {parts: []*part{kustomize(0)}, appsWhy: "forbidden", want: controllerDown},
		"another part":                {parts: []*part{kustomize(1), notify}, apps: []app.App{one}, want: controllerDegraded},
		"releases, and there is none": {parts: []*part{kustomize(1), helm}, apps: []app.App{one}, want: controllerDegraded},
		"releases, and there is one":  {parts: []*part{kustomize(1), helm}, apps: []app.App{one, release}, want: controllerDown},
		"ready, and does nothing":     {parts: []*part{kustomize(1)}, apps: []app.App{one}, late: []app.App{one}, want: controllerSilent},
		"seen by its work, all late":  {apps: []app.App{one}, late: []app.App{one}, want: controllerDown},
		"seen by its work, some late": {apps: []app.App{one, one}, late: []app.App{one}, want: controllerDegraded},
		"seen by its work, well":      {apps: []app.App{one}, want: controllerOK},
		"nothing to be seen":          {apps: []app.App{off}, want: "unknown"},
		"parts unread":                {partsWhy: "forbidden", apps: []app.App{one}, want: "unknown"},
		"applications unread":         {parts: []*part{kustomize(1)}, appsWhy: "forbidden", want: "unknown"},
	} {
		r := controllerRun{f: steps.NewFacts(controllerFacts()), parts: of.parts, apps: of.apps, partsWhy: of.partsWhy, appsWhy: of.appsWhy}
		for _, a := range of.late {
			r.late = append(r.late, lateness{a: a, why: "late"})
		}
		r.conclude()
		if got := textOf(r.f.Rest("not read"), "state"); got != of.want {
			t.Errorf("%s: %s, want %s", name, got, of.want)
		}
	}
}

// TestUnlisted: a late release whose objects are not known leaves it open what would be written over.
func TestUnlisted(t *testing.T) {
	t.Parallel()
	release := app.App{Controller: app.Flux, Kind: "HelmRelease", Namespace: "f", Name: "web", AutoSync: true, Applied: "1.2.3"}
	fresh := release
	fresh.Applied = ""
	for name, of := range map[string]struct {
		a     app.App
		known bool
	}{"a release": {release, false}, "one that was never installed": {fresh, true}, "a Kustomization without an object": {app.App{Controller: app.Flux, Kind: "Kustomization", AutoSync: true, Applied: "x"}, true}} {
		r := controllerRun{f: steps.NewFacts(controllerFacts()), late: []lateness{{a: of.a, why: "late"}}}
		r.blast(t.Context())
		if v := r.f.Rest("not read")["overwrites"]; v.Known() != of.known {
			t.Errorf("%s: overwrites is known: %t, want %t", name, v.Known(), of.known)
		}
	}
}

// TestArgoPace: the interval is that of the settings, and one that is off is none.
func TestArgoPace(t *testing.T) {
	t.Parallel()
	for _, of := range []struct {
		every, jitter string
		want          time.Duration
	}{{"", "", 3 * time.Minute}, {"5m", "", 6 * time.Minute}, {"180s", "0", 3 * time.Minute}, {"0s", "1m", 0}, {"0", "", 0}, {"soon", "x", 3 * time.Minute}, {"-5m", "", 3 * time.Minute}} {
		if got := argoPace(map[string]string{"timeout.reconciliation": of.every, "timeout.reconciliation.jitter": of.jitter}); got != of.want {
			t.Errorf("%q and %q: %s, want %s", of.every, of.jitter, got, of.want)
		}
	}
}
