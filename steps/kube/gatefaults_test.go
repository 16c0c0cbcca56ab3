package kube

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"handrail/steps"
	"handrail/steps/cluster"
	"handrail/steps/kube/act"
	"handrail/steps/kube/patch"
)

// prey is an object that a gate changes, and what says that it did.
type prey struct {
	quarry
	kind string
	wide bool // it has no namespace
	did  func(o fields) bool
}

// preys has one for each gate; one without fails the test that spoils them.
func preys() []prey {
	at := func(pointer string, want any) func(fields) bool {
		return func(o fields) bool { v, _ := patch.Get(o, pointer); return v == want }
	}
	gone := func(o fields) bool { return o == nil || o["metadata"].(fields)["deletionTimestamp"] != nil }
	did := map[string]func(fields) bool{
		"kube/patch": at("/data/c", "d"), "kube/recreate": at("/data/a", "d"), "kube/delete": gone,
		"kube/suspend": at("/spec/suspend", true), "kube/resume": at("/spec/suspend", false),
		"kube/restart": func(o fields) bool {
			_, is := patch.Get(o, "/spec/template/metadata/annotations/kubectl.kubernetes.io~1restartedAt")
			return is
		},
		"kube/strip-finalizer": func(o fields) bool {
			_, is := patch.Get(o, "/metadata/finalizers")
			return o != nil && !is
		},
	}
	var out []prey
	for kind, q := range quarries() {
		if strings.HasSuffix(kind, "-batch") {
			continue // each of its acts is one of the gate of one object; TestStripBatch and TestCourse stop it
		}
		out = append(out, prey{quarry: q, kind: kind, did: did[kind]})
	}
	const hooks = "validatingwebhookconfigurations"
	body := func(name string) map[string]any {
		return fields{"metadata": fields{"name": name}, "webhooks": []any{fields{"name": "first.policy.example", "sideEffects": "None", "admissionReviewVersions": []string{"v1"},
			"clientConfig": fields{"url": "https://127.0.0.1:1/first"}, "failurePolicy": "Fail",
			"rules": []any{fields{"operations": []string{"CREATE"}, "apiGroups": []string{"nobody.example"}, "apiVersions": []string{"v1"}, "resources": []string{"things"}}}}}}
	}
	in := func(more ...string) func(*stage, string, string) steps.Params {
		return func(_ *stage, name, uid string) steps.Params {
			return changeIn("validatingwebhookconfiguration", name, uid, more...)
		}
	}
	const admission = "admissionregistration.k8s.io"
	binding := func(name string) map[string]any {
		return fields{"metadata": fields{"name": name}, "spec": fields{"policyName": name, "validationActions": []string{"Deny"}}}
	}
	bound := func(_ *stage, name, uid string) steps.Params {
		return changeIn("validatingadmissionpolicybinding", name, uid)
	}
	policed := func(name string) map[string]any {
		return fields{"metadata": fields{"name": name}, "spec": fields{"validations": []any{fields{"expression": "false"}},
			"matchConstraints": fields{"resourceRules": []any{fields{"operations": []string{"CREATE"}, "apiGroups": []string{"nobody.example"}, "apiVersions": []string{"v1"}, "resources": []string{"things"}}}}}}
	}
	inAMonth := time.Now().AddDate(0, 0, 30).UTC().Format(time.DateOnly)
	excepted := func(_ *stage, name, uid string) steps.Params {
		return changeIn("validatingadmissionpolicy", name, uid, "object_resource", "configmap", "object", "settings", "object_namespace", "shop", "days", "30")
	}
	return append(out,
		prey{kind: "kube/delete-policy", wide: true, did: gone, quarry: quarry{admission, "validatingadmissionpolicybindings", binding, bound}},
		prey{kind: "kube/delete-webhook", wide: true, did: gone, quarry: quarry{admission, hooks, body, in()}},
		prey{kind: "kube/narrow-webhook", wide: true, did: at("/webhooks/0/failurePolicy", "Ignore"), quarry: quarry{admission, hooks, body, in("webhook", "first.policy.example", "to", "ignore")}},
		prey{kind: "kube/except-policy", wide: true, did: at("/spec/matchConditions/0/name", "except-settings-until-"+inAMonth), quarry: quarry{admission, "validatingadmissionpolicies", policed, excepted}},
		prey{kind: "kube/create", did: func(o fields) bool { return o != nil }, quarry: quarry{group: "", resource: "configmaps"}})
}

