package kube

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"handrail/steps"
)

// catch watches for a short while.
func (w *keepersWorld) catch(env steps.Env, window time.Duration, resource, name, field string) (steps.Observation, *readsSink) {
	w.t.Helper()
	sink := newReadsSink()
	in := what("resource", resource, "name", name, "field", field)
	in["window"] = steps.DurationOf(window)
	obs, err := readsProbe(w.t.Context(), env, "kube/catch", in, sink)
	if err != nil {
		w.t.Fatal(err)
	}
	return obs, sink
}

// watched waits until a probe of this test watches, and then calls back, once.
func (w *keepersWorld) watched(then func()) steps.Env {
	var once sync.Once
	return w.front(func(_ http.ResponseWriter, r *http.Request) bool {
		if r.URL.Query().Has("watch") {
			once.Do(then)
		}
		return false
	})
}

func (w *keepersWorld) config(name, manager string) string {
	w.t.Helper()
	w.create(w.in("", "configmaps", "")+asMan+manager, fields{"metadata": fields{"name": name}, "data": fields{"host": "right", "other": "x"}})
	return w.in("", "configmaps", name)
}

func (w *keepersWorld) put(at, manager, key, value string) {
	w.t.Helper()
	w.send(http.MethodPatch, at+asMan+manager, "application/merge-patch+json", fields{"data": fields{key: value}})
}

// TestCatch lets a reconciler fight over a field of a real object.
func TestCatch(t *testing.T) {
	t.Parallel()
	w := newKeepersWorld(t)
	at := w.config("fought", "kubectl-patch")
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	env := w.watched(func() {
		wg.Go(func() {
			tick := time.NewTicker(200 * time.Millisecond)
			defer tick.Stop()
			for ctx.Err() == nil {
				_, _, _ = w.try(http.MethodPatch, at+asMan+"enforcer", "application/merge-patch+json", fields{"data": fields{"host": "wrong"}})
				_, _, _ = w.try(http.MethodPatch, at+asMan+"kubectl-patch", "application/merge-patch+json", fields{"data": fields{"host": "right"}})
				select {
				case <-tick.C:
				case <-ctx.Done():
				}
			}
		})
	})
	obs, sink := w.catch(env, 2*time.Second, "cm", "fought", "data.host")
	cancel()
	wg.Wait()
	wantFact(t, obs, "reverts", "true")
	wantFact(t, obs, "derived", "true")
	wantFact(t, obs, "settled", "false")
	wantFact(t, obs, "recreated", "false")
	if who := obs.Facts["writer"].Text(); who != "enforcer" && who != "kubectl-patch" {
		t.Errorf("writer = %s", who)
	}
	if tick := obs.Facts["tick"]; !tick.Known() || tick.Duration() <= 0 {
		t.Errorf("tick = %s (%s)", tick.Text(), tick.Why())
	}
	wantFinding(t, obs, "derived state")
	if in := obs.Facts["inputs"]; !in.Known() {
		t.Errorf("inputs: %s", in.Why())
	}
	text := sink.text("writes")
	if !strings.Contains(text, "enforcer (update, ") || !strings.Contains(text, "value B") || strings.Contains(text, "wrong") {
		t.Errorf("the table of writes is %q", text)
	}
}

// TestCatchOneRevert: a person's value goes, once.
func TestCatchOneRevert(t *testing.T) {
	t.Parallel()
	w := newKeepersWorld(t)
	at := w.config("fixed", "kubectl-edit")
	w.account("enforcer", may("", "configmaps", "update"))
	w.create(w.in(appsV1, "deployments", ""), fields{"metadata": fields{"name": "enforcer"}, "spec": fields{"replicas": 1, "selector": fields{"matchLabels": fields{"app": "enforcer"}},
		"template": fields{"metadata": fields{"labels": fields{"app": "enforcer"}}, "spec": fields{"serviceAccountName": "enforcer", "containers": []fields{{"name": "c", "image": "e:1"}}}}}})
	obs, _ := w.catch(w.watched(func() {
		w.put(at, "kubectl-edit", "other", "y") // of no interest here
		w.put(at, "enforcer", "host", "wrong")
	}), 2*time.Second, "cm", "fixed", "data.host")
	wantFact(t, obs, "writes", "1")
	wantFact(t, obs, "reverts", "true")
	wantFact(t, obs, "writer", "enforcer")
	wantFact(t, obs, "derived", "false")
	wantFact(t, obs, "tick", "?no rhythm")
	if likely := obs.Facts["likely"].Strings(); len(likely) == 0 || !strings.HasPrefix(likely[0], "deployment/"+w.ns+"/enforcer: the books name enforcer") {
		t.Errorf("likely = %q", likely)
	}

	// A person's own change is no revert.
	obs, _ = w.catch(w.watched(func() { w.put(at, "kubectl-edit", "host", "mine") }), time.Second, "cm", "fixed", "data.host")
	wantFact(t, obs, "writes", "1")
	wantFact(t, obs, "reverts", "false")
	wantFact(t, obs, "writer", "kubectl-edit")

	// Without a field everything counts, and it is unknown what was put back.
	obs, _ = w.catch(w.watched(func() { w.put(at, "one", "a", "1"); w.put(at, "two", "b", "1") }), time.Second, "cm", "fixed", "")
	wantFact(t, obs, "writes", "2")
	wantFact(t, obs, "reverts", "?name the field")

	obs, _ = w.catch(w.env, time.Second, "cm", "fixed", "data.host")
	wantFact(t, obs, "settled", "true")
	wantFact(t, obs, "writes", "0")
	wantFact(t, obs, "reverts", "?leaves no trace")
	wantFact(t, obs, "writer", "?nothing wrote")
	wantFinding(t, obs, "webhook or a policy changed it in the same request")
}

