package blame

import (
	"io"
	"slices"
	"time"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/value"

	"handrail/steps"
	"handrail/steps/cluster"
)

// Writer is who a field belongs to by managedFields: the client that asked, by
// the name it gave itself. A lead, never a proof.
type Writer struct {
	Manager string
	At      time.Time // zero where it was not recorded
}

func (w Writer) String() string {
	at := "time not recorded"
	if !w.At.IsZero() {
		at = w.At.UTC().Format(time.RFC3339)
	}
	return steps.Clip(w.Manager, 128) + " (" + at + ")"
}

// SetBy returns the managers that own one finalizer, newest first.
func SetBy(o cluster.Object, finalizer string) []Writer {
	var out []Writer
	for _, entry := range o.GetManagedFields() {
		if entry.FieldsV1 == nil || !ownsFinalizer(entry.FieldsV1.GetRawReader(), finalizer) {
			continue
		}
		w := Writer{Manager: entry.Manager}
		if entry.Time != nil {
			w.At = entry.Time.Time
		}
		out = append(out, w)
	}
	slices.SortStableFunc(out, func(a, b Writer) int { return b.At.Compare(a.At) })
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

// WrittenAt is when the server last saw one field of a spec written; zero where
// it does not say.
func WrittenAt(o cluster.Object, path ...any) time.Time {
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
