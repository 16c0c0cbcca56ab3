package gitops

import (
	"net/http"
	"os"
	"strings"
	"time"

	"handrail/steps"
)

// elsewhere has an application that delivers to another cluster, by the names of objects that are here too: nothing of what is
// here is taken for its own. The Flux of the test delivers there, since that is the lab by another name; Argo CD does not know it.
func (s *side) elsewhere() {
	s.Helper()
	ns := s.control.Namespace
	was := s.repo
	defer func() { s.repo = was }()
	var err error
	if s.repo, err = s.git.Repository(s.Context(), "spoke-"+ns); err != nil {
		s.Fatal(err)
	}
	s.commit("app/kustomization.yaml", "resources: [settings.yaml]\n", "app/settings.yaml", settings("violet"))
	where := "of Secret " + ns + "/spoke"
	if s.argo {
		where = "https://127.0.0.1:1"
		s.make("/apis/argoproj.io/v1alpha1/namespaces/"+ns+"/applications", "argoproj.io/v1alpha1", "Application", "spoke", map[string]any{
			"project": "default", "source": map[string]any{"repoURL": s.repo.URL, "path": "app", "targetRevision": "main"},
			"destination": map[string]any{"server": where, "namespace": s.target}})
	} else {
		raw, err := os.ReadFile(s.lab.Kubeconfig())
		if err != nil {
			s.Fatal(err)
		}
		if err := s.lab.Request(s.Context(), http.MethodPost, "/api/v1/namespaces/"+ns+"/secrets", "application/json",
			map[string]any{"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{"name": "spoke"}, "stringData": map[string]any{"value": string(raw)}}, nil); err != nil {
			s.Fatal(err)
		}
		s.make("/apis/source.toolkit.fluxcd.io/v1/namespaces/"+ns+"/gitrepositories", "source.toolkit.fluxcd.io/v1", "GitRepository", "spoke",
			map[string]any{"interval": "1h", "url": s.repo.URL, "ref": map[string]any{"branch": "main"}})
		s.make("/apis/kustomize.toolkit.fluxcd.io/v1/namespaces/"+ns+"/kustomizations", "kustomize.toolkit.fluxcd.io/v1", "Kustomization", "spoke",
			map[string]any{"interval": "1h", "retryInterval": "2s", "path": "./app", "prune": false, "targetNamespace": s.target, "timeout": "30s",
				"sourceRef": map[string]any{"kind": "GitRepository", "name": "spoke"}, "kubeConfig": map[string]any{"secretRef": map[string]any{"name": "spoke"}}})
	}
	of := s.kind
	defer func() { s.kind = of }()
	s.kind = s.with(steps.Params{"name": steps.StringOf("spoke")})
	obs := s.until("read by its controller", func(f map[string]steps.Value) bool {
		return s.argo || textOf(f, "sync") == "synced" && textOf(f, "phase") == "succeeded"
	})
	s.want(obs, map[string]string{"elsewhere": where})
	if !strings.Contains(obs.Findings[len(obs.Findings)-1].Say+obs.Findings[0].Say, "It delivers to the cluster "+where) {
		s.Errorf("nothing says where it delivers to: %+v", obs.Findings)
	}
	obs = s.probe("gitops/desired", s.with(steps.Params{"clone": steps.PathOf(s.repo.Clone())}))
	s.want(obs, map[string]string{"exists": "true", "moved": "unknown", "missing": "unknown", "live_moved": "unknown", "surplus": "unknown", "actual": "unknown"})
	if len(obs.Gaps) == 0 || !strings.Contains(strings.Join(obs.Gaps, "\n"), "in the cluster "+where+", which is not read here") {
		s.Errorf("the gaps are %q", obs.Gaps)
	}
	uid, revision := textOf(s.probe("gitops/app", s.kind).Facts, "uid"), strings.Repeat("a", 40)
	for _, line := range s.preview(steps.Params{"uid": steps.IdentOf(uid), "revision": steps.IdentOf(revision), "prune": steps.BoolOf(false), "wait": steps.DurationOf(time.Minute), "clone": steps.PathOf(s.repo.Clone())}).Shown {
		if strings.HasPrefix(line.Key, "live ") || line.Key == "Git" && !strings.Contains(line.Value, "is in the cluster "+where) {
			s.Errorf("the preview shows %s: %s", line.Key, line.Value)
		}
	}
}
