package kube

import (
	"io"
	"slices"
	"time"

	"handrail/steps"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/value"
)

// writer is who a field belongs to by managedFields: the client that asked, by
// the name it gave itself. A lead, never a proof.
type writer struct {
	manager string
	at      time.Time // zero where it was not recorded
}

func (w writer) String() string {
	at := "time not recorded"
	if !w.at.IsZero() {
		at = w.at.UTC().Format(time.RFC3339)
	}
	return steps.Clip(w.manager, 128) + " (" + at + ")"
}

// setBy returns the managers that own one finalizer, newest first.
func setBy(o object, finalizer string) []writer {
	var out []writer
	for _, entry := range o.GetManagedFields() {
		if entry.FieldsV1 == nil || !ownsFinalizer(entry.FieldsV1.GetRawReader(), finalizer) {
			continue
		}
		w := writer{manager: entry.Manager}
		if entry.Time != nil {
			w.at = entry.Time.Time
		}
		out = append(out, w)
	}
	slices.SortStableFunc(out, func(a, b writer) int { return b.at.Compare(a.at) })
	return out
}

// ownsFinalizer reports whether a fieldsV1 set holds the list item.
func ownsFinalizer(fields io.Reader, finalizer string) bool {
	var set fieldpath.Set
	if err := set.FromJSON(fields); err != nil {
		return false
	}
	path, err := fieldpath.MakePath("metadata", "finalizers", value.NewValueInterface(finalizer))
	return err == nil && set.Has(path)
}

// writtenAt is when the server last saw one field of a spec written; zero where
// it does not say.
func writtenAt(o object, path ...any) time.Time {
	at, err := fieldpath.MakePath(path...)
	var last time.Time
	for _, entry := range o.GetManagedFields() {
		var set fieldpath.Set
		if err != nil || entry.FieldsV1 == nil || entry.Time == nil || set.FromJSON(entry.FieldsV1.GetRawReader()) != nil {
			continue
		}
		if set.Has(at) && entry.Time.After(last) {
			last = entry.Time.Time
		}
	}
	return last
}
