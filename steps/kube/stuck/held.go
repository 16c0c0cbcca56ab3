package stuck

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"handrail/steps"
	"handrail/steps/cluster"
)

// stuck fills in the facts on what holds one namespace.
type stuck struct {
	*cluster.Client
	name   string
	o      cluster.Object
	absent bool
	facts  steps.Facts
	obs    steps.Observation
	out    steps.Sink

	left    leftovers
	apis    []deadAPI
	apisWhy string // why nobody can tell which are dead
	hooks   []refusal
}

func (s *stuck) say(level steps.Level, format string, args ...any) {
	s.obs.Findings = append(s.obs.Findings, steps.Finding{Level: level, Say: fmt.Sprintf(format, args...)})
}

// own names the finalizers of the namespace itself; kubernetes is that of the
// namespace controller, and the only one that should be there.
func (s *stuck) own() []string {
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