// TestCatchRecreated: another UID is another object.
func TestCatchRecreated(t *testing.T) {
	t.Parallel()
	w := newKeepersWorld(t)
	at := w.config("replaced", "kubectl-create")
	obs, _ := w.catch(w.watched(func() {
		w.remove(at, fields{})
		w.config("replaced", "replacer")
	}), 2*time.Second, "cm", "replaced", "data.host")
	wantFact(t, obs, "recreated", "true")
	wantFact(t, obs, "settled", "false")
	wantFinding(t, obs, "made again under another UID")
	obs, _ = w.catch(w.watched(func() { w.remove(at, fields{}) }), time.Second, "cm", "replaced", "data.host")
	wantFact(t, obs, "recreated", "false")
	wantFact(t, obs, "settled", "false")
	wantFinding(t, obs, "leaves no author")
	obs, _ = w.catch(w.watched(func() { w.config("late", "maker") }), time.Second, "cm", "late", "data.host")
	wantFact(t, obs, "writer", "maker")
	wantFact(t, obs, "recreated", "false")
}

// TestCatchStatus: controllers report on an object all the time.
func TestCatchStatus(t *testing.T) {
	t.Parallel()
	w := newKeepersWorld(t)
	at := w.web("web", "kubectl-create")
	w.until("the status of the Deployment", func() bool {
		s, _ := w.read(at)["status"].(fields)
		return s["observedGeneration"] != nil
	})
	obs, _ := w.catch(w.watched(func() {
		w.send(http.MethodPatch, at+"/status"+asMan+"reporter", "application/merge-patch+json", fields{"status": fields{"replicas": 7}})
		w.send(http.MethodPatch, at+"/scale"+asMan+"scaler", "application/merge-patch+json", fields{"spec": fields{"replicas": 2}})
	}), 2*time.Second, "deploy", "web", "spec.replicas")
	wantFact(t, obs, "writes", "1")
	wantFact(t, obs, "writer", "scaler")
	wantFinding(t, obs, "scale subresource")
	wantFinding(t, obs, "of the status alone")
}

// TestCatchSecret: its values stay where they are.
func TestCatchSecret(t *testing.T) {
	t.Parallel()
	w := newKeepersWorld(t)
	w.create(w.in("", "secrets", "")+asMan+"kubectl-create", fields{"metadata": fields{"name": "key"}, "stringData": fields{"password": "hunter2hunter2"}})
	var whole atomic.Bool
	var once sync.Once
	env := w.front(func(_ http.ResponseWriter, r *http.Request) bool {
		if strings.Contains(r.URL.Path, "/secrets") && !strings.Contains(r.Header.Get("Accept"), "as=PartialObjectMetadata") {
			whole.Store(true)
		}
		if r.URL.Query().Has("watch") {
			once.Do(func() {
				w.send(http.MethodPatch, w.in("", "secrets", "key")+asMan+"syncer", "application/merge-patch+json", fields{"stringData": fields{"password": "other"}})
			})
		}
		return false
	})
	obs, _ := w.catch(env, time.Second, "secret", "key", "data.password")
	if whole.Load() {
		t.Error("a Secret was read whole")
	}
	wantFact(t, obs, "writes", "1")
	wantFact(t, obs, "writer", "syncer")
	wantFact(t, obs, "reverts", "true") // another client holds it now
}

