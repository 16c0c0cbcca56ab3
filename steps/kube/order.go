package kube

import (
	"fmt"
	"slices"
	"strings"

	"handrail/steps"
	"handrail/steps/kube/patch"
)

// The grammars of what Act takes from an approval. None of them lets a token of
// the redactor through.
const (
	pathText  = `/(api/[a-z0-9]+|apis/[a-z0-9.-]+/[a-z0-9]+)(/namespaces/` + namespaceName + `)?/[a-z0-9.-]+/` + objectName
	stampText = `none|[0-9TZ:-]{20}`
)

// order is what was approved, read back from the preview. Act and Find know
// nothing else of the target.
type order struct {
	server     string
	object     string
	path       string
	uid        string
	version    string // of the re-read
	finalizers []string
	finalizer  string // to remove; empty for a delete
	deletion   string
	ops        []patch.Op // of a patch; nil for others
	removed    []patch.Op // items that it takes out of lists
	rest       string     // what of the object may not move between reading and act; "" where its version may not
	kvs        []steps.KV // all that was shown
}

// orderOf reads what a preview identified and showed. A value that is not of its
// grammar, or was redacted, is refused.
func orderOf(kvs []steps.KV) (order, error) {
	at := func(key string) string { return steps.Find(kvs, key) }
	o := order{server: at(keyServer), object: at(keyObject), path: at(keyPath), uid: at(keyUID), version: at(keyVersion),
		finalizer: at(keyFinalizer), deletion: at(keyDeletion), rest: at(keyRest), kvs: kvs}
	var err error
	if o.ops, err = opsOf(kvs, keyPatch); err != nil {
		return order{}, err
	}
	if o.removed, err = opsOf(kvs, keyRemoved); err != nil {
		return order{}, err
	}
	if list := at(keyFinalizers); list != nothing {
		o.finalizers = strings.Split(list, ", ")
	}
	for _, check := range []struct{ key, text, grammar string }{
		{keyPath, o.path, pathText}, {keyUID, o.uid, uidText}, {keyVersion, o.version, versionText}, {keyDeletion, o.deletion, stampText},
	} {
		if !matches(check.grammar, check.text) {
			return order{}, fmt.Errorf("%s is %q, which is none or was redacted", check.key, steps.Clip(check.text, 200))
		}
	}
	for _, f := range append(slices.Clone(o.finalizers), o.finalizer) {
		if f != "" && !matches(finalizerName, f) {
			return order{}, fmt.Errorf("the finalizer %q is none or was redacted", steps.Clip(f, 200))
		}
	}
	return o, nil
}

// strip is the request of a strip, once as it is sent and once as it was shown.
func (o order) strip() (sent, shown request, err error) {
	index := slices.Index(o.finalizers, o.finalizer)
	if o.finalizer == "" || index < 0 {
		return sent, shown, fmt.Errorf("%q is none of the finalizers %q", o.finalizer, o.finalizers)
	}
	if sent, err = stripRequest(o.path, o.uid, o.version, o.finalizer, index); err != nil {
		return sent, shown, err
	}
	shown, err = stripRequest(o.path, o.uid, later, o.finalizer, index)
	return sent, shown, err
}

// delete is the request of a delete, in the same two forms.
func (o order) delete() (sent, shown request, err error) {
	if sent, err = deleteRequest(o.path, o.uid, o.version); err != nil {
		return sent, shown, err
	}
	shown, err = deleteRequest(o.path, o.uid, later)
	return sent, shown, err
}
