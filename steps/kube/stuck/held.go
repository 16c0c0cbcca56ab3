package stuck

import (
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"handrail/steps"
	"handrail/steps/cluster"
)

// namespaceRun fills in the facts on what holds one namespace.
type namespaceRun struct {
	*cluster.Client
	name   string
	o      cluster.Object
	absent bool
	facts  steps.Facts
	obs    steps.Observation
	out    steps.Sink

	left    leftovers
	apis    []deadAPI
	apisWhy string // why it is not known which are dead
	hooks   []refusal
}

// own names the finalizers of the namespace itself; kubernetes is that of the
// namespace controller, and the only one that should be there.
func (s *namespaceRun) own() []string {
	if s.absent {
		return nil
	}
	out := slices.Clone(s.o.GetFinalizers())
	spec, _, _ := unstructured.NestedStringSlice(s.o.Object, "spec", "finalizers")
	for _, f := range spec {
		if f != "kubernetes" && !slices.Contains(out, f) {
			out = append(out, f)
		}
	}
	return out
}
