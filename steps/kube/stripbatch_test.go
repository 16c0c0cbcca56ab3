package kube

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"handrail/steps"
	"handrail/steps/kube/act"
)

// held makes jobs that are being deleted and held by the cleaner, and returns the list
// of them.
func (s *stage) held(names ...string) map[string]string {
	s.t.Helper()
	uids := map[string]string{}
	for _, name := range names {
		uids["jobs.batch/"+s.ns.Name+"/"+name] = s.make(thingMade{resource: "jobs", name: name, finalizers: []string{cleaner}})
		s.condemn("jobs", name)
	}
	return uids
}

func (s *stage) batch(uids map[string]string) steps.Params {
	in := s.stripParams("job", "none", "none")
	return steps.Params{"uids": steps.TableOf(uids), "finalizer": in["finalizer"], "controller": in["controller"]}
}

func outcomes(o steps.Outcome) string {
	var out []string
	for _, it := range o.Items {
		out = append(out, it.Object[strings.LastIndex(it.Object, "/")+1:]+" "+it.Outcome)
	}
	return strings.Join(out, ", ")
}

// TestStripBatch strips a list by one phrase: every object is shown, each is recorded
// and judged by itself, and what is not the object that was shown stops it.
func TestStripBatch(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	uids := s.held("a", "b", "c", "d")
	// What hangs is found and grouped, and what was found is what the gate takes.
	s.make(thingMade{resource: "jobs", name: "live", finalizers: []string{cleaner}})
	obs, err := readsProbe(t.Context(), s.env, "kube/held", steps.Params{"namespace": steps.StringOf(s.ns.Name), "finalizer": steps.StringOf(cleaner)}, newReadsSink())
	if err != nil || !maps.Equal(obs.Facts["uids"].Table(), uids) || !strings.Contains(obs.Summary, cleaner+" holds 4") {
		t.Fatalf("what is held = %+v, %v, want %v", obs, err, uids)
	}
	g, in := gateOf("kube/strip-batch", s.env), s.batch(obs.Facts["uids"].Table())
	armed := s.preview(g, in)
	if len(armed.Unmet) > 0 {
		t.Fatalf("unmet = %s", unmetText(armed))
	}
	for i, name := range []string{"a", "b", "c", "d"} {
		if line := steps.Find(armed.Target, fmt.Sprintf("item %d", i+1)); !strings.Contains(line, "job/"+s.ns.Name+"/"+name+";") || !strings.Contains(line, uids["jobs.batch/"+s.ns.Name+"/"+name]) {
			t.Errorf("item %d = %q", i+1, line)
		}
	}
	if !strings.HasPrefix(armed.Phrase, "patch 4 ") || steps.Find(armed.Shown, "by finalizer") != cleaner+" from 4" || steps.Find(armed.Shown, "namespace") != s.ns.Name ||
		strings.Count(armed.Request, "\n") != 3 || len(armed.Owes) != 4 || armed.Prior == nil {
		t.Errorf("preview = %+v", armed)
	}
	fresh := s.preview(g, in)
	if fresh.Digest("i", "s") != armed.Digest("i", "s") {
		t.Fatalf("two previews differ: %v, %v", armed.Target, fresh.Target)
	}
	// After the preview someone else strips the third.
	s.finalizers("jobs", "c")
	s.gone("jobs", "c")
	o, err := g.Act(t.Context(), s.confirm(fresh, armed.Digest("i", "s")), &scrap{})
	if err != nil || o.Result != steps.Failed || outcomes(o) != "a done, b done, c refused, d left" {
		t.Fatalf("Act() = %+v, %v", o, err)
	}
	if s.content("jobs", "a") != "gone" || s.content("jobs", "b") != "gone" || s.content("jobs", "d") == "gone" {
		t.Error("what was done is not what is said")
	}
	for _, it := range o.Items[:2] {
		if steps.Find(it.After, act.KeyAudit) == "" || steps.Find(it.Before, act.KeyUID) == "" || it.Command == "" {
			t.Errorf("the record of %s is not whole: %+v", it.Object, it)
		}
	}
	if owes := o.Owing(armed.Owes); len(owes) != 2 {
		t.Errorf("owes = %v, want the clean-ups of those that went", owes)
	}
	found, err := g.Find(t.Context(), slices.Concat(armed.Target, armed.Shown), in, &scrap{})
	if err != nil || found.Result != steps.Failed || outcomes(found) != "a done, b done, c done, d failed" {
		t.Errorf("Find() = %s, %v", outcomes(found), err)
	}

	// What is gone is left out, and named.
	p := s.preview(g, in)
	if gone := steps.Find(p.Shown, "gone already"); strings.Count(gone, "jobs.batch/") != 3 || len(p.Unmet) > 0 {
		t.Errorf("the next preview: %v, %s", p.Shown, unmetText(p))
	}
	if p.Phrase != "patch job/"+s.ns.Name+"/d" {
		t.Errorf("phrase of one = %q", p.Phrase)
	}
	if o, err := g.Act(t.Context(), s.confirm(p, p.Digest("i", "s")), &scrap{}); err != nil || o.Result != steps.Done || s.content("jobs", "d") != "gone" {
		t.Errorf("Act() = %+v, %v", o, err)
	}
	if again, err := g.(steps.Rereader).Again(t.Context(), slices.Concat(p.Target, p.Shown), in, &scrap{}); err != nil || again.Result != steps.Done {
		t.Errorf("Again() = %+v, %v", again, err)
	}
}

// TestStripBatchIsShut: one object that may not be stripped keeps all of them.
func TestStripBatchIsShut(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	uids := s.held("a")
	owned := s.make(thingMade{resource: "jobs", name: "owned", finalizers: []string{cleaner}, labels: map[string]string{"app.kubernetes.io/managed-by": "Helm"},
		notes: map[string]string{"meta.helm.sh/release-name": "shop", "meta.helm.sh/release-namespace": s.ns.Name}})
	key := "jobs.batch/" + s.ns.Name + "/"
	g := gateOf("kube/strip-batch", s.env)
	with := func(name, uid string) steps.Params {
		all := map[string]string{key + name: uid}
		for k, v := range uids {
			all[k] = v
		}
		return s.batch(all)
	}
	for want, in := range map[string]steps.Params{
		"No object is named":         s.batch(nil),
		"is managed":                 with("owned", owned),
		"is another object":          with("owned", "11111111-2222-4333-8444-555555555555"),
		"None of the 1 objects":      s.batch(map[string]string{key + "nothing": owned}),
		"A namespace is never strip": s.batch(map[string]string{"namespaces/" + s.ns.Name: s.now("/api/v1/namespaces/" + s.ns.Name)["metadata"].(map[string]any)["uid"].(string)}),
	} {
		p := s.preview(g, in)
		if !strings.Contains(unmetText(p), want) {
			t.Errorf("unmet = %q, want %q", unmetText(p), want)
		}
		if a, err := steps.Confirm(p, "i", "s", p.Digest("i", "s"), p.Phrase); err == nil || a != nil {
			t.Errorf("%s: it can be confirmed", want)
		}
	}
	if _, err := g.Preview(context.Background(), s.batch(map[string]string{"a/b/c/d": "x"}), &scrap{}); err == nil {
		t.Error("a list that names no object is previewed")
	}
}