// gateFaults is what stands between a gate and its server: it counts what comes in
// each phase of a walk, and spoils one answer.
type gateFaults struct {
	w *keepersWorld

	mu     sync.Mutex
	phase  string
	seen   map[string][]string // requests of each phase
	writes []string            // those that reached the server and change something
	late   bool                // a write was treated: what it did not do by now it will not do

	spoil   string // phase
	nth     int
	how     string
	forward bool // the server gets it all the same
}

func (g *gateFaults) start(phase string) { g.mu.Lock(); g.phase = phase; g.mu.Unlock() }

// reset begins another walk, with nothing to spoil.
func (g *gateFaults) reset(phase string, nth int, how string, forward bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.seen, g.writes, g.late = map[string][]string{}, nil, false
	g.spoil, g.nth, g.how, g.forward = phase, nth, how, forward
}

func (g *gateFaults) now() time.Time {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.late {
		return time.Now().Add(time.Minute)
	}
	return time.Now()
}

func isWrite(r *http.Request) bool {
	return r.Method != http.MethodGet && !r.URL.Query().Has("dryRun") && !strings.HasPrefix(r.URL.Path, "/apis/authentication.k8s.io/") && !strings.HasPrefix(r.URL.Path, "/apis/authorization.k8s.io/")
}

func (g *gateFaults) serve(rw http.ResponseWriter, r *http.Request) bool {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return true
	}
	key := r.Method + " " + r.URL.Path + "? " + string(body)
	write := isWrite(r)
	g.mu.Lock()
	hit := g.how != "" && g.phase == g.spoil && len(g.seen[g.phase]) == g.nth
	g.seen[g.phase] = append(g.seen[g.phase], key)
	how, forward := g.how, g.forward || !hit
	if write && forward {
		g.writes = append(g.writes, key)
	}
	g.mu.Unlock()
	r.Body = io.NopCloser(bytes.NewReader(body))
	if !hit {
		return false
	}
	real := recordedAnswer{code: 200, media: cluster.AsJSON, body: []byte(`{"kind":"Status","apiVersion":"v1"}`)}
	if forward || !write {
		if real, err = (&tape{w: g.w}).fetch(r, body); err != nil {
			panic(http.ErrAbortHandler)
		}
	}
	if write {
		g.mu.Lock()
		g.late = true
		g.mu.Unlock()
	}
	breaks()[how](rw, r, real)
	return true
}

// ways are the faults of one request of an act; where several kinds share the
// code that acts, one of them has them all.
func (h *hunt) ways() []string {
	switch h.kind {
	case "kube/patch":
		return []string{"broken", "denied", "a login page", "half of it", "cut in the middle", "an empty thing", "another thing"}
	case "kube/create", "kube/delete", "kube/strip-finalizer": // requests of their own
		return []string{"denied", "half of it", "another thing"}
	}
	return []string{"denied", "another thing"}
}

// TestGateFaults spoils each answer that a gate gets while it shows, acts and
// looks back: what it says that it did is so, nothing is sent twice, and what is
// protected is never written.
func TestGateFaults(t *testing.T) {
	t.Parallel()
	w := newKeepersWorld(t)
	all := preys()
	for _, k := range Kinds() {
		if k.Changes != nil && !strings.HasSuffix(k.Name, "-batch") && !slices.ContainsFunc(all, func(p prey) bool { return p.kind == k.Name }) {
			t.Errorf("no test spoils the answers that %s gets: give it an object", k.Name)
		}
	}
	for _, p := range all {
		t.Run(strings.TrimPrefix(p.kind, "kube/"), func(t *testing.T) {
			t.Parallel()
			w := *w
			w.t = t
			h := &hunt{prey: p, w: &w, g: &gateFaults{w: &w}}
			h.env = w.front(h.g.serve)
			h.env.Now, h.env.Dir = h.g.now, t.TempDir()
			h.run()
		})
	}
}

// hunt walks one gate again and again, each time over a new object.
type hunt struct {
	prey
	w   *keepersWorld
	g   *gateFaults
	env steps.Env
	n   int
}

