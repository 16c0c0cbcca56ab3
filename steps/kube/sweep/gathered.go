package sweep

import (
	"context"
	"strings"
	"sync"

	"handrail/steps"
	"handrail/steps/cluster"
	"handrail/steps/kube/allowlist"
	"handrail/steps/kube/persist"
)

// found is one thing that may write, or that keeps something from being
// repaired.
type found struct {
	allowlist.Thing
	what  string      // for a person, in one line
	reach func() bool // whether it can touch the namespaces that are asked about; nil for yes
	state allowlist.State
	by    *allowlist.Entry // where it is or was accounted for
}

// accounts is who accounts or accounted for it.
func (f found) accounts() string {
	if f.by == nil {
		return ""
	}
	return f.by.Accounts
}

// runner is something that runs Pods. A cluster has tens of thousands: of what
// they run, the digest is kept.
type runner struct {
	kind, namespace, name string
	uid, parent           string // parent is the UID of its controller
	account, digest, what string
	host                  []string
}

func (s runner) label() string { return strings.ToLower(s.kind) + "/" + s.name }

// collector is one sweep.
type collector struct {
	*cluster.Client
	in     steps.Params
	out    steps.Sink
	facts  steps.Facts
	obs    steps.Observation
	served cluster.Served
	uid    string // of the cluster

	mu      sync.Mutex
	found   []found
	missing map[string][]string // category to what of it could not be read
	graph   *persist.Grants
	may     map[string][]persist.Grant
	spaces  map[string]map[string]string // namespace to its labels
	nodes   []string
	crons   []runner
	jobs    []runner
	runs    []runner
	loose   map[string]*looseObjects // by resource
	objects int
	reads   []func(context.Context)
	done    int
}

func newCollector(c *cluster.Client, in steps.Params, out steps.Sink) *collector {
	return &collector{Client: c, in: in, out: out, facts: steps.NewFacts(facts()), served: c.Served(), missing: map[string][]string{},
		graph: persist.NewGrants(), spaces: map[string]map[string]string{}, loose: map[string]*looseObjects{}}
}

// miss notes what could not be read of some categories.
func (w *collector) miss(why string, categories ...string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range categories {
		w.missing[c] = append(w.missing[c], why)
	}
}

func (w *collector) add(f found) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.found = append(w.found, f)
}
