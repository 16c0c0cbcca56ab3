//go:build unix

package gitops

import (
	"bytes"
	"net/http"
	"slices"
	"strings"
	"time"

	"handrail/evidence/redact"
	"handrail/steps"
)

// charts has each controller deliver a chart of its Git, with values of each origin, and finds what was
// changed by hand and what Git moved. Argo CD runs helm, helm-controller its library.
func (s *side) charts() {
	s.Helper()
	var err error
	if s.repo, err = s.git.Repository(s.Context(), "charts-"+s.control.Namespace); err != nil {
		s.Fatal(err)
	}
	if s.redacts, err = redact.New(bytes.Repeat([]byte{7}, 32), nil); err != nil {
		s.Fatal(err)
	}
	const meta, needs = "apiVersion: v2\nname: shop\nversion: ", "dependencies: [{name: part, version: 1.0.0}]\n"
	values := func(size string) []string {
		return []string{"shop/values.yaml", "colour: blue\nsize: " + size + "\nshape: round\npart: {use: true}\n", "shop/prod.yaml", "colour: red\nshape: square\n", "shop/.helmignore", "*.bak\n", "shop/templates/x.yaml.bak", "{{",
			"shop/charts/part/Chart.yaml", "apiVersion: v2\nname: part\nversion: 1.0.0\n", "shop/charts/part/templates/c.yaml", "{{ if .Values.use }}apiVersion: v1\nkind: ConfigMap\nmetadata: {name: part}\ndata: {release: {{ .Release.Name }}}\n{{ end }}",
			"shop/templates/c.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: charted\n  labels: {app.kubernetes.io/managed-by: {{ .Release.Service }}, chart: {{ .Chart.Version | replace \"+\" \"_\" }}}\ndata:\n  colour: {{ .Values.colour }}\n  size: {{ .Values.size | quote }}\n  shape: {{ .Values.shape }}\n" +
				"  namespace: {{ .Release.Namespace }}\n  has: {{ .Capabilities.APIVersions.Has \"apps/v1/Deployment\" | quote }}\n",
			"shop/templates/s.yaml", "apiVersion: v1\nkind: Secret\nmetadata: {name: charted}\nstringData: {password: {{ randAlphaNum 20 | quote }}, user: u}\n",
			"shop/templates/h.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: hook, annotations: {helm.sh/hook: post-install}}\n"}
	}
	first := s.commit(append(values("1"), "shop/Chart.yaml", meta+"0.1.0\n"+needs)...)
	ns := s.control.Namespace
	s.kind = steps.Params{"resource": steps.StringOf("helmreleases.helm.toolkit.fluxcd.io"), "name": steps.StringOf("charted"), "namespace": steps.StringOf(ns)}
	if s.argo {
		s.kind["resource"] = steps.StringOf("applications.argoproj.io")
		s.path = s.make("/apis/argoproj.io/v1alpha1/namespaces/"+ns+"/applications", "argoproj.io/v1alpha1", "Application", "charted", map[string]any{
			"project": "default", "destination": map[string]any{"server": "https://kubernetes.default.svc", "namespace": s.target},
			"source": map[string]any{"repoURL": s.repo.URL, "path": "shop", "targetRevision": "main", "helm": map[string]any{"releaseName": "r", "valueFiles": []string{"prod.yaml"},
				"valuesObject": map[string]any{"colour": "green"}, "parameters": []map[string]any{{"name": "shape", "value": "oval"}}}}})
	} else {
		s.make("/apis/source.toolkit.fluxcd.io/v1/namespaces/"+ns+"/gitrepositories", "source.toolkit.fluxcd.io/v1", "GitRepository", "charts",
			map[string]any{"interval": "2s", "url": s.repo.URL, "ref": map[string]any{"branch": "main"}})
		if err := s.lab.Request(s.Context(), http.MethodPost, "/api/v1/namespaces/"+ns+"/configmaps", "application/json",
			map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "given"}, "data": map[string]any{"values.yaml": "shape: oval\ncolour: pink\n"}}, nil); err != nil {
			s.Fatal(err)
		}
		s.path = s.make("/apis/helm.toolkit.fluxcd.io/v2/namespaces/"+ns+"/helmreleases", "helm.toolkit.fluxcd.io/v2", "HelmRelease", "charted", map[string]any{
			"interval": "1h", "targetNamespace": s.target, "releaseName": "r", "values": map[string]any{"colour": "green"}, "valuesFrom": []map[string]any{{"kind": "ConfigMap", "name": "given"}},
			"chart": map[string]any{"spec": map[string]any{"chart": "./shop", "interval": "2s", "reconcileStrategy": "Revision", "valuesFiles": []string{"shop/values.yaml", "shop/prod.yaml"},
				"sourceRef": map[string]any{"kind": "GitRepository", "name": "charts"}}}})
	}
	if s.argo {
		s.until("compared", func(f map[string]steps.Value) bool {
			return textOf(f, "source_revision") == first && textOf(f, "sync") == "out_of_sync"
		})
		s.merge(s.path, map[string]any{"operation": map[string]any{"sync": map[string]any{"revision": first}}})
	}
	obs := s.until("delivered", func(f map[string]steps.Value) bool {
		return textOf(f, "phase") == "succeeded" && (s.argo || textOf(f, "sync") == "synced")
	})
	if !s.argo {
		// A HelmRelease as its real controller writes it.
		s.want(obs, map[string]string{"sync": "synced", "health": "healthy", "link": "none", "applied": "0.1.0+" + first[:12] + ".1", "source_revision": first, "auto_sync": "true", "self_heal": "false", "suspended": "false"})
		s.merge(s.path, map[string]any{"spec": map[string]any{"suspend": true}})
		s.seen()
	}
	with := s.with(steps.Params{"clone": steps.PathOf(s.repo.Clone())})
	charted := "/api/v1/namespaces/" + s.target + "/configmaps/charted"
	obs = s.probe("gitops/desired", with)
	s.want(obs, map[string]string{"rendered": "true", "unrendered": "", "revision": first, "objects": "3", "moved": "none"})
	if v := obs.Facts["varies"]; !v.Known() || !slices.Equal(v.Strings(), []string{"secret/" + s.target + "/charted data.password"}) {
		s.Errorf("varies: %s", shownValue(v))
	}
	if !strings.HasPrefix(obs.Command, "helm template ") {
		s.Errorf("by hand: %s", obs.Command)
	}

	// A hand edit, and then Git as well.
	s.merge(charted, map[string]any{"data": map[string]any{"colour": "black"}})
	line := "configmap/" + s.target + `/charted data.colour: wanted "green", applied "green", live "black"`
	obs = s.probe("gitops/desired", with)
	s.want(obs, map[string]string{"rendered": "true", "moved": "live"})
	if v := obs.Facts["live_moved"]; !v.Known() || !slices.Equal(v.Strings(), []string{line}) {
		s.Errorf("the hand edit: %s", shownValue(v))
	}
	obs = s.probe("gitops/desired", s.with(nil)) // the object or Helm keeps it
	if v := obs.Facts["live_moved"]; !v.Known() || !slices.Equal(v.Strings(), []string{line}) {
		s.Errorf("the hand edit without a clone: %s", shownValue(v))
	}
	next := s.commit(append(values("2"), "shop/Chart.yaml", meta+"0.1.0\n"+needs)...)
	if s.argo {
		s.merge(s.path, map[string]any{"metadata": map[string]any{"annotations": map[string]any{"argocd.argoproj.io/refresh": "normal"}}})
	}
	s.until("at the next commit", func(f map[string]steps.Value) bool { return textOf(f, "source_revision") == next })
	obs = s.probe("gitops/desired", with)
	s.want(obs, map[string]string{"rendered": "true", "revision": next, "moved": "both"})
	want := []string{"configmap/" + s.target + `/charted data.size: wanted "2", applied "1", live "1"`}
	if !s.argo {
		want = append(want, "configmap/"+s.target+`/charted metadata.labels.chart: wanted "0.1.0_`+next[:12]+`.1", applied "0.1.0_`+first[:12]+`.1", live "0.1.0_`+first[:12]+`.1"`)
	}
	if v := obs.Facts["git_moved"]; !v.Known() || !slices.Equal(v.Strings(), want) {
		s.Errorf("Git moved: %s", shownValue(v))
	}
	if !s.argo {
		s.upgrade(next, values("2"), meta)
	}
}

