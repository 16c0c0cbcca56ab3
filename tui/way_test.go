package tui

import (
	"strings"
	"testing"

	"handrail/steps"
	"handrail/triage"
)

// delivery is a way from Git down: one application fails, one of its objects is not there.
func delivery(h string) *steps.Graph {
	return &steps.Graph{
		Of: steps.Drawing{Order: "way", After: "from", What: "what", States: "states", Lines: "chain", Way: true},
		Nodes: []steps.Node{
			{Name: "argocd application argocd/root", What: "synced, applied 9f3c2ab1", State: steps.NodeFine},
			{Name: "source https://git.example.com/shop/deploy.git" + h, State: steps.NodeFine},
			{Name: "path apps/shop main at 9f3c2ab1", State: steps.NodeFine, After: []string{"source https://git.example.com/shop/deploy.git" + h}},
			{Name: "argocd application argocd/shop", What: `out of sync, applied 9f3c2ab1, fails at admission: one or more objects failed to apply, reason: admission webhook "policy.example.com" denied the request: no image of this registry` + h,
				State: steps.NodeFails, After: []string{"path apps/shop main at 9f3c2ab1", "argocd application argocd/root"}},
			{Name: "deployment.apps/shop/web", What: `unhealthy: admission webhook "policy.example.com" denied the request: no image of this registry`, State: steps.NodeFails, After: []string{"argocd application argocd/shop"}},
			{Name: "service/shop/web" + h, What: "absent", State: steps.NodeFails, After: []string{"argocd application argocd/shop"}},
			{Name: "job.batch/shop/migrate", What: "terminating: being deleted since 2026-07-29T08:11:02Z, held by foregroundDeletion", State: steps.NodeHeld, After: []string{"argocd application argocd/shop"}},
			{Name: "configmap/shop/settings", What: "differs: the live side moved: data.colour", State: steps.NodeDiffers, After: []string{"argocd application argocd/shop"}},
			{Name: "secret/shop/session", What: "unknown: forbidden", State: steps.NodeUnsure, After: []string{"argocd application argocd/shop"}},
			{Name: "12 more objects of argocd application argocd/shop", State: steps.NodeFine, After: []string{"argocd application argocd/shop"}},
		},
	}
}

// toWay has a probe that draws a way.
func (s *stage) toWay() {
	g, h := delivery(s.bench.hostile), s.bench.hostile
	s.orders("log", g)
	s.bench.mu.Lock()
	c := s.bench.cards[id("log")]
	c.Title, c.Say = "The way from Git to what is live"+h, ""
	s.bench.cards[id("log")] = c
	s.bench.probes[id("log")] = triage.ProbeEnd{Outcome: "ok", Summary: "argocd application argocd/shop comes to 17 objects: 1 unhealthy, 1 absent, 1 terminating, 1 differs; it fails at admission." + h,
		Command:  "kubectl get applications.argoproj.io -n argocd shop -o yaml",
		Findings: []triage.Finding{{Level: "warning", Say: "argocd application argocd/shop fails at admission" + h}},
		Facts: map[string]triage.Value{"way": steps.StringsOf([]string{g.Nodes[0].Name}), "from": steps.TableOf(nil), "chain": steps.StringsOf([]string{"a"}), "exists": steps.BoolOf(true),
			"link": steps.EnumOf("admission"), "absent": steps.StringsOf([]string{"service/shop/web"})}}
	s.bench.mu.Unlock()
	s.toFinding()
	s.run.Front(id("log"))
	s.press("r")
	s.run.Front(id("log"))
	s.run.Decide()
}

// TestWayInASCII: no line of a way is lost on a terminal without Unicode.
func TestWayInASCII(t *testing.T) {
	t.Parallel()
	s := onStage(t, 140, 45, true, "")
	s.toWay()
	s.Config.ASCII = true
	got := s.screen()
	for _, want := range []string{"FROM GIT DOWN", "x argocd application argocd/shop", "+ x deployment.apps/shop/web", "' + 12 more objects", "|     absent"} {
		if !strings.Contains(got, want) {
			t.Errorf("the screen does not say %q:\n%s", want, got)
		}
	}
	if strings.ContainsFunc(got, func(r rune) bool { return r > '~' }) || strings.Contains(got, "?? ") {
		t.Errorf("not ASCII:\n%s", got)
	}
}
