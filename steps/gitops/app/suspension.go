package app

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"handrail/steps"
)

// noter is the field manager that leaves a note with what it suspends.
const noter = "handrail"

// suspended is a suspension by the field at path, with who wrote it and when as
// managedFields say. Two writers of one field are told by the newer one.
func suspended(meta metav1.ObjectMeta, how string, path ...string) *Suspension {
	s := &Suspension{How: how}
	s.By, s.Since = writer(meta, path...)
	if s.By == noter { // else a note is one of an earlier pause
		s.Note, _ = steps.PauseNoteOf(meta.Annotations)
	}
	return s
}

// writer is who wrote the field at path last, and when, as managedFields say.
func writer(meta metav1.ObjectMeta, path ...string) (by string, since time.Time) {
	at := make(fieldpath.Path, 0, len(path))
	for _, name := range path {
		at = append(at, fieldpath.PathElement{FieldName: &name})
	}
	for _, e := range meta.ManagedFields {
		var set fieldpath.Set
		if e.FieldsV1 == nil || set.FromJSON(e.FieldsV1.GetRawReader()) != nil || !set.Has(at) {
			continue
		}
		var when time.Time
		if e.Time != nil {
			when = e.Time.Time
		}
		if by == "" || when.After(since) {
			by, since = e.Manager, when
		}
	}
	return by, since
}

// written is the newest write of an object beside its status, as managedFields say.
func written(meta metav1.ObjectMeta) time.Time {
	var at time.Time
	for _, e := range meta.ManagedFields {
		if e.Subresource == "" && e.Time != nil && e.Time.After(at) {
			at = e.Time.Time
		}
	}
	return at
}
