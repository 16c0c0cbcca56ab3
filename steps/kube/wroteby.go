package kube

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"time"

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
	return clip(w.manager, 128) + " (" + at + ")"
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

// suspects looks at the workloads that bear the name of the manager that wrote
// an unknown finalizer: one that is not proven dead forbids to call the keeper
// dead, and nothing more follows from it.
func (c *client) suspects(ctx context.Context, t target, o object, finalizer, controller string) ([]sight, error) {
	namespace := t.namespace
	if p, err := parsePlace(controller, t.namespace); err == nil {
		namespace = p.namespace
	}
	if namespace == "" {
		return nil, nil
	}
	var out []sight
	for _, w := range setBy(o, finalizer) {
		for _, r := range workloads() {
			err := c.sweep(ctx, r.path(namespace, ""), asJSON, nil, func(found object) {
				if labels := found.GetLabels(); found.GetName() != w.manager && labels[labelApp] != w.manager && labels["app"] != w.manager {
					return
				}
				found.SetKind(r.kind)
				name := r.label(found.GetNamespace(), found.GetName())
				if s := ready(name, found); s.alive != dead {
					out = append(out, sight{unknown, fmt.Sprintf("the finalizer was written by %q, and %s of that name is not proven gone", clip(w.manager, 128), name)})
				}
			})
			if ctx.Err() != nil {
				return nil, fmt.Errorf("looking for %q: %w", cmp.Or(w.manager, finalizer), ctx.Err())
			}
			if err != nil {
				continue // a lead that cannot be followed
			}
		}
	}
	return out, nil
}
