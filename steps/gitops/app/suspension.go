package app

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// suspended is a suspension by the field at path, with who wrote it and when as
// managedFields say. Two writers of one field are told by the newer one.
func suspended(meta metav1.ObjectMeta, how string, path ...string) *Suspension {
	s := &Suspension{How: how}
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
		if s.By == "" || when.After(s.Since) {
			s.By, s.Since = e.Manager, when
		}
	}
	return s
}
