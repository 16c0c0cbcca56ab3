//go:build unix

package gitops

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"handrail/drills/lab"
)

// world is a lab of this package alone: controllers see every namespace of theirs.
type world struct {
	*testing.T
	lab  *lab.Lab
	git  *Git
	tool *Controllers
}

// controllersWithin is generous because nothing is measured.
const controllersWithin = 3 * time.Minute

func TestControllers(t *testing.T) {
	l, err := lab.Up(t.Context(), lab.Options{Dir: filepath.Join(t.TempDir(), "lab"), Ephemeral: true, Bare: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
		if err := lab.Down(context.WithoutCancel(t.Context()), lab.Options{Dir: l.Dir()}); err != nil {
			t.Error(err)
		}
	})
	git, err := StartGit(t.Context(), lab.Options{}, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = git.Close() })
	t.Run("Argo CD", func(t *testing.T) {
		// Not the namespace of its name: it is one of several then.
		testArgoCD(world{t, l, git, started(t, l, "argocd-one", StartArgoCD)})
	})
	t.Run("Flux", func(t *testing.T) { testFlux(world{t, l, git, started(t, l, "", StartFlux)}) })
}

func started(t *testing.T, l *lab.Lab, namespace string, start func(context.Context, *lab.Lab, string, string) (*Controllers, error)) *Controllers {
	t.Helper()
	c, err := start(t.Context(), l, t.TempDir(), namespace)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			for _, name := range c.Names() {
				t.Logf("end of the log of %s:\n%s", name, c.Log(name))
			}
		}
		if err := c.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
		if left := c.PIDs(); len(left) > 0 {
			t.Errorf("Close leaves %v", left)
		}
	})
	for _, name := range c.Names() {
		at, err := lab.Listeners(c.PIDs()[name])
		if err != nil {
			t.Error(err)
		}
		for _, a := range at {
			if !a.IsLoopback() {
				t.Errorf("%s listens on %s", name, a)
			}
		}
	}
	return c
}

func (w world) under(t *testing.T) world { w.T = t; return w }

// namespace is a fresh one of the lab to deploy into.
func (w world) namespace(prefix string) string {
	w.Helper()
	ns, err := w.lab.Namespace(w.Context(), prefix)
	if err != nil {
		w.Fatal(err)
	}
	return ns.Name
}

// repository is one with the tree as its first commit.
func (w world) repository(name string, tree fstest.MapFS) (r *Repository, sha string) {
	w.Helper()
	r, err := w.git.Repository(w.Context(), name)
	if err != nil {
		w.Fatal(err)
	}
	return r, w.commit(r, tree)
}

func (w world) commit(r *Repository, tree fstest.MapFS) string {
	w.Helper()
	sha, err := r.Commit(w.Context(), "Change it", tree)
	if err != nil {
		w.Fatal(err)
	}
	return sha
}

func files(nameAndText ...string) fstest.MapFS {
	tree := fstest.MapFS{}
	for i := 0; i < len(nameAndText); i += 2 {
		tree[nameAndText[i]] = &fstest.MapFile{Data: []byte(nameAndText[i+1]), Mode: 0o644}
	}
	return tree
}

func configMap(name, colour string) string {
	return fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s}\ndata: {colour: %s}\n", name, colour)
}

func (w world) request(method, path, media string, in any) object {
	w.Helper()
	var out object
	if err := w.lab.Request(w.Context(), method, path, media, in, &out); err != nil {
		w.Fatal(err)
	}
	return out
}

// make creates an object in the namespace of the controllers.
func (w world) make(version, plural, kind, name string, spec object) (path string) {
	w.Helper()
	in := "/apis/" + version + "/namespaces/" + w.tool.Namespace + "/" + plural
	w.request(http.MethodPost, in, plainJSON, object{"apiVersion": version, "kind": kind, "metadata": object{"name": name}, "spec": spec})
	return in + "/" + name
}

func (w world) merge(path string, in object) {
	w.Helper()
	w.request(http.MethodPatch, path, mergePatch, in)
}

func colourOf(ns, name string) string { return "/api/v1/namespaces/" + ns + "/configmaps/" + name }

func (w world) paint(ns, name, colour string) {
	w.Helper()
	w.merge(colourOf(ns, name), object{"data": object{"colour": colour}})
}

// until waits until what is at path holds all of the words.
func (w world) until(path string, words ...string) {
	w.Helper()
	ctx, cancel := context.WithTimeout(w.Context(), controllersWithin)
	defer cancel()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		var raw json.RawMessage
		err := w.lab.Request(ctx, http.MethodGet, path, "", nil, &raw)
		absent := slices.DeleteFunc(slices.Clone(words), func(word string) bool { return strings.Contains(string(raw), word) })
		if err == nil && len(absent) == 0 {
			return
		}
		select {
		case <-ctx.Done():
			w.Fatalf("%s has not come to hold %q: %s %v", path, absent, raw, err)
		case <-tick.C:
		}
	}
}

// wrote fails unless the account of a controller changed the object.
func (w world) wrote(account, ns, name string) {
	w.Helper()
	user := "system:serviceaccount:" + w.tool.Namespace + ":" + account
	events, err := w.lab.AuditEvents(w.Context(), lab.AuditFilter{User: user, Namespace: ns})
	if err != nil {
		w.Fatal(err)
	}
	for _, e := range events {
		if e.Name == name && e.Persists() {
			return
		}
	}
	w.Errorf("%s did not write %s in %s: %d requests of it", user, name, ns, len(events))
}
