package gitops

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"handrail/steps"
	"handrail/steps/cluster"
	"handrail/steps/gitops/app"
	"handrail/steps/kube/report"
)

// mostTouched bounds the objects of late applications that are looked at.
const mostTouched = 2000

// blast says what the return of the controller would do to what it missed: which objects were
// changed beside it meanwhile.
func (r *controllerRun) blast(ctx context.Context) {
	if r.appsWhy != "" || r.clockless != "" {
		return
	}
	missed, n := r.missed(), 0
	for _, l := range missed {
		n += len(l.a.Resources)
	}
	if n > mostTouched {
		r.f.Unknown(fmt.Sprintf("what is late has %d objects, and at most %d are looked at: narrow it with within", n, mostTouched), "overwrites", "touched")
		return
	}
	var mu sync.Mutex
	over, touched, unread := map[string]string{}, []string{}, unlisted(missed)
	var reads []func(context.Context)
	for _, l := range missed {
		for _, of := range l.a.Resources {
			reads = append(reads, func(ctx context.Context) {
				say, err := r.touch(ctx, l.a, of)
				mu.Lock()
				defer mu.Unlock()
				switch {
				case err != nil:
					unread = append(unread, of.String()+": "+report.Why(err))
				case say != "":
					over[pathOf(l.a)] = l.a.UID
					touched = append(touched, of.String()+" of "+l.a.String()+" "+say)
				}
			})
		}
	}
	cluster.Together(ctx, reads, func(err error) {
		mu.Lock()
		defer mu.Unlock()
		unread = append(unread, err.Error())
	})
	slices.Sort(touched)
	if len(unread) > 0 {
		// One that was not looked at may be the one that is written over.
		slices.Sort(unread)
		r.f.Unknown(fmt.Sprintf("not all was looked at: %s", steps.Clip(strings.Join(unread, "; "), 400)), "overwrites")
		r.obs.Gaps = append(r.obs.Gaps, unread[:min(len(unread), mostShown)]...)
	} else {
		r.table("overwrites", over)
	}
	r.list("touched", touched)
	for _, t := range touched[:min(len(touched), mostShown)] {
		r.obs.Say(steps.Warning, "%s: its controller writes over that when it is back.", t)
	}
	if n := len(touched) - mostShown; n > 0 {
		r.obs.Say(steps.Warning, "%d more objects were changed.", n)
	}
}

// unlisted are late releases: which objects they have is not read of them.
func unlisted(missed []lateness) []string {
	var out []string
	for _, l := range missed {
		if l.a.Kind == "HelmRelease" && l.a.Applied != "" && len(l.a.Resources) == 0 {
			out = append(out, l.a.String()+": which objects a release has is not read, so look at them by hand")
		}
	}
	return out
}

// touch says who changed an object after the controller had applied it, "" where none did.
func (r *controllerRun) touch(ctx context.Context, a app.App, of app.Resource) (say string, err error) {
	o, err := booksOf(ctx, r.c, a, of)
	switch {
	case errors.Is(err, cluster.ErrNoKind):
		return "is of a kind that is not served", nil
	case errors.Is(err, cluster.ErrAbsent) && a.Controller == app.ArgoCD && of.Prune:
		return "", nil
	case errors.Is(err, cluster.ErrAbsent):
		return "was deleted", nil
	case err != nil:
		return "", err
	}
	return touchedBy(o.GetManagedFields(), a.Operation.Ended), nil
}

// booksOf reads the metadata of an object of an application, who wrote its fields among them.
func booksOf(ctx context.Context, c *cluster.Client, a app.App, of app.Resource) (o cluster.Object, err error) {
	if where := a.Elsewhere(c.Server); where != "" {
		return o, errors.New(inOther(where))
	}
	version := "v1"
	if of.Group != "" {
		version = of.Group + "/v1"
	}
	k, err := c.AnyVersion(version, of.Kind)
	if err != nil {
		return o, err
	}
	namespace := of.Namespace
	if !k.Namespaced {
		namespace = ""
	}
	if !cluster.Plain(of.Name) || k.Namespaced && !cluster.Plain(namespace) {
		return o, errors.New("it has no name that could be asked for")
	}
	raw, err := c.Read(ctx, k.Path(namespace, of.Name), cluster.AsMetadata, nil)
	if err != nil {
		return o, err
	}
	if o, err = cluster.ParseObject(raw); err == nil && o.GetName() != of.Name {
		err = errors.New("the server answered something else than the object")
	}
	return o, err
}

// appliers are the field managers of both controllers, and machinery are those that change objects
// without a person: what they write is theirs, and stays.
var (
	appliers  = []string{"argocd-controller", "argocd-application-controller", "argocd-server", "kustomize-controller", "helm-controller"}
	machinery = []string{"kube-controller-manager", "kube-scheduler", "kubelet", "kube-apiserver", "cloud-controller-manager", "source-controller", "cainjector"}
)

// touchedBy says who wrote after the controller, by the books of an object. Where the controller
// wrote nothing that is recorded, the end of its last operation stands for that.
func touchedBy(books []metav1.ManagedFieldsEntry, ended time.Time) string {
	var applied time.Time
	known := false
	for _, e := range books {
		if e.Subresource == "" && slices.Contains(appliers, e.Manager) {
			known = true
			if e.Time != nil && e.Time.After(applied) {
				applied = e.Time.Time
			}
		}
	}
	if !known || applied.IsZero() {
		applied = ended
	}
	var by []string
	for _, e := range books {
		switch {
		case e.Subresource != "" && e.Subresource != "scale", slices.Contains(appliers, e.Manager), slices.Contains(machinery, e.Manager):
			continue
		case e.Time == nil:
			// An entry without a time only adds a name to what stands there, or is that of kubectl scale.
			if e.Subresource != "scale" {
				continue
			}
			by = append(by, "by "+steps.Clip(e.Manager, 128)+", when is not recorded")
		case !e.Time.Time.Before(applied): // books count in seconds
			by = append(by, "by "+steps.Clip(e.Manager, 128)+" at "+e.Time.UTC().Format(time.RFC3339))
		}
	}
	if len(by) == 0 {
		return ""
	}
	slices.Sort(by)
	return "was changed " + strings.Join(by, "; ")
}
