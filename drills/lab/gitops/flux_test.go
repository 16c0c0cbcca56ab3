//go:build unix

package gitops

import (
	"testing"
)

const (
	fluxSource    = "source.toolkit.fluxcd.io/v1"
	fluxKustomize = "kustomize.toolkit.fluxcd.io/v1"
	fluxHelm      = "helm.toolkit.fluxcd.io/v2"
)

func testFlux(w world) {
	w.Run("drift, and suspended", func(t *testing.T) { fluxDrift(w.under(t)) })
	w.Run("chart", func(t *testing.T) { fluxChart(w.under(t)) })
	w.Run("credentials and revisions", func(t *testing.T) { fluxRefused(w.under(t)) })
}

func (w world) source(name string, r *Repository, branch string) string {
	w.Helper()
	return w.make(fluxSource, "gitrepositories", "GitRepository", name, object{"interval": "2s", "url": r.URL, "ref": object{"branch": branch}})
}

func (w world) kustomization(name, source, path, ns string) string {
	w.Helper()
	return w.make(fluxKustomize, "kustomizations", "Kustomization", name, object{"interval": "2s", "path": path, "prune": true, "targetNamespace": ns,
		"sourceRef": object{"kind": "GitRepository", "name": source}})
}

// Drift is corrected at the interval; of one that is suspended it stays, however often the other one corrects.
func fluxDrift(w world) {
	ns := w.namespace("flux-shop")
	r, sha := w.repository("flux-shop", files("live/shop.yaml", configMap("live", "green"), "held/shop.yaml", configMap("held", "green")))
	source := w.source("shop", r, "main")
	live, held := w.kustomization("live", "shop", "./live", ns), w.kustomization("held", "shop", "./held", ns)
	for _, k := range []string{live, held} {
		w.until(k, `"reason":"ReconciliationSucceeded"`, `"lastAppliedRevision":"main@sha1:`+sha+`"`)
	}
	w.until(source, `"revision":"main@sha1:`+sha+`"`)
	w.wrote("kustomize-controller", ns, "live")

	w.merge(held, object{"spec": object{"suspend": true}})
	w.paint(ns, "held", "red")
	for _, colour := range []string{"red", "yellow"} {
		w.paint(ns, "live", colour)
		w.until(colourOf(ns, "live"), `"colour":"green"`)
	}
	w.until(colourOf(ns, "held"), `"colour":"red"`)

	next := w.commit(r, files("live/shop.yaml", configMap("live", "blue"), "held/shop.yaml", configMap("held", "blue")))
	w.until(live, `"lastAppliedRevision":"main@sha1:`+next+`"`)
	w.until(colourOf(ns, "held"), `"colour":"red"`)
}

func fluxChart(w world) {
	ns := w.namespace("flux-chart")
	r, _ := w.repository("flux-chart", files("chart/Chart.yaml", "apiVersion: v2\nname: shop\nversion: 0.1.0\n", "chart/values.yaml", "colour: green\n",
		"chart/templates/shop.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: shop}\ndata: {colour: {{ .Values.colour }}}\n"))
	w.source("chart", r, "main")
	release := w.make(fluxHelm, "helmreleases", "HelmRelease", "shop", object{"interval": "5s", "targetNamespace": ns, "values": object{"colour": "violet"},
		"chart": object{"spec": object{"chart": "./chart", "interval": "5s", "sourceRef": object{"kind": "GitRepository", "name": "chart"}}}})
	w.until(release, `"reason":"InstallSucceeded"`)
	w.until(colourOf(ns, "shop"), `"colour":"violet"`)
	w.wrote("helm-controller", ns, "shop")
}

func fluxRefused(w world) {
	r, _ := w.repository("flux-closed", files("app/shop.yaml", configMap("shop", "green")))
	w.until(w.source("no-branch", r, "no-such-branch"), `"reason":"GitOperationFailed"`, "no-such-branch")
	if err := r.Readers("reader:right"); err != nil {
		w.Fatal(err)
	}
	closed := w.source("closed", r, "main")
	w.until(closed, `"reason":"GitOperationFailed"`, "authentication required")
	w.request("POST", "/api/v1/namespaces/"+w.tool.Namespace+"/secrets", plainJSON, object{"metadata": object{"name": "closed"},
		"stringData": object{"username": "reader", "password": "right"}})
	w.merge(closed, object{"spec": object{"secretRef": object{"name": "closed"}}})
	w.until(closed, `"type":"ArtifactInStorage"`, `"reason":"Succeeded"`)
}
