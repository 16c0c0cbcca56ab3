package kube

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"handrail/drills/lab"
	"handrail/steps"
	"handrail/steps/cluster"
	"handrail/steps/kube/object"
)

func (w *readsWorld) fill(ns lab.Namespace, names ...string) {
	w.tb.Helper()
	for _, name := range names {
		w.do(ns.RobotKubeconfig, http.MethodPost, "/api/v1/namespaces/"+ns.Name+"/configmaps", configMap(name, m{"labels": m{"made": "here"}}))
	}
}

func TestListTable(t *testing.T) {
	t.Parallel()
	w := newReadsWorld(t)
	w.fill(w.ns, "b", "a", "c")
	obs, sink := w.probe("kube/list", what("resource", "cm", "selector", "made=here"))
	if got := obs.Facts["names"].Strings(); obs.Facts["count"].Int() != 3 || !slices.Equal(got, []string{"a", "b", "c"}) {
		t.Errorf("facts = %v", obs.Facts)
	}
	if d := obs.Facts["digest"]; d.Known() || !strings.Contains(d.Why(), "read metadata") {
		t.Errorf("digest of a table = %v", d)
	}
	lines := strings.Split(sink.text("list"), "\n")
	if sink.media["list"] != steps.MediaText || len(lines) != 5 || !strings.HasPrefix(lines[0], "NAME\tDATA\tAGE") || !strings.HasPrefix(lines[1], "a\t1\t") {
		t.Errorf("artifact = %q %q", sink.media["list"], lines)
	}
	if want := "-n " + w.ns.Name + " get configmaps -l made=here -o wide"; !strings.HasSuffix(obs.Command, want) {
		t.Errorf("command = %q, want %q at its end", obs.Command, want)
	}
	none, sink := w.probe("kube/list", what("resource", "jobs"))
	if none.Facts["count"].Int() != 0 || !none.Facts["names"].Known() || !strings.HasPrefix(sink.text("list"), "NAME\t") {
		t.Errorf("empty list = %v, %q", none.Facts, sink.text("list"))
	}
	spaces, _ := w.probe("kube/list", what("resource", "ns", "selector", "kubernetes.io/metadata.name="+w.ns.Name)) // all would be more than a fact holds
	if !slices.Contains(spaces.Facts["names"].Strings(), w.ns.Name) || !strings.Contains(spaces.Summary, "in the cluster") {
		t.Errorf("cluster-wide list: %s %v", spaces.Summary, spaces.Facts)
	}
	w.unwritten(w.ns.Operator)
}

func TestListMetadata(t *testing.T) {
	t.Parallel()
	w := newReadsWorld(t)
	w.fill(w.ns, "b", "a")
	path := "/api/v1/namespaces/" + w.ns.Name + "/configmaps"
	w.robot(http.MethodPost, path, configMap("held", m{"finalizers": []string{"example.com/x"}, "labels": m{"made": "here"}, "annotations": m{object.LastApplied: "{}", "n": "v"}}))
	t.Cleanup(func() { w.robot(http.MethodPatch, path+"/held", m{"metadata": m{"finalizers": nil}}) })
	w.robot(http.MethodDelete, path+"/held", nil)
	read := func() (steps.Observation, *readsSink) {
		return w.probe("kube/list", what("resource", "configmaps", "selector", "made=here", "read", "metadata"))
	}
	one, sink := read()
	if got := one.Facts["terminating"].Strings(); !slices.Equal(got, []string{"held"}) || one.Facts["finalizers"].Table()["example.com/x"] != "1" || one.Facts["count"].Int() != 3 {
		t.Errorf("facts = %v", one.Facts)
	}
	if len(one.Findings) != 1 || !strings.Contains(one.Findings[0].Say, "held") {
		t.Errorf("findings = %v", one.Findings)
	}
	lines := strings.Split(strings.TrimSpace(sink.text("list")), "\n")
	if len(lines) != 3 || sink.media["list"] != steps.MediaJSON {
		t.Fatalf("artifact = %q", lines)
	}
	var last struct {
		Name              string            `json:"name"`
		UID               string            `json:"uid"`
		DeletionTimestamp string            `json:"deletionTimestamp"`
		Annotations       map[string]string `json:"annotations"`
	}
	if err := json.Unmarshal([]byte(lines[2]), &last); err != nil || last.Name != "held" || last.UID == "" || last.DeletionTimestamp == "" || last.Annotations["n"] != "v" || len(last.Annotations) != 1 {
		t.Errorf("last line = %+v, %v", last, err)
	}
	if two, _ := read(); two.Facts["digest"].Text() != one.Facts["digest"].Text() || len(one.Facts["digest"].Text()) != 64 {
		t.Errorf("digests of an unchanged list: %v %v", one.Facts["digest"], two.Facts["digest"])
	}
	w.robot(http.MethodPatch, path+"/a", m{"data": m{"a": "2"}})
	if three, _ := read(); three.Facts["digest"].Text() == one.Facts["digest"].Text() {
		t.Error("a changed ConfigMap left the digest as it was")
	}
	w.unwritten(w.ns.Operator)
}

