package kube

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"handrail/steps"
)

// breaks are what happens to one request between a probe and its server. The real
// answer is at hand, for those that spoil it.
func breaks() map[string]func(w http.ResponseWriter, r *http.Request, real recordedAnswer) {
	plain := func(code int, media, body string) func(http.ResponseWriter, *http.Request, recordedAnswer) {
		return func(w http.ResponseWriter, _ *http.Request, _ recordedAnswer) {
			w.Header().Set("Content-Type", media)
			w.WriteHeader(code)
			_, _ = io.WriteString(w, body)
		}
	}
	return map[string]func(http.ResponseWriter, *http.Request, recordedAnswer){
		"busy":           plain(429, "application/json", `{"kind":"Status","apiVersion":"v1","status":"Failure","message":"too many requests","reason":"TooManyRequests","code":429}`),
		"broken":         plain(500, "application/json", `{"kind":"Status","apiVersion":"v1","status":"Failure","message":"etcdserver: request timed out","reason":"InternalError","code":500}`),
		"a gateway":      plain(502, "text/html", "<html><body>Bad Gateway</body></html>"),
		"denied":         plain(403, "application/json", `{"kind":"Status","apiVersion":"v1","status":"Failure","message":"forbidden","reason":"Forbidden","code":403}`),
		"a login page":   plain(200, "text/html", "<html><body>Sign in</body></html>"),
		"no JSON":        plain(200, "application/json", "\x00\xff{{{"),
		"nothing at all": plain(200, "application/json", ""),
		"an empty thing": plain(200, "application/json", "{}"),
		"null":           plain(200, "application/json", "null"),
		"another thing":  plain(200, "application/json", `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Success"}`),
		"half of it": func(w http.ResponseWriter, _ *http.Request, real recordedAnswer) {
			w.Header().Set("Content-Type", real.media)
			_, _ = w.Write(real.body[:len(real.body)/2])
		},
		"cut in the middle": func(w http.ResponseWriter, _ *http.Request, real recordedAnswer) {
			w.Header().Set("Content-Type", real.media)
			w.Header().Set("Content-Length", strconv.Itoa(len(real.body)))
			_, _ = w.Write(real.body[:len(real.body)/2])
			panic(http.ErrAbortHandler)
		},
		"cut": func(http.ResponseWriter, *http.Request, recordedAnswer) { panic(http.ErrAbortHandler) },
		"silence": func(_ http.ResponseWriter, r *http.Request, _ recordedAnswer) {
			<-r.Context().Done()
			panic(http.ErrAbortHandler)
		},
	}
}

// recordedAnswer is an answer of the real server.
type recordedAnswer struct {
	code  int
	media string
	date  string
	body  []byte
}

// tape keeps what the real server answered to a probe, so that a second run of it
// finds the same world, and spoils the answers to one request.
type tape struct {
	w *keepersWorld

	mu       sync.Mutex
	keys     []string // in the order in which they were asked first
	recorded map[string]recordedAnswer
	date     string // of the first answer, and of every other: ages do not move
	spoil    string // key
	how      func(http.ResponseWriter, *http.Request, recordedAnswer)
}

// keyOf is the request without what a client may choose freely.
func keyOf(r *http.Request, body []byte) string {
	q := r.URL.Query()
	q.Del("timeout")
	return r.Method + " " + r.URL.Path + "?" + q.Encode() + " " + r.Header.Get("Accept") + " " + string(body)
}

func (t *tape) serve(w http.ResponseWriter, r *http.Request) bool {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return true
	}
	key := keyOf(r, body)
	t.mu.Lock()
	real, there := t.recorded[key]
	spoil := t.spoil == key
	how := t.how
	t.mu.Unlock()
	if !there {
		if real, err = t.fetch(r, body); err != nil {
			panic(http.ErrAbortHandler)
		}
		t.mu.Lock()
		if t.date == "" {
			t.date = real.date
		}
		if t.spoil == "" {
			t.recorded[key] = real
			t.keys = append(t.keys, key)
		}
		t.mu.Unlock()
	}
	t.mu.Lock()
	w.Header().Set("Date", t.date)
	t.mu.Unlock()
	if spoil {
		how(w, r, real)
		return true
	}
	w.Header().Set("Content-Type", real.media)
	w.WriteHeader(real.code)
	_, _ = w.Write(real.body)
	return true
}

