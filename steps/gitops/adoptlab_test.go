//go:build unix

package gitops

import (
	"bytes"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing/fstest"

	"handrail/evidence/redact"
	"handrail/steps"
)

// adopts changes by hand what a plain directory and an overlay made, and brings it to Git by the patch: git apply takes it, and
// once it is pushed no side differs. What the patch may not have is named.
func (s *side) adopts() {
	s.Helper()
	ns := s.control.Namespace
	repo, kind, red := s.repo, s.kind, s.redacts
	defer func() { s.repo, s.kind, s.redacts = repo, kind, red }()
	var err error
	if s.redacts, err = redact.New(bytes.Repeat([]byte{7}, 32), nil); err != nil {
		s.Fatal(err)
	}
	if s.repo, err = s.git.Repository(s.Context(), "adopt-"+ns); err != nil {
		s.Fatal(err)
	}
	const overlay = "resources: [../base]\npatches:\n- path: daily.yaml\nnamePrefix: eu-\n"
	of := func(name, rest string) string {
		return "# By the shops.\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: " + name + "\n" + rest
	}
	first := s.commit(
		"plain/all.yaml", of("adopted", "data:\n  # A colour.\n  colour: green # as on the door\n  gone: 'x'\n  hours.txt: |\n    08:00\n    20:00\n")+
			"---\napiVersion: v1\nkind: Secret\nmetadata: {name: adopted}\nstringData: {key: first-value-of-it}\n"+
			"---\napiVersion: v1\nkind: Service\nmetadata: {name: adopted}\nspec:\n  ports:\n  - {name: web, port: 80}\n  selector: {app: web}\n"+
			"---\n"+of("deleted", "data: {a: b}\n"),
		"base/kustomization.yaml", "resources: [limits.yaml]\n", "base/limits.yaml", of("limits", "data: {daily: '100', single: \"150\", weekly: '2000'}\n"),
		"overlay/kustomization.yaml", overlay, "overlay/daily.yaml", of("limits", "data:\n  daily: '400'\n  weekly: '2000'\n"))
	for _, name := range []string{"plain", "overlay"} {
		if s.argo {
			path := s.make("/apis/argoproj.io/v1alpha1/namespaces/"+ns+"/applications", "argoproj.io/v1alpha1", "Application", name, map[string]any{
				"project": "default", "source": map[string]any{"repoURL": s.repo.URL, "path": name, "targetRevision": "main"},
				"destination": map[string]any{"server": "https://kubernetes.default.svc", "namespace": s.target}})
			s.merge(path, map[string]any{"operation": map[string]any{"sync": map[string]any{"revision": first}}})
			continue
		}
		if name == "plain" {
			s.make("/apis/source.toolkit.fluxcd.io/v1/namespaces/"+ns+"/gitrepositories", "source.toolkit.fluxcd.io/v1", "GitRepository", "adopt",
				map[string]any{"interval": "2s", "url": s.repo.URL, "ref": map[string]any{"branch": "main"}})
		}
		s.make("/apis/kustomize.toolkit.fluxcd.io/v1/namespaces/"+ns+"/kustomizations", "kustomize.toolkit.fluxcd.io/v1", "Kustomization", name,
			map[string]any{"interval": "1h", "retryInterval": "2s", "path": "./" + name, "prune": true, "targetNamespace": s.target, "timeout": "30s",
				"sourceRef": map[string]any{"kind": "GitRepository", "name": "adopt"}})
	}
	named := func(name string) { s.kind = withName(kind, name) }
	for _, name := range []string{"plain", "overlay"} {
		named(name)
		s.until("applied", func(f map[string]steps.Value) bool {
			return textOf(f, "phase") == "succeeded" && textOf(f, "applied") == first
		})
	}
	clone := steps.Params{"clone": steps.PathOf(s.repo.Clone())}

	// Nothing is changed yet.
	none := s.probe("gitops/adopt", s.with(clone))
	s.want(none, map[string]string{"exists": "true", "revision": first, "files": "[]", "fields": "[]", "left": "[]", "whole": "true", "digest": "unknown"})

	// By hand.
	at := "/api/v1/namespaces/" + s.target
	s.merge(at+"/configmaps/adopted", map[string]any{"data": map[string]any{"colour": "no", "gone": nil, "hours.txt": "08:00\n23:00\n"}})
	s.merge(at+"/secrets/adopted", map[string]any{"stringData": map[string]any{"key": "second-value-of-it"}})
	s.merge(at+"/services/adopted", map[string]any{"spec": map[string]any{"ports": []map[string]any{{"name": "web", "port": 8080}}}})
	if err := s.lab.Request(s.Context(), http.MethodDelete, at+"/configmaps/deleted", "", nil, nil); err != nil {
		s.Fatal(err)
	}
	s.merge(at+"/configmaps/eu-limits", map[string]any{"data": map[string]any{"daily": "4000", "single": "1500", "weekly": "1"}})

	var patches []byte
	for name, want := range map[string]map[string][]string{
		"plain": {
			"files": {"plain/all.yaml"}, "shared": nil,
			"fields": {"configmap/T/adopted data.colour: \"green\" -> \"no\"", "configmap/T/adopted data.gone: \"x\" -> none", "configmap/T/adopted data.hours.txt: \"08:00\\n20:00\\n\" -> \"08:00\\n23:00\\n\"",
				"service/T/adopted spec.ports[name=web].port: 80 -> 8080"},
			"left": {"configmap/T/deleted the object: it was deleted live: remove it from Git by hand, or let a sync bring it back", "secret/T/adopted data.key: a Secret is not written to Git"},
		},
		// Both files have the week, and the patch rules.
		"overlay": {
			"files": {"base/limits.yaml", "overlay/daily.yaml"}, "shared": {"base/limits.yaml"}, "left": nil,
			"fields": {"configmap/T/eu-limits data.daily: \"400\" -> \"4000\"", "configmap/T/eu-limits data.single: \"150\" -> \"1500\"", "configmap/T/eu-limits data.weekly: \"2000\" -> \"1\""},
		},
	} {
		named(name)
		obs := s.probe("gitops/adopt", s.with(clone))
		for fact, list := range want {
			for i := range list {
				list[i] = strings.ReplaceAll(list[i], "/T/", "/"+s.target+"/")
			}
			if v := obs.Facts[fact]; !v.Known() || !slices.Equal(v.Strings(), list) {
				s.Errorf("%s: %s is %s, want %q", name, fact, shownValue(v), list)
			}
		}
		a, err := Adopt(s.Context(), s.env, s.with(clone), bundleSink{r: s.redacts})
		if err != nil {
			s.Fatal(err)
		}
		s.want(obs, map[string]string{"revision": first, "digest": a.Digest(), "whole": map[bool]string{true: "true", false: "false"}[name == "overlay"]})
		if strings.Contains(told(obs)+string(a.Patch())+a.Text("x"), "second-value-of-it") {
			s.Error("a value of a Secret is told")
		}
		patches = append(patches, a.Patch()...)
	}

	cmd := exec.CommandContext(s.Context(), "git", "apply")
	cmd.Dir, cmd.Stdin = s.repo.Clone(), bytes.NewReader(patches)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		s.Fatalf("git apply: %v\n%s\n%s", err, out, patches)
	}
	next, err := s.repo.Commit(s.Context(), "Bring to Git what is live", s.worktree())
	if err != nil {
		s.Fatal(err)
	}
	for _, name := range []string{"plain", "overlay"} {
		named(name)
		if s.argo {
			s.merge("/apis/argoproj.io/v1alpha1/namespaces/"+ns+"/applications/"+name, map[string]any{"metadata": map[string]any{"annotations": map[string]any{"argocd.argoproj.io/refresh": "normal"}}})
		}
		s.until("at the next commit", func(f map[string]steps.Value) bool { return textOf(f, "source_revision") == next })
	}
	if obs := s.probe("gitops/adopt", s.with(clone)); obs.Facts["whole"].Text() != "true" || len(obs.Facts["files"].Strings()) > 0 {
		s.Errorf("after the push: %s", told(obs))
	}
	s.want(s.probe("gitops/desired", s.with(clone)), map[string]string{"revision": next, "moved": "none"})
	s.want(s.probe("gitops/adopt", s.with(nil)), map[string]string{"exists": "true", "whole": "unknown", "files": "unknown"})
	named("absent")
	s.want(s.probe("gitops/adopt", s.with(clone)), map[string]string{"exists": "false", "whole": "unknown"})
}

func withName(kind steps.Params, name string) steps.Params {
	out := steps.Params{"name": steps.StringOf(name)}
	for k, v := range kind {
		if k != "name" {
			out[k] = v
		}
	}
	return out
}

// worktree is what the clone has now.
func (s *side) worktree() fstest.MapFS {
	s.Helper()
	out := fstest.MapFS{}
	top := os.DirFS(s.repo.Clone())
	if err := fs.WalkDir(top, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && name == ".git":
			return fs.SkipDir
		case d.IsDir():
			return nil
		}
		content, err := fs.ReadFile(top, name)
		out[name] = &fstest.MapFile{Data: content, Mode: 0o644}
		return err
	}); err != nil {
		s.Fatal(err)
	}
	return out
}
