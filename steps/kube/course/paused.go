package course

import (
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"handrail/steps/cluster"
)

// pausable reports whether an object is of a kind that kube/suspend-batch pauses, and whether it writes
// or runs now.
func pausable(t cluster.Target, o cluster.Object) (is, active bool) {
	switch {
	case t.Group == "batch" && (t.Kind == "CronJob" || t.Kind == "Job"), strings.HasSuffix(t.Group, ".toolkit.fluxcd.io"):
		off, _, _ := unstructured.NestedBool(o.Object, "spec", "suspend")
		return true, !off
	case t.Group == "argoproj.io" && t.Kind == "Application":
		policy, set, err := unstructured.NestedMap(o.Object, "spec", "syncPolicy", "automated")
		enabled, said := policy["enabled"].(bool)
		return true, err != nil || set && (!said || enabled)
	case t.Group == "external-secrets.io" && t.Kind == "ExternalSecret":
		policy, _, _ := unstructured.NestedString(o.Object, "spec", "target", "creationPolicy")
		return true, policy != "None"
	}
	return false, false
}

// running reports whether an object is a workload that kube/stop-batch stops, and has Pods to take away.
func running(t cluster.Target, o cluster.Object) bool {
	if t.Group != "apps" || t.Kind != "Deployment" && t.Kind != "StatefulSet" && t.Kind != "ReplicaSet" {
		return false
	}
	n, set, err := unstructured.NestedInt64(o.Object, "spec", "replicas")
	return err != nil || !set || n > 0
}
