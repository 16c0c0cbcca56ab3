package alike

import (
	"context"
	"strings"

	"handrail/steps/cluster"
	"handrail/steps/kube/owner"
)

// isOrphan says whether o is held by a finalizer and unmanaged. A
// negative needs one sign of a manager, the positive that each place was read.
func isOrphan(o cluster.Object, m owner.Markers, w *owner.Ownership) (orphan bool, why string, known bool) {
	by, managed := m.Managed()
	switch {
	case len(o.GetFinalizers()) == 0:
		return false, "it has no finalizer", true
	case managed:
		return false, by, true
	case m.Release != "":
		return false, "it belongs to the Helm release " + m.Release, true
	case w.Confirmed:
		return false, "it is owned by " + w.Owners[0].Name, true
	case len(w.Doubts) > 0:
		return false, strings.Join(w.Doubts, "; "), false
	}
	return true, "", true
}

// Orphan says whether an object is held by a finalizer and unmanaged, and why it is
// not, or why that is not known.
func Orphan(ctx context.Context, c *cluster.Client, t cluster.Target, o cluster.Object) (orphan bool, why string, known bool, err error) {
	w, err := owner.Resolve(ctx, c, t, o)
	if err != nil {
		return false, "", false, err
	}
	orphan, why, known = isOrphan(o, owner.MarkersOf(o), w)
	return orphan, why, known, nil
}
