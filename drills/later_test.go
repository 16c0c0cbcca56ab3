package drills_test

import (
	"context"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"handrail/drills"
	"handrail/session"
	"handrail/session/walk"
	"handrail/triage"
)

const patience = 5 * time.Minute

// until looks until it is so.
func until(t *testing.T, what string, so func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !so() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf("it never came to this: %s", what)
		}
	}
}

// ask gets one object with the rights of a kubeconfig.
func ask(t *testing.T, kubeconfig, path string, out any) (code int) {
	t.Helper()
	cfg, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	client, err := rest.HTTPClientFor(cfg)
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, cfg.Host+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	if out != nil && res.StatusCode == http.StatusOK {
		if err := json.Unmarshal(body, out); err != nil {
			t.Fatal(err)
		}
	}
	return res.StatusCode
}

// kept is what the drill has written down of itself.
type kept struct {
	Bucket    struct{ URL string }
	Namespace struct{ Name, RobotKubeconfig string }
	Later     map[string]string
	Held      []struct{ Path string }
}

func keptOf(t *testing.T, o drills.Options, id string) (k kept) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(o.State, "drills", id, "drill.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, &k); err != nil {
		t.Fatal(err)
	}
	return k
}

// TestFollowRacesAPerson walks the variant in which the object is made anew
// while the gate is in front of the call, by an operator who needs a moment to type
// the phrase: the drill sees the gate in the journal, and injects once.
func TestFollowRacesAPerson(t *testing.T) {
	t.Parallel()
	o, c := world(t)
	s := scene(t, "orphan-hook", "recreated")
	r, err := drills.Start(t.Context(), o, s)
	if err != nil {
		t.Fatal(err)
	}
	defer stop(t, o, r)
	call := open(t, c, r)
	defer func() {
		if err := call.Close(); err != nil {
			t.Error(err)
		}
	}()
	r.Follow()
	k := keptOf(t, o, r.ID())
	uid := func() string {
		var job struct{ Metadata struct{ UID string } }
		ask(t, k.Namespace.RobotKubeconfig, "/apis/batch/v1/namespaces/"+k.Namespace.Name+"/jobs/tariffs-schema-step-7xq4m", &job)
		return job.Metadata.UID
	}
	first := uid()
	by := walk.Script{Answers: s.Answers, Vars: r.Vars(), Talk: tell{t}}
	by.Before = func(_ context.Context, in triage.Intent) error {
		if in.Kind == triage.DoPreview && uid() != first {
			t.Error("it was injected before the gate was shown")
		}
		if in.Kind == triage.DoConfirm {
			until(t, "the object is another one", func() bool { now := uid(); return now != "" && now != first })
		}
		return nil
	}
	got, err := walk.Play(t.Context(), call, by)
	if err != nil {
		t.Fatal(err)
	}
	if got.Code != walk.CodeRefused || got.Refused != "stuck-finalizer/strip" {
		t.Errorf("Play() = %+v, want the strip refused", got)
	}
	second := uid()
	if later := keptOf(t, o, r.ID()).Later; !maps.Equal(later, map[string]string{"strip": "done"}) {
		t.Errorf("drill.json says that this came later: %q, want strip", later)
	}
	// A second process that goes on with the drill does not do it again.
	again, err := drills.Open(t.Context(), o, r.ID())
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := again.Close(); err != nil {
			t.Error(err)
		}
	}()
	again.Follow()
	for _, in := range []triage.Intent{{Kind: triage.DoPreview, Step: "stuck-finalizer/strip"}, {Kind: triage.DoConfirm, Step: "stuck-finalizer/strip"}} {
		if err := again.Before(t.Context(), in); err != nil {
			t.Error(err)
		}
	}
	if now := uid(); now != second || second == first {
		t.Errorf("UID %s, then %s, then %s: want it to change once", first, second, now)
	}
}

// open opens the incident of a drill as the program does.
func open(t *testing.T, c session.Config, r *drills.Running) *session.Session {
	t.Helper()
	rb, err := c.Library(r.Runbook())
	if err != nil {
		t.Fatal(err)
	}
	params, err := rb.Bind(r.Params())
	if err != nil {
		t.Fatal(err)
	}
	if c.Secrets, err = r.Secrets(); err != nil {
		t.Fatal(err)
	}
	c.Env = r.Env(c.Env)
	s, err := session.Start(t.Context(), c, session.Begin{Runbook: rb, Params: params, Drill: r.ID()})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.SetBundle(s.Snapshot().Bundle); err != nil {
		t.Fatal(err)
	}
	return s
}

// stop ends a drill at the end of its test.
func stop(t *testing.T, o drills.Options, r *drills.Running) {
	t.Helper()
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	if err := drills.Stop(context.WithoutCancel(t.Context()), o, r.ID()); err != nil {
		t.Error(err)
	}
}