func (t *tape) fetch(r *http.Request, body []byte) (recordedAnswer, error) {
	req, err := http.NewRequestWithContext(r.Context(), r.Method, t.w.url+r.URL.RequestURI(), bytes.NewReader(body))
	if err != nil {
		return recordedAnswer{}, err
	}
	req.Header = r.Header.Clone()
	req.Header.Del("Accept-Encoding")
	res, err := t.w.admin.Do(req)
	if err != nil {
		return recordedAnswer{}, err
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	return recordedAnswer{res.StatusCode, res.Header.Get("Content-Type"), res.Header.Get("Date"), raw}, err
}

// faultCase is one probe of a world whose answers are spoiled one after the other.
type faultCase struct {
	name, kind string
	in         steps.Params
	whole      bool // every break at every request, not two of them
	turn       int  // where it begins with those that go around
	// excused are requests, by the end of their path, that some breaks leave
	// nothing to tell by: why stands beside each.
	excused map[string][]string
}

// faultsOf says of each kind of probe which test spoils its answers, or why none
// does.
func faultsOf() map[string]string {
	return map[string]string{
		"kube/get": "TestFaults", "kube/list": "TestFaults", "kube/finalizers": "TestFaults", "kube/owners": "TestFaults",
		"kube/lookalikes": "TestFaults", "kube/held": "TestFaults", "kube/named": "TestFaults", "kube/namespace": "TestFaults", "kube/persistence": "TestFaults",
		"kube/blame": "TestBlameFaults", "kube/writers": "TestBlameFaults", "kube/signals": "TestBlameFaults",
		"kube/workload": "TestWorkloadFaults", "kube/logs": "TestWorkloadFaults", "kube/events": "TestWorkloadFaults",
		"kube/timeline": "TestWorkloadFaults", "kube/quota": "TestWorkloadFaults", "kube/helm-release": "TestWorkloadFaults", "kube/claims": "TestWorkloadFaults", "kube/egress": "TestWorkloadFaults",
		"kube/may": "TestWorkloadFaults", "kube/webhook": "TestWorkloadFaults", "kube/admission": "TestWorkloadFaults", "kube/dry-run": "TestWorkloadFaults", "kube/endpoints": "TestWorkloadFaults", "kube/services": "TestWorkloadFaults", "kube/images": "TestWorkloadFaults", "kube/rotation": "TestWorkloadFaults", "kube/delivery": "TestWorkloadFaults", "kube/field": "TestWorkloadFaults",
		"kube/catch":        "a watch is an answer without an end: TestCatchThroughFaults breaks it",
		"kube/contexts":     "its tables lack what was not read, and it says why: TestContextsTells",
		"kube/node-report":  "reads a file: FuzzParse of nodereport",
		"kube/repair-order": "reads nothing",
	}
}

// TestEveryProbeIsSpoilt: a new kind of probe needs a row of faults, or a reason
// to have none.
func TestEveryProbeIsSpoilt(t *testing.T) {
	t.Parallel()
	all := faultsOf()
	for _, k := range Kinds() {
		if _, there := all[k.Name]; k.Reads != nil && !there {
			t.Errorf("%s: no test spoils the answers that it gets", k.Name)
		}
		delete(all, k.Name)
	}
	for name := range all {
		t.Errorf("%s is no kind", name)
	}
}

// spoilAll spoils the answers of each row, and holds the rows to faultsOf.
func (w *keepersWorld) spoilAll(test string, rows []faultCase) {
	seen := map[string]bool{}
	var of permitted
	w.t.Cleanup(func() { of.least(w.t) })
	for i, p := range rows {
		seen[p.kind] = true
		p.turn = 3 * i
		w.t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			p.spoil(t, *w, &of)
		})
	}
	for kind, by := range faultsOf() {
		if (by == test) != seen[kind] {
			w.t.Errorf("%s: spoilt by %q, a row of %s: %v", kind, by, test, seen[kind])
		}
	}
}

// tells are facts that say how much was read: they change with every fault. keeper_unseen
// is only true where the whole cluster was read.
var tells = []string{"unread", "complete", "signals", "asked", "keeper_unseen"}

// TestFaults spoils each answer that a probe gets, one at a time: a fact is then
// what it was or unknown, never another one. One kind gets every break at every
// request. All kinds read through the same client, so the others get a refusal at
// every request, and the other breaks in turn.
func TestFaults(t *testing.T) {
	t.Parallel()
	w := newKeepersWorld(t)
	w.spoilAll("TestFaults", w.faulted())
}

