package kube

import (
	"testing"
	"time"

	"handrail/steps"
)

// TestWorkloadLimits reads what ends a wait from the objects: a rollout that may hang for an hour, and
// a Job and a container without any limit.
func TestWorkloadLimits(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	web := deployment("web", nil)
	spec := web["spec"].(map[string]any)
	spec["progressDeadlineSeconds"], spec["replicas"] = 3600, 0
	s.born("apps", "deployments", web)
	limited := map[string]any{"metadata": map[string]any{"name": "limited"}, "spec": map[string]any{"suspend": true, "activeDeadlineSeconds": 120, "template": map[string]any{"spec": map[string]any{
		"restartPolicy": "Never", "containers": []any{map[string]any{"name": "a", "image": "b", "readinessProbe": map[string]any{"exec": map[string]any{"command": []any{"true"}}}}}}}}}
	s.born("batch", "jobs", limited)
	s.make(thingMade{resource: "jobs", name: "endless"})
	for _, want := range []struct {
		resource, name     string
		progress, deadline time.Duration
		bare               int
	}{{"deployment", "web", time.Hour, 0, 2}, {"job", "limited", 0, 2 * time.Minute, 0}, {"job", "endless", 0, 0, 1}} {
		obs, err := readsProbe(t.Context(), s.env, "kube/workload", steps.Params{"resource": steps.StringOf(want.resource), "name": steps.StringOf(want.name), "namespace": steps.StringOf(s.ns.Name)}, newReadsSink())
		if err != nil {
			t.Fatal(err)
		}
		f := obs.Facts
		if f["progress_deadline"].Duration() != want.progress || f["deadline"].Duration() != want.deadline || len(f["unprobed"].Strings()) != want.bare || !f["unprobed"].Known() {
			t.Errorf("%s/%s: %v, %v, %v", want.resource, want.name, f["progress_deadline"], f["deadline"], f["unprobed"])
		}
	}
}
