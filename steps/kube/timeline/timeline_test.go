package timeline

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"handrail/steps"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func newRun(namespace string) *run {
	return &run{ns: namespace, l: newLines(noon.Add(-6*time.Hour), noon)}
}

func decoded[T any](t *testing.T, text string) T {
	t.Helper()
	var v T
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

func (r *run) told(t *testing.T, want ...string) {
	t.Helper()
	var got []string
	for _, one := range r.l.ordered() {
		got = append(got, strings.TrimPrefix(one.String(), "2026-03-01T"))
	}
	if !slices.Equal(got, want) {
		t.Errorf("%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestLines: the window holds at its bounds, equal lines are one, and the newest are kept.
func TestLines(t *testing.T) {
	t.Parallel()
	r := newRun("")
	for _, at := range []time.Time{{}, noon.Add(-6*time.Hour - time.Second), noon.Add(10*time.Minute + time.Second)} {
		r.l.add(at, 1, ofObject, "x", "", "outside")
	}
	r.l.add(noon.Add(-6*time.Hour), 1, ofObject, "x", "me", "first")
	r.l.add(noon.Add(10*time.Minute), 1, ofObject, "x", "", "last")
	for i := range 3 {
		r.l.add(noon.Add(time.Duration(i)*time.Minute), 2, ofEvent, "pod/a/b", "kubelet", "BackOff: a\nb")
	}
	r.told(t, "12:10:00Z  object  x  last", "12:02:00Z  event  pod/a/b  BackOff: a b  by kubelet  (6 times since 2026-03-01T12:00:00Z)", "06:00:00Z  object  x  first  by me")
	if r.l.count != 8 || r.l.by[ofEvent] != 6 || r.l.left {
		t.Errorf("%d %v %t", r.l.count, r.l.by, r.l.left)
	}
	for i := range 2*mostKept + 10 {
		r.l.add(noon.Add(time.Duration(i-20000)*time.Second), 1, ofGit, fmt.Sprint(i), "", "x")
	}
	if r.l.trim(); len(r.l.folded) != mostKept || !r.l.left || r.l.count != 8+2*mostKept+10 || r.l.ordered()[0].what != "last" {
		t.Errorf("%d kept of %d", len(r.l.folded), r.l.count)
	}
}

// TestObject: who made, wrote and deletes an object; what follows from something else is left.
func TestObject(t *testing.T) {
	t.Parallel()
	r := newRun("")
	deployment, secret, revision := written()[0], written()[8], written()[3]
	m := func(text string) metav1.ObjectMeta { return decoded[metav1.ObjectMeta](t, text) }
	r.object(deployment, m(`{"namespace":"a","name":"web","creationTimestamp":"2026-03-01T08:00:00Z","deletionTimestamp":"2026-03-01T11:00:00Z","finalizers":["x/y"],"managedFields":[
		{"manager":"helm","operation":"Update","time":"2026-03-01T08:00:00Z","fieldsV1":{"f:spec":{"f:replicas":{}}}},
		{"manager":"kubectl-edit","operation":"Update","time":"2026-03-01T10:00:00Z","fieldsV1":{"f:spec":{"f:a":{},"f:b":{},"f:c":{},"f:d":{}}}},
		{"manager":"kubectl","operation":"Update","subresource":"scale","fieldsV1":{"f:spec":{"f:replicas":{}}}},
		{"manager":"kube-controller-manager","operation":"Update","subresource":"scale","time":"2026-03-01T09:00:00Z","fieldsV1":{"f:spec":{"f:replicas":{}}}},
		{"manager":"kube-controller-manager","operation":"Update","time":"2026-03-01T09:00:00Z","fieldsV1":{"f:metadata":{}}},
		{"manager":"kubelet","operation":"Update","subresource":"status","time":"2026-03-01T09:00:00Z","fieldsV1":{"f:status":{}}},
		{"manager":"odd","operation":"Update","time":"2026-03-01T09:30:00Z","fieldsV1":["no fields"]},
		{"manager":"old","operation":"Update","time":"2026-02-01T09:00:00Z","fieldsV1":{"f:spec":{}}}]}`))
	r.object(secret, m(`{"namespace":"a","name":"sh.helm.release.v1.web.v3","creationTimestamp":"2026-03-01T07:59:00Z","labels":{"owner":"helm","name":"web","version":"3","status":"deployed"}}`))
	r.object(revision, m(`{"namespace":"a","name":"web-1","creationTimestamp":"2026-03-01T08:00:01Z","annotations":{"kubernetes.io/change-cause":"a new image"},"ownerReferences":[{"kind":"Deployment","name":"web","controller":true}]}`))
	r.object(revision, m(`{"namespace":"a","name":"loose","creationTimestamp":"2026-03-01T08:00:01Z"}`))
	r.told(t, "11:00:00Z  object  deployment/a/web  is deleted, and still there: finalizers x/y",
		"10:00:00Z  object  deployment/a/web  was written: spec.a, spec.b, spec.c and 1 more  by kubectl-edit",
		"09:30:00Z  object  deployment/a/web  was written  by odd",
		"09:00:00Z  object  deployment/a/web  was written: spec.replicas (scale)  by kube-controller-manager",
		"08:00:01Z  rollout  deployment/a/web  a new revision of its Pods, web-1: a new image",
		"08:00:00Z  object  deployment/a/web  was made  by helm",
		"07:59:00Z  helm  release a/web  revision 3 was begun, and is deployed")
	if want := []string{"2026-03-01T10:00:00Z  deployment/a/web  by kubectl-edit"}; !slices.Equal(r.byHand, want) {
		t.Errorf("%q", r.byHand)
	}
}

// TestDelivered: what controllers keep of their own history, of one namespace where that is asked for.
func TestDelivered(t *testing.T) {
	t.Parallel()
	const sum = "0123456789abcdef0123456789abcdef01234567"
	argo, flux, source := kind("argoproj.io", "v1alpha1", "applications", "Application", true), kind("helm.toolkit.fluxcd.io", "v2", "helmreleases", "HelmRelease", true), kind("source.toolkit.fluxcd.io", "v1", "gitrepositories", "GitRepository", true)
	read := func(namespace string) *run {
		r := newRun(namespace)
		r.application(argo, decoded[application](t, `{"metadata":{"namespace":"argocd","name":"web"},"spec":{"destination":{"namespace":"a"}},"status":{"history":[{"revision":"`+sum+`","deployedAt":"2026-03-01T09:00:00Z","initiatedBy":{"automated":true}}],
			"operationState":{"phase":"Failed","message":"refused","startedAt":"2026-03-01T09:59:00Z","finishedAt":"2026-03-01T10:00:00Z","operation":{"initiatedBy":{"username":"ann"}}},"conditions":[{"type":"SyncError","message":"x","lastTransitionTime":"2026-03-01T10:01:00Z"},{"type":"Old","message":"x"}]}}`))
		r.reconciled(flux, decoded[reconciled](t, `{"metadata":{"namespace":"flux-system","name":"db"},"spec":{"targetNamespace":"b"},"status":{"conditions":[{"type":"Ready","status":"False","reason":"UpgradeFailed","message":"m","lastTransitionTime":"2026-03-01T11:00:00Z"}],
			"history":[{"version":4,"chartName":"db","chartVersion":"1.0.0","status":"failed","lastDeployed":"2026-03-01T10:59:00Z"}]}}`))
		r.reconciled(flux, decoded[reconciled](t, `{"metadata":{"namespace":"flux-system","name":"k"},"status":{"inventory":{"entries":[{"id":"a_x__ConfigMap"}]},"history":[{"firstReconciled":"2026-03-01T08:00:00Z","lastReconciledStatus":"ReconciliationSucceeded","metadata":{"revision":"main@sha1:`+sum+`"}}]}}`))
		r.reconciled(source, decoded[reconciled](t, `{"metadata":{"namespace":"flux-system","name":"git"},"status":{"artifact":{"revision":"main@sha1:`+sum+`","lastUpdateTime":"2026-03-01T07:00:00Z"}}}`))
		return r
	}
	a := []string{"10:01:00Z  argocd  application/argocd/web  SyncError: x", "10:00:00Z  argocd  application/argocd/web  operation failed: refused  by ann", "09:00:00Z  argocd  application/argocd/web  was brought to 01234567  by its auto-sync",
		"08:00:00Z  flux  helmrelease/flux-system/k  ReconciliationSucceeded main@sha1:01234567", "07:00:00Z  flux  gitrepository/flux-system/git  holds main@sha1:01234567"}
	b := []string{"11:00:00Z  flux  helmrelease/flux-system/db  Ready turned False (UpgradeFailed): m", "10:59:00Z  flux  helmrelease/flux-system/db  release db 1.0.0 is failed"}
	read("").told(t, append(slices.Clone(b), a...)...)
	read("a").told(t, a...)
	read("b").told(t, append(slices.Clone(b), a[4])...)

	r := newRun("")
	r.event(decoded[event](t, `{"involvedObject":{"kind":"Pod","namespace":"a","name":"p"},"reason":"Failed","message":"m","lastTimestamp":"2026-03-01T10:00:00Z","count":7,"source":{"component":"kubelet"}}`))
	r.event(decoded[event](t, `{"involvedObject":{"kind":"Node","name":"n"},"reason":"Full","message":"m","eventTime":"2026-03-01T09:00:00.5Z","series":{"count":2,"lastObservedTime":"2026-03-01T09:30:00Z"},"reportingComponent":"x"}`))
	r.told(t, "10:00:00Z  event  pod/a/p  Failed: m  by kubelet  (7 times)", "09:30:00Z  event  node/n  Full: m  by x  (2 times)")
}

// TestCommits reads those of the window, of each side of a merge, and says where a clone ends.
func TestCommits(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	git := func(at time.Time, args ...string) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "git", args...)
		cmd.Dir = top
		when := at.Format(time.RFC3339)
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_AUTHOR_NAME=Ann", "GIT_AUTHOR_EMAIL=a@x.invalid", "GIT_COMMITTER_NAME=Bot", "GIT_COMMITTER_EMAIL=b@x.invalid", "GIT_AUTHOR_DATE="+when, "GIT_COMMITTER_DATE="+when)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %q: %v\n%s", args, err, out)
		}
	}
	git(noon, "init", "-q", "-b", "main")
	git(noon.Add(-24*time.Hour), "commit", "-q", "--allow-empty", "-m", "Long ago")
	git(noon, "checkout", "-q", "-b", "side")
	git(noon.Add(-2*time.Hour), "commit", "-q", "--allow-empty", "-m", "Raise the limit")
	git(noon, "checkout", "-q", "main")
	git(noon.Add(-time.Hour), "merge", "-q", "--no-ff", "-m", "Merge it", "side")
	r := newRun("")
	r.env = steps.Env{Dir: top}
	if err := r.commits(t.Context(), "."); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, one := range r.l.ordered() {
		got = append(got, one.what+" by "+one.who)
	}
	if want := []string{"Merge it by Ann", "Raise the limit by Ann"}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	if err := newRun("").commits(t.Context(), t.TempDir()); err == nil {
		t.Error("no clone is read")
	}
}

// FuzzWrote: no books of a writer make the reader fall.
func FuzzWrote(f *testing.F) {
	f.Add([]byte(`{"f:spec":{"f:a":{}}}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		if wrote(metav1.ManagedFieldsEntry{FieldsV1: metav1.NewFieldsV1(string(raw))}) == "" {
			t.Error("nothing is said")
		}
	})
}

// TestWritesByHand: what a person's kubectl wrote is listed, and the newest are kept of many.
func TestWritesByHand(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	r := &run{}
	r.hand("helm", at, "deployment/shop/web")
	r.hand("kubectlish", at, "deployment/shop/web")
	for i := range 60 * mostTold {
		r.hand("kubectl-edit", at.Add(time.Duration(i)*time.Second), "deployment/shop/web")
	}
	newest := at.Add((60*mostTold-1)*time.Second).Format(time.RFC3339) + "  deployment/shop/web  by kubectl-edit"
	if n := len(r.byHand); n < mostTold || n > 50*mostTold || r.byHand[n-1] != newest {
		t.Errorf("%d are kept, the last %q, want %q", n, r.byHand[n-1], newest)
	}
}
