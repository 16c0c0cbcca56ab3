package kube

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"handrail/steps"
)

const signalsHead = "apiVersion: handrail/v1\nkind: Signals\nreconciler: node-shell\nsignals:\n"

// signalsOf runs the probe over a file.
func (w *keepersWorld) signalsOf(env steps.Env, text string) (steps.Observation, *readsSink, error) {
	w.t.Helper()
	env.Dir = w.t.TempDir()
	if err := os.WriteFile(filepath.Join(env.Dir, "signals.yaml"), []byte(text), 0o600); err != nil {
		w.t.Fatal(err)
	}
	sink := newReadsSink()
	obs, err := readsProbe(w.t.Context(), env, "kube/signals", steps.Params{"file": steps.PathOf("signals.yaml")}, sink)
	return obs, sink, err
}

// TestSignals reads the conditions of a reconciler from real objects.
func TestSignals(t *testing.T) {
	t.Parallel()
	w := newKeepersWorld(t)
	w.config("baseline", "kubectl-edit")
	w.web("web", "kubectl-create")
	w.create(w.in("", "secrets", "")+asMan+"syncer", fields{"metadata": fields{"name": "key"}, "stringData": fields{"password": "hunter2hunter2"}})
	must := func(text string) (steps.Observation, *readsSink) {
		t.Helper()
		obs, sink, err := w.signalsOf(w.env, signalsHead+text)
		if err != nil {
			t.Fatal(err)
		}
		return obs, sink
	}
	const good = `
- {name: host, object: configmap/baseline, field: data.host, want: right}
- {name: scaled, object: deployment.apps/web, field: spec.replicas, want: 0}
- {name: no-hold, object: configmap/baseline, field: 'metadata.annotations[example.com/hold]', present: false}
- {name: no-flag, object: configmap/flag, present: false}
- {name: key, object: secret/key, field: data.password, present: true}
`
	obs, sink := must(good)
	wantFact(t, obs, "all", "true")
	wantFact(t, obs, "bad", "[]")
	wantFact(t, obs, "unread", "[]")
	if !strings.Contains(obs.Summary, "node-shell may go: all 5") {
		t.Errorf("summary = %q", obs.Summary)
	}
	if text := sink.text("signals"); !strings.Contains(text, "AND") || !strings.Contains(text, "kubectl-edit (update, 20") || strings.Contains(text, "hunter2") {
		t.Errorf("table = %q", text)
	}

	obs, sink = must(good + `
- {name: wrong, object: configmap/baseline, field: data.host, want: other, why: The migration writes it.}
- {name: gone, object: configmap/gone, field: data.x, want: x}
`)
	wantFact(t, obs, "all", "false")
	wantFact(t, obs, "bad", `["wrong" "gone"]`)
	wantFinding(t, obs, `it is "right" and is wanted "other"; last written by kubectl-edit`)
	wantFinding(t, obs, "The migration writes it.")
	if got := obs.Facts["signals"].Table()["gone"]; !strings.HasPrefix(got, "does not hold: it is not there with its object") {
		t.Errorf("gone: %q", got)
	}
	if text := sink.text("signals"); !strings.Contains(text, "no") {
		t.Errorf("table = %q", text)
	}

	for _, line := range []string{
		"{name: x, object: secret/key, field: data.password, want: hunter2hunter2}",
		"{name: x, object: secret/key, field: data.nobody, present: true}",
		"{name: x, object: nosuchkind/key, field: data.a, want: b}",
		"{name: x, object: configmap/baseline, field: data, want: b}",
		"{name: x, object: deployment/web, field: spec.template.spec.containers.image, want: b}",
		"{name: x, object: configmap/default/kube-root-ca.crt, field: data, present: true}",
		"{name: x, object: node/shop/n, present: true}",
	} {
		obs, _ = must(good + "- " + line + "\n")
		wantFact(t, obs, "all", "?x: ")
		wantFact(t, obs, "bad", "?x: ")
		wantLine(t, obs, "unread", "x: ")
	}
	if _, _, err := w.signalsOf(w.env, "kind: Signals"); err == nil {
		t.Error("a file without signals gave an observation")
	}
	if _, err := readsProbe(t.Context(), w.env, "kube/signals", steps.Params{"file": steps.PathOf("/dev/null")}, newReadsSink()); err == nil {
		t.Error("a device was read")
	}
}