// TestListAllNamespaces reads three namespaces, with an account that may read all and
// with one that may not.
func TestListAllNamespaces(t *testing.T) {
	t.Parallel()
	w := newReadsWorld(t)
	other, third := w.namespace(), w.namespace()
	w.fill(w.ns, "one", "two")
	w.fill(other, "one")
	w.fill(third, "three")
	want := []string{w.ns.Name + "/one", w.ns.Name + "/two", other.Name + "/one", third.Name + "/three"}
	slices.Sort(want)
	operator := w.env.Kubeconfig
	for _, read := range []string{"table", "metadata"} {
		w.env.Kubeconfig = w.lab.Kubeconfig()
		obs, sink := w.probe("kube/list", what("resource", "configmaps", "all_namespaces", "true", "selector", "made=here", "read", read))
		names := slices.DeleteFunc(slices.Clone(obs.Facts["names"].Strings()), func(n string) bool {
			return !slices.Contains(want, n)
		})
		if !slices.Equal(names, want) || !strings.Contains(obs.Command, " -A ") || strings.Contains(obs.Command, " -n ") {
			t.Errorf("%s of all namespaces = %q, want %q; %s", read, names, want, obs.Command)
		}
		if read == "table" && (!strings.HasPrefix(sink.text("list"), "NAMESPACE\tNAME\t") || !strings.Contains(sink.text("list"), "\n"+third.Name+"\tthree\t1\t")) {
			t.Errorf("table = %q", sink.text("list"))
		}
		w.env.Kubeconfig = operator
		if read == "metadata" {
			if _, err := readsProbe(t.Context(), w.env, "kube/list", what("resource", "configmaps", "all_namespaces", "true", "read", read), newReadsSink()); !cluster.IsForbidden(err) {
				t.Errorf("metadata of all namespaces without the right = %v, want it denied", err)
			}
			continue
		}
		part, _ := w.probe("kube/list", what("resource", "configmaps", "all_namespaces", "true", "read", read))
		for name, v := range part.Facts {
			if v.Known() {
				t.Errorf("of a list that misses namespaces %s = %s, want it unknown", name, v.Text())
			}
		}
		if gaps := strings.Join(part.Gaps, "\n"); !strings.Contains(gaps, "namespace default:") || !strings.Contains(gaps, "permission denied") || strings.Contains(gaps, "namespace "+w.ns.Name+":") {
			t.Errorf("gaps = %q", gaps)
		}
	}
}

