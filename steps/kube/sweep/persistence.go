package sweep

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"handrail/steps"
	"handrail/steps/cluster"
	"handrail/steps/kube/allowlist"
)

// maxTime bounds the whole sweep. What was not read by then is unread, and
// what was read is kept.
const maxTime = 4 * time.Minute

// besideTime is for finding out what is served, and to tell what was read.
const besideTime = 30 * time.Second

func facts() []steps.Field {
	names := func(name, doc string) steps.Field {
		return steps.Field{Name: name, Type: steps.Strings, Doc: doc + "; those unaccounted for, unknown above 500"}
	}
	return []steps.Field{
		{Name: "entries", Type: steps.Int, Doc: "how many things were found that may write, or keep something from being repaired"},
		{Name: "unaccounted", Type: steps.Int, Doc: "how many of them are unaccounted for; unknown while a category is unread"},
		{Name: "dirty", Type: steps.Bool, Doc: "whether there is any; true is known before all is read"},
		{Name: "complete", Type: steps.Bool, Doc: "true when every category was read whole, never false"},
		{Name: "unaccounted_list", Type: steps.Strings, Doc: "what is unaccounted for, as category namespace/kind/name; unknown above 500"},
		{Name: "counts", Type: steps.Table, Doc: "category to how many there are, and how many of them are unaccounted for"},
		names(allowlist.CronJobs, "CronJobs, and Jobs that have not ended and are no child of one"),
		names(allowlist.Webhooks, "webhook configurations"),
		names(allowlist.Policies, "admission policies and their bindings, Kyverno and Gatekeeper among them"),
		names(allowlist.Workloads, "workloads and bare Pods whose account may write"),
		names(allowlist.Accounts, "service accounts, users and groups that may write, by RBAC alone"),
		names(allowlist.Finalizers, "finalizers that hold a deletion, or would hold that of another entry"),
		names(allowlist.PodSecurity, "namespaces whose labels keep debug Pods out"),
		names(allowlist.GitOps, "what reconciles from Git or a registry: Argo CD, Flux, Fleet, Config Sync"),
		names(allowlist.HostAccess, "static Pods, and Pods that reach into their node: they need no account to write"),
		names(allowlist.APIServices, "aggregated API services"),
		names(allowlist.NetworkPolicies, "network policies"),
		names(allowlist.NodeWriters, "timers, cron entries, processes, supervisors and files of the nodes, by the reports"),
		{Name: "unread", Type: steps.Strings, Doc: "what could not be read, each with its category and why"},
		{Name: "cluster", Type: steps.Ident, Doc: "UID of namespace kube-system, by which the allow-list names the cluster"},
	}
}

type persistenceProbe struct{ env steps.Env }

// Probe implements steps.Prober.
func (p persistenceProbe) Probe(ctx context.Context, in steps.Params, out steps.Sink) (steps.Observation, error) {
	c, err := cluster.Connect(p.env, out)
	if err != nil {
		return steps.Observation{}, err
	}
	if err := c.Discover(ctx); err != nil {
		return steps.Observation{}, c.Explain("discovery of", "what it serves", err)
	}
	w := newCollector(c, in, out)
	own, cancel := context.WithTimeout(ctx, maxTime)
	defer cancel()
	w.read(own)
	if err := ctx.Err(); err != nil {
		return steps.Observation{}, fmt.Errorf("sweep of %s: %w", c.Server, err)
	}
	w.join()
	w.judge()
	w.obs.Findings = append(w.obs.Findings, c.Warnings()...)
	w.obs.Facts = w.facts.Rest("not read")
	return w.obs, nil
}

// read lists all that the API server has, then what stands on it.
func (w *collector) read(ctx context.Context) {
	uid, err := w.UID(ctx)
	if err == nil && !strings.HasPrefix(uid, "unknown") {
		w.uid = uid
	} else if err == nil {
		err = errors.New("the namespace kube-system may not be read")
	}
	if w.uid == "" {
		w.obs.Gaps = append(w.obs.Gaps, fmt.Sprintf("which cluster this is: %v; no entry of an allow-list can hold for it", err))
	}
	w.plan()
	w.side(ctx)
	w.planLoose()
	w.side(ctx)
	w.readNodes()
}

// side runs what is planned.
func (w *collector) side(ctx context.Context) {
	reads := w.reads
	w.reads = nil
	var timed []func(context.Context)
	for _, read := range reads {
		timed = append(timed, func(ctx context.Context) {
			read(ctx)
			w.mu.Lock()
			w.done++
			line := fmt.Sprintf("%d of %d lists read, %d objects", w.done, len(reads), w.objects)
			w.mu.Unlock()
			w.out.Line(line)
		})
	}
	w.done = 0
	cluster.Together(ctx, timed, func(err error) { w.miss(err.Error(), allowlist.Categories()...) })
}
