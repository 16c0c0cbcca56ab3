package gitops

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"handrail/steps"
	"handrail/steps/cluster"
	"handrail/steps/gitops/app"
	"handrail/steps/kube/podstate"
	"handrail/steps/kube/report"
)

// role is what a component does.
type role struct {
	word  string
	of    app.Controller
	stops bool
	plain bool
}

// roles are the components of both controllers, by the names that their manifests and charts
// give them. Without one that stops, nothing is reconciled; without another, something else is
// missing. A plain word is one of Argo CD's only where the object says so.
var roles = []role{
	{"application-controller", app.ArgoCD, true, false},
	{"applicationset-controller", app.ArgoCD, false, false},
	{"repo-server", app.ArgoCD, true, false},
	{"notifications-controller", app.ArgoCD, false, true},
	{"dex-server", app.ArgoCD, false, true},
	{"redis", app.ArgoCD, false, true},
	{"server", app.ArgoCD, false, true},
	{"kustomize-controller", app.Flux, true, false},
	{"source-controller", app.Flux, true, false},
	{"helm-controller", app.Flux, true, false},
	{"notification-controller", app.Flux, false, false},
	{"image-reflector-controller", app.Flux, false, false},
	{"image-automation-controller", app.Flux, false, false},
}

// part is one component.
type part struct {
	resource string
	name     string
	role     string
	of       app.Controller
	stops    bool

	w    podstate.Workload
	meta metav1.ObjectMeta
	pods []podstate.Pod

	image, previous string    // of its newest revision, and of the one before where it differs
	revised         time.Time // when the newest revision was made
}

// components reads what runs in the namespace of the controller.
func (r *controllerRun) components(ctx context.Context) error {
	var raws []json.RawMessage
	for _, k := range cluster.Workloads()[:2] {
		err := cluster.Each(ctx, r.c, k.Path(r.namespace, ""), nil, func(raw json.RawMessage) {
			if p := partOf(k, raw); p != nil {
				r.parts = append(r.parts, p)
				raws = append(raws, slices.Clone(raw))
			}
		})
		if err != nil {
			return r.unreadParts(ctx, k.Plural, err)
		}
	}
	slices.SortStableFunc(r.parts, func(a, b *part) int { return cmp.Compare(rank(a), rank(b)) })
	if len(r.parts) == 0 {
		return nil
	}
	made := map[string]*part{} // by the UID of what makes Pods
	for _, p := range r.parts {
		made[p.w.Metadata.UID] = p
	}
	if err := r.revisions(ctx, made); err != nil {
		return r.unreadParts(ctx, "revisions", err)
	}
	err := cluster.Each(ctx, r.c, cluster.Pods().Path(r.namespace, ""), nil, func(p podstate.Pod) {
		for uid, of := range made {
			if p.Metadata.ControlledBy(uid) {
				of.pods = append(of.pods, p)
			}
		}
	})
	if err != nil {
		return r.unreadParts(ctx, "pods", err)
	}
	list := map[string]any{"apiVersion": "v1", "kind": "List", "items": raws}
	if gap := steps.Keep(r.out, "controller", steps.MediaKubernetes, func(w io.Writer) error { return json.NewEncoder(w).Encode(list) }); gap != "" {
		r.obs.Gaps = append(r.obs.Gaps, gap)
	}
	return nil
}

// unreadParts keeps what was read of the applications when the components may not be read.
func (r *controllerRun) unreadParts(ctx context.Context, what string, err error) error {
	if ctx.Err() != nil {
		return err
	}
	r.parts, r.partsWhy = nil, what+" of namespace "+r.namespace+": "+report.Why(err)
	r.obs.Gaps = append(r.obs.Gaps, r.partsWhy)
	return nil
}

func rank(p *part) int {
	return slices.IndexFunc(roles, func(r role) bool { return r.word == p.role })
}

