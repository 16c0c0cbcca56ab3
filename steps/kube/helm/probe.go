package helm

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"handrail/steps"
	"handrail/steps/cluster"
	"handrail/steps/kube/report"
)

type probe struct{ env steps.Env }

// mostRevisions bounds what is shown of a history; helm keeps ten by itself.
const mostRevisions = 10

// Probe implements steps.Prober.
func (p probe) Probe(ctx context.Context, in steps.Params, out steps.Sink) (steps.Observation, error) {
	inner, turned, cancel := report.Deadline(ctx)
	defer cancel()
	c, err := cluster.Connect(p.env, out)
	if err != nil {
		return steps.Observation{}, err
	}
	r := reading{c: c, ns: c.NamespaceOf(in), release: in.Text("release"), now: p.env.Now(), f: steps.NewFacts(facts())}
	selector := "owner=helm,name=" + r.release
	r.obs.Command = c.Kubectl(r.ns, "get", "secrets,configmaps", "-l", selector, "--show-labels")
	list, err := r.records(inner, selector)
	if err != nil {
		return steps.Observation{}, report.Cause(turned(), err)
	}
	if len(list) == 0 {
		r.none()
	} else {
		r.tell(inner, newHistory(list))
	}
	if err := turned(); err != nil {
		return steps.Observation{}, fmt.Errorf("release %s in %s: %w", r.release, r.ns, err)
	}
	r.obs.Findings = append(r.obs.Findings, c.Warnings()...)
	r.obs.Facts = r.f.Rest("no revision of the release is recorded in namespace " + r.ns)
	return r.obs, nil
}

// reading is what is read of one release.
type reading struct {
	c           *cluster.Client
	ns, release string
	now         time.Time
	f           steps.Facts
	obs         steps.Observation
}

// storages are the objects that helm keeps its records in.
func storages() []cluster.Resource {
	return []cluster.Resource{
		{Version: "v1", Plural: "secrets", Kind: "Secret", Namespaced: true},
		{Version: "v1", Plural: "configmaps", Kind: "ConfigMap", Namespaced: true},
	}
}

// records lists the records of the release. What cannot be read as one is an error: it may
// be the newest.
func (r *reading) records(ctx context.Context, selector string) (list []record, err error) {
	for _, s := range storages() {
		var bad error
		err := r.c.List(ctx, s.Path(r.ns, ""), cluster.AsMetaList, url.Values{"labelSelector": {selector}}, func(o cluster.Object) {
			one, err := recordOf(s, o)
			if err != nil {
				bad = errors.Join(bad, err)
				return
			}
			list = append(list, one)
		})
		if err := errors.Join(err, bad); err != nil {
			return nil, fmt.Errorf("records of release %s in %s of namespace %s: %w", r.release, s, r.ns, err)
		}
	}
	return list, nil
}

func (r *reading) none() {
	r.f.Set("exists", steps.BoolOf(false))
	r.obs.Summary = fmt.Sprintf("No revision of release %s is recorded in namespace %s.", r.release, r.ns)
	r.obs.Say(steps.Info, "Helm may keep it in another namespace, in another cluster, or in a database (HELM_DRIVER=sql).")
}

func (r *reading) tell(ctx context.Context, h history) {
	newest := h[0]
	f := r.f
	f.Set("exists", steps.BoolOf(true))
	f.Set("history", steps.StringsOf(h.lines(mostRevisions)))
	if two := h.twice(); len(two) > 0 {
		r.obs.Say(steps.Critical, "Revision %d is recorded twice: which one helm takes is not known. Compare both before anything else.", two[0])
		f.Unknown(fmt.Sprintf("revision %d is recorded twice", two[0]), "revision", "status", "pending", "began", "age", "deployed", "resource", "name", "uid", "touched")
	} else {
		f.Set("revision", steps.IntOf(newest.revision))
		f.Set("status", steps.EnumOf(newest.status))
		f.Set("pending", steps.BoolOf(newest.pending()))
		f.Set("began", steps.TimeOf(newest.began))
		f.Set("age", steps.DurationOf(max(0, r.now.Sub(newest.began))))
		f.Set("resource", steps.StringOf(newest.storage.Plural))
		f.Set("name", steps.StringOf(newest.name))
		f.Set("uid", steps.IdentOf(newest.uid))
		force, there := h.deployed()
		f.Set("deployed", steps.IntOf(force.revision))
		if newest.pending() {
			r.hangs(newest, force, there)
		}
		r.touched(ctx, newest)
	}
	r.hooks(ctx)
	r.controller(ctx, newest)
	r.obs.Summary = fmt.Sprintf("Release %s in namespace %s: %s.", r.release, r.ns, newest)
}

