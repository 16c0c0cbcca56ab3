package blame

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"handrail/steps/cluster"
)

// TestSignalFaults: a fault is mended only where every signal of it holds.
func TestSignalFaults(t *testing.T) {
	t.Parallel()
	one := func(fault string, known, holds bool) signalTraits {
		return signalTraits{signal: signal{fault: fault}, known: known, holds: holds}
	}
	got := signalFaults([]signalTraits{one("quota", true, true), one("rbac", true, true), one("rbac", true, false), one("lock", false, false), one("lock", true, true),
		one("schema", true, false), one("schema", false, false), one("", true, false)})
	want := map[string][]string{"faults": {"rbac", "schema"}, "mended": {"quota"}, "unsure": {"lock"}}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestParseSignals(t *testing.T) {
	t.Parallel()
	const ok = "- {name: a, object: configmap/b, field: data.c, want: d}\n"
	if f, err := parseSignals([]byte(signalsHead + ok)); err != nil || len(f.signals) != 1 || f.reconciler != "node-shell" {
		t.Fatalf("parseSignals() = %+v, %v", f, err)
	}
	for name, text := range map[string]string{
		"empty":           "",
		"a list":          "- a\n",
		"no list":         "apiVersion: handrail/v1\nkind: Signals\n",
		"another kind":    strings.Replace(signalsHead, "Signals", "Policy", 1) + ok,
		"another version": strings.Replace(signalsHead, "v1", "v2", 1) + ok,
		"two documents":   signalsHead + ok + "---\n" + signalsHead + ok,
		"unknown key":     signalsHead + "- {name: a, object: configmap/b, field: data.c, want: d, wnat: e}\n",
		"key twice":       signalsHead + "- {name: a, name: b, object: configmap/b, field: data.c, want: d}\n",
		"name twice":      signalsHead + ok + ok,
		"anchor":          signalsHead + "- &x {name: a, object: configmap/b, field: data.c, want: d}\n",
		"alias":           signalsHead + "- {name: &n a, object: configmap/b, field: *n, want: d}\n",
		"tag":             signalsHead + "- {name: a, object: configmap/b, field: data.c, want: !!str d}\n",
		"both":            signalsHead + "- {name: a, object: configmap/b, field: data.c, want: d, present: true}\n",
		"neither":         signalsHead + "- {name: a, object: configmap/b, field: data.c}\n",
		"value of all":    signalsHead + "- {name: a, object: configmap/b, want: d}\n",
		"no object":       signalsHead + "- {name: a, field: data.c, want: d}\n",
		"bad object":      signalsHead + "- {name: a, object: configmap, field: data.c, want: d}\n",
		"path in object":  signalsHead + "- {name: a, object: configmap/../b, field: data.c, want: d}\n",
		"bad field":       signalsHead + "- {name: a, object: configmap/b, field: data..c, want: d}\n",
		"bad fault":       signalsHead + "- {name: a, object: configmap/b, field: data.c, want: d, fault: No room}\n",
		"list as value":   signalsHead + "- {name: a, object: configmap/b, field: data.c, want: [d]}\n",
		"present maybe":   signalsHead + "- {name: a, object: configmap/b, field: data.c, present: maybe}\n",
	} {
		if f, err := parseSignals([]byte(text)); err == nil {
			t.Errorf("%s: parseSignals() = %+v, want an error", name, f)
		}
	}
}

func FuzzParseSignals(f *testing.F) {
	f.Add([]byte(signalsHead + "- {name: a, object: configmap/b, field: data.c, want: d}\n"))
	f.Add([]byte(signalsHead + "- name: a\n  object: deployment.apps/b/c\n  present: false\n  why: x\n"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		file, err := parseSignals(raw)
		if err != nil {
			return
		}
		for _, s := range file.signals {
			if s.name == "" || s.resource == "" || !cluster.Plain(s.id) || (s.want == nil) == (s.present == nil) {
				t.Fatalf("%q was read as %+v", raw, s)
			}
			_ = s.wants()
		}
	})
}

const signalsHead = "apiVersion: handrail/v1\nkind: Signals\nreconciler: node-shell\nsignals:\n"
