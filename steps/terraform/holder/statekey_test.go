package holder

import (
	"testing"

	"handrail/steps/terraform/module"
)

// TestStateKey: two root modules are of one state by where it lies, not by how
// each of them gets there.
func TestStateKey(t *testing.T) {
	t.Parallel()
	type config = map[string]any
	for _, tc := range []struct {
		name, backend string
		a, b          config
		same          bool
	}{
		{"another profile", "s3", config{"bucket": "b", "key": "k", "profile": "me"}, config{"bucket": "b", "key": "k", "assume_role": "r", "dynamodb_table": "t"}, true},
		{"another key", "s3", config{"bucket": "b", "key": "k"}, config{"bucket": "b", "key": "k2"}, false},
		{"the server of one is in its environment", "s3", config{"bucket": "b", "key": "k", "endpoints": config{"s3": "http://s"}}, config{"bucket": "b", "key": "k", "endpoints": nil}, true},
		{"another server", "s3", config{"bucket": "b", "key": "k", "endpoint": "http://s"}, config{"bucket": "b", "key": "k", "endpoint": "http://r"}, false},
		{"another namespace", "kubernetes", config{"secret_suffix": "s", "namespace": "a"}, config{"secret_suffix": "s", "namespace": "b"}, false},
		{"the namespace of one is in its environment", "kubernetes", config{"secret_suffix": "s", "namespace": "a"}, config{"secret_suffix": "s", "config_path": "x"}, true},
		{"another prefix", "gcs", config{"bucket": "b", "prefix": "p"}, config{"bucket": "b"}, false},
		{"another backend with unknown settings", "oss", config{"bucket": "b"}, config{"bucket": "c"}, false},
	} {
		a := keyOf(module.Workdir{Backend: tc.backend, Config: tc.a})
		b := keyOf(module.Workdir{Backend: tc.backend, Config: tc.b})
		if a.same(b) != tc.same || b.same(a) != tc.same || !a.same(a) {
			t.Errorf("%s: %v and %v are one state: %v, want %v", tc.name, a, b, a.same(b), tc.same)
		}
	}
	if (stateKey{}).same(stateKey{}) {
		t.Error("two states that nobody could read are one")
	}
}
