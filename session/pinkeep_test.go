package session_test

import (
	"context"
	"strings"
	"sync"
	"testing"

	"handrail/runbooks"
	"handrail/session"
	"handrail/session/pin"
	"handrail/session/replay"
	"handrail/steps"
	"handrail/triage"
)

// pinned is a world with one probe more, that uses whatever context it is told to
// and says what the incident thinks of it.
type pinned struct {
	*world
	mu    sync.Mutex
	leads map[string]steps.Cluster // by context, "" for the own one
}

func (w *pinned) Lookup(name string) (steps.Kind, bool) {
	if name != "test/use" {
		return w.world.Lookup(name)
	}
	return steps.Kind{
		Name: name, Doc: "uses a context", Class: steps.Probe, Touches: []string{"memory"}, Facts: []steps.Field{{Name: "held", Type: steps.Bool}},
		Params: []steps.Field{{Name: steps.ContextParam, Type: steps.String}},
		Reads:  func(e steps.Env) steps.Prober { return useProbe{w, e} },
	}, true
}

type useProbe struct {
	w   *pinned
	env steps.Env
}

func (p useProbe) Probe(ctx context.Context, in steps.Params, _ steps.Sink) (steps.Observation, error) {
	env := p.env.At(in.Text(steps.ContextParam))
	p.w.mu.Lock()
	c := p.w.leads[in.Text(steps.ContextParam)]
	p.w.mu.Unlock()
	c.Own = !env.Other
	return steps.Observation{Summary: "used"}, env.Pin(ctx, c)
}

// TestPinsAreKept: what a context led to stands in the journal once, custody of
// another cluster is captured beside it, and who resumes is held to both.
func TestPinsAreKept(t *testing.T) {
	t.Parallel()
	st := newStage(t)
	a := steps.Cluster{Context: "a", Server: "https://a:6443", UID: "uid-a", User: "ana", CA: "ca"}
	b := steps.Cluster{Context: "b", Server: "https://b:6443", Unread: "forbidden to " + leaked, User: "ana"}
	w := &pinned{world: st.w, leads: map[string]steps.Cluster{"": a, "b": b}}
	st.cfg.Catalog, st.cfg.Env.Context, st.cfg.Secrets = w, "a", []string{leaked}
	var asked []string
	st.cfg.Server = func(_ context.Context, e steps.Env, _ triage.State) map[string]steps.Value {
		w.mu.Lock()
		defer w.mu.Unlock()
		asked = append(asked, e.Context)
		return map[string]steps.Value{"cluster.context": steps.IdentOf(e.Context), "cluster.server": steps.IdentOf("https://" + e.Context + ":6443")}
	}
	src := strings.Replace(book, "preserve:\n", "preserve:\n  - {id: own, uses: test/use}\n  - {id: far, uses: test/use, with: {context: b}}\n", 1)
	var err error
	if st.rb, err = runbooks.Parse("test-lock.yaml", []byte(src), w); err != nil {
		t.Fatal(err)
	}
	use := func(s *session.Session, step string) triage.Step {
		t.Helper()
		do(t, s, triage.Intent{Kind: triage.DoProbe, Step: "test-lock/" + step})
		got, _ := s.Snapshot().State.Step("test-lock/" + step)
		return got
	}
	s := st.start(t)
	for range 3 {
		for _, step := range []string{"own", "far"} {
			if got := use(s, step); got.Outcome != "ok" {
				t.Fatalf("%s: %s", step, got.Summary)
			}
		}
	}
	path := s.Snapshot().Bundle
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	var held []string
	customs := map[string]bool{}
	for _, e := range contexts(t, path) {
		if name, ok := e.Context["context.name"]; ok {
			held = append(held, string(name.Raw())+string(e.Context["context.own"].Raw())+string(e.Context["cluster.uid"].Raw())+e.Context["cluster.uid"].Why())
		}
		if v, ok := e.Context["context.other"]; ok {
			customs[string(v.Raw())] = true
		}
	}
	if len(held) != 2 || held[0] != `"a""true""uid-a"` || !strings.HasPrefix(held[1], `"b""false"could not check, because forbidden to `) || strings.Contains(held[1], leaked) {
		t.Errorf("the journal holds %q", held)
	}
	if len(asked) != 2 || !customs[`"b"`] || len(customs) != 1 {
		t.Errorf("custody asked %q and recorded %v of others", asked, customs)
	}

	// Another operator takes over, and the file says something else.
	a.Server, a.UID = "https://b:6443", "uid-b"
	w.leads[""] = a
	c := st.cfg
	c.Actor, c.Takeover = triage.Person{ID: "eve", Name: "Eve", Proof: "os", Subject: "eve"}, "the next shift"
	if s, err = session.Resume(t.Context(), c, path); err != nil {
		t.Fatal(err)
	}
	const words = `context "a" led to https://a:6443 (cluster UID uid-a) when this incident first used it, and now to https://b:6443 (cluster UID uid-b)`
	if got := use(s, "own"); got.Outcome != "failed" || !strings.Contains(got.Summary, words) || got.Facts["held"].Known() {
		t.Errorf("after a resume: %s %q", got.Outcome, got.Summary)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if name, ok, err := pin.OwnContext(path); name != "a" || !ok || err != nil {
		t.Errorf("OwnContext = %q, %v, %v", name, ok, err)
	}
	tape, err := replay.Open(path, looking(st.cfg))
	if err != nil {
		t.Fatal(err)
	}
	defer tape.Close()
	if h := steps.Find(tape.Snapshot().Header, "cluster"); h != "https://a:6443" {
		t.Errorf("the replay is headed %q", h)
	}
}
