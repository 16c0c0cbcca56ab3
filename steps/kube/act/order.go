package act

import (
	"fmt"
	"slices"
	"strings"

	"handrail/steps"
	"handrail/steps/cluster"
	"handrail/steps/kube/patch"
	"handrail/steps/kube/report"
)

// The grammars of what Act takes from an approval. None of them lets a token of
// the redactor through.
const (
	pathText  = `/(api/[a-z0-9]+|apis/[a-z0-9.-]+/[a-z0-9]+)(/namespaces/` + cluster.NamespaceName + `)?/[a-z0-9.-]+/` + cluster.ObjectName
	stampText = `none|[0-9TZ:-]{20}`
)

// Order is what was approved, read back from the preview. Act and Find know
// nothing else of the target.
type Order struct {
	server     string
	Object     string
	Path       string
	UID        string
	Version    string // of the re-read
	Finalizers []string
	Finalizer  string // to remove; empty for a delete
	Deletion   string
	Ops        []patch.Op // of a patch; nil for others
	Removed    []patch.Op // items that it takes out of lists
	rest       string     // what of the object may not move between reading and act; "" where its version may not
	KVs        []steps.KV // all that was shown
}

// orderOf reads what a preview identified and showed. A value that is not of its
// grammar, or was redacted, is refused.
func orderOf(kvs []steps.KV) (Order, error) {
	at := func(key string) string { return steps.Find(kvs, key) }
	o := Order{server: at(KeyServer), Object: at(KeyObject), Path: at(KeyPath), UID: at(KeyUID), Version: at(KeyVersion),
		Finalizer: at(KeyFinalizer), Deletion: at(KeyDeletion), rest: at(KeyRest), KVs: kvs}
	var err error
	if o.Ops, err = opsOf(kvs, KeyPatch); err != nil {
		return Order{}, err
	}
	if o.Removed, err = opsOf(kvs, KeyRemoved); err != nil {
		return Order{}, err
	}
	if list := at(KeyFinalizers); list != report.Nothing {
		o.Finalizers = strings.Split(list, ", ")
	}
	for _, check := range []struct{ key, text, grammar string }{
		{KeyPath, o.Path, pathText}, {KeyUID, o.UID, cluster.UIDText}, {KeyVersion, o.Version, cluster.VersionText}, {KeyDeletion, o.Deletion, stampText},
	} {
		if !cluster.Matches(check.grammar, check.text) {
			return Order{}, fmt.Errorf("%s is %q, which is invalid or was redacted", check.key, steps.Clip(check.text, 200))
		}
	}
	for _, f := range append(slices.Clone(o.Finalizers), o.Finalizer) {
		if f != "" && !cluster.Matches(cluster.FinalizerName, f) {
			return Order{}, fmt.Errorf("the finalizer %q is invalid or was redacted", steps.Clip(f, 200))
		}
	}
	return o, nil
}

// Strip is the request of a strip, once as it is sent and once as it was shown.
func (o Order) Strip() (sent, shown Request, err error) {
	index := slices.Index(o.Finalizers, o.Finalizer)
	if o.Finalizer == "" || index < 0 {
		return sent, shown, fmt.Errorf("%q is not one of the finalizers %q", o.Finalizer, o.Finalizers)
	}
	if sent, err = StripRequest(o.Path, o.UID, o.Version, o.Finalizer, index); err != nil {
		return sent, shown, err
	}
	shown, err = StripRequest(o.Path, o.UID, Later, o.Finalizer, index)
	return sent, shown, err
}

// Delete is the request of a delete, in the same two forms.
func (o Order) Delete() (sent, shown Request, err error) {
	if sent, err = DeleteRequest(o.Path, o.UID, o.Version); err != nil {
		return sent, shown, err
	}
	shown, err = DeleteRequest(o.Path, o.UID, Later)
	return sent, shown, err
}
