package act

import (
	"net/http"
	"net/url"
	"strconv"

	"handrail/steps/cluster"
)

// StripRequest is the patch that removes the finalizer at index, and fails as a
// whole where the object is not the one that was read. version "" leaves the
// version untested.
func StripRequest(path, uid, version, finalizer string, index int) (Request, error) {
	at := "/metadata/finalizers/" + strconv.Itoa(index)
	ops := []Operation{{"test", "/metadata/uid", uid}}
	if version != "" {
		ops = append(ops, Operation{"test", "/metadata/resourceVersion", version})
	}
	ops = append(ops, Operation{"test", at, finalizer}, Operation{Op: "remove", Path: at})
	body, err := Compact(ops)
	return Request{
		Method: http.MethodPatch, Path: path, Media: "application/json-patch+json", Body: body,
		Query: url.Values{"fieldManager": {cluster.FieldManager}, "timeout": {ServerTime.String()}},
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

// DeleteRequest deletes one object, as long as its UID and version hold.
func DeleteRequest(path, uid, version string, dry ...string) (Request, error) {
	body, err := Compact(options{APIVersion: "v1", Kind: "DeleteOptions", DryRun: dry,
		Preconditions: preconditions{uid, version}, Propagation: "Background"})
	return Request{Method: http.MethodDelete, Path: path, Media: cluster.AsJSON, Body: body, Query: url.Values{"timeout": {ServerTime.String()}}}, err
}

// Operation is one step of a JSON patch.
type Operation struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value string `json:"value,omitempty"`
}
