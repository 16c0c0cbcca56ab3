package owner

import (
	"errors"
	"fmt"
	"strings"

	"handrail/steps"
	"handrail/steps/cluster"
)

// TrackingID is the mark by which Argo CD knows an object as its own:
// <app>:<group>/<Kind>:<namespace>/<name>, with <appns>_ before the app where
// that lives outside Argo CD's own namespace.
type TrackingID struct {
	AppNamespace string // empty for Argo CD's own
	App          string
	group, kind  string
	namespace    string // empty for cluster-wide objects
	name         string
}

var errTracking = errors.New("not <app>:<group>/<Kind>:<namespace>/<name>")

// ParseTracking reads the annotation by which Argo CD tracks an object.
func ParseTracking(s string) (TrackingID, error) {
	bad := func(why string) (TrackingID, error) {
		return TrackingID{}, fmt.Errorf("tracking id %q: %w: %s", steps.Clip(s, 200), errTracking, why)
	}
	// Names of objects may hold colons (RBAC), so the first two count.
	app, rest, ok := strings.Cut(s, ":")
	if !ok {
		return bad("no colon")
	}
	kind, object, ok := strings.Cut(rest, ":")
	if !ok {
		return bad("one colon")
	}
	var id TrackingID
	if id.group, id.kind, ok = strings.Cut(kind, "/"); !ok || id.kind == "" || strings.Contains(id.kind, "/") {
		return bad("no group and kind")
	}
	if id.namespace, id.name, ok = strings.Cut(object, "/"); !ok || id.name == "" || strings.Contains(id.name, "/") {
		return bad("no namespace and name")
	}
	// A namespace and an Application are DNS names: neither holds an underscore.
	if before, after, ok := strings.Cut(app, "_"); ok {
		id.AppNamespace, id.App = before, after
		if before == "" || strings.Contains(after, "_") {
			return bad("no namespace and name of an application")
		}
	} else {
		id.App = app
	}
	if id.App == "" || strings.Contains(app, "/") {
		return bad("no application")
	}
	return id, nil
}

// String writes the mark as Argo CD does.
func (id TrackingID) String() string {
	app := id.App
	if id.AppNamespace != "" {
		app = id.AppNamespace + "_" + app
	}
	return app + ":" + id.group + "/" + id.kind + ":" + id.namespace + "/" + id.name
}

// Of reports whether the mark is about t: one that is not was copied with the
// manifest of another object, and Argo CD passes over it too. A cluster-wide
// object bears the namespace of its application.
func (id TrackingID) Of(t cluster.Target) bool {
	return id.group == t.Group && id.kind == t.Kind && (id.namespace == t.Namespace || t.Namespace == "") && id.name == t.Name
}

// inventoryID is how a Flux Kustomization lists an object in its inventory.
func inventoryID(t cluster.Target) string {
	return t.Namespace + "_" + strings.ReplaceAll(t.Name, ":", "__") + "_" + t.Group + "_" + t.Kind
}