// upgrade previews the upgrade of the release, and lets the real controller make it: what was told to change changes, and
// what may go back goes back or stays. Then the chart gives an object up, which needs its own word.
func (s *side) upgrade(next string, values []string, meta string) {
	s.Helper()
	with := steps.Params{"clone": steps.PathOf(s.repo.Clone()), "revision": steps.IdentOf(next), "prune": steps.BoolOf(false), "unchanged": steps.BoolOf(false), "wait": steps.DurationOf(time.Minute)}
	shown := func(p steps.Preview, key string) string {
		i := slices.IndexFunc(p.Shown, func(kv steps.KV) bool { return kv.Key == key })
		if i < 0 {
			return ""
		}
		return p.Shown[i].Value
	}
	p := s.preview(with)
	charted := "configmap/" + s.target + "/charted"
	if got := shown(p, "change "+charted); !strings.HasPrefix(got, `data.size "1" -> "2"; metadata.labels.chart `) {
		s.Errorf("what the upgrade changes: %q of %v", got, p.Shown)
	}
	if got := shown(p, "may go back "+charted); got != `data.colour is "black" live, "green" in the chart` {
		s.Errorf("what it may take back: %q", got)
	}
	if !strings.Contains(p.Effect, "it changes 2 fields, 0 of which were changed live and are taken back. 1 more were changed live and may be taken back.") {
		s.Errorf("effect: %s", p.Effect)
	}
	s.merge(s.path, map[string]any{"spec": map[string]any{"suspend": nil}})
	s.until("upgraded", func(f map[string]steps.Value) bool {
		return textOf(f, "phase") == "succeeded" && strings.Contains(textOf(f, "applied"), next[:12])
	})
	s.merge(s.path, map[string]any{"spec": map[string]any{"suspend": true}})
	s.seen()
	var is struct{ Data map[string]string }
	if err := s.lab.Request(s.Context(), http.MethodGet, "/api/v1/namespaces/"+s.target+"/configmaps/charted", "", nil, &is); err != nil {
		s.Fatal(err)
	}
	s.Logf("after the upgrade: %v", is.Data)
	if is.Data["size"] != "2" {
		s.Errorf("after the upgrade: %v", is.Data)
	}

	less := append(slices.Clone(values), "shop/values.yaml", "colour: blue\nsize: 2\nshape: round\npart: {use: false}\n", "shop/Chart.yaml", meta+"0.1.0\ndependencies: [{name: part, version: 1.0.0}]\n")
	with["revision"] = steps.IdentOf(s.commit(less...))
	s.until("at the last commit", func(f map[string]steps.Value) bool { return textOf(f, "source_revision") == with["revision"].Text() })
	s.refused(s.preview(with), "would delete what its chart no longer has, and cannot be asked to leave that once: configmap/"+s.target+"/part.")
	with["prune"] = steps.BoolOf(true)
	if p := s.preview(with); !strings.Contains(p.Effect, "1 that are no longer in it are deleted") {
		s.Errorf("effect: %s", p.Effect)
	}
}
