// Package metrics tells how far a controller of Argo CD or Flux is behind by its own metrics: what waits in its queues, how
// long it has been at the work that it is at, and how long things wait and take. The Kubernetes API tells none of that, and
// it is gone with the process, so that it is read before a restart.
//
// It is asked at the address that the operator names, as [handrail/steps/transport.AskText] asks, or read from a file that a
// person saved. Of the text only the lines of the metrics below are kept.
//
// Vocabulary: a queue holds the names of applications that are to be looked at, once each. What is counted is counted since
// the process started; a quantile is one over all of that time, and hides a bad end of a good day. It is told as
// histogram_quantile of Prometheus tells it, by a straight line between two bounds.
//
// What Argo CD 3.2 and Flux 2 (controller-runtime) say differs: a queue of Flux has no workqueue_depth until something was
// added to it, and one for each priority since. Neither says any more which applications fail: gotk_reconcile_condition is
// gone, and [handrail/steps/gitops] reads that from the applications.
package metrics

import "handrail/steps"

// Kind returns the step kind of this package.
func Kind() steps.Kind {
	return steps.Kind{
		Name: "gitops/metrics", Class: steps.Probe, Facts: metricsFacts(),
		Doc: "Reads the metrics of one controller of Argo CD or Flux: what waits in its queues, how long it has been at what it does, how long items wait and reconciliations take, and since when it runs.",
		Params: []steps.Field{
			{Name: "metrics", Type: steps.String, Doc: "address of its metrics, https://host/path, or http:// of this machine, as http://127.0.0.1:8080/metrics over kubectl port-forward; or a file that holds one answer of it; none reads nothing"},
		},
		Touches: []string{"one GET to the address, without credentials", "or reads the file"},
		Reads:   func(e steps.Env) steps.Prober { return probe{env: e} },
	}
}

// Whose metrics they are.
const (
	argocd = "argocd"
	flux   = "flux"
)

func metricsFacts() []steps.Field {
	return []steps.Field{
		{Name: "which", Type: steps.Enum, Values: []string{argocd, flux}, Doc: "whose metrics they are, by their names"},
		{Name: "queued", Type: steps.Int, Doc: "items that wait, in all queues together"},
		{Name: "queues", Type: steps.Table, Doc: "each queue to the items that wait in it"},
		{Name: "oldest", Type: steps.Duration, Doc: "for how long it has been at the one item that it has been at for longest, 0 where it does nothing"},
		{Name: "wait", Type: steps.Duration, Doc: "within which time 95 of 100 items left the queue in which that takes longest, since it started"},
		{Name: "slowest", Type: steps.Duration, Doc: "within which time 95 of 100 reconciliations were through, since it started"},
		{Name: "reconciled", Type: steps.Int, Doc: "reconciliations since it started"},
		{Name: "started", Type: steps.Time, Doc: "when the process started, and its counters with it"},
		{Name: "saved", Type: steps.Time, Doc: "when the file was written; unknown of an address"},
	}
}
