package sweep

import (
	"maps"
	"slices"
	"strings"

	"handrail/steps/kube/allowlist"
	"handrail/steps/kube/persist"
)

// join puts together what single lists do not tell: which Job is a child of
// which CronJob, and which workload runs as an account that may write.
func (w *collector) join() {
	w.may = w.graph.May()
	for _, name := range slices.Sorted(maps.Keys(w.may)) {
		w.account(name, w.may[name])
	}
	crons := map[string]*runner{}
	for i, c := range w.crons {
		crons[c.uid] = &w.crons[i]
		w.ran(allowlist.CronJobs, c)
	}
	for _, j := range w.jobs {
		// A Job may say that it is the child of a CronJob and run something else.
		if c, is := crons[j.parent]; !is || c.namespace != j.namespace || c.digest != j.digest {
			if is {
				j.what = "claims to be of " + c.label() + " and does not run what that does; " + j.what
			}
			w.ran(allowlist.CronJobs, j)
		}
	}
	for _, r := range w.runs {
		w.ran("", r)
	}
	w.crons, w.jobs, w.runs, w.may = nil, nil, nil, nil
}

// account notes an account that may write.
func (w *collector) account(name string, gs []persist.Grant) {
	namespace := ""
	thing := name
	if rest, ok := strings.CutPrefix(name, "serviceaccount/"); ok {
		namespace, thing, _ = strings.Cut(rest, "/")
		thing = "serviceaccount/" + thing
	}
	f := found{Thing: allowlist.Thing{Category: allowlist.Accounts, Namespace: namespace, Name: thing, Digest: persist.Sum(gs)}, what: persist.Say(gs)}
	if len(w.asked()) > 0 {
		f.reach = func() bool { return w.mayReach(gs) }
	}
	w.found = append(w.found, f)
}

// mayReach reports whether grants reach one of the namespaces that are asked
// about.
func (w *collector) mayReach(gs []persist.Grant) bool {
	return slices.ContainsFunc(gs, func(g persist.Grant) bool { return g.Where == "" || slices.Contains(w.asked(), g.Where) })
}

// ran notes something that runs Pods: under its own category, where it has one,
// else where its account may write; and where it reaches into its node.
func (w *collector) ran(category string, r runner) {
	var gs []persist.Grant
	for _, s := range persist.Subjects(r.namespace, r.account) {
		// Nothing of the API server's own runs in a Pod.
		gs = append(append(gs, w.may[s]...), w.graph.Servers(s)...)
	}
	if category == "" && len(gs) == 0 && len(r.host) == 0 {
		return
	}
	f := found{Thing: allowlist.Thing{Category: category, Namespace: r.namespace, Name: r.label(), Digest: r.digest}, what: r.what}
	if len(w.asked()) > 0 {
		f.reach = func() bool { return len(r.host) > 0 || w.mayReach(gs) || slices.Contains(w.asked(), r.namespace) }
	}
	if len(gs) > 0 {
		f.what += "; may write " + persist.Say(gs)
		if category == "" {
			f.Category = allowlist.Workloads
		}
	}
	if f.Category != "" {
		w.found = append(w.found, f)
	}
	if len(r.host) > 0 {
		f.Category = allowlist.HostAccess
		w.found = append(w.found, found{Thing: f.Thing, what: persist.Line(strings.Join(r.host, ", ")+"; "+r.what, 400)})
	}
}
