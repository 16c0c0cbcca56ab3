package tui

import (
	"strings"
	"testing"

	"handrail/steps"
	"handrail/triage"
)

// repairs is an order of repairs: two are done, the state of one is unknown.
func repairs(h string) *steps.Graph {
	pods := "the Pods that the repair needs are not made until then"
	return &steps.Graph{
		Of: steps.Drawing{Order: "order", After: "blocked_by", Lines: "graph"},
		Nodes: []steps.Node{
			{Name: "quota" + h, What: "a quota refuses Pods" + h, State: steps.NodeDone},
			{Name: "rbac", What: "an account lacks a right", State: steps.NodeDone},
			{Name: "pvc", What: "a claim is not bound", State: steps.NodeOpen},
			{Name: "egress_dns", What: "policies block DNS", State: steps.NodeUnsure},
			{Name: "orphan_hook", What: "a hook without a keeper is in the way", State: steps.NodeOpen},
			{Name: "migration", What: "a migration is not complete", State: steps.NodeOpen, After: []string{"quota" + h, "rbac", "pvc", "egress_dns"}},
			{Name: "schema", What: "the declared schema is not the one that is there", State: steps.NodeOpen, After: []string{"migration"}},
			{Name: "init", What: "an init container does not get through", State: steps.NodeOpen, After: []string{"quota" + h, "pvc", "egress_dns", "schema"}},
			{Name: "reconciler", What: "a reconciler reports what is not so", State: steps.NodeOpen, After: []string{"rbac", "orphan_hook", "init"}},
		},
		Reasons: []string{
			"quota before migration, init: " + pods + h, "rbac before migration: the Job works with the rights of its account, and fails halfway without them",
			"pvc before migration, init: a Pod waits for its claims before its first container starts",
			"egress_dns before migration, init: databases and Services are called by name: without DNS every other way out looks closed too",
			"orphan_hook before reconciler: the next sync waits until the hook is gone",
			"migration before schema: what is declared is read off what is there afterwards, never off what was meant",
			"schema before init: the init container compares it and does not let go", "init before reconciler: it reports what the Pods report",
		},
	}
}

// orders makes a probe one that draws an order.
func (s *stage) orders(step string, g *steps.Graph, findings ...triage.Finding) {
	s.bench.mu.Lock()
	defer s.bench.mu.Unlock()
	c := s.bench.cards[id(step)]
	c.Title, c.Say = "The order of repairs"+s.bench.hostile, "The faults that were found, what waits for what, and why."
	c.Graph = g
	s.bench.cards[id(step)] = c
	s.bench.probes[id(step)] = triage.ProbeEnd{Outcome: "ok", Summary: "2 of 9 faults are repaired; next is pvc." + s.bench.hostile, Command: "handrail step show kube/repair-order", Findings: findings,
		Facts: map[string]triage.Value{"order": steps.StringsOf([]string{"quota"}), "blocked_by": steps.TableOf(nil), "graph": steps.StringsOf([]string{"a"}), "changed": steps.BoolOf(false), "next": steps.StringOf("pvc")}}
}

func (s *stage) toOrder() { s.order("log", repairs(s.bench.hostile)) }

func (s *stage) order(step string, g *steps.Graph, findings ...triage.Finding) {
	s.orders(step, g, findings...)
	s.toFinding()
	s.run.Front(id(step))
	s.press("r")
	s.run.Front(id(step))
	s.run.Decide()
}

// toChanged has an order that a person changed.
func (s *stage) toChanged() {
	g := repairs(s.bench.hostile)
	last := len(g.Nodes) - 1
	hook := g.Nodes[4]
	hook.Was = 5
	g.Nodes = append(append([]steps.Node{hook}, g.Nodes[:4]...), g.Nodes[5:]...)
	g.Nodes[last-1], g.Nodes[last] = g.Nodes[last], g.Nodes[last-1]
	g.Nodes[last-1].Was = last + 1
	s.order("log", g, triage.Finding{Level: "warning", Say: "The order goes against: init before reconciler: it reports what the Pods report."})
}

// toWish asks which fault is mended first.
func (s *stage) toWish() {
	s.toAsk()
	s.bench.mu.Lock()
	c := s.bench.cards[id("holder")]
	g := repairs(s.bench.hostile)
	g.Nodes = g.Nodes[:4]
	c.Show, c.Graph = nil, g
	s.bench.cards[id("holder")] = c
	s.bench.mu.Unlock()
	s.hear()
	s.run.Take(s.Incident.Snapshot())
}

// toLists asks about lists that no column holds, and about what one does.
func (s *stage) toLists() {
	s.toAsk()
	s.bench.mu.Lock()
	c, h := s.bench.cards[id("holder")], s.bench.hostile
	c.Show = []steps.KV{
		{Key: "CronJobs", Value: "monitoring/cronjob/config-audit" + h}, {Value: "monitoring/cronjob/metrics-federation"},
		{Key: "webhooks", Value: "mutatingwebhookconfiguration/rbac-policy-enforcer.monitoring.example"},
		{Key: "workloads", Value: "none"},
		{Key: "programs on nodes", Value: "node worker-3/processes//opt/.k8s-health-monitor/agent agent" + h},
		{Value: "node worker-3/cron/file /etc/cron.d/k8s-health-monitor"}, {Value: "and 4 more, among the facts"},
		{Key: "every", Value: "15s"},
	}
	c.Graph = nil
	s.bench.cards[id("holder")] = c
	s.bench.mu.Unlock()
	s.hear()
	s.run.Take(s.Incident.Snapshot())
}

// TestGraphInASCII: no line of a graph is lost on a terminal without Unicode.
func TestGraphInASCII(t *testing.T) {
	t.Parallel()
	s := onStage(t, 80, 24, true, "")
	s.toOrder()
	s.Config.ASCII = true
	got := s.screen()
	for _, want := range []string{"+------ + 2 rbac", "'-|-.-> o 6 migration", "IN THIS ORDER"} {
		if !strings.Contains(got, want) {
			t.Errorf("the screen does not say %q:\n%s", want, got)
		}
	}
	if strings.ContainsFunc(got, func(r rune) bool { return r > '~' }) || strings.Contains(got, "?? ") {
		t.Errorf("not ASCII:\n%s", got)
	}
}
