package gitops

import "handrail/steps"

// packed has an application whose source leaves files out, by a file of its own and by a field:
// what is rendered here is what Flux applied.
func (s *side) packed() {
	s.Helper()
	if s.argo {
		return // Argo CD takes a commit as it is
	}
	ns := s.control.Namespace
	was, of := s.repo, s.kind
	defer func() { s.repo, s.kind = was, of }()
	var err error
	if s.repo, err = s.git.Repository(s.Context(), "packed-"+ns); err != nil {
		s.Fatal(err)
	}
	named := func(name string) string {
		return "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: packed-" + name + "}\ndata: {colour: grey}\n"
	}
	s.commit("app/kept.yaml", named("kept"), ".sourceignore", "drafts/\n", "app/drafts/draft.yaml", named("draft"), "app/late/later.yaml", named("later"))
	s.make("/apis/source.toolkit.fluxcd.io/v1/namespaces/"+ns+"/gitrepositories", "source.toolkit.fluxcd.io/v1", "GitRepository", "packed",
		map[string]any{"interval": "1h", "url": s.repo.URL, "ref": map[string]any{"branch": "main"}, "ignore": "/app/late/\n"})
	s.make("/apis/kustomize.toolkit.fluxcd.io/v1/namespaces/"+ns+"/kustomizations", "kustomize.toolkit.fluxcd.io/v1", "Kustomization", "packed",
		map[string]any{"interval": "1h", "retryInterval": "2s", "path": "./app", "prune": true, "targetNamespace": s.target, "timeout": "30s",
			"sourceRef": map[string]any{"kind": "GitRepository", "name": "packed"}})
	s.kind = s.with(steps.Params{"name": steps.StringOf("packed")})
	s.until("applied", func(f map[string]steps.Value) bool {
		return textOf(f, "sync") == "synced" && textOf(f, "phase") == "succeeded"
	})
	obs := s.probe("gitops/desired", s.with(steps.Params{"clone": steps.PathOf(s.repo.Clone())}))
	s.want(obs, map[string]string{"rendered": "true", "objects": "1", "live_moved": "[]", "missing": "[]", "surplus": "[]"})
}
