package centre

import (
	"cmp"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"handrail/steps"
	"handrail/steps/cluster"
	"handrail/steps/kube/owner"
	"handrail/steps/kube/report"
)

// keptBy names who keeps an object, by the marks of those that apply it, by its
// controller, or by the labels that teams use; "" where nothing says so. It is
// for a person to know whom to ask, and no proof.
func keptBy(o cluster.Object) string {
	if id, err := owner.ParseTracking(o.GetAnnotations()[owner.ArgoTracking]); err == nil {
		return owner.ArgoName(id.AppNamespace, id.App)
	}
	labels, annotations := o.GetLabels(), o.GetAnnotations()
	for _, of := range []struct{ group, word string }{{owner.FluxKustomize, "kustomization "}, {owner.FluxHelm, "helmrelease "}} {
		if name := labels[of.group+"/name"]; name != "" {
			return of.word + steps.Clip(cmp.Or(labels[of.group+"/namespace"], o.GetNamespace()), 63) + "/" + steps.Clip(name, 253)
		}
	}
	if release := annotations["meta.helm.sh/release-name"]; release != "" {
		return "helm release " + steps.Clip(release, 100)
	}
	for _, ref := range o.GetOwnerReferences() {
		if ref.Controller != nil && *ref.Controller {
			return strings.ToLower(ref.Kind) + " " + steps.Clip(ref.Name, 253)
		}
	}
	for _, key := range []string{"owner", "team", "app.kubernetes.io/part-of"} {
		if v := cmp.Or(annotations[key], labels[key]); v != "" {
			return steps.Clip(v, 100)
		}
	}
	return ""
}

// condition is one line of status.conditions.
type condition struct {
	status, reason, message string
	since                   time.Time
}

// conditionsOf reads status.conditions; a type that is not there has no status.
func conditionsOf(o cluster.Object) map[string]condition {
	list, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
	out := map[string]condition{}
	for _, item := range list {
		m, _ := item.(map[string]any)
		kind, _ := m["type"].(string)
		if kind == "" {
			continue
		}
		var c condition
		c.status, _ = m["status"].(string)
		c.reason, _ = m["reason"].(string)
		c.message, _ = m["message"].(string)
		c.since = timeIn(m, "lastTransitionTime")
		out[kind] = c
	}
	return out
}

// String is the reason and what it says.
func (c condition) String() string {
	switch {
	case c.message == "":
		return c.reason
	case c.reason == "":
		return c.message
	}
	return c.reason + ": " + c.message
}

// troubles is what the conditions of an object that ought to be gone say.
func troubles(o cluster.Object) string {
	list, _, _ := unstructured.NestedFieldNoCopy(o.Object, "status", "conditions")
	return report.Few(report.Troubles(list, true), 3)
}

func textIn(o cluster.Object, path ...string) string {
	s, _, _ := unstructured.NestedString(o.Object, path...)
	return s
}

func numberIn(o cluster.Object, path ...string) int64 {
	n, _, _ := unstructured.NestedInt64(o.Object, path...)
	return n
}

// timeIn reads a time; what is none is the zero time.
func timeIn(m map[string]any, path ...string) time.Time {
	s, _, _ := unstructured.NestedString(m, path...)
	at, err := time.Parse(time.RFC3339, s)
	if err != nil {
		return time.Time{}
	}
	return at
}
