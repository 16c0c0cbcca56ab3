package gitops

import (
	"context"
	"fmt"
	"strings"
	"time"

	"handrail/steps"
	"handrail/steps/cluster"
	"handrail/steps/gitops/app"
	"handrail/steps/kube/report"
)

// What a controller is worth now. One that is silent has Pods that are ready, and reconciles
// nothing.
const (
	controllerOK       = "ok"
	controllerDegraded = "degraded"
	controllerDown     = "down"
	controllerSilent   = "silent"
)

func controllerParams() []steps.Field {
	return []steps.Field{
		{Name: "namespace", Type: steps.String, Pattern: cluster.NamespaceName, Doc: "namespace that the controller lives in, if not that of the context"},
		{Name: "within", Type: steps.String, Pattern: cluster.NamespaceName, Doc: "namespace of the applications that it reconciles, where it keeps to one; without it those of every namespace"},
		{Name: "patience", Type: steps.Duration, Default: "2m", Doc: "how late a reconciliation may be, beyond its interval"},
		{Name: "window", Type: steps.Duration, Default: "24h", Doc: "how old a change of the controller may be that counts as recent"},
	}
}

func controllerFacts() []steps.Field {
	return []steps.Field{
		{Name: "state", Type: steps.Enum, Values: []string{controllerOK, controllerDegraded, controllerDown, controllerSilent}, Doc: "down where what applies has no Pod that is ready, or where it has none at all and every application is late; silent where its Pods are ready and an application is late all the same"},
		{Name: "says", Type: steps.String, Doc: "why, empty where it is well"},
		{Name: "controllers", Type: steps.Strings, Doc: "argocd, flux: whose components are there, else whose applications"},
		{Name: "components", Type: steps.Table, Doc: "its Deployments and StatefulSets: ready Pods, image, restarts, how the last one ended"},
		{Name: "unready", Type: steps.Strings, Doc: "those of them that have fewer ready Pods than wanted, or none wanted"},
		{Name: "workload", Type: steps.String, Doc: "the first one that would have to come back, empty where none can be named"},
		{Name: "workload_resource", Type: steps.String, Doc: "its resource"},
		{Name: "workload_uid", Type: steps.Ident, Doc: "its UID"},
		{Name: "reason", Type: steps.String, Doc: "why its Pod is not ready, as the kubelet, the scheduler or its controller names it"},
		{Name: "restarts", Type: steps.Int, Doc: "restarts of its Pods"},
		{Name: "image", Type: steps.String, Doc: "its image"},
		{Name: "previous_image", Type: steps.String, Doc: "the image of the revision before, empty where that had the same one or is not kept"},
		{Name: "recent", Type: steps.Strings, Doc: "what changed of the controller within window: images, specs, settings, credentials, with when and by whom"},
		{Name: "upgraded", Type: steps.Bool, Doc: "whether a component got another image within window"},
		{Name: "leases", Type: steps.Table, Doc: "leases of its namespace: who leads, and when that was last renewed"},
		{Name: "leaderless", Type: steps.Strings, Doc: "those that ran out"},
		{Name: "credentials", Type: steps.Table, Doc: "Secrets by which it reaches Git, registries and clusters: when each was written; never a value"},
		{Name: "missing_credentials", Type: steps.Strings, Doc: "Secrets that are named and not there"},
		{Name: "sources_failing", Type: steps.Strings, Doc: "sources that cannot be had, in the controller's own words"},
		{Name: "all", Type: steps.Int, Doc: "applications that were looked at"},
		{Name: "stale", Type: steps.Strings, Doc: "applications that were not reconciled in time, with what says so"},
		{Name: "lag", Type: steps.Duration, Ages: true, Doc: "how long the oldest of what waits has been waiting, 0 where nothing does"},
		{Name: "missed", Type: steps.Table, Doc: "those of them that it reconciles by itself once it is back, and what waits; that of Argo CD is known only by its time: what Git has it does not say"},
		{Name: "in_flight", Type: steps.Table, Doc: "applications whose operation runs by their own word, with how far it came: it stopped where the controller did. One that is left alone is among paused"},
		{Name: "wrote", Type: steps.Enum, Values: []string{"yes", "no", "unclear"}, Doc: "whether an operation that is under way wrote anything; no where none is under way"},
		{Name: "blast", Type: steps.Enum, Values: []string{"none", "some", "all"}, Doc: "how many of the applications that it reconciles by itself are late"},
		{Name: "pruning", Type: steps.Strings, Doc: "missed ones that delete what Git does not have any more"},
		{Name: "objects", Type: steps.Int, Doc: "objects that the missed ones have"},
		{Name: "differing", Type: steps.Int, Doc: "objects of missed ones that were not as wanted when the controller last compared; unknown where Flux reconciles one of them, which does not say"},
		{Name: "overwrites", Type: steps.Table, Doc: "missed ones with an object that was changed or deleted since, beside the controller: its return writes over that. Each as resource/namespace/name, with its UID"},
		{Name: "touched", Type: steps.Strings, Doc: "those objects, with who changed them and when"},
		{Name: "paused", Type: steps.Table, Doc: "applications that are suspended, with since when and by whom: its return leaves them alone"},
	}
}

type controllerProbe struct{ env steps.Env }

// controllerRun fills in an observation about one controller.
type controllerRun struct {
	c          *cluster.Client
	f          steps.Facts
	obs        steps.Observation
	out        steps.Sink
	in         steps.Params
	namespace  string
	now        time.Time
	clockless  string
	parts      []*part
	partsWhy   string // why its components are not known
	apps       []app.App
	sources    map[string]app.Held
	appsWhy    string // why its applications are not known
	every      time.Duration
	everyKnown bool
	late       []lateness
	settings   []written
}