// partOf is the component that a workload is, nil for another one.
func partOf(k cluster.Resource, raw []byte) *part {
	var o struct {
		Metadata metav1.ObjectMeta `json:"metadata"`
	}
	w, err := podstate.ParseWorkload(raw)
	if err != nil || json.Unmarshal(raw, &o) != nil {
		return nil
	}
	labels := w.Metadata.Labels
	argo := labels["app.kubernetes.io/part-of"] == "argocd" || strings.HasPrefix(w.Metadata.Name, "argocd-")
	for _, is := range roles {
		names := []string{w.Metadata.Name, labels["app.kubernetes.io/component"], labels["app.kubernetes.io/name"]}
		named := slices.ContainsFunc(names, func(name string) bool { return name == is.word || strings.HasSuffix(name, "-"+is.word) })
		if !named || is.plain && !argo {
			continue
		}
		p := &part{resource: k.String(), name: w.Metadata.Name, role: is.word, of: is.of, stops: is.stops, w: w, meta: o.Metadata}
		p.image = imageOf(w.Spec.Template.Spec)
		return p
	}
	return nil
}

func imageOf(s podstate.PodSpec) string {
	if len(s.Containers) == 0 {
		return ""
	}
	return s.Containers[0].Image
}

// revisions reads the ReplicaSets of Deployments and the revisions of StatefulSets: when the
// newest was made, and what image the one before had.
func (r *controllerRun) revisions(ctx context.Context, made map[string]*part) error {
	type revision struct {
		number int64
		at     time.Time
		image  string
	}
	all := map[*part][]revision{}
	makers := map[string]*part{}
	err := cluster.Each(ctx, r.c, cluster.ReplicaSets().Path(r.namespace, ""), nil, func(w podstate.Workload) {
		for uid, p := range made {
			if w.Metadata.ControlledBy(uid) {
				makers[w.Metadata.UID] = p
				n, err := strconv.ParseInt(w.Metadata.Annotations["deployment.kubernetes.io/revision"], 10, 64)
				if err != nil {
					continue
				}
				all[p] = append(all[p], revision{n, w.Metadata.CreationTimestamp, imageOf(w.Spec.Template.Spec)})
			}
		}
	})
	if err != nil {
		return err
	}
	if slices.ContainsFunc(r.parts, func(p *part) bool { return p.resource == "statefulsets.apps" }) {
		kept := cluster.Resource{Group: "apps", Version: "v1", Plural: "controllerrevisions", Kind: "ControllerRevision", Namespaced: true}
		err = cluster.Each(ctx, r.c, kept.Path(r.namespace, ""), nil, func(o struct {
			Metadata podstate.Metadata `json:"metadata"`
			Revision int64             `json:"revision"`
			Data     podstate.Workload `json:"data"`
		}) {
			for uid, p := range made {
				if o.Metadata.ControlledBy(uid) {
					all[p] = append(all[p], revision{o.Revision, o.Metadata.CreationTimestamp, imageOf(o.Data.Spec.Template.Spec)})
				}
			}
		})
	}
	for uid, p := range makers {
		made[uid] = p
	}
	for p, list := range all {
		slices.SortFunc(list, func(a, b revision) int { return cmp.Compare(b.number, a.number) })
		p.revised = list[0].at
		if len(list) > 1 && list[1].image != "" && list[1].image != p.image {
			p.previous = list[1].image
		}
	}
	return err
}

// wanted is how many Pods it is to have.
func (p *part) wanted() int64 {
	if p.w.Spec.Replicas == nil {
		return 1
	}
	return *p.w.Spec.Replicas
}

// trouble is why it is not as wanted, "" where it is.
func (p *part) trouble() string {
	switch wanted, ready := p.wanted(), p.w.Status.ReadyReplicas; {
	case wanted == 0:
		return "it is scaled to 0"
	case ready < wanted:
		return fmt.Sprintf("%d of %d Pods ready: %s", ready, wanted, cmp.Or(p.reason(), "its Pods do not say why"))
	}
	// It is ready between two crashes as well.
	if t := p.worst(); t.Stage == podstate.Crash {
		return "ready, and a Pod of it crashes: " + p.reason()
	}
	return ""
}

// worst is what keeps the Pod from being ready that says most.
func (p *part) worst() podstate.Trouble {
	var out podstate.Trouble
	for _, pod := range p.pods {
		t := podstate.Diagnose(pod)
		if out.Stage == "" || out.Stage == podstate.None && t.Stage != podstate.None || t.Stage == podstate.Crash && out.Stage != podstate.Crash {
			out = t
		}
	}
	return out
}

