package kube

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"handrail/drills/lab"
	"handrail/steps"
	"handrail/steps/kube/act"
	"handrail/steps/kube/report"
)

var uuid4 = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)

// TestStrip removes one finalizer of a live and of a Terminating object, and
// proves by the server's audit log that it did nothing else.
func TestStrip(t *testing.T) {
	t.Parallel()
	stage := newStage(t)
	var mu sync.Mutex
	acts := map[string]string{} // Audit-ID to object
	for _, w := range stage.strips(t, func(id, name string) { mu.Lock(); acts[id] = name; mu.Unlock() }) {
		if name, ok := acts[w.ID]; !ok || name != w.Name || !uuid4.MatchString(w.ID) || w.Verb != "patch" || w.UserAgent != "handrail/test" {
			t.Errorf("%+v is no patch of an act %v", w, acts)
		}
		delete(acts, w.ID)
	}
	if len(acts) > 0 {
		t.Errorf("the server knows of no act for %v", acts)
	}
}

// strips returns what the operator wrote meanwhile.
func (s *stage) strips(t *testing.T, acted func(id, name string)) []lab.AuditEvent {
	stage := s
	cases := []struct {
		name       string
		finalizers []string
		condemned  bool
		diff       []string
		effect     string
		undo       string
		after      []string // finalizers left; nil for gone
	}{
		{"live", []string{another, cleaner}, false, []string{`- metadata.finalizers[1]: "` + cleaner + `"`}, "It is not being deleted and stays", "Can be put back", []string{another}},
		{"live, the only one", []string{cleaner}, false, []string{`- metadata.finalizers[0]: "` + cleaner + `"`}, "It is not being deleted and stays", "Can be put back", []string{}},
		{"terminating, one of two", []string{cleaner, another}, true, []string{`- metadata.finalizers[0]: "` + cleaner + `"`}, "stays until " + another, "no finalizer can be added", []string{another}},
		{"terminating, the last", []string{cleaner}, true, []string{`- metadata.finalizers[0]: "` + cleaner + `"`, "it is being deleted and nothing else holds it"}, "it goes at once", "under a new UID", nil},
	}
	t.Run("strips", func(t *testing.T) {
		for i, tc := range cases {
			t.Run(tc.name, func(t *testing.T) {
				t.Parallel()
				s := *stage
				s.t = t
				name := fmt.Sprintf("migrate%d", i)
				uid := s.make(thingMade{resource: "jobs", name: name, finalizers: tc.finalizers})
				if tc.condemned {
					s.condemn("jobs", name)
				}
				g, in := gateOf("kube/strip-finalizer", s.env), s.stripParams("job", name, uid)
				before := s.content("jobs", name)
				armed := s.preview(g, in)
				if len(armed.Unmet) > 0 {
					t.Fatalf("unmet = %s", unmetText(armed))
				}
				if armed.Phrase != "patch job/"+s.ns.Name+"/"+name {
					t.Errorf("phrase = %q", armed.Phrase)
				}
				if len(armed.Diff) != len(tc.diff) || !strings.Contains(armed.Diff[0], tc.diff[0]) || !strings.Contains(armed.Diff[len(armed.Diff)-1], tc.diff[len(tc.diff)-1]) {
					t.Errorf("diff = %q, want %q", armed.Diff, tc.diff)
				}
				if !strings.Contains(armed.Effect, tc.effect) || !strings.Contains(armed.Undo, tc.undo) {
					t.Errorf("effect = %q, undo = %q", armed.Effect, armed.Undo)
				}
				if got := s.content("jobs", name); got != before {
					t.Fatalf("the preview changed the object:\n%s", cmp.Diff(before, got))
				}
				p := s.preview(g, in)
				if p.Digest("i", "s") != armed.Digest("i", "s") {
					t.Fatalf("two previews differ:\n%s", cmp.Diff(armed, p))
				}
				a := s.confirm(p, armed.Digest("i", "s"))
				o, err := g.Act(t.Context(), a, &scrap{})
				if err != nil || o.Result != steps.Done {
					t.Fatalf("Act() = %+v, %v, want done", o, err)
				}
				if _, err := g.Act(t.Context(), a, &scrap{}); !errors.Is(err, steps.ErrSpent) {
					t.Errorf("a second Act() = %v, want ErrSpent", err)
				}
				if tc.after == nil {
					if steps.Find(o.After, act.KeyObject) != "gone" || s.content("jobs", name) != "gone" {
						t.Errorf("after = %v", o.After)
					}
				} else if got := steps.Find(o.After, act.KeyFinalizers); got != report.OrNothing(strings.Join(tc.after, ", ")) {
					t.Errorf("finalizers after = %q, want %q", got, tc.after)
				}
				acted(steps.Find(o.After, act.KeyAudit), name)
				// After a crash the same is found by looking.
				found, err := g.Find(t.Context(), slices.Concat(armed.Target, armed.Shown), in, &scrap{})
				if err != nil || found.Result != steps.Done {
					t.Errorf("Find() = %+v, %v, want done", found, err)
				}
			})
		}
	})
	return stage.writes()
}

