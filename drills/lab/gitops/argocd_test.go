//go:build unix

package gitops

import (
	"net/http"
	"testing"
)

func testArgoCD(w world) {
	w.Run("synced, then edited by hand", func(t *testing.T) { argoEdited(w.under(t)) })
	w.Run("credentials and revisions", func(t *testing.T) { argoRefused(w.under(t)) })
	w.Run("without its repository server", func(t *testing.T) { argoAlone(w.under(t)) })
}

func (w world) application(name string, r *Repository, path, revision, ns string, more object) string {
	w.Helper()
	spec := object{"project": "default", "source": object{"repoURL": r.URL, "path": path, "targetRevision": revision},
		"destination": object{"server": "https://kubernetes.default.svc", "namespace": ns}}
	for k, v := range more {
		spec[k] = v
	}
	return w.make("argoproj.io/v1alpha1", "applications", "Application", name, spec)
}

var automated = object{"syncPolicy": object{"automated": object{}}}

// What kustomize makes of a commit is applied by the account of the controller; a hand edit with self-heal off is seen
// and left.
func argoEdited(w world) {
	ns := w.namespace("argo-shop")
	r, sha := w.repository("argo-shop", files("app/kustomization.yaml", "resources: [shop.yaml]\nnamePrefix: the-\n", "app/shop.yaml", configMap("shop", "green")))
	app := w.application("shop", r, "app", "main", ns, automated)
	w.until(app, `"status":"Synced"`, `"phase":"Succeeded"`, `"revision":"`+sha+`"`)
	w.until(colourOf(ns, "the-shop"), `"colour":"green"`, `"manager":"argocd-controller"`, `"argocd.argoproj.io/installation-id":"argocd-one"`)
	w.wrote(ArgoController, ns, "the-shop")

	w.paint(ns, "the-shop", "red")
	w.until(app, `"status":"OutOfSync"`)
	w.until(colourOf(ns, "the-shop"), `"colour":"red"`)

	next := w.commit(r, files("app/kustomization.yaml", "resources: [shop.yaml]\nnamePrefix: the-\n", "app/shop.yaml", configMap("shop", "blue")))
	w.until(app, `"status":"Synced"`, `"revision":"`+next+`"`)
	w.until(colourOf(ns, "the-shop"), `"colour":"blue"`)
}

// A repository that asks who it is is refused without an account and read with one; a revision that is not there is said.
func argoRefused(w world) {
	ns := w.namespace("argo-closed")
	r, _ := w.repository("argo-closed", files("app/kustomization.yaml", "resources: [shop.yaml]\n", "app/shop.yaml", configMap("shop", "green")))
	if err := r.Readers("reader:right"); err != nil {
		w.Fatal(err)
	}
	app := w.application("closed", r, "app", "main", ns, automated)
	w.until(app, "ComparisonError", "authentication required")
	w.request(http.MethodPost, "/api/v1/namespaces/"+w.tool.Namespace+"/secrets", plainJSON, object{
		"metadata":   object{"name": "closed", "labels": object{"argocd.argoproj.io/secret-type": "repository"}},
		"stringData": object{"type": "git", "url": r.URL, "username": "reader", "password": "right"}})
	w.merge(app, object{"metadata": object{"annotations": object{"argocd.argoproj.io/refresh": "hard"}}})
	w.until(app, `"status":"Synced"`, `"phase":"Succeeded"`)
	w.merge(app, object{"spec": object{"source": object{"targetRevision": "no-such-revision"}}})
	w.until(app, "ComparisonError", "unable to resolve 'no-such-revision' to a commit SHA")
}

// A part that is gone is told by the others, and goes on where it was.
func argoAlone(w world) {
	ns := w.namespace("argo-alone")
	r, _ := w.repository("argo-alone", files("app/shop.yaml", configMap("shop", "green")))
	if err := w.tool.Stop(ArgoRepoServer); err != nil {
		w.Fatal(err)
	}
	app := w.application("alone", r, "app", "main", ns, automated)
	w.until(app, "ComparisonError", "connection refused")
	if err := w.tool.Start(w.Context(), ArgoRepoServer); err != nil {
		w.Fatal(err)
	}
	w.until(app, `"status":"Synced"`)
}
