package writers

import (
	"errors"
	"sync"
	"time"

	"handrail/steps"
	"handrail/steps/cluster"
	"handrail/steps/fault"
	"handrail/steps/kube/admission"
	"handrail/steps/kube/rbac"
)

const (
	// readTime ends the reading before the loop would: what was read until
	// then is worth more than nothing.
	readTime = 45 * time.Second
)

// writers gathers everything that may write one object.
type writers struct {
	c      *cluster.Client
	t      cluster.Target
	o      cluster.Object
	absent bool

	gate chan struct{} // one place a request
	mu   sync.Mutex
	lost map[string]bool // the facts of which a part could not be read
	results
}

// results is what was found.
type results struct {
	mutating, validating []admissionRule
	controllers          []steps.Owner
	grants               []rbac.Grant
	dangling             []string
	indirect             []string
	everybody            []string // grants to all accounts
	workloads            []workload
	findings             []steps.Finding
	unread               []string
}

// admissionRule is one webhook entry or bound policy.
type admissionRule struct {
	name, entry string // mutatingwebhookconfiguration/x, and its entry or binding
	calls       string
	match       admission.Match
	more        string
}

func (a admissionRule) String() string {
	text := a.name + ": " + steps.Clip(a.entry, 253) + " " + a.match.String()
	if a.calls != "" {
		text += ", calls " + steps.Clip(a.calls, 300)
	}
	return text + a.more
}

// fail keeps what could not be read. A kind that the server does not serve has
// no objects, so that nothing is missing.
func (w *writers) fail(what string, err error, facts ...string) {
	if err == nil || errors.Is(err, cluster.ErrNoKind) {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.lost == nil {
		w.lost = map[string]bool{}
	}
	for _, fact := range facts {
		w.lost[fact] = true
	}
	w.unread = append(w.unread, what+": "+err.Error())
}

// each runs functions side by side and waits for them.
func (w *writers) each(jobs ...func()) {
	var wg sync.WaitGroup
	for _, job := range jobs {
		wg.Go(func() {
			defer fault.To(func(err error) { w.fail("a part of the search", err, "suspects") })
			w.gate <- struct{}{}
			defer func() { <-w.gate }()
			job()
		})
	}
	wg.Wait()
}
