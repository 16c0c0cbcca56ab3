package kube

import (
	"fmt"
	"strconv"
	"testing"
)

// revision makes the record of one revision as helm does, but for what is in it.
func (w *keepersWorld) revision(release string, n int, status string) {
	w.t.Helper()
	w.create(w.in("", "secrets", "")+"?fieldManager=helm", fields{"type": "helm.sh/release.v1", "metadata": fields{"name": fmt.Sprintf("sh.helm.release.v1.%s.v%d", release, n),
		"labels": fields{"owner": "helm", "name": release, "version": strconv.Itoa(n), "status": status, "createdAt": "1767578400"}},
		"stringData": fields{"release": "never-read-" + release}})
}

// TestHelmRelease: what hangs is told from its labels, what helm wrote meanwhile from who
// owns the fields, and no value of the release is read.
func TestHelmRelease(t *testing.T) {
	t.Parallel()
	w := newKeepersWorld(t)
	obs := w.about("kube/helm-release", "release", "shop")
	wantFact(t, obs, "exists", "false")
	wantFinding(t, obs, "HELM_DRIVER=sql")
	w.revision("shop", 9, "superseded")
	w.revision("shop", 10, "deployed")
	w.revision("shop-2", 1, "failed")
	obs = w.about("kube/helm-release", "release", "shop")
	wantFact(t, obs, "pending", "false")
	wantFact(t, obs, "deployed", "10")
	w.revision("shop", 11, "pending-upgrade")
	ours := fields{"name": "settings", "annotations": fields{"meta.helm.sh/release-name": "shop"}}
	w.create(w.in("", "configmaps", "")+"?fieldManager=helm", fields{"metadata": ours})
	w.create(w.in("", "configmaps", "")+"?fieldManager=kubectl", fields{"metadata": fields{"name": "notes", "annotations": ours["annotations"]}})
	w.create(w.in("", "configmaps", "")+"?fieldManager=helm", fields{"metadata": fields{"name": "other", "annotations": fields{"meta.helm.sh/release-name": "shop-2"}}})
	once := podSpec("")
	once["restartPolicy"] = "Never"
	w.create(w.in("batch/v1", "jobs", "")+"?fieldManager=helm", fields{"metadata": fields{"name": "migrate", "annotations": fields{"helm.sh/hook": "pre-upgrade"}},
		"spec": fields{"template": fields{"spec": once}}})
	obs = w.about("kube/helm-release", "release", "shop")
	wantFact(t, obs, "pending", "true")
	wantFact(t, obs, "revision", "11")
	wantFact(t, obs, "status", "pending-upgrade")
	wantFact(t, obs, "deployed", "10")
	wantFact(t, obs, "resource", "secrets")
	wantFact(t, obs, "name", "sh.helm.release.v1.shop.v11")
	wantFact(t, obs, "touched", fmt.Sprintf(`["job/%s/migrate" "configmap/%s/settings"]`, w.ns, w.ns))
	wantFact(t, obs, "controller", "")
	wantFinding(t, obs, "Revision 11 is pending-upgrade since")
	// Two records of one revision, in both kinds: which one helm takes depends on its settings.
	w.create(w.in("", "configmaps", ""), fields{"metadata": fields{"name": "shop.v11", "labels": fields{"owner": "helm", "name": "shop", "version": "11", "status": "deployed"}}})
	obs = w.about("kube/helm-release", "release", "shop")
	if v := obs.Facts["pending"]; v.Known() {
		t.Errorf("pending is %v where revision 11 is recorded twice", v)
	}
}
