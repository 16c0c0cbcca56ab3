package stuck

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"handrail/steps"
	"handrail/steps/cluster"
)

// blocker says what holds a deletion; why is for one that is not known.
func blocker(t cluster.Target, o cluster.Object) (is, why string) {
	switch {
	case o.GetDeletionTimestamp() == nil:
		return "none", ""
	case t.Group == "" && t.Kind == "Namespace":
		return namespaceBlocker(o)
	case len(o.GetFinalizers()) > 0:
		return "finalizer", ""
	}
	return "none", ""
}

// namespaceBlocker reads what the namespace controller says of a namespace that
// it empties. The order is that of the causes: a dead API stops it before it
// deletes anything.
func namespaceBlocker(o cluster.Object) (is, why string) {
	said := Conditions(o)
	if len(said) == 0 {
		return "", "the namespace controller has not said yet what is left; read again in a few seconds"
	}
	on := func(name string) bool { return said[name].Status == "True" }
	failed := said["NamespaceDeletionContentFailure"].message
	switch {
	case on("NamespaceDeletionDiscoveryFailure"), on("NamespaceDeletionGroupVersionParsingFailure"):
		return "discovery", ""
	case on("NamespaceDeletionContentFailure") && (strings.Contains(failed, "webhook") || strings.Contains(failed, "denied")):
		return "webhook", ""
	case on("NamespaceFinalizersRemaining"), len(o.GetFinalizers()) > 0:
		return "finalizer", ""
	case on("NamespaceDeletionContentFailure"), on("NamespaceContentRemaining"):
		return "content", ""
	}
	return "none", ""
}

// Condition is one entry of status.conditions.
type Condition struct{ Status, reason, message string }

// Conditions are those of an object, by their type.
func Conditions(o cluster.Object) map[string]Condition {
	out := map[string]Condition{}
	list, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
	for _, item := range list {
		m, _ := item.(map[string]any)
		text := func(key string) string { s, _ := m[key].(string); return s }
		out[text("type")] = Condition{text("status"), text("reason"), text("message")}
	}
	return out
}

// namespaceSays turns the conditions that are true into findings.
func namespaceSays(o cluster.Object) []steps.Finding {
	var out []steps.Finding
	said := Conditions(o)
	for _, name := range slices.Sorted(maps.Keys(said)) {
		if c := said[name]; c.Status == "True" {
			out = append(out, steps.Findingf(steps.Warning, "The namespace controller says %s: %s.", name, steps.Clip(c.message, 500)))
		}
	}
	return out
}

// deadAPIs lists the API services that the server cannot reach: one of them
// stops the deletion of every namespace.
func deadAPIs(ctx context.Context, c *cluster.Client) ([]steps.Finding, error) {
	var out []steps.Finding
	err := c.List(ctx, "/apis/apiregistration.k8s.io/v1/apiservices", cluster.AsJSON, nil, func(o cluster.Object) {
		if a := Conditions(o)["Available"]; a.Status == "False" {
			out = append(out, steps.Finding{Level: steps.Warning, Say: fmt.Sprintf(
				"API service %s is not available (%s: %s): no namespace can be deleted until it is repaired.", steps.Clip(o.GetName(), 253), steps.Clip(a.reason, 100), steps.Clip(a.message, 300))})
		}
	})
	slices.SortFunc(out, func(a, b steps.Finding) int { return strings.Compare(a.Say, b.Say) })
	return out, err
}
