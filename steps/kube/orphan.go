package kube

import "strings"

// isOrphan says whether o is held by a finalizer and managed by nobody. A
// negative needs one sign of a manager, the positive that each place was read.
func isOrphan(o object, m markers, w *ownership) (orphan bool, why string, known bool) {
	by, managed := m.managed()
	switch {
	case len(o.GetFinalizers()) == 0:
		return false, "it has no finalizer", true
	case managed:
		return false, by, true
	case m.release != "":
		return false, "it belongs to the Helm release " + m.release, true
	case w.confirmed:
		return false, "it is owned by " + w.owners[0].Name, true
	case len(w.doubts) > 0:
		return false, strings.Join(w.doubts, "; "), false
	}
	return true, "", true
}
