package kube

import (
	"errors"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"handrail/evidence"
	"handrail/steps"
	"handrail/steps/cluster"
	"handrail/steps/kube/object"
	"handrail/steps/kube/report"
)

type m = map[string]any

func configMap(name string, meta m) m {
	if meta == nil {
		meta = m{}
	}
	meta["name"] = name
	return m{"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta, "data": m{"a": "1"}}
}

func TestGet(t *testing.T) {
	t.Parallel()
	w := newReadsWorld(t)
	base := "/api/v1/namespaces/" + w.ns.Name
	made := w.robot(http.MethodPost, base+"/configmaps", configMap("held", m{
		"finalizers":  []string{"example.com/b", "example.com/a"},
		"labels":      m{"app": "web"},
		"annotations": m{object.LastApplied: "{}", "note": strings.Repeat("x", 1000)},
	}))
	uid := made["metadata"].(m)["uid"].(string)
	before, sink := w.probe("kube/get", what("resource", "cm", "name", "held"))
	f := before.Facts
	if !f["exists"].Bool() || f["uid"].Text() != uid || f["resource"].Text() != "configmaps" || f["kind"].Text() != "ConfigMap" ||
		f["namespace"].Text() != w.ns.Name || f["terminating"].Bool() || f["terminating_for"].Duration() != 0 || f["generation"].Int() != 0 {
		t.Errorf("facts = %v", f)
	}
	if got := f["finalizers"].Strings(); !slices.Equal(got, []string{"example.com/b", "example.com/a"}) {
		t.Errorf("finalizers = %q, want them in the order of the object", got)
	}
	notes := f["annotations"].Table()
	if _, ok := notes[object.LastApplied]; ok || len(notes["note"]) > report.LongestValue+3 {
		t.Errorf("annotations = %v, want no copy of kubectl and short values", notes)
	}
	if age := f["age"]; !age.Known() || age.Duration() < 0 || age.Duration() > time.Hour {
		t.Errorf("age = %v %s", age.Text(), age.Why())
	}
	if !f["last_writer"].Known() || !f["last_written"].Known() || len(f["content"].Text()) != 64 {
		t.Errorf("writer = %v %v, content = %v", f["last_writer"], f["last_written"], f["content"])
	}
	if sink.media["object"] != steps.MediaKubernetes || !strings.Contains(sink.text("object"), uid) || !strings.Contains(sink.text("object"), "managedFields") {
		t.Errorf("artifact = %s %q", sink.media["object"], sink.text("object"))
	}
	if want := "-n " + w.ns.Name + " get configmaps held -o yaml --show-managed-fields"; !strings.HasSuffix(before.Command, want) {
		t.Errorf("command = %q, want %q at its end", before.Command, want)
	}

	w.robot(http.MethodDelete, base+"/configmaps/held", nil)
	gone, _ := w.probe("kube/get", what("resource", "configmaps", "name", "held"))
	if !gone.Facts["terminating"].Bool() || !gone.Facts["terminating_for"].Known() || !strings.Contains(gone.Summary, "held by example.com/b, example.com/a") {
		t.Errorf("after the delete: %s %v", gone.Summary, gone.Facts)
	}
	w.robot(http.MethodPatch, base+"/configmaps/held", m{"metadata": m{"finalizers": nil}})
	absent, sink := w.probe("kube/get", what("resource", "configmaps", "name", "held"))
	for name, v := range absent.Facts {
		if name == "exists" && (!v.Known() || v.Bool()) || name != "exists" && (v.Known() || v.Why() != report.NotThere) {
			t.Errorf("of an absent object %s = %v %s", name, v.Text(), v.Why())
		}
	}
	if len(sink.kept) != 0 {
		t.Errorf("artifacts of an absent object: %v", sink.media)
	}
	w.unwritten(w.ns.Operator)
}

// TestContent holds what changes the hash and what does not.
func TestContent(t *testing.T) {
	t.Parallel()
	w := newReadsWorld(t)
	jobs := "/apis/batch/v1/namespaces/" + w.ns.Name + "/jobs"
	w.robot(http.MethodPost, jobs, m{"metadata": m{"name": "j"}, "spec": m{"suspend": true, "template": m{"spec": m{
		"restartPolicy": "Never", "containers": []m{{"name": "c", "image": "example.com/none"}}}}}})
	read := func() map[string]steps.Value {
		obs, _ := w.probe("kube/get", what("resource", "job", "name", "j"))
		return obs.Facts
	}
	one := read()
	if !one["suspended"].Bool() || one["generation"].Int() != 1 || one["resource"].Text() != "jobs.batch" {
		t.Errorf("facts = %v", one)
	}
	w.robot(http.MethodPatch, jobs+"/j/status", m{"status": m{"conditions": []m{{"type": "Odd", "status": "True"}}}})
	two := read()
	if two["content"].Text() != one["content"].Text() || two["rv"].Text() == one["rv"].Text() || two["conditions"].Table()["Odd"] != "True" {
		t.Errorf("a write of the status changed the content: %v %v", one, two)
	}
	if two["last_writer"].Text() != one["last_writer"].Text() {
		t.Errorf("last writer = %s, want %s: it wrote the status alone", two["last_writer"].Text(), one["last_writer"].Text())
	}
	w.robot(http.MethodPatch, jobs+"/j", m{"metadata": m{"labels": m{"x": "y"}}})
	if three := read(); three["content"].Text() == one["content"].Text() {
		t.Error("a new label left the content as it was")
	}
}

// TestSecret: nothing of a Secret's values is in a fact, not even as a hash of
// them alone.
func TestSecret(t *testing.T) {
	t.Parallel()
	w := newReadsWorld(t)
	base := "/api/v1/namespaces/" + w.ns.Name + "/secrets"
	const value = "aHVudGVyMg==" // hunter2
	w.robot(http.MethodPost, base, m{"metadata": m{"name": "s", "annotations": m{object.LastApplied: `{"data":{"p":"` + value + `"}}`}}, "data": m{"p": value}})
	obs, _ := w.probe("kube/get", what("resource", "secret", "name", "s"))
	list, sink := w.probe("kube/list", what("resource", "secrets", "read", "metadata"))
	for _, o := range []steps.Observation{obs, list} {
		text := o.Summary + o.Command
		for _, v := range o.Facts {
			text += v.Text() + v.Why()
		}
		if strings.Contains(text, value) || strings.Contains(text, "hunter2") {
			t.Errorf("the value of a Secret is in %q", text)
		}
	}
	if strings.Contains(sink.text("list"), value) {
		t.Errorf("the value of a Secret is in the list: %s", sink.text("list"))
	}
	dir := t.TempDir()
	bundle, err := evidence.Create(dir, "secret", evidence.Options{Now: time.Now, Mono: func() time.Duration { return 0 }, Keys: t.TempDir(), Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	kept, err := readsProbe(t.Context(), w.env, "kube/get", what("resource", "secret", "name", "s"), bundleSink{steps.SecretsOnly(nil), bundle})
	if err = errors.Join(err, bundle.Close()); err != nil || len(kept.Gaps) > 0 {
		t.Fatal(err, kept.Gaps)
	}
	stored := readAll(t, dir)
	if !strings.Contains(stored, obs.Facts["uid"].Text()) || strings.Contains(stored, value) || strings.Contains(stored, "hunter2") {
		t.Errorf("what an incident stores of a Secret: %s", stored)
	}
	w.robot(http.MethodPatch, base+"/s", m{"data": m{"p": "b3RoZXI="}})
	if again, _ := w.probe("kube/get", what("resource", "secret", "name", "s")); again.Facts["content"].Text() == obs.Facts["content"].Text() {
		t.Error("a new value left the content as it was")
	}
}

func TestGetWrongClock(t *testing.T) {
	t.Parallel()
	w := newReadsWorld(t)
	w.env.Now = func() time.Time { return time.Now().Add(time.Hour) }
	obs, _ := w.probe("kube/get", what("resource", "ns", "name", w.ns.Name))
	if age := obs.Facts["age"]; age.Known() || !strings.Contains(age.Why(), "clocks") {
		t.Errorf("age = %v", age)
	}
	if len(obs.Findings) == 0 || !strings.Contains(obs.Findings[0].Say, "clocks") {
		t.Errorf("findings = %v", obs.Findings)
	}
	if obs.Facts["namespace"].Text() != "" || obs.Facts["kind"].Text() != "Namespace" {
		t.Errorf("facts of a cluster-wide object = %v", obs.Facts)
	}
}

func TestGetUnknownKind(t *testing.T) {
	t.Parallel()
	w := newReadsWorld(t)
	_, err := readsProbe(t.Context(), w.env, "kube/get", what("resource", "nosuchkinds", "name", "x"), newReadsSink())
	if !errors.Is(err, cluster.ErrNoKind) || errors.Is(err, cluster.ErrAbsent) {
		t.Errorf("error = %v, want errNoKind", err)
	}
}

// readAll is every byte below dir.
func readAll(t *testing.T, dir string) string {
	t.Helper()
	var all strings.Builder
	err := fs.WalkDir(os.DirFS(dir), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		raw, err := os.ReadFile(filepath.Join(dir, path))
		all.Write(raw)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all.String()
}
