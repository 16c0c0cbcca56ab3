package session_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"handrail/drills/lab"
	"handrail/runbooks"
	"handrail/session"
	"handrail/session/pin"
	"handrail/steps"
	"handrail/steps/catalog"
	"handrail/triage"
)

// site is one of two real clusters, both with a namespace of the same name.
type site struct {
	lab     *lab.Lab
	api     api
	cluster *clientcmdapi.Cluster
	user    *clientcmdapi.AuthInfo
}

// pinFile is a kubeconfig that changes while an incident reads it.
type pinFile struct {
	t     *testing.T
	path  string
	sites [2]site
	ns    string

	now  map[string]int // contexts, each with the site that it leads to
	cur  string
	bent map[string]bool // contexts whose address alone was changed
	user string          // name of the users' entries
}

// twoClusters starts both and writes contexts a and b, a current.
func twoClusters(t *testing.T) *pinFile {
	t.Helper()
	f := &pinFile{t: t, path: filepath.Join(t.TempDir(), "config"), user: "u"}
	for i := range f.sites {
		opts, err := lab.ForTests("session-pins")
		if err != nil {
			t.Fatal(err)
		}
		if i == 1 {
			opts.Dir, opts.Linger = opts.Dir+"-second", time.Minute
		}
		l, err := lab.Up(t.Context(), opts)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = l.Close() })
		raw, err := clientcmd.LoadFromFile(l.Kubeconfig())
		if err != nil {
			t.Fatal(err)
		}
		cfg, err := clientcmd.BuildConfigFromFlags("", l.Kubeconfig())
		if err != nil {
			t.Fatal(err)
		}
		client, err := rest.HTTPClientFor(cfg)
		if err != nil {
			t.Fatal(err)
		}
		f.sites[i] = site{l, api{t, client, l.URL()}, raw.Clusters[lab.ContextName], raw.AuthInfos[lab.ContextName]}
	}
	ns, err := f.sites[0].lab.Namespace(t.Context(), "pins")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.sites[0].lab.VacateNamespace(context.Background(), ns.Name) })
	f.ns = ns.Name
	if code, made := f.sites[1].api.send("POST", "/api/v1/namespaces", fmt.Sprintf(`{"metadata":{"name":%q}}`, ns.Name)); code != 201 {
		t.Fatalf("namespace of the second lab: %d %v", code, made)
	}
	t.Cleanup(func() { _ = f.sites[1].lab.VacateNamespace(context.Background(), ns.Name) })
	f.reset()
	return f
}

func (f *pinFile) reset() {
	f.now, f.cur, f.bent = map[string]int{"a": 0, "b": 1}, "a", map[string]bool{}
	f.write()
}

func (f *pinFile) write() {
	f.t.Helper()
	k := clientcmdapi.NewConfig()
	k.CurrentContext = f.cur
	for name, i := range f.now {
		cluster := f.sites[i].cluster.DeepCopy()
		if f.bent[name] {
			cluster.Server = f.sites[1-i].cluster.Server
		}
		k.Clusters["c-"+name] = cluster
		k.AuthInfos[f.user+"-"+name] = f.sites[i].user
		k.Contexts[name] = &clientcmdapi.Context{Cluster: "c-" + name, AuthInfo: f.user + "-" + name, Namespace: f.ns}
	}
	if err := clientcmd.WriteToFile(*k, f.path); err != nil {
		f.t.Fatal(err)
	}
}

// disturb changes the file in one of the ways in which a person does.
func (f *pinFile) disturb(r *rand.Rand) string {
	defer f.write()
	switch r.IntN(7) {
	case 0:
		f.cur = []string{"a", "b"}[r.IntN(2)]
		return "use-context " + f.cur
	case 1:
		name := []string{"a", "b"}[r.IntN(2)]
		if i, ok := f.now[name]; ok {
			f.now[name] = 1 - i
		}
		return name + " to the other cluster"
	case 2:
		for name, i := range f.now {
			f.now[name] = 1 - i
		}
		return "swap"
	case 3:
		name := []string{"a", "b"}[r.IntN(2)]
		if i, ok := f.now[name]; ok {
			delete(f.now, name)
			f.now[name+"x"] = i
		}
		return "rename " + name
	case 4:
		f.bent["a"] = !f.bent["a"]
		return "the address of a alone"
	case 5:
		f.user += "x"
		return "rename the users"
	}
	f.now, f.cur, f.bent = map[string]int{"a": 0, "b": 1}, "a", map[string]bool{}
	return "put it back"
}

