package tui

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"handrail/runbooks"
	"handrail/runbooks/ready"
	"handrail/session/view"
	"handrail/steps"
	"handrail/steps/catalog"
	"handrail/triage"
)

const registry = "apiVersion: handrail/v1\nkind: Components\ncomponents:\n  - {name: image registry, responsibility: [Keeps images and serves them by digest.], before: [the push is refused], safe: [deploy by digest]}\n"

// newReview is a review of readiness on a table: its real questions, a backend that keeps versions and a cluster
// that was not reached.
func newReview(now func() time.Time, hostile string) *bench {
	parts, err := ready.ParseComponents("ours.yaml", []byte(registry))
	if err != nil {
		panic(err)
	}
	worked, err := ready.Components()
	if err != nil {
		panic(err)
	}
	parts = ready.Over(parts, worked)
	rb, err := ready.Runbook(catalog.New(), parts)
	if err != nil {
		panic(err)
	}
	params, err := rb.Bind(map[string]string{"dir": "infra/prod", "last": "20261001-091200-readiness-p3qx", "last_owned": "partly", "practised": "3", "overdue": "2"})
	if err != nil {
		panic(err)
	}
	b := &bench{now: now, changed: make(chan struct{}, 1), hostile: hostile, blobs: map[int64][]view.BlobRef{}, review: rb}
	b.header = []steps.KV{{Key: "cluster", Value: "none"}, {Key: "dir", Value: "infra/prod" + hostile}}
	lost := func(step string) triage.ProbeEnd {
		end := triage.ProbeEnd{Outcome: "failed", Summary: "the cluster did not answer within 10 s" + hostile, Facts: map[string]triage.Value{}}
		for _, f := range kindOf(step, rb).Facts {
			end.Facts[f.Name] = steps.Unknown(f.Type, "the cluster did not answer within 10 s"+hostile)
		}
		return end
	}
	b.probes = map[string]triage.ProbeEnd{
		"readiness/versions": {Outcome: "ok", Summary: "s3 keeps 14 versions of the state" + hostile, Facts: map[string]triage.Value{
			"backend": steps.EnumOf("s3"), "kept": steps.BoolOf(true), "count": steps.IntOf(14)}},
		"readiness/lock":     {Outcome: "ok", Summary: "no lock; one place keeps it" + hostile, Facts: map[string]triage.Value{"held": steps.BoolOf(false), "systems": steps.IntOf(1)}},
		"readiness/everyone": lost("everyone"), "readiness/excepted": lost("excepted"), "readiness/delivered": lost("delivered"),
	}
	b.record(triage.Open{Incident: "20261120-021400-readiness-k7qd", Title: rb.Title, Severity: triage.Sev4, Kind: triage.Readiness})
	b.record(triage.Person{ID: "ana", Name: "Ana" + hostile, Proof: "kube", Subject: "ana@example.org" + hostile})
	for _, c := range parts {
		b.record(c)
	}
	b.record(rb.Plan(params))
	return b
}

func kindOf(step string, rb *runbooks.Runbook) steps.Kind {
	for _, s := range rb.Steps {
		if s.ID == step {
			k, _ := catalog.New().Lookup(s.Uses)
			return k
		}
	}
	panic("there is no step " + step)
}

// scene is what a review is worked out from.
func (b *bench) scene() *view.Scene {
	return &view.Scene{State: b.state, Now: b.now(), Books: map[string]*runbooks.Runbook{b.review.ID: b.review}, Catalog: catalog.New()}
}

// toReview opens a review in place of the incident.
func (s *stage) toReview() {
	s.bench = newReview(s.clock.now, s.bench.hostile)
	c := configFixture(s.clock.now, s.bench.hostile)
	c.Report, c.Open = s.bench.reportFixture, s.bench
	w, h := s.W, s.H
	s.model = newModel(context.Background(), c)
	s.Update(tea.WindowSizeMsg{Width: w, Height: h})
	s.pass(0)
}

// toReviewRead is a review whose reads were made, of which three failed.
func (s *stage) toReviewRead() {
	s.toReview()
	s.press("enter")
	s.hear()
}

// toReviewAsk is a question of it that the reads answer.
func (s *stage) toReviewAsk() {
	s.toReviewRead()
	s.run.Front("readiness/state")
	s.pass(time.Second)
}

// toReviewModel is the question about a failure model.
func (s *stage) toReviewModel() {
	s.toReviewRead()
	s.run.Front("readiness/model_image_registry")
	s.pass(time.Second)
}

// toReviewGap is a review with every answer, and gaps without an owner.
func (s *stage) toReviewGap() {
	s.toReviewRead()
	for _, st := range s.bench.review.Steps {
		if st.Kind != triage.AskStep {
			continue
		}
		in := triage.Intent{Kind: triage.DoAnswer, Step: "readiness/" + st.ID, Value: "yes", Text: "CODEOWNERS, and the pages of the platform"}
		if st.ID == "secret" {
			in.Value = triage.Unknown
		}
		if err := s.bench.Do(context.Background(), in); err != nil {
			panic(fmt.Sprint(st.ID, ": ", err))
		}
	}
	s.hear()
	s.pass(time.Second)
}

// TestReviewIsNoIncident: a review draws how far it is, and neither a mutation nor a class that it never concludes; a
// read that failed fills its pane once.
func TestReviewIsNoIncident(t *testing.T) {
	t.Parallel()
	s := onStage(t, 140, 45, true, "")
	s.toReviewRead()
	text := s.View().Content
	for _, want := range []string{"ANSWERED", "17"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not drawn:\n%s", want, text)
		}
	}
	if strings.Contains(text, "CONCLUDED") || strings.Count(text, "? unknown") > 3 {
		t.Errorf("it is drawn as an incident, or a failed read fills the pane:\n%s", text)
	}
	s.toReviewGap()
	for _, d := range s.bench.state.Debts {
		if d.Kind == "model_iac_apply_runner" {
			t.Errorf("%+v: a model of which all is stated, and that holds, owes nothing", d)
		}
	}
}