func (h *hunt) run() {
	t := h.w.t
	if h.kind == "kube/strip-finalizer" {
		h.w.workload("deployments", "hook-cleaner", 0)
	}
	clean := h.walk(-1, "", false)
	if clean.err != nil || clean.out.Result != steps.Done || !clean.true {
		t.Fatalf("without a fault: %+v", clean)
	}
	h.looks(clean)
	h.permits(clean)
	undone := 0
	for nth, key := range clean.seen["act"] {
		for _, how := range h.ways() {
			h.judge(h.walk(nth, how, true), fmt.Sprintf("%s at act %d, %s", how, nth, shortKey(key)))
			if strings.HasPrefix(key, "GET ") || how == "half of it" || how == "cut in the middle" {
				continue
			}
			got := h.walk(nth, how, false)
			h.judge(got, fmt.Sprintf("%s instead of act %d, %s", how, nth, shortKey(key)))
			if undone++; undone == 1 {
				h.looks(got)
			}
		}
	}
	if h.body == nil || h.kind == "kube/patch" || h.kind == "kube/recreate" || h.kind == "kube/delete" || h.kind == "kube/strip-finalizer" {
		h.shows(len(clean.seen["show"]))
	}
}

// way is one walk, and what there is after it.
type way struct {
	g      steps.Gater
	in     steps.Params
	before []steps.KV

	out    steps.Outcome
	err    error
	true   bool // whether the object is as the gate wants it
	there  bool
	writes []string
	seen   map[string][]string
}

// permits holds what a walk asked for against what the kind declares.
func (h *hunt) permits(clean way) {
	var requests [][2]string
	for _, phase := range []string{"show", "act"} {
		for _, key := range clean.seen[phase] {
			parts := strings.SplitN(strings.Replace(key, "? ", " ", 1), " ", 3)
			requests = append(requests, [2]string{parts[0], parts[1]})
		}
	}
	var of permitted
	of.hold(h.w.t, kindOf(h.kind), clean.in, requests, h.w.ns)
	of.least(h.w.t)
}

// looks spoils each answer that the look back gets.
func (h *hunt) looks(got way) {
	look := func(nth int, how string) {
		h.g.reset("find", nth, how, true)
		h.g.start("find")
		found, err := got.g.(steps.Finder).Find(h.w.t.Context(), got.before, got.in, &scrap{})
		h.g.start("")
		h.said(got, found, err, fmt.Sprintf("%s at find %d: Find()", how, nth))
	}
	look(-1, "")
	for nth := range len(h.g.seen["find"]) {
		all := []string{"broken", "denied", "half of it", "an empty thing", "another thing"}
		if h.kind != "kube/patch" { // one code finds what each of them did
			all = []string{"denied", all[nth%len(all)]}
		}
		for _, how := range slices.Compact(all) {
			look(nth, how)
		}
	}
}

// born makes an object, and the parameters of the gate for it.
func (h *hunt) born(mark string) (name, path string, in steps.Params) {
	h.n++
	w := h.w
	name = fmt.Sprintf("%s-%d", strings.TrimPrefix(h.kind, "kube/"), h.n)
	if h.wide {
		name = w.ns + "-" + name
		path = "/apis/" + h.group + "/v1/" + h.resource
	} else if h.group == "" {
		path = w.in("", h.resource, "")
	} else {
		path = w.in(h.group+"/v1", h.resource, "")
	}
	if h.body == nil {
		file := filepath.Join(h.env.Dir, name+".yaml")
		if mark != "" {
			mark = ", labels: {role: protected}"
		}
		if err := os.WriteFile(file, []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: "+name+mark+"}\ndata: {a: b}\n"), 0o600); err != nil {
			w.t.Fatal(err)
		}
		return name, path + "/" + name, steps.Params{"file": steps.PathOf(file), "namespace": steps.StringOf(w.ns)}
	}
	o := w.create(path, h.body(name))
	path += "/" + name
	if h.resource == "deployments" {
		numbered(w.t, func() map[string]any { return w.read(path) })
	}
	if h.wide {
		w.t.Cleanup(func() { _, _, _ = w.try(http.MethodDelete, path, "", nil) })
	} else {
		w.freed(path)
	}
	if mark != "" {
		w.merge(path, fields{"metadata": fields{"labels": fields{"role": mark}}})
	}
	return name, path, h.in(nil, name, o["metadata"].(fields)["uid"].(string))
}

func (h *hunt) gate() steps.Gater {
	i := slices.IndexFunc(Kinds(), func(k steps.Kind) bool { return k.Name == h.kind })
	return Kinds()[i].Changes(h.env)
}

