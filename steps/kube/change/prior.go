package change

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"handrail/steps"
	"handrail/steps/kube/act"
)

// prior is the object in the form in which it can be made again: without what
// the server gives each object, and refuses to be given.
func (s *subject) prior() (*steps.Prior, error) {
	o := s.o.DeepCopy()
	for _, field := range []string{"uid", "resourceVersion", "generation", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "selfLink", "managedFields"} {
		unstructured.RemoveNestedField(o.Object, "metadata", field)
	}
	unstructured.RemoveNestedField(o.Object, "status")
	if s.deleted() {
		// Its owner was probably deleted before it: the garbage collector would take
		// the new object at once.
		o.SetOwnerReferences(nil)
	}
	switch {
	case s.t.Group == "batch" && s.t.Kind == "Job":
		unselect(o)
	case s.t.Group == "" && s.t.Kind == "Pod":
		unstructured.RemoveNestedField(o.Object, "spec", "ephemeralContainers")
	}
	raw, err := act.Compact(o.Object)
	if err != nil {
		return nil, fmt.Errorf("%s: its copy: %w", s.t, err)
	}
	return &steps.Prior{Media: steps.MediaKubernetes, Raw: raw, Back: s.c.Kubectl("", "create", "-f", "-")}, nil
}

// unselect takes out of a Job what the server made of its UID, unless the
// author chose it: with it no Job can be made.
func unselect(job *unstructured.Unstructured) {
	if manual, _, err := unstructured.NestedBool(job.Object, "spec", "manualSelector"); manual || err != nil {
		return
	}
	unstructured.RemoveNestedField(job.Object, "spec", "selector")
	for _, label := range []string{"controller-uid", "job-name", "batch.kubernetes.io/controller-uid", "batch.kubernetes.io/job-name"} {
		unstructured.RemoveNestedField(job.Object, "metadata", "labels", label)
		unstructured.RemoveNestedField(job.Object, "spec", "template", "metadata", "labels", label)
	}
}