// leads is the site that a context leads to, -1 for none that answers.
func (f *pinFile) leads(name string) int {
	if i, ok := f.now[name]; ok && !f.bent[name] {
		return i
	}
	return -1
}

// object makes the object anew in both clusters.
func (f *pinFile) object(name string) {
	f.t.Helper()
	for _, s := range f.sites {
		path := "/api/v1/namespaces/" + f.ns + "/configmaps"
		s.api.send("DELETE", path+"/"+name, "")
		if code, made := s.api.send("POST", path, fmt.Sprintf(`{"metadata":{"name":%q}}`, name)); code != 201 {
			f.t.Fatalf("%s: %d %v", name, code, made)
		}
	}
}

const pinBook = `apiVersion: handrail/v1
kind: Runbook
id: test-lock
title: Two clusters
domain: state-backend
severity: SEV-3
preserve:
  - {id: own, uses: kube/get, with: {resource: namespace, name: kube-system}}
  - {id: far, uses: kube/get, with: {resource: namespace, name: kube-system, context: b}}
  - {id: lock, uses: kube/get, with: {resource: configmap, name: NAME, namespace: SPACE}, required: true}
mutation:
  - id: holder
    ask: Is the holder alive?
    answers: {alive: it runs, dead: it is gone}
  - conclude: mutation
    cases:
      - {when: "answers.holder == 'dead'", is: 'yes', say: it died}
compare:
  - conclude: consistent
    cases:
      - {when: facts.lock.exists, is: 'no', say: it is there}
classify:
  - conclude: class
    cases:
      - {when: facts.lock.exists, is: MutationPartiallySucceeded, say: part of it}
recover:
  - id: unlock
    gate: kube/delete
    with: {resource: configmap, name: NAME, namespace: SPACE, uid: "${facts.lock.uid}"}
    require:
      - {when: "answers.holder == 'dead'", else: nobody says it is dead}
verify:
  - {id: free, watch: kube/get, with: {resource: configmap, name: NAME, namespace: SPACE}, when: "!facts.free.exists", greens: 2, apart: 20s}
`

// stage is an incident over the file, as the command line would open it: in the
// context that was current, by its name.
func (f *pinFile) stage(name, version string) *stage {
	f.t.Helper()
	st := newStage(f.t)
	st.cfg.Catalog, st.cfg.Now = catalog.New(), time.Now
	st.cfg.Env = steps.Env{Kubeconfig: f.path, Context: f.cur, Home: f.t.TempDir(), Now: time.Now, Version: version}
	rb, err := runbooks.Parse("test-lock.yaml", []byte(strings.NewReplacer("NAME", name, "SPACE", f.ns).Replace(pinBook)), st.cfg.Catalog)
	if err != nil {
		f.t.Fatal(err)
	}
	st.rb = rb
	return st
}

// look runs a probe and returns its outcome, its words and the UID that it read.
func look(t *testing.T, s *session.Session, step string) (outcome, said, uid string) {
	t.Helper()
	do(t, s, triage.Intent{Kind: triage.DoProbe, Step: "test-lock/" + step})
	got, _ := s.Snapshot().State.Step("test-lock/" + step)
	return got.Outcome, got.Summary, got.Facts["uid"].Text()
}

