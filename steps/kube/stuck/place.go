package stuck

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"handrail/steps"
	"handrail/steps/cluster"
)

// Place names one workload that keeps a finalizer, or its leader Lease.
type Place struct {
	cluster.Resource
	namespace, name string
}

func (p Place) String() string { return p.Label(p.namespace, p.name) }

// ErrPlace says that a text names no workload.
var ErrPlace = errors.New("want deployment, statefulset, daemonset, cronjob, pod or lease, then /NAME or /NAMESPACE/NAME")

// ParsePlace reads the parameter controller; a name without a namespace is in
// that of the object.
func ParsePlace(s, namespace string) (Place, error) {
	bad := func(why string) (Place, error) {
		return Place{}, fmt.Errorf("controller %q: %w%s", steps.Clip(s, 200), ErrPlace, why)
	}
	parts := strings.Split(s, "/")
	if len(parts) < 2 || len(parts) > 3 {
		return bad("")
	}
	var p Place
	for _, r := range append(cluster.Workloads(), cluster.CronJobs(), cluster.Pods(), cluster.Leases()) {
		if slices.Contains([]string{strings.ToLower(r.Kind), r.Plural, r.String(), strings.ToLower(r.Kind) + "." + r.Group}, parts[0]) {
			p.Resource = r
		}
	}
	if p.Kind == "" {
		return bad("")
	}
	p.namespace, p.name = namespace, parts[len(parts)-1]
	if len(parts) == 3 {
		p.namespace = parts[1]
	}
	switch {
	case p.namespace == "":
		return bad("; the object has no namespace, so name that of the workload")
	case !cluster.Plain(p.namespace), !cluster.Plain(p.name):
		return bad("")
	}
	return p, nil
}