// TestStripShowsItself reads what a person on the call sees.
func TestStripShowsItself(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	uid := s.make(thingMade{resource: "jobs", name: "migrate", finalizers: []string{cleaner}, labels: map[string]string{"app": "a"}})
	decoy := s.make(thingMade{resource: "jobs", name: "migrate-decoy", finalizers: []string{cleaner}, labels: map[string]string{"app": "a", "example.com/owner": "team-b"},
		notes: map[string]string{"argocd.argoproj.io/hook": "PreSync", "argocd.argoproj.io/hook-delete-policy": "HookSucceeded"}})
	g := gateOf("kube/strip-finalizer", s.env)
	out := &scrap{}
	p, err := g.Preview(t.Context(), s.stripParams("job", "migrate", uid), out)
	if err != nil {
		t.Fatal(err)
	}
	at := func(key string) string { return steps.Find(p.Target, key) }
	if at(act.KeyServer) != s.lab.URL() || at(act.KeyCluster) != s.lab.UID() || at(act.KeyObject) != "job/"+s.ns.Name+"/migrate" || at(act.KeyUID) != uid ||
		at(act.KeyFinalizers) != cleaner || at(act.KeyFinalizer) != cleaner || at(act.KeyDeletion) != report.Nothing {
		t.Errorf("target = %v", p.Target)
	}
	if steps.Find(p.Target, act.KeyVersion) != "" || steps.Find(p.Shown, act.KeyVersion) == "" || steps.Find(p.Shown, "user") != s.ns.Operator {
		t.Errorf("shown = %v", p.Shown)
	}
	if alike := steps.Find(p.Shown, act.KeyAlike); !strings.Contains(alike, "migrate-decoy") || !strings.Contains(alike, decoy) || !strings.Contains(alike, "HookSucceeded") {
		t.Errorf("look-alike = %q", alike)
	}
	if !strings.Contains(p.Request, `"value":"<resourceVersion of the re-read>"`) || !strings.Contains(p.Request, uid) {
		t.Errorf("request = %s", p.Request)
	}
	if !strings.Contains(p.Command, "patch jobs.batch migrate --type=json") || strings.Contains(p.Command, "resourceVersion") {
		t.Errorf("command = %s", p.Command)
	}
	if len(p.Owes) != 1 || p.Owes[0].Kind != "unfinished" {
		t.Errorf("owes = %v", p.Owes)
	}
	if !strings.Contains(out.roles["manifest"].String(), uid) || !strings.Contains(out.roles["rehearsal"].String(), uid) {
		t.Error("the manifest or the rehearsal was not kept")
	}
	// A harmless change between preview and re-read moves nothing that matters.
	s.merge("jobs", "migrate", `{"metadata":{"labels":{"beat":"1"}}}`)
	fresh := s.preview(g, s.stripParams("job", "migrate", uid))
	o, err := g.Act(t.Context(), s.confirm(fresh, p.Digest("i", "s")), &scrap{})
	if err != nil || o.Result != steps.Done {
		t.Errorf("Act() after a harmless change = %+v, %v, want done", o, err)
	}
}