func (r *reading) hangs(newest, force record, there bool) {
	held := "nothing is in force"
	if there {
		held = fmt.Sprintf("revision %d is in force", force.revision)
	}
	r.obs.Say(steps.Critical, "%s since %s, and helm refuses to go on with the release until it is finished or taken away; %s.",
		strings.ToUpper(newest.String()[:1])+newest.String()[1:], newest.began.UTC().Format(time.RFC3339), held)
}

// written is what is read of an object to see who wrote it.
type written struct {
	Metadata struct {
		Name          string                      `json:"name"`
		Annotations   map[string]string           `json:"annotations"`
		ManagedFields []metav1.ManagedFieldsEntry `json:"managedFields"`
	} `json:"metadata"`
}

// byHelm says that helm, or the controller that is built on it, wrote the object since.
func (w written) byHelm(since time.Time) bool {
	return slices.ContainsFunc(w.Metadata.ManagedFields, func(e metav1.ManagedFieldsEntry) bool {
		return (strings.EqualFold(e.Manager, "helm") || e.Manager == "helm-controller") && e.Subresource == "" && e.Time != nil && !e.Time.Time.Before(since.Truncate(time.Second))
	})
}

// touched finds what helm wrote since a revision began, of the kinds that most releases have.
func (r *reading) touched(ctx context.Context, newest record) {
	found, unread := []string{}, ""
	for _, of := range []cluster.Resource{
		{Group: "apps", Version: "v1", Plural: "deployments", Kind: "Deployment", Namespaced: true},
		{Group: "apps", Version: "v1", Plural: "statefulsets", Kind: "StatefulSet", Namespaced: true},
		{Group: "apps", Version: "v1", Plural: "daemonsets", Kind: "DaemonSet", Namespaced: true},
		{Group: "batch", Version: "v1", Plural: "jobs", Kind: "Job", Namespaced: true},
		{Version: "v1", Plural: "services", Kind: "Service", Namespaced: true},
		{Version: "v1", Plural: "configmaps", Kind: "ConfigMap", Namespaced: true},
	} {
		err := cluster.EachAs(ctx, r.c, of.Path(r.ns, ""), cluster.AsMetaList, nil, func(w written) {
			ours := w.Metadata.Annotations["meta.helm.sh/release-name"] == r.release || w.Metadata.Annotations["helm.sh/hook"] != ""
			if ours && w.byHelm(newest.began) {
				found = append(found, of.Label(r.ns, w.Metadata.Name))
			}
		})
		if err != nil {
			unread = of.String() + " could not be read: " + steps.Clip(err.Error(), 200)
			r.obs.Gaps = append(r.obs.Gaps, unread)
		}
	}
	if unread != "" {
		r.f.Unknown(unread, "touched")
	} else {
		r.f.Set("touched", steps.StringsOf(found))
	}
	if newest.pending() && len(found) > 0 {
		r.obs.Say(steps.Warning, "Written since it began: %s.", steps.Clip(strings.Join(found, ", "), 400))
	}
}

// hooks finds Jobs of hooks that still run: helm waits for them, also without a helm.
func (r *reading) hooks(ctx context.Context) {
	type job struct {
		Metadata metav1.ObjectMeta `json:"metadata"`
		Status   struct {
			Active int32 `json:"active"`
		} `json:"status"`
	}
	jobs := cluster.Resource{Group: "batch", Version: "v1", Plural: "jobs", Kind: "Job", Namespaced: true}
	running := []string{}
	err := cluster.Each(ctx, r.c, jobs.Path(r.ns, ""), nil, func(j job) {
		if hook := j.Metadata.Annotations["helm.sh/hook"]; hook != "" && j.Status.Active > 0 {
			running = append(running, fmt.Sprintf("%s (%s)", jobs.Label(r.ns, j.Metadata.Name), steps.Clip(hook, 60)))
		}
	})
	if err != nil {
		r.f.Unknown(steps.Clip(err.Error(), 300), "hooks")
		r.obs.Gaps = append(r.obs.Gaps, "Jobs: "+steps.Clip(err.Error(), 300))
		return
	}
	r.f.Set("hooks", steps.StringsOf(running))
	if len(running) > 0 {
		r.obs.Say(steps.Warning, "A hook still runs: %s.", steps.Clip(strings.Join(running, ", "), 300))
	}
}