// Probe implements steps.Prober.
func (p controllerProbe) Probe(ctx context.Context, in steps.Params, out steps.Sink) (steps.Observation, error) {
	inner, turned, cancel := report.Deadline(ctx)
	defer cancel()
	c, err := cluster.Connect(p.env, out)
	if err != nil {
		return steps.Observation{}, err
	}
	r := &controllerRun{c: c, f: steps.NewFacts(controllerFacts()), out: out, in: in, namespace: c.NamespaceOf(in)}
	r.obs.Command = c.Kubectl(r.namespace, "get", "deployments,statefulsets,pods,leases", "-o", "yaml")
	if err := r.components(inner); err != nil {
		return steps.Observation{}, report.Cause(turned(), err)
	}
	l := &ledger{sources: map[string]app.Held{}, within: in.Text("within"), whole: true}
	if err := l.read(inner, c); err != nil {
		return steps.Observation{}, report.Cause(turned(), err)
	}
	r.now, r.clockless = c.Now()
	r.take(l)
	r.tellParts()
	r.leases(inner)
	r.argoSettings(inner)
	r.credentials(inner)
	r.tellRecent()
	r.lateOnes()
	r.tellLate()
	r.flights()
	r.blast(inner)
	r.conclude()
	if err := turned(); err != nil {
		return steps.Observation{}, err
	}
	r.obs.Findings = append(r.obs.Findings, c.Warnings()...)
	r.obs.Facts = r.f.Rest("it was not read")
	return r.obs, nil
}

// take keeps the applications of the controllers that are there: two may share a cluster.
func (r *controllerRun) take(l *ledger) {
	r.obs.Gaps = append(r.obs.Gaps, l.gaps...)
	if len(l.gaps) > 0 {
		r.appsWhy = strings.Join(l.gaps, "; ") // a part of the list would read as all of it
	}
	r.sources = l.sources
	there := map[app.Controller]bool{}
	for _, p := range r.parts {
		there[p.of] = true
	}
	if len(there) == 0 {
		for _, a := range l.apps {
			there[a.Controller] = true
		}
	}
	for _, a := range l.apps {
		if there[a.Controller] {
			r.apps = append(r.apps, a)
		}
	}
	var names []string
	for _, of := range []app.Controller{app.ArgoCD, app.Flux} {
		if there[of] {
			names = append(names, string(of))
		}
	}
	r.f.Set("controllers", steps.StringsOf(names))
	if r.appsWhy == "" {
		r.f.Set("all", steps.IntOf(int64(len(r.apps))))
	}
}

// conclude says what the controller is worth. What was not read speaks for nothing.
func (r *controllerRun) conclude() {
	state, says := controllerOK, ""
	var unready, gone []string
	for _, p := range r.parts {
		if why := p.trouble(); why != "" {
			unready = append(unready, p.name+": "+why)
			if p.stops && p.w.Status.ReadyReplicas == 0 && r.needs(p) {
				gone = append(gone, p.name+": "+why)
			}
		}
	}
	acting, late := r.acting(), r.lateActing()
	switch {
	case len(gone) > 0:
		state, says = controllerDown, strings.Join(gone, "; ")
	case r.partsWhy != "":
		r.undecided(r.partsWhy)
		return
	case len(r.parts) == 0 && r.appsWhy != "":
		r.undecided(r.appsWhy)
		return
	case len(r.parts) == 0 && acting == 0:
		r.undecided("no component of Argo CD or Flux is in namespace " + r.namespace + ", and no application that one reconciles by itself is to be seen")
		return
	case len(r.parts) == 0 && late > 0 && late == acting:
		state, says = controllerDown, fmt.Sprintf("no component is in namespace %s, and all %d applications that it reconciles by itself are late", r.namespace, late)
	case late > 0 && len(unready) == 0:
		state, says = controllerSilent, fmt.Sprintf("%d of %d applications are late, and no component says that it is not well", late, acting)
		if len(r.parts) == 0 {
			state = controllerDegraded
		}
	case len(unready) > 0:
		state, says = controllerDegraded, strings.Join(unready, "; ")
	case r.appsWhy != "":
		r.undecided(r.appsWhy)
		return
	}
	r.f.Set("state", steps.EnumOf(state))
	r.f.Set("says", steps.StringOf(steps.Clip(says, 1500)))
	r.obs.Summary = fmt.Sprintf("The controller in %s is %s, %d of %d applications that it reconciles by itself are late.", r.namespace, state, late, acting)
	switch {
	case state != controllerOK:
		r.obs.Say(steps.Warning, "%s: %s", state, steps.Clip(says, 600))
	case len(r.parts) == 0:
		r.obs.Say(steps.Info, "No component is in namespace %s: that it is well is told by its applications alone.", r.namespace)
	}
}

func (r *controllerRun) undecided(why string) {
	r.f.Unknown(why, "state", "says")
	r.obs.Summary = "What the controller is worth is not known: " + steps.Clip(why, 300)
}

// needs reports whether a component has anything to do: a controller of releases without one
// stops nothing.
func (r *controllerRun) needs(p *part) bool {
	if p.role != "helm-controller" || r.appsWhy != "" {
		return true
	}
	for _, a := range r.apps {
		if a.Kind == "HelmRelease" {
			return true
		}
	}
	return false
}