// reason is why a Pod of it is not ready.
func (p *part) reason() string {
	switch t := p.worst(); {
	case p.wanted() == 0:
		return "scaled to 0"
	case len(p.pods) == 0:
		c := p.w.Condition("ReplicaFailure")
		return cmp.Or(steps.OneLine(strings.TrimSpace(c.Reason+" "+c.Message), 300), "it has no Pod")
	case t.Stage == podstate.None:
		return ""
	default:
		return steps.OneLine(strings.TrimSpace(t.Reason+" "+t.Message), 300)
	}
}

// restarts are those of all its Pods.
func (p *part) restarts() (n int64) {
	for _, pod := range p.pods {
		n += podstate.Diagnose(pod).Restarts
	}
	return n
}

// tellParts says how each component is.
func (r *controllerRun) tellParts() {
	names := []string{"components", "unready", "workload", "workload_resource", "workload_uid", "reason", "restarts", "image", "previous_image"}
	if r.partsWhy != "" {
		r.f.Unknown(r.partsWhy, names...)
		return
	}
	table, unready := map[string]string{}, []string{}
	var back *part
	for _, p := range r.parts {
		say := fmt.Sprintf("%d of %d ready, %s", p.w.Status.ReadyReplicas, p.wanted(), cmp.Or(p.image, "no image"))
		if n := p.restarts(); n > 0 {
			say += fmt.Sprintf(", %d restarts", n)
		}
		if why := p.trouble(); why != "" {
			say += ", " + p.reason()
			unready = append(unready, p.name+": "+why)
			if back == nil || p.stops && !back.stops {
				back = p
			}
		}
		table[p.resource+"/"+p.name] = steps.Clip(say, 500)
	}
	r.table("components", table)
	r.list("unready", unready)
	if back == nil {
		// A silent one would have to come back too: the one that applies.
		if i := slices.IndexFunc(r.parts, func(p *part) bool { return p.stops }); i >= 0 {
			back = r.parts[i]
		}
	}
	if back == nil {
		r.f.Set("workload", steps.StringOf(""))
		r.f.Set("workload_resource", steps.StringOf(""))
		r.f.Unknown("no component is in namespace "+r.namespace, names[4:]...)
		return
	}
	r.f.Set("workload", steps.StringOf(back.name))
	r.f.Set("workload_resource", steps.StringOf(back.resource))
	r.f.Set("workload_uid", steps.IdentOf(back.w.Metadata.UID))
	r.f.Set("reason", steps.StringOf(back.reason()))
	r.f.Set("restarts", steps.IntOf(back.restarts()))
	r.f.Set("image", steps.StringOf(steps.Clip(back.image, 500)))
	r.f.Set("previous_image", steps.StringOf(steps.Clip(back.previous, 500)))
}

// leases says who leads.
func (r *controllerRun) leases(ctx context.Context) {
	type lease struct {
		Metadata podstate.Metadata `json:"metadata"`
		Spec     struct {
			Holder  string            `json:"holderIdentity"`
			Seconds int64             `json:"leaseDurationSeconds"`
			Renewed *metav1.MicroTime `json:"renewTime"`
		} `json:"spec"`
	}
	table, lost := map[string]string{}, []string{}
	err := cluster.Each(ctx, r.c, cluster.Leases().Path(r.namespace, ""), nil, func(l lease) {
		say := "held by " + cmp.Or(steps.Clip(l.Spec.Holder, 200), "none")
		ran := l.Spec.Holder == ""
		if l.Spec.Renewed != nil {
			say += ", renewed " + l.Spec.Renewed.UTC().Format(time.RFC3339)
			ran = ran || r.clockless == "" && r.now.After(l.Spec.Renewed.Add(time.Duration(l.Spec.Seconds)*time.Second+cluster.SkewTolerance))
		}
		table[l.Metadata.Name] = say
		if ran {
			lost = append(lost, l.Metadata.Name+" "+say)
		}
	})
	switch {
	case errors.Is(err, cluster.ErrAbsent):
	case err != nil:
		r.f.Unknown("leases: "+report.Why(err), "leases", "leaderless")
		r.obs.Gaps = append(r.obs.Gaps, "leases: "+report.Why(err))
		return
	}
	r.table("leases", table)
	if r.clockless != "" {
		r.f.Unknown(r.clockless, "leaderless")
		return
	}
	slices.Sort(lost)
	r.list("leaderless", lost)
	for _, l := range lost {
		r.obs.Say(steps.Warning, "The lease %s ran out: none leads.", l)
	}
}
