//go:build unix

package gitops

import (
	"slices"
	"strings"
	"time"

	"handrail/drills/lab/gitops"
	"handrail/steps"
)

// measured reads the metrics of each real controller, after it brought one application: a metric that a version no longer
// has is seen here first.
func (s *side) measured() {
	s.Helper()
	const timed = "queued queues oldest wait slowest reconciled started"
	for name, of := range map[string]struct{ queue, known, unknown string }{
		gitops.ArgoController:  {"app_reconciliation_queue", timed, "saved"},
		gitops.ArgoRepoServer:  {"", "started", "queued queues oldest wait slowest reconciled saved"},
		"source-controller":    {"gitrepository", timed, "saved"},
		"kustomize-controller": {"kustomization", timed, "saved"},
		"helm-controller":      {"helmrelease", "queued queues oldest started", "wait slowest reconciled saved"}, // it has no release yet
	} {
		if !slices.Contains(s.control.Names(), name) {
			continue
		}
		obs := s.probe("gitops/metrics", steps.Params{"metrics": steps.StringOf(s.control.Metrics(name))})
		for _, fact := range strings.Fields(of.known) {
			if !obs.Facts[fact].Known() {
				s.Errorf("%s: %s is %s", name, fact, shownValue(obs.Facts[fact]))
			}
		}
		for _, fact := range strings.Fields(of.unknown) {
			if obs.Facts[fact].Known() {
				s.Errorf("%s: %s is %s, and is not known to be told", name, fact, shownValue(obs.Facts[fact]))
			}
		}
		if _, ok := obs.Facts["queues"].Table()[of.queue]; of.queue != "" && !ok {
			s.Errorf("%s has no queue %s: %s", name, of.queue, shownValue(obs.Facts["queues"]))
		}
		which := map[bool]string{true: "argocd", false: "flux"}[s.argo]
		if got := textOf(obs.Facts, "which"); got != which || obs.Facts["slowest"].Known() && obs.Facts["reconciled"].Int() == 0 {
			s.Errorf("%s: %s\n%s", name, obs.Summary, told(obs))
		}
		if at := obs.Facts["started"].Time(); time.Since(at) < 0 || time.Since(at) > time.Hour {
			s.Errorf("%s started at %s", name, at)
		}
	}
}