// TestManyNames reads more than one page and more names than a fact holds.
func TestManyNames(t *testing.T) {
	t.Parallel()
	f := newFakeServer(t)
	var rows []string
	for i := range 1300 {
		rows = append(rows, fmt.Sprintf("n%04d", i))
	}
	f.table(rows, nil)
	obs, sink := f.probe("kube/list", what("resource", "things"))
	if obs.Facts["count"].Int() != 1300 || obs.Facts["names"].Known() || !strings.Contains(obs.Facts["names"].Why(), "more than 500") {
		t.Errorf("facts = %v", obs.Facts)
	}
	if got := strings.Count(sink.text("list"), "\n"); got != 1301 {
		t.Errorf("artifact has %d lines, want 1301", got)
	}
	if want := []string{"things.example.com: 500 of about 1300"}; !slices.Equal(sink.lines, want) {
		t.Errorf("progress = %q, want %q", sink.lines, want)
	}
	if want := []string{"500", "10000"}; !slices.Equal(f.limits(), want) {
		t.Errorf("limits = %q, want %q", f.limits(), want)
	}
}

// TestExpiredToken: a list that outlived its moment goes on at a later one, and
// says so.
func TestExpiredToken(t *testing.T) {
	t.Parallel()
	for _, read := range []string{"table", "metadata"} {
		f := newFakeServer(t)
		var rows []string
		for i := range 600 {
			rows = append(rows, fmt.Sprintf("n%04d", i))
		}
		f.expireOnce = true
		f.table(rows, nil)
		obs, _ := f.probe("kube/list", what("resource", "things", "read", read))
		if obs.Facts["count"].Int() != 600 || len(obs.Gaps) != 1 || !strings.Contains(obs.Gaps[0], "later moment") {
			t.Errorf("%s: count = %v, gaps = %q", read, obs.Facts["count"], obs.Gaps)
		}
		if d := obs.Facts["digest"]; d.Known() {
			t.Errorf("digest of a list of two moments = %v", d)
		}
	}
}

// TestListNotKept: a list that the disk does not take is still a list, with a
// gap.
func TestListNotKept(t *testing.T) {
	t.Parallel()
	f := newFakeServer(t)
	f.table([]string{"a", "b"}, nil)
	for _, read := range []string{"table", "metadata"} {
		obs, err := readsProbe(t.Context(), f.env, "kube/list", what("resource", "things", "read", read), fullSink{newReadsSink()})
		if err != nil || obs.Facts["count"].Int() != 2 || len(obs.Gaps) != 1 || !strings.Contains(obs.Gaps[0], "no space") {
			t.Errorf("%s: %v, gaps %q, %v", read, obs.Facts["count"], obs.Gaps, err)
		}
	}
}

// fullSink is a disk without room.
type fullSink struct{ *readsSink }

func (fullSink) Artifact(string, string) io.WriteCloser {
	return failingReader{errors.New("no space left on device")}
}

// TestAllNamespacesDenied: who may read no namespace has no list at all.
func TestAllNamespacesDenied(t *testing.T) {
	t.Parallel()
	f := newFakeServer(t)
	refuse := map[string]bool{"/apis/example.com/v1/namespaces/a/things": true, "/apis/example.com/v1/namespaces/b/things": true}
	spaces := m{"kind": "PartialObjectMetadataList", "items": []m{{"metadata": m{"name": "a", "uid": "1"}}, {"metadata": m{"name": "b", "uid": "2"}}}}
	f.answer = func(w http.ResponseWriter, r *http.Request) bool {
		switch {
		case r.URL.Path == "/api/v1/namespaces" && spaces != nil:
			reply(w, 200, spaces)
		case r.URL.Path == "/api/v1/namespaces" || refuse[r.URL.Path]:
			reply(w, 403, status(403, "Forbidden", "not you", nil))
		default:
			return false
		}
		return true
	}
	in := what("resource", "things", "all_namespaces", "true")
	if _, err := readsProbe(t.Context(), f.env, "kube/list", in, newReadsSink()); !cluster.IsForbidden(err) {
		t.Errorf("error = %v, want it denied", err)
	}
	spaces = nil
	_, err := readsProbe(t.Context(), f.env, "kube/list", in, newReadsSink())
	if !cluster.IsForbidden(err) || !strings.Contains(err.Error(), "read metadata instead") {
		t.Errorf("error without the right to list namespaces = %v", err)
	}
}
