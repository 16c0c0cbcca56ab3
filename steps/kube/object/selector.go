package object

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"handrail/steps/cluster"
)

// SelectorOf is spec.selector as text, "" where there is none that can be read.
func SelectorOf(o cluster.Object) string {
	raw, there, err := unstructured.NestedMap(o.Object, "spec", "selector")
	if err != nil || !there {
		return ""
	}
	var sel metav1.LabelSelector
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(raw, &sel); err != nil {
		return ""
	}
	s, err := metav1.LabelSelectorAsSelector(&sel)
	if err != nil {
		return ""
	}
	return s.String()
}