// helmRelease is what is read of an object of Flux.
type helmRelease struct {
	Metadata metav1.ObjectMeta `json:"metadata"`
	Spec     struct {
		ReleaseName      string `json:"releaseName"`
		TargetNamespace  string `json:"targetNamespace"`
		StorageNamespace string `json:"storageNamespace"`
		Suspend          bool   `json:"suspend"`
	} `json:"spec"`
	Status struct {
		StorageNamespace string `json:"storageNamespace"`
	} `json:"status"`
}

// owns says whether a HelmRelease keeps the records of a release in a namespace. The name of
// the release is [TARGETNAMESPACE-]NAME where the spec has none (helm.toolkit.fluxcd.io/v2,
// HelmRelease.GetReleaseName).
func (h helmRelease) owns(release, ns string) bool {
	name := h.Spec.ReleaseName
	if name == "" {
		name = h.Metadata.Name
		if h.Spec.TargetNamespace != "" {
			name = h.Spec.TargetNamespace + "-" + name
		}
	}
	at := h.Status.StorageNamespace
	if at == "" {
		at = h.Spec.StorageNamespace
	}
	if at == "" {
		at = h.Metadata.Namespace
	}
	return name == release && at == ns
}

// byTool says that a record was written by the program helm and by nothing else: a controller
// that is built on helm writes under a name of its own, which is that of its program.
func (r *reading) byTool(ctx context.Context, of record) bool {
	var writers []string
	err := r.c.ListItems(ctx, of.storage.Path(r.ns, ""), cluster.AsMetaList, url.Values{"fieldSelector": {"metadata.name=" + of.name}}, cluster.WholeItem, func(o cluster.Object) {
		for _, e := range o.GetManagedFields() {
			writers = append(writers, e.Manager)
		}
	})
	return err == nil && len(writers) > 0 && !slices.ContainsFunc(writers, func(name string) bool { return !strings.EqualFold(name, "helm") })
}

// controller finds the HelmRelease that owns the release: its controller unlocks what hangs by
// itself, and would make again what is taken away.
func (r *reading) controller(ctx context.Context, newest record) {
	of, err := r.c.AnyVersion("helm.toolkit.fluxcd.io/v2", "HelmRelease")
	if errors.Is(err, cluster.ErrNoKind) {
		r.f.Set("controller", steps.StringOf(""))
		r.f.Set("suspended", steps.BoolOf(false))
		return
	}
	owner, suspended := "", false
	list := func(ns string) error {
		return cluster.Each(ctx, r.c, of.Path(ns, ""), nil, func(h helmRelease) {
			if h.owns(r.release, r.ns) {
				owner, suspended = of.Label(h.Metadata.Namespace, h.Metadata.Name), h.Spec.Suspend
			}
		})
	}
	if err == nil {
		if err = list(""); errors.Is(err, steps.ErrDenied) && list(r.ns) == nil && (owner != "" || r.byTool(ctx, newest)) {
			if owner == "" {
				r.obs.Say(steps.Info, "HelmReleases of other namespaces may not be listed here; helm itself wrote the newest record, so that no controller is taken for its owner.")
			}
			err = nil
		}
	}
	if err != nil {
		r.f.Unknown(steps.Clip(err.Error(), 300), "controller", "suspended")
		r.obs.Gaps = append(r.obs.Gaps, "HelmReleases: "+steps.Clip(err.Error(), 300))
		return
	}
	r.f.Set("controller", steps.StringOf(owner))
	r.f.Set("suspended", steps.BoolOf(suspended))
	if owner != "" {
		r.obs.Say(steps.Warning, "%s owns this release. Its controller unlocks a release that hangs by itself.", owner)
	}
}
