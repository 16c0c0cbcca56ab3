package session_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"handrail/runbooks"
	"handrail/steps"
	"handrail/triage"
)

// drawn is a world with a probe whose facts are drawn together.
type drawn struct{ *world }

func (d drawn) Kinds() []steps.Kind {
	return append(d.world.Kinds(), steps.Kind{
		Name: "test/order", Doc: "reads an order", Class: steps.Probe, Touches: []string{"memory"},
		Facts:   []steps.Field{{Name: "order", Type: steps.Strings}, {Name: "after", Type: steps.Table}, {Name: "next", Type: steps.String}},
		Drawing: &steps.Drawing{Order: "order", After: "after"},
		Reads:   func(steps.Env) steps.Prober { return orderProbe{d.world} },
	})
}

func (d drawn) Lookup(name string) (steps.Kind, bool) {
	for _, k := range d.Kinds() {
		if k.Name == name {
			return k, true
		}
	}
	return steps.Kind{}, false
}

type orderProbe struct{ w *world }

func (p orderProbe) Probe(context.Context, steps.Params, steps.Sink) (steps.Observation, error) {
	if p.w.fails != nil {
		return steps.Observation{}, p.w.fails
	}
	return steps.Observation{Summary: "two things", Facts: map[string]steps.Value{
		"order": steps.StringsOf([]string{"quota", "job"}), "after": steps.TableOf(map[string]string{"job": "quota"}), "next": steps.StringOf("quota"),
	}}, nil
}

const drawnBook = `apiVersion: handrail/v1
kind: Runbook
id: test-order
title: A test order
domain: kubernetes-api
severity: SEV-3
preserve:
  - id: plan
    uses: test/order
compare:
  - id: wish
    ask: Is that the order?
    show: [facts.plan.order, {what is next: facts.plan.next}, {what waits: facts.plan.after}]
    answers: {agreed: it is, changed: it is not}
`

// TestGraphOfAStep: facts that are drawn together are drawn wherever one of them
// is put before the person, once, and what is no part of the drawing keeps its row.
func TestGraphOfAStep(t *testing.T) {
	t.Parallel()
	st := newStage(t)
	w := drawn{st.w}
	rb, err := runbooks.Parse("test-order.yaml", []byte(drawnBook), w)
	if err != nil {
		t.Fatal(err)
	}
	st.rb, st.cfg.Catalog = rb, w
	s := st.start(t)
	before := s.Snapshot()
	for _, id := range []string{"test-order/plan", "test-order/wish"} {
		if g := before.Cards[id].Graph; g != nil {
			t.Errorf("%s is drawn before it was read: %+v", id, g)
		}
	}
	if rows := before.Cards["test-order/wish"].Show; len(rows) != 3 || rows[1].Key != "what is next" {
		t.Errorf("before it was read the question shows %+v, want each by itself, the second by its label", rows)
	}
	do(t, s, triage.Intent{Kind: triage.DoProbe, Step: "test-order/plan"})
	snap := quiet(t, s)
	want := []steps.Node{{Name: "quota", State: steps.NodeUnsure}, {Name: "job", State: steps.NodeUnsure, After: []string{"quota"}}}
	for _, id := range []string{"test-order/plan", "test-order/wish"} {
		g := snap.Cards[id].Graph
		if g == nil {
			t.Fatalf("%s is not drawn", id)
		}
		if diff := cmp.Diff(want, g.Nodes); diff != "" {
			t.Errorf("%s (-want +got)\n%s", id, diff)
		}
	}
	rows := snap.Cards["test-order/wish"].Show
	if len(rows) != 1 || rows[0].Key != "what is next" || rows[0].Value != "quota" {
		t.Errorf("beside the drawing the question shows %+v, want what is next alone", rows)
	}
}
