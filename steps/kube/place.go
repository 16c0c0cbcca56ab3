package kube

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"handrail/steps"
)

// place names one workload that keeps a finalizer, or its leader Lease.
type place struct {
	resource
	namespace, name string
}

func (p place) String() string { return p.label(p.namespace, p.name) }

var errPlace = errors.New("want deployment, statefulset, daemonset, cronjob, pod or lease, then /NAME or /NAMESPACE/NAME")

// parsePlace reads the parameter controller; a name without a namespace is in
// that of the object.
func parsePlace(s, namespace string) (place, error) {
	bad := func(why string) (place, error) {
		return place{}, fmt.Errorf("controller %q: %w%s", steps.Clip(s, 200), errPlace, why)
	}
	parts := strings.Split(s, "/")
	if len(parts) < 2 || len(parts) > 3 {
		return bad("")
	}
	var p place
	for _, r := range append(workloads(), cronjobs(), pods(), leases()) {
		if slices.Contains([]string{strings.ToLower(r.kind), r.plural, r.String(), strings.ToLower(r.kind) + "." + r.group}, parts[0]) {
			p.resource = r
		}
	}
	if p.kind == "" {
		return bad("")
	}
	p.namespace, p.name = namespace, parts[len(parts)-1]
	if len(parts) == 3 {
		p.namespace = parts[1]
	}
	switch {
	case p.namespace == "":
		return bad("; the object has no namespace, so name that of the workload")
	case !plain(p.namespace), !plain(p.name):
		return bad("")
	}
	return p, nil
}