// TestCatchThroughFaults: whatever happens to the watch, nothing is lost, and
// what cannot be known is not said.
func TestCatchThroughFaults(t *testing.T) {
	t.Parallel()
	world := newKeepersWorld(t)
	for _, tc := range []struct {
		name  string
		fault func(w *keepersWorld, rw http.ResponseWriter, r *http.Request, write func())
		want  map[string]string
	}{
		{"cut", func(_ *keepersWorld, rw http.ResponseWriter, _ *http.Request, write func()) { write(); cutOff(rw) },
			map[string]string{"writes": "1", "writer": "enforcer", "reverts": "true", "settled": "false"}},
		{"cut in the middle", func(_ *keepersWorld, rw http.ResponseWriter, _ *http.Request, write func()) {
			_, _ = rw.Write([]byte(`{"type":"MODIFIED","object":{"meta`))
			rw.(http.Flusher).Flush()
			write()
			cutOff(rw)
		}, map[string]string{"writes": "1", "reverts": "true"}},
		{"closed at once", func(_ *keepersWorld, rw http.ResponseWriter, _ *http.Request, write func()) { write() },
			map[string]string{"writes": "1", "reverts": "true"}},
		{"silent", func(_ *keepersWorld, rw http.ResponseWriter, r *http.Request, write func()) {
			rw.(http.Flusher).Flush()
			write()
			<-r.Context().Done()
		}, map[string]string{"writes": "1", "writer": "enforcer", "reverts": "true"}},
		{"never answered", func(_ *keepersWorld, _ http.ResponseWriter, r *http.Request, write func()) {
			write()
			<-r.Context().Done()
		}, map[string]string{"writes": "1", "reverts": "true"}},
		{"busy", func(_ *keepersWorld, rw http.ResponseWriter, _ *http.Request, write func()) {
			write()
			reply(rw, 429, status(429, "TooManyRequests", "try later", nil))
		}, map[string]string{"writes": "1", "reverts": "true"}},
		{"broken", func(_ *keepersWorld, rw http.ResponseWriter, _ *http.Request, write func()) {
			write()
			http.Error(rw, "oops", http.StatusInternalServerError)
		}, map[string]string{"writes": "1", "reverts": "true"}},
		{"garbage", func(_ *keepersWorld, rw http.ResponseWriter, _ *http.Request, write func()) {
			write()
			_, _ = rw.Write([]byte("<html>welcome</html>"))
		}, map[string]string{"writes": "1", "reverts": "true"}},
		{"another object", func(_ *keepersWorld, rw http.ResponseWriter, _ *http.Request, write func()) {
			write()
			_, _ = rw.Write([]byte(`{"type":"MODIFIED","object":{"kind":"ConfigMap","metadata":{"name":"stranger","uid":"1","resourceVersion":"99999999"}}}`))
		}, map[string]string{"writes": "1", "reverts": "true"}},
		{"expired, and written", func(_ *keepersWorld, rw http.ResponseWriter, _ *http.Request, write func()) {
			write()
			reply(rw, 410, status(410, "Expired", "too old", nil))
		}, map[string]string{"writes": "?no longer has", "reverts": "true", "settled": "false", "recreated": "?no longer has", "derived": "?no longer has"}},
		{"expired in the stream, and written", func(_ *keepersWorld, rw http.ResponseWriter, _ *http.Request, write func()) {
			write()
			reply(rw, 200, m{"type": "ERROR", "object": status(410, "Expired", "too old", nil)})
		}, map[string]string{"writes": "?no longer has", "settled": "false"}},
		{"expired, and not written", func(_ *keepersWorld, rw http.ResponseWriter, _ *http.Request, _ func()) {
			reply(rw, 410, status(410, "Expired", "too old", nil))
		}, map[string]string{"writes": "0", "reverts": "?leaves no trace", "settled": "true"}},
		{"forbidden", func(_ *keepersWorld, rw http.ResponseWriter, _ *http.Request, _ func()) {
			reply(rw, 403, status(403, "Forbidden", "no watching", nil))
		}, map[string]string{"writes": "?permission denied", "reverts": "?permission denied", "settled": "?permission denied"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			w := *world
			w.t = t
			name := "faulty-" + strings.NewReplacer(" ", "-", ",", "").Replace(tc.name)
			at := w.config(name, "kubectl-edit")
			var first sync.Once
			env := w.front(func(rw http.ResponseWriter, r *http.Request) bool {
				hit := false
				if r.URL.Query().Has("watch") {
					first.Do(func() {
						hit = true
						tc.fault(&w, rw, r, func() { w.put(at, "enforcer", "host", "wrong") })
					})
				}
				return hit
			})
			obs, _ := w.catch(env, 2*time.Second, "cm", name, "data.host")
			for fact, want := range tc.want {
				wantFact(t, obs, fact, want)
			}
		})
	}
}

// cutOff ends the connection without a word.
func cutOff(rw http.ResponseWriter) {
	if conn, _, err := rw.(http.Hijacker).Hijack(); err == nil {
		_ = conn.Close()
	}
}

// TestCatchTurnedAway: a cancelled watch gives no facts.
func TestCatchTurnedAway(t *testing.T) {
	t.Parallel()
	w := newKeepersWorld(t)
	w.config("left", "kubectl-edit")
	ctx, cancel := context.WithCancel(t.Context())
	in := what("resource", "cm", "name", "left")
	in["window"] = steps.DurationOf(10 * time.Minute)
	obs, err := readsProbe(ctx, w.watched(cancel), "kube/catch", in, newReadsSink())
	if err == nil || len(obs.Facts) > 0 {
		t.Errorf("Probe() = %v, %v, want an error alone", obs, err)
	}
	if got := fmt.Sprint(kindOf("kube/catch").Takes(in), kindOf("kube/catch").Takes(steps.Params{})); got != "10m45s 1m45s" {
		t.Errorf("the probe takes %s", got)
	}
}