// TestContextsStayWhatTheyWere: whatever becomes of the kubeconfig between two
// steps, what is read under a name is of the cluster that the name led to first,
// and an act reaches the incident's own cluster or none. The audit logs of both
// servers prove the acts.
func TestContextsStayWhatTheyWere(t *testing.T) {
	if testing.Short() {
		t.Skip("too long for -short")
	}
	t.Parallel()
	f := twoClusters(t)
	began := time.Now().Add(-time.Second)
	acted := map[string]int{} // object to the site of the incident
	const version = "pins"
	for seed := range uint64(6) {
		r := rand.New(rand.NewPCG(seed, 7))
		f.reset()
		name := fmt.Sprintf("walk-%d", seed)
		f.object(name)
		st := f.stage(name, version)
		own := 0
		s := st.start(t)
		var done []string
		first := map[string]int{}
		check := func(step, asked string) {
			outcome, said, uid := look(t, s, step)
			leads := f.leads(asked)
			was, known := first[asked]
			switch {
			case outcome == "ok" && !known:
				first[asked] = leads
				was = leads
				fallthrough
			case outcome == "ok":
				if leads != was || uid != f.sites[was].lab.UID() {
					t.Fatalf("seed %d after %q: %s of %s is %q, the incident knows cluster %d (%s) by that name", seed, done, step, asked, uid, was, f.sites[was].lab.UID())
				}
				if in := strings.HasPrefix(said, "In context b: "); in != (asked == "b") {
					t.Fatalf("seed %d: %s says %q", seed, step, said)
				}
			case leads >= 0 && (!known || leads == was):
				t.Fatalf("seed %d after %q: %s is refused, and leads where it did: %s", seed, done, step, said)
			}
		}
		check("own", "a")
		for range 3 {
			done = append(done, f.disturb(r))
			check("own", "a")
			check("far", "b")
			if r.IntN(4) == 0 {
				done = append(done, "resume")
				path := s.Snapshot().Bundle
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
				cfg := st.cfg
				var err error
				if cfg.Env.Context, _, err = pin.OwnContext(path); err != nil || cfg.Env.Context != "a" {
					t.Fatalf("OwnContext = %q, %v", cfg.Env.Context, err)
				}
				if s, err = session.Resume(t.Context(), cfg, path); err != nil {
					t.Fatal(err)
				}
			}
		}
		calm := seed%3 == 0 // the file stays as it is from here on: this act must reach its cluster
		if calm || r.IntN(2) == 0 {
			done = append(done, "put it back")
			f.reset()
		}
		if outcome, _, _ := look(t, s, "lock"); outcome == "ok" {
			acted[name] = own
			do(t, s, triage.Intent{Kind: triage.DoAnswer, Step: "test-lock/holder", Value: "dead", Text: "seen"})
			do(t, s, triage.Intent{Kind: triage.DoConclude, Topic: triage.TopicMutation, Value: "yes"})
			do(t, s, triage.Intent{Kind: triage.DoConclude, Topic: triage.TopicConsistent, Value: "no"})
			do(t, s, triage.Intent{Kind: triage.DoConclude, Topic: triage.TopicClass, Value: "MutationPartiallySucceeded"})
			if !calm {
				done = append(done, f.disturb(r))
			}
			if err := s.Do(t.Context(), preview()); err == nil {
				if !calm {
					done = append(done, f.disturb(r))
				}
				in := confirm()
				in.Typed = s.Snapshot().Gate.Preview.Phrase
				err := s.Do(t.Context(), in)
				quiet(t, s)
				if leads := f.leads("a"); (err == nil) != (leads == own) {
					t.Fatalf("seed %d after %q: confirmed where a leads to %d: %v", seed, done, leads, err)
				}
			}
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	deleted := 0
	for i, at := range f.sites {
		events, err := at.lab.AuditEvents(t.Context(), lab.AuditFilter{Namespace: f.ns, Since: began})
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range events {
			if !e.Persists() || !strings.HasPrefix(e.UserAgent, "handrail/") {
				continue
			}
			deleted++
			if own, ok := acted[e.Name]; !ok || own != i || e.Verb != "delete" {
				t.Errorf("cluster %d took %s %s of %s: the incident is about cluster %d", i, e.Verb, e.URI, e.UserAgent, own)
			}
		}
	}
	if deleted < 2 {
		t.Errorf("%d objects were deleted: the two that nobody was in the way of were not", deleted)
	}
}

// TestActGoesToThePinnedClusterOnly: the file changes after the act was recorded
// and before its executor reads it.
func TestActGoesToThePinnedClusterOnly(t *testing.T) {
	if testing.Short() {
		t.Skip("too long for -short")
	}
	t.Parallel()
	f := twoClusters(t)
	f.object("late")
	st := f.stage("late", "late")
	cfg := st.cfg
	st.cfg.Execute = func(_ steps.Env, o session.Order) (<-chan struct{}, error) {
		f.now = map[string]int{"a": 1, "b": 0}
		f.write()
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			if err := session.Carry(context.Background(), cfg, o); err != nil {
				t.Error(err)
			}
		}()
		return ended, nil
	}
	began := time.Now().Add(-time.Second)
	s := st.start(t)
	ready(t, s)
	do(t, s, preview())
	in := confirm()
	in.Typed = s.Snapshot().Gate.Preview.Phrase
	do(t, s, in)
	if g := s.Snapshot().State.Gates[gateID]; g.Phase != triage.GateRefused || !strings.Contains(g.Response, `context "a" led to`) {
		t.Errorf("the act came to %s: %q", g.Phase, g.Response)
	}
	for i, at := range f.sites {
		events, err := at.lab.AuditEvents(t.Context(), lab.AuditFilter{Namespace: f.ns, Since: began})
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range events {
			if e.Persists() && e.Name == "late" && e.UserAgent == "handrail/late" {
				t.Errorf("cluster %d took %s %s", i, e.Verb, e.URI)
			}
		}
	}
}
