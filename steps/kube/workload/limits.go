package workload

import (
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"handrail/steps"
)

// limits says what ends a wait: the deadlines that the object has, and the readiness that it asks for.
func (r *workloadRun) limits() {
	seconds := func(path ...string) steps.Value {
		n, _, err := unstructured.NestedInt64(r.o.Object, path...)
		if err != nil {
			return steps.Unknown(steps.Duration, "it is not a number of seconds")
		}
		return steps.DurationOf(time.Duration(n) * time.Second)
	}
	r.facts.Set("progress_deadline", seconds("spec", "progressDeadlineSeconds"))
	r.facts.Set("deadline", seconds("spec", "activeDeadlineSeconds"))
	at := []string{"spec", "template", "spec", "containers"}
	if r.t.Kind == "Pod" {
		at = []string{"spec", "containers"}
	}
	list, _, err := unstructured.NestedSlice(r.o.Object, at...)
	if err != nil {
		r.facts.Unknown("its containers cannot be read", "unprobed")
		return
	}
	bare := []string{}
	for _, item := range list {
		c, _ := item.(map[string]any)
		if _, has := c["readinessProbe"]; !has {
			name, _ := c["name"].(string)
			bare = append(bare, steps.Clip(name, 100))
		}
	}
	r.facts.Set("unprobed", steps.StringsOf(bare))
}