// walk shows, confirms and acts, with the answer to one request of the act
// spoiled.
func (h *hunt) walk(nth int, how string, forward bool) way {
	w := h.w
	w.t.Helper()
	_, path, in := h.born("")
	h.g.reset("act", nth, how, forward)
	h.g.start("show")
	got := way{g: h.gate(), in: in}
	p, err := got.g.Preview(w.t.Context(), in, &scrap{})
	if err != nil {
		w.t.Fatalf("%s: %v", h.kind, err)
	}
	a, err := steps.Confirm(p, "i", "s", p.Digest("i", "s"), p.Phrase)
	if err != nil {
		w.t.Fatalf("%s: %v: %s", h.kind, err, unmetText(p))
	}
	h.g.start("act")
	got.out, got.err = got.g.Act(w.t.Context(), a, &scrap{})
	h.g.start("")
	got.before, got.writes, got.seen = slices.Concat(p.Target, p.Shown), h.g.writes, h.g.seen
	code, o, err := w.try(http.MethodGet, path, "", nil)
	if err != nil {
		w.t.Fatal(err)
	}
	if got.there = code == http.StatusOK; !got.there {
		o = nil
	}
	got.true = h.did(o)
	return got
}

// judge holds an act to what is so, and to having sent nothing twice. The clock
// of a look back is past the time in which a request can still take effect.
func (h *hunt) judge(got way, what string) {
	h.w.t.Helper()
	h.said(got, got.out, got.err, what+": Act()")
	if once := slices.Compact(slices.Sorted(slices.Values(got.writes))); len(once) != len(got.writes) {
		h.w.t.Errorf("%s: the server got %q", what, got.writes)
	}
	found, err := got.g.(steps.Finder).Find(h.w.t.Context(), got.before, got.in, &scrap{})
	if h.said(got, found, err, what+": Find()"); err != nil {
		h.w.t.Errorf("%s: Find() = %v with nothing in its way", what, err)
	}
}

// said holds what was said to what is so.
func (h *hunt) said(got way, out steps.Outcome, err error, what string) {
	h.w.t.Helper()
	switch {
	case err != nil && out.Result != "":
		h.w.t.Errorf("%s = %+v beside %v", what, out, err)
	case err == nil && (out.Result == steps.Done) != got.true:
		h.w.t.Errorf("%s = %+v, and that it took effect is %v", what, out, got.true)
	case err == nil && h.kind == "kube/recreate" && !got.there && !strings.Contains(out.Response, "half"):
		h.w.t.Errorf("%s = %+v of half a recreate", what, out)
	}
}

// shows spoils the answers that a preview gets: of what is protected none is ever
// clear, and of what is free one that is clear shows what it would without a
// fault.
func (h *hunt) shows(requests int) {
	t := h.w.t
	for _, mark := range []string{"", "protected"} {
		_, _, in := h.born(mark)
		h.g.reset("", 0, "", false)
		h.env.Home = t.TempDir() // what was discovered before is asked for again
		want, err := h.gate().Preview(t.Context(), in, &scrap{})
		if err != nil || (len(want.Unmet) > 0) != (mark != "") {
			t.Fatalf("Preview() = %+v, %v", want, err)
		}
		if mark == "" && requests > mostFaulted { // it looks through every kind for children
			continue
		}
		for nth := range min(requests+8, mostFaulted) {
			turn := []string{"broken", "half of it", "an empty thing"}[nth%3]
			if h.kind == "kube/patch" || nth%2 == 0 { // the floors read the same for all of them
				h.show(in, mark, nth, "denied", want)
			}
			if h.kind == "kube/patch" || nth%2 == 1 {
				h.show(in, mark, nth, turn, want)
			}
		}
	}
}

func (h *hunt) show(in steps.Params, mark string, nth int, how string, want steps.Preview) {
	t := h.w.t
	h.g.reset("show", nth, how, true)
	h.g.start("show")
	h.env.Home = t.TempDir()
	p, err := h.gate().Preview(t.Context(), in, &scrap{})
	h.g.start("")
	key := ""
	if all := h.g.seen["show"]; nth < len(all) {
		key = shortKey(all[nth])
	}
	switch {
	case len(h.g.writes) > 0:
		t.Errorf("%s at show %d, %s: it wrote %q", how, nth, key, h.g.writes)
	case err != nil || len(p.Unmet) > 0:
	case mark != "":
		t.Errorf("%s at show %d, %s: the gate of a protected object is open", how, nth, key)
	case strings.HasSuffix(key, "/kube-system") && how == "denied" && steps.Find(p.Target, act.KeyCluster) == "unknown (forbidden)":
	case p.Digest("i", "s") != want.Digest("i", "s") || p.Phrase != want.Phrase:
		t.Errorf("%s at show %d, %s: it shows %+v, and %+v without the fault", how, nth, key, p, want)
	}
}
