package manifests

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"
)

func record(t testing.TB, raw string, packed bool) string {
	t.Helper()
	if packed {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		if _, err := z.Write([]byte(raw)); err != nil {
			t.Fatal(err)
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		raw = b.String()
	}
	code := base64.StdEncoding.EncodeToString
	return code([]byte(code([]byte(raw))))
}

// TestManifest takes the objects out of a record of Helm, and says nothing of what else is in it.
func TestManifest(t *testing.T) {
	t.Parallel()
	good, err := json.Marshal(map[string]any{"manifest": "---\n# Source: x\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: b}\n", "config": map[string]any{"password": "hunter2"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, packed := range []bool{true, false} {
		if o, err := manifest(record(t, string(good), packed)); err != nil || len(o) != 2 || o[1]["kind"] != "ConfigMap" {
			t.Errorf("%v, %v", o, err)
		}
	}
	if o, err := manifest(record(t, `{"manifest":""}`, true)); err != nil || len(o) != 0 {
		t.Errorf("of nothing: %v, %v", o, err)
	}
	bomb := `{"manifest":"` + strings.Repeat("a", mostRelease) + `"}`
	for name, text := range map[string]string{"empty": "", "no base64": "!", "once": base64.StdEncoding.EncodeToString(good), "no JSON": record(t, "hunter2", true), "no manifest": record(t, `{"config":{"password":"hunter2"}}`, true),
		"no YAML": record(t, `{"manifest":"a: [hunter2"}`, true), "cut off": record(t, string(good), true)[:40], "a bomb": record(t, bomb, true)} {
		if o, err := manifest(text); err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v, %v", name, o, err)
		}
	}
}

// FuzzManifest: no record makes the reader fall.
func FuzzManifest(f *testing.F) {
	f.Add(record(f, `{"manifest":"a: b"}`, true))
	f.Add("")
	f.Fuzz(func(t *testing.T, text string) { _, _ = manifest(text) })
}