func (p faultCase) spoil(t *testing.T, w keepersWorld, of *permitted) {
	w.t = t
	tp := &tape{w: &w, recorded: map[string]recordedAnswer{}}
	env := w.front(tp.serve)
	i := slices.IndexFunc(Kinds(), func(k steps.Kind) bool { return k.Name == p.kind })
	if i < 0 {
		t.Fatalf("no kind %q", p.kind)
	}
	k := Kinds()[i]
	now := time.Now()
	env.Now = func() time.Time { return now }
	run := func(limit time.Duration) (map[string]steps.Value, error) {
		ctx, cancel := context.WithTimeout(t.Context(), limit)
		defer cancel()
		env := env
		env.Home = t.TempDir() // no discovery from before
		obs, err := k.Reads(env).Probe(ctx, p.in, steps.SecretsOnly(nil))
		return obs.Facts, err
	}
	want, err := run(time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	again, err := run(time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	for name, v := range want { // what the clock changes is not compared
		if !same(v, again[name]) {
			delete(want, name)
		}
	}
	keys := slices.Clone(tp.keys)
	var requests [][2]string
	for _, key := range keys {
		parts := strings.SplitN(key, " ", 3)
		requests = append(requests, [2]string{parts[0], parts[1]})
	}
	of.hold(t, k, p.in, requests, w.ns)
	if len(keys) > mostFaulted { // a sweep asks every resource the same way
		keys = append(keys[:mostFaulted/2], keys[len(keys)-mostFaulted/2:]...)
	}
	for nth, key := range keys {
		for _, name := range p.breaksAt(key, nth) {
			tp.mu.Lock()
			tp.spoil, tp.how = key, breaks()[name]
			tp.mu.Unlock()
			limit := 20 * time.Second
			if name == "silence" || name == "cut" { // which client-go tries again for as long as it may
				limit = 300 * time.Millisecond
			}
			got, err := run(limit)
			if err != nil && len(got) > 0 {
				t.Errorf("%s at %s: facts %v beside error %v", name, shortKey(key), got, err)
			}
			for fact, v := range got {
				was, ok := want[fact]
				if !ok || !v.Known() || slices.Contains(tells, fact) || same(was, v) {
					continue
				}
				t.Errorf("%s at %s: fact %s = %s, was %s", name, shortKey(key), fact, spelt(v), spelt(was))
			}
		}
	}
}

// breaksAt are the ways in which the answer to the nth request is spoiled.
func (p faultCase) breaksAt(key string, nth int) []string {
	how := slices.Sorted(maps.Keys(breaks()))
	for end, but := range p.excused {
		if strings.HasSuffix(strings.TrimPrefix(shortKey(key), "GET "), end) {
			how = slices.DeleteFunc(how, func(name string) bool { return slices.Contains(but, name) })
		}
	}
	if p.whole {
		return how
	}
	how = slices.DeleteFunc(how, func(name string) bool { return name == "denied" })
	return []string{"denied", how[(p.turn+nth)%len(how)]}
}

// mostFaulted bounds the requests of one probe that are spoiled.
const mostFaulted = 24

func shortKey(key string) string {
	path, _, _ := strings.Cut(key, "?")
	return path
}

func same(a, b steps.Value) bool {
	return a.Known() == b.Known() && (!a.Known() || a.Text() == b.Text())
}

func spelt(v steps.Value) string {
	if !v.Known() {
		return fmt.Sprintf("unknown (%s)", v.Why())
	}
	return strconv.Quote(v.Text())
}

// faulted sets the stage and lists the probes.
func (w *keepersWorld) faulted() []faultCase {
	w.t.Helper()
	w.job("hook", fields{"finalizers": []string{"example.com/hook-cleanup"}})
	w.freed(w.in(batchV1, "jobs", "hook"))
	w.job("hook-2", fields{"finalizers": []string{"example.com/hook-cleanup"}})
	w.freed(w.in(batchV1, "jobs", "hook-2"))
	hook := steps.Params{"resource": steps.StringOf("job"), "name": steps.StringOf("hook"), "namespace": steps.StringOf(w.ns)}
	absent := steps.Params{"resource": steps.StringOf("job"), "name": steps.StringOf("absent"), "namespace": steps.StringOf(w.ns)}
	jobs := steps.Params{"resource": steps.StringOf("jobs"), "namespace": steps.StringOf(w.ns)}
	meta := maps.Clone(jobs)
	meta["read"] = steps.EnumOf("metadata")
	return []faultCase{
		{name: "get", kind: "kube/get", in: hook, whole: true},
		{name: "get what is not there", kind: "kube/get", in: absent},
		{name: "list", kind: "kube/list", in: jobs},
		{name: "list metadata", kind: "kube/list", in: meta},
		{name: "finalizers", kind: "kube/finalizers", in: hook},
		{name: "owners", kind: "kube/owners", in: hook},
		{name: "lookalikes", kind: "kube/lookalikes", in: hook},
		{name: "namespace", kind: "kube/namespace", in: steps.Params{"name": steps.StringOf(w.ns)}},
		{name: "named", kind: "kube/named", in: steps.Params{"objects": steps.StringOf("configmaps/kube-root-ca.crt serviceaccounts/default"), "namespace": steps.StringOf(w.ns)}},
		{name: "held", kind: "kube/held", in: steps.Params{"namespace": steps.StringOf(w.ns)}},
		{name: "persistence", kind: "kube/persistence", in: steps.Params{}},
	}
}
