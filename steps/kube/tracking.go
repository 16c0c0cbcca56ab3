package kube

import (
	"errors"
	"fmt"
	"strings"

	"handrail/steps"
)

// trackingID is the mark by which Argo CD knows an object as its own:
// <app>:<group>/<Kind>:<namespace>/<name>, with <appns>_ before the app where
// that lives outside Argo CD's own namespace.
type trackingID struct {
	appNamespace string // empty for Argo CD's own
	app          string
	group, kind  string
	namespace    string // empty for cluster-wide objects
	name         string
}

var errTracking = errors.New("not <app>:<group>/<Kind>:<namespace>/<name>")

func parseTracking(s string) (trackingID, error) {
	bad := func(why string) (trackingID, error) {
		return trackingID{}, fmt.Errorf("tracking id %q: %w: %s", steps.Clip(s, 200), errTracking, why)
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
	var id trackingID
	if id.group, id.kind, ok = strings.Cut(kind, "/"); !ok || id.kind == "" || strings.Contains(id.kind, "/") {
		return bad("no group and kind")
	}
	if id.namespace, id.name, ok = strings.Cut(object, "/"); !ok || id.name == "" || strings.Contains(id.name, "/") {
		return bad("no namespace and name")
	}
	// A namespace and an Application are DNS names: neither holds an underscore.
	if before, after, ok := strings.Cut(app, "_"); ok {
		id.appNamespace, id.app = before, after
		if before == "" || strings.Contains(after, "_") {
			return bad("no namespace and name of an application")
		}
	} else {
		id.app = app
	}
	if id.app == "" || strings.Contains(app, "/") {
		return bad("no application")
	}
	return id, nil
}

// String writes the mark as Argo CD does.
func (id trackingID) String() string {
	app := id.app
	if id.appNamespace != "" {
		app = id.appNamespace + "_" + app
	}
	return app + ":" + id.group + "/" + id.kind + ":" + id.namespace + "/" + id.name
}

// of reports whether the mark is about t: one that is not was copied with the
// manifest of another object, and Argo CD passes over it too. A cluster-wide
// object bears the namespace of its application.
func (id trackingID) of(t target) bool {
	return id.group == t.group && id.kind == t.kind && (id.namespace == t.namespace || t.namespace == "") && id.name == t.name
}

// inventoryID is how a Flux Kustomization lists an object in its inventory.
func inventoryID(t target) string {
	return t.namespace + "_" + strings.ReplaceAll(t.name, ":", "__") + "_" + t.group + "_" + t.kind
}
