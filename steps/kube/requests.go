package kube

import (
	"net/http"
	"net/url"
	"strconv"
)

// stripRequest is the patch that removes the finalizer at index, and fails as a
// whole where the object is not the one that was read. version "" leaves the
// version untested.
func stripRequest(path, uid, version, finalizer string, index int) (request, error) {
	at := "/metadata/finalizers/" + strconv.Itoa(index)
	ops := []operation{{"test", "/metadata/uid", uid}}
	if version != "" {
		ops = append(ops, operation{"test", "/metadata/resourceVersion", version})
	}
	ops = append(ops, operation{"test", at, finalizer}, operation{Op: "remove", Path: at})
	body, err := compact(ops)
	return request{
		method: http.MethodPatch, path: path, media: "application/json-patch+json", body: body,
		query: url.Values{"fieldManager": {fieldManager}, "timeout": {serverTime.String()}},
	}, err
}

// options are the DeleteOptions of a gate. The propagation is written out: a
// Job that is deleted without one leaves its Pods behind.
type options struct {
	APIVersion    string        `json:"apiVersion"`
	Kind          string        `json:"kind"`
	DryRun        []string      `json:"dryRun,omitempty"`
	Preconditions preconditions `json:"preconditions"`
	Propagation   string        `json:"propagationPolicy"`
}

type preconditions struct {
	UID     string `json:"uid"`
	Version string `json:"resourceVersion,omitempty"`
}

func deleteRequest(path, uid, version string, dry ...string) (request, error) {
	body, err := compact(options{APIVersion: "v1", Kind: "DeleteOptions", DryRun: dry,
		Preconditions: preconditions{uid, version}, Propagation: "Background"})
	return request{method: http.MethodDelete, path: path, media: asJSON, body: body, query: url.Values{"timeout": {serverTime.String()}}}, err
}

// operation is one step of a JSON patch.
type operation struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value string `json:"value,omitempty"`
}
