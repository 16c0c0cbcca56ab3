package kube

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"handrail/steps"
	"handrail/steps/kube/act"
)

// TestLostAnswerOfAChange finds out what a patch, a create and a recreate came to
// whose answers never came.
func TestLostAnswerOfAChange(t *testing.T) {
	t.Parallel()
	stage := newStage(t)
	for _, tc := range []struct {
		name   string
		road   road
		result string
		said   string
		acts   map[string]int32 // requests that left, where not one
	}{
		{"cut after it was done", resetAfter, steps.Done, "audit log of the server can prove", map[string]int32{"recreate": 2}},
		{"person turned away", abandoned, steps.Done, "", map[string]int32{"recreate": 2}},
		{"answered by a gateway", badGateway, steps.Done, "answered 502", map[string]int32{"recreate": 2}},
		{"cut before the server had it", resetBefore, steps.Failed, "did not take effect", nil},
		{"busy", busy, steps.Refused, "(429)", nil},
		{"nothing can be read", dark, "", "read it again before anything else", nil},
	} {
		for _, kind := range []string{"patch", "create", "recreate"} {
			if tc.road == dark && kind == "recreate" {
				continue // TestRecreateGoesDark
			}
			t.Run(tc.name+"/"+kind, func(t *testing.T) {
				t.Parallel()
				s := *stage
				s.t = t
				name := strings.ReplaceAll(tc.name+"-"+kind, " ", "-")
				ctx, turnAway := context.WithCancel(t.Context())
				defer turnAway()
				var late atomic.Bool
				env, acts := s.between(tc.road, func() {
					if late.Store(true); tc.road == abandoned {
						turnAway()
					}
				})
				env.Now = func() time.Time {
					if late.Load() {
						return time.Now().Add(25 * time.Second)
					}
					return time.Now()
				}
				env.Dir = t.TempDir()
				s.env = env
				in := s.losable(kind, name)
				g := s.gate("kube/" + kind)
				p, a := s.approve(g, in)
				before := s.content("configmaps", name)
				o, err := g.Act(ctx, a, &scrap{})
				said := o.Response
				if err != nil {
					said = err.Error()
				}
				if o.Result != tc.result || (err != nil) != (tc.result == "") || !strings.Contains(said, tc.said) {
					t.Errorf("Act() = %+v, %v, want %q with %q", o, err, tc.result, tc.said)
				}
				if want := max(tc.acts[kind], 1); acts.Load() != want {
					t.Errorf("%d requests were sent, want %d", acts.Load(), want)
				}
				stays := tc.result == steps.Failed || tc.result == steps.Refused
				if got := s.content("configmaps", name); (got == before) != stays {
					t.Errorf("content = %s, was %s", got, before)
				}
				want := steps.Done
				if stays {
					want = steps.Failed
				}
				found, err := g.(steps.Finder).Find(t.Context(), slices.Concat(p.Target, p.Shown), in, &scrap{})
				if tc.road == dark {
					if err == nil {
						t.Errorf("Find() = %+v, want an error: nothing can be read", found)
					}
				} else if err != nil || found.Result != want {
					t.Errorf("Find() = %+v, %v, want %s", found, err, want)
				}
			})
		}
	}
}

// losable makes what a gate is about, and its parameters.
func (s *stage) losable(kind, name string) steps.Params {
	s.t.Helper()
	switch kind {
	case "create":
		file := filepath.Join(s.env.Dir, "m.yaml")
		if err := os.WriteFile(file, []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: "+name+"}\ndata: {a: b}\n"), 0o600); err != nil {
			s.t.Fatal(err)
		}
		return steps.Params{"file": steps.PathOf(file), "namespace": steps.StringOf(s.ns.Name)}
	case "recreate":
		uid := s.born("", "configmaps", map[string]any{"metadata": map[string]any{"name": name}, "immutable": true, "data": map[string]any{"a": "b"}})
		return changeIn("configmap", name, uid, "patch", `[{op: replace, path: /data/a, value: c}]`)
	}
	return changeIn("configmap", name, s.make(thingMade{resource: "configmaps", name: name}), "patch", `[{op: replace, path: /data/a, value: c}]`)
}

// TestRecreateGoesDark: what became of the second half is said to be unknown, and
// a look finds it once the server can be read again.
func TestRecreateGoesDark(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	direct := s.env
	var late atomic.Bool
	env, _ := s.between(dark, func() { late.Store(true) })
	env.Now = func() time.Time {
		if late.Load() {
			return time.Now().Add(time.Minute)
		}
		return time.Now()
	}
	in := s.losable("recreate", "held")
	s.env = env
	g := s.gate("kube/recreate")
	p, a := s.approve(g, in)
	if o, err := g.Act(t.Context(), a, &scrap{}); err == nil {
		t.Errorf("Act() = %+v, want an unknown outcome", o)
	}
	s.env = direct
	p.Target[slices.IndexFunc(p.Target, func(kv steps.KV) bool { return kv.Key == act.KeyServer })].Value = s.lab.URL() // the proxy has gone
	found, err := s.gate("kube/recreate").(steps.Finder).Find(t.Context(), slices.Concat(p.Target, p.Shown), in, &scrap{})
	if err != nil || found.Result != steps.Failed || !strings.Contains(found.Response, "nothing was made in its place") {
		t.Errorf("Find() = %+v, %v", found, err)
	}
}
