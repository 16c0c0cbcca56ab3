package change

import (
	"slices"
	"strings"
	"testing"
	"time"

	"handrail/steps"
	"handrail/steps/cluster"
	"handrail/steps/kube/act"
	"handrail/steps/kube/patch"
)

// TestPauseIsNoted: the request that pauses writes whose pause it is and until when, and the one that
// resumes takes that away, whatever stood there before.
func TestPauseIsNoted(t *testing.T) {
	t.Parallel()
	flux := cluster.Resource{Group: "kustomize.toolkit.fluxcd.io", Version: "v1", Plural: "kustomizations", Kind: "Kustomization", Namespaced: true}
	secret := cluster.Resource{Group: "external-secrets.io", Version: "v1", Plural: "externalsecrets", Kind: "ExternalSecret", Namespaced: true}
	env := steps.Env{Incident: "20261127-040637-x"}
	const note = `"handrail/paused-in":"old","handrail/paused-until":"2026-01-01T00:00:00Z","handrail/paused-why":"old"`
	until := act.AfterAct(pauseFor)
	for name, tc := range map[string]struct {
		r           cluster.Resource
		env         steps.Env
		resume      bool
		text, why   string
		want, never []string
	}{
		"no annotations yet":     {r: flux, env: env, text: `{}`, why: "a hook", want: []string{`"path":"/metadata/annotations","value":{`, `"handrail/paused-in":"20261127-040637-x"`, `"handrail/paused-why":"a hook"`, until}},
		"beside others":          {r: flux, env: env, text: `{"metadata":{"annotations":{"a":"b"}}}`, why: "a hook", want: []string{`/metadata/annotations/handrail~1paused-in`, `/metadata/annotations/handrail~1paused-until`}, never: []string{`"path":"/metadata/annotations",`}},
		"outside of an incident": {r: flux, text: `{}`, want: []string{until}, never: []string{"paused-in", "paused-why"}},
		"over an old note":       {r: flux, text: `{"metadata":{"annotations":{` + note + `}}}`, want: []string{`{"op":"remove","path":"/metadata/annotations/handrail~1paused-in"}`, `{"op":"remove","path":"/metadata/annotations/handrail~1paused-why"}`}, never: []string{`"op":"remove","path":"/metadata/annotations/handrail~1paused-until"`}},
		"one line":               {r: flux, env: env, text: `{}`, why: "a\n\x1b[2Jb " + strings.Repeat("x", 500), want: []string{"a [2Jb x"}, never: []string{strings.Repeat("x", 201)}},
		"paused already":         {r: flux, env: env, text: `{"spec":{"suspend":true}}`, never: []string{"handrail/"}},
		"an ExternalSecret":      {r: secret, env: env, text: `{}`, never: []string{"paused-in", "paused-until"}},
		"resume":                 {r: flux, env: env, resume: true, text: `{"metadata":{"annotations":{"a":"b",` + note + `}},"spec":{"suspend":true}}`, want: []string{`{"op":"remove","path":"/metadata/annotations/handrail~1paused-in"}`, `{"op":"remove","path":"/metadata/annotations/handrail~1paused-until"}`, `{"op":"remove","path":"/metadata/annotations/handrail~1paused-why"}`}},
		"resume without one":     {r: flux, env: env, resume: true, text: `{"spec":{"suspend":true}}`, never: []string{"annotations"}},
		"resume what goes on":    {r: flux, env: env, resume: true, text: `{"metadata":{"annotations":{` + note + `}}}`, never: []string{"annotations"}},
	} {
		var need []steps.Need
		pl := &alterPlan{subject: about(tc.r, tc.text), floors: floors{&need}, p: &steps.Preview{}, in: steps.Params{"reason": steps.StringOf(tc.why)}}
		g := newSuspendGate(tc.env).(alterGate)
		if tc.resume {
			g = newResumeGate(tc.env).(alterGate)
		}
		if err := g.plan(t.Context(), pl); err != nil {
			t.Fatal(err)
		}
		text := ""
		for _, op := range pl.ops {
			raw, err := patch.Encode([]patch.Op{op})
			if err != nil {
				t.Fatal(err)
			}
			text += raw
		}
		for _, w := range tc.want {
			if !strings.Contains(unescaped(text), w) {
				t.Errorf("%s: %s has no %s", name, text, w)
			}
		}
		if slices.ContainsFunc(tc.never, func(w string) bool { return strings.Contains(unescaped(text), w) }) {
			t.Errorf("%s: %s", name, text)
		}
	}
	a := act.Alteration{Ops: []patch.Op{{Op: patch.Add, Path: "/metadata/annotations", Value: map[string]any{steps.PauseUntil: until}}}}
	// What a rehearsal shows of it is the same at each one: a batch rehearses again at the turn of each object.
	for _, at := range []time.Time{time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC), time.Date(2026, 11, 27, 12, 0, 7, 0, time.UTC)} {
		line := `+ metadata.annotations.handrail/paused-until: "` + at.Add(pauseFor).Format(time.RFC3339) + `"`
		if got := a.Placed(line, at); got != `+ metadata.annotations.handrail/paused-until: "`+until+`"` {
			t.Errorf("Placed() = %s", got)
		}
	}
	r, err := a.Request("/x", "u", "", time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC))
	if err != nil || !strings.Contains(string(r.Body), `"2026-11-27T16:00:00Z"`) {
		t.Errorf("Request() = %s, %v, want four hours after the act", r.Body, err)
	}
}

func unescaped(s string) string { return strings.NewReplacer(`\u003c`, "<", `\u003e`, ">").Replace(s) }
