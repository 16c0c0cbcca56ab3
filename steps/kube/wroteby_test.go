package kube

import (
	"bytes"
	"strings"
	"testing"
)

// FuzzFinalizer: no key of the table is known by more than it says.
func FuzzFinalizer(f *testing.F) {
	for _, k := range knownFinalizers() {
		f.Add(k.key)
	}
	f.Fuzz(func(t *testing.T, key string) {
		k, ok := knownFinalizer(key)
		if ok && key != k.key && (!k.prefix || !strings.HasPrefix(key, k.key)) {
			t.Errorf("knownFinalizer(%q) = %+v", key, k)
		}
	})
}

// FuzzManagedFields: no set of fields of a stranger breaks the reader.
func FuzzManagedFields(f *testing.F) {
	f.Add([]byte(`{"f:metadata":{"f:finalizers":{".":{},"v:\"example.com/x\"":{}}}}`), "example.com/x")
	f.Add([]byte(`{"f:metadata":{"f:finalizers":{"v:{":{}}}}`), "x")
	f.Add([]byte(`{"k:{}":{}}`), "x")
	f.Add([]byte(`[`), "")
	f.Fuzz(func(t *testing.T, raw []byte, key string) {
		if ownsFinalizer(bytes.NewReader(raw), key) && !strings.Contains(string(raw), "finalizers") && !strings.Contains(string(raw), `\`) {
			t.Errorf("ownsFinalizer(%q, %q)", raw, key)
		}
	})
}
