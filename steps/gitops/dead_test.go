//go:build unix

package gitops

import (
	"slices"
	"strings"
	"time"

	"handrail/steps"
)

// dead kills what applies, lets Git and a person go on, and reads what was missed: the same on
// both controllers, and well again when it is back. It returns the commit of what was there before,
// which is applied again.
func (s *side) dead(kustomize string) (first string) {
	s.Helper()
	name, resource := "kustomize-controller", "kustomizations.kustomize.toolkit.fluxcd.io"
	if s.argo {
		name, resource = "argocd-application-controller", "applications.argoproj.io"
	}
	ask := steps.Params{"namespace": steps.StringOf(s.control.Namespace), "within": steps.StringOf(s.control.Namespace), "patience": steps.DurationOf(0), "window": steps.DurationOf(24 * time.Hour)}
	if obs := s.probe("gitops/controller", ask); textOf(obs.Facts, "state") != controllerOK || textOf(obs.Facts, "blast") != "none" || len(obs.Gaps) > 0 || !obs.Facts["credentials"].Known() {
		s.Errorf("alive: %s %q %s", obs.Summary, obs.Gaps, told(obs))
	}
	if s.argo {
		s.merge(s.path, map[string]any{"spec": map[string]any{"syncPolicy": map[string]any{"automated": map[string]any{"enabled": true, "selfHeal": true}}}})
	}
	if err := s.control.Stop(name); err != nil {
		s.Fatal(err)
	}
	s.merge(s.settingsPath(), map[string]any{"data": map[string]any{"colour": "red"}})
	commit := s.commit("app/kustomization.yaml", kustomize, "app/settings.yaml", settings("blue"))
	if s.argo {
		// It says nothing of Git: what was asked of it and is not answered tells.
		s.merge(s.path, map[string]any{"metadata": map[string]any{"annotations": map[string]any{"argocd.argoproj.io/refresh": "normal"}}})
	}
	path := resource + "/" + s.control.Namespace + "/shop"
	var obs steps.Observation
	s.await("the probe that sees what is missed", func() bool {
		obs = s.probe("gitops/controller", ask)
		return obs.Facts["missed"].Table()[path] != ""
	})
	s.want(obs, map[string]string{"state": controllerDown, "blast": "all", "all": "1", "objects": "1", "wrote": "no", "workload": "", "upgraded": "false"})
	if f := obs.Facts; f["overwrites"].Table()[path] == "" || len(f["touched"].Strings()) != 1 || !strings.Contains(f["touched"].Strings()[0], "/settings") {
		s.Errorf("what its return writes over: %s, %s", shownValue(f["overwrites"]), shownValue(f["touched"]))
	}
	if !s.argo && !slices.ContainsFunc(obs.Facts["stale"].Strings(), func(l string) bool { return strings.Contains(l, commit[:8]) }) {
		s.Errorf("late: %s", shownValue(obs.Facts["stale"]))
	}
	if err := s.control.Start(s.Context(), name); err != nil {
		s.Fatal(err)
	}
	s.until("back at the newest commit", func(f map[string]steps.Value) bool {
		return textOf(f, "applied") == commit && textOf(f, "sync") == "synced" && textOf(f, "phase") == "succeeded"
	})
	if c := s.colour(); c != "blue" {
		s.Errorf("the colour is %s: what was foretold did not come", c)
	}
	s.await("the controller that is well again", func() bool {
		obs = s.probe("gitops/controller", ask)
		return textOf(obs.Facts, "state") == controllerOK && len(obs.Facts["stale"].Strings()) == 0
	})
	first = s.commit("app/kustomization.yaml", kustomize, "app/settings.yaml", settings("green"))
	if s.argo {
		s.merge(s.path, map[string]any{"metadata": map[string]any{"annotations": map[string]any{"argocd.argoproj.io/refresh": "normal"}}})
	}
	s.until("back at what was there before", func(f map[string]steps.Value) bool {
		return textOf(f, "applied") == first && textOf(f, "sync") == "synced" && textOf(f, "phase") == "succeeded"
	})
	return first
}

// await asks until it is so.
func (s *side) await(what string, so func() bool) {
	s.Helper()
	deadline := time.Now().Add(within)
	for !so() {
		if time.Now().After(deadline) {
			s.Fatalf("%s: it has not come to that", what)
		}
		tick := time.NewTimer(200 * time.Millisecond)
		select {
		case <-s.Context().Done():
			s.Fatal(s.Context().Err())
		case <-tick.C:
		}
	}
}
