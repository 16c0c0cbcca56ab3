package blame

import (
	"bytes"
	"strings"
	"testing"
)

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
