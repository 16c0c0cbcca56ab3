package kube

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"handrail/steps"
	"handrail/steps/cluster"
	"handrail/steps/kube/blame"
	"handrail/steps/kube/stuck"
)

const appsV1, batchV1, leasesV1 = "apps/v1", "batch/v1", "coordination.k8s.io/v1"

func podTemplate(app string) fields {
	return fields{"metadata": fields{"labels": fields{"app": app}}, "spec": fields{
		"restartPolicy": "Always", "containers": []fields{{"name": "c", "image": "example.com/" + app + ":1"}}}}
}

func (w *keepersWorld) workload(plural, name string, replicas int) {
	w.t.Helper()
	spec := fields{"selector": fields{"matchLabels": fields{"app": name}}, "template": podTemplate(name)}
	if plural == "daemonsets" { // other tests make nodes, and it must fit none of them
		spec["template"].(fields)["spec"].(fields)["nodeSelector"] = fields{"example.com/nobody": name}
	} else {
		spec["replicas"] = replicas
	}
	if plural == "statefulsets" {
		spec["serviceName"] = name
	}
	w.create(w.in(appsV1, plural, ""), fields{"metadata": fields{"name": name}, "spec": spec})
	w.until(name+" observed", func() bool {
		o := w.read(w.in(appsV1, plural, name))
		status, _ := o["status"].(fields)
		return status["observedGeneration"] != nil
	})
}

// started makes the pods of an app ready, as a kubelet would, and waits until
// the workload has heard of it.
func (w *keepersWorld) started(plural, name string) {
	w.t.Helper()
	w.until("a pod of "+name, func() bool { return len(w.podsOf(name)) > 0 })
	for _, pod := range w.podsOf(name) {
		w.merge(w.in("", "pods", pod)+"/status", fields{"status": fields{"phase": "Running", "conditions": []fields{
			{"type": "Ready", "status": "True", "lastTransitionTime": time.Now().UTC().Format(time.RFC3339)}}}})
	}
	w.until(name+" ready", func() bool {
		status, _ := w.read(w.in(appsV1, plural, name))["status"].(fields)
		n, _ := status["readyReplicas"].(float64)
		return n > 0
	})
}

func (w *keepersWorld) podsOf(app string) []string {
	w.t.Helper()
	var out []string
	list, _ := w.read(w.in("", "pods", "") + "?labelSelector=app%3D" + app)["items"].([]any)
	for _, item := range list {
		out = append(out, item.(fields)["metadata"].(fields)["name"].(string))
	}
	return out
}

// lease makes a Lease that was renewed then, and takes away what the server saw
// of it: that would be now.
func (w *keepersWorld) lease(name, holder string, renewed time.Time) {
	w.t.Helper()
	w.create(w.in(leasesV1, "leases", ""), fields{"metadata": fields{"name": name}, "spec": fields{
		"holderIdentity": holder, "leaseDurationSeconds": 3600, "renewTime": renewed.UTC().Format("2006-01-02T15:04:05.000000Z07:00")}})
	w.merge(w.in(leasesV1, "leases", name), fields{"metadata": fields{"managedFields": []fields{{}}}})
}

// guarded makes a ConfigMap that a finalizer holds.
func (w *keepersWorld) guarded(name string, finalizers ...string) {
	w.t.Helper()
	w.create(w.in("", "configmaps", ""), fields{"metadata": fields{"name": name, "finalizers": finalizers}})
	w.freed(w.in("", "configmaps", name))
}

// TestLiveness holds the verdict on a keeper to what the real controllers make
// of its workload.
func TestLiveness(t *testing.T) {
	t.Parallel()
	w := newKeepersWorld(t)
	w.workload("deployments", "living", 1)
	w.started("deployments", "living")
	w.workload("deployments", "starting", 1)
	w.workload("deployments", "stopped", 1)
	w.started("deployments", "stopped")
	w.merge(w.in(appsV1, "deployments", "stopped"), fields{"spec": fields{"replicas": 0}})
	w.until("stopped at 0", func() bool {
		o := w.read(w.in(appsV1, "deployments", "stopped"))
		status := o["status"].(fields)
		return status["replicas"] == nil && status["observedGeneration"] == o["metadata"].(fields)["generation"] && len(w.podsOf("stopped")) == 0
	})
	w.workload("statefulsets", "ordered", 1)
	w.started("statefulsets", "ordered")
	w.workload("daemonsets", "nodeless", 0)
	w.workload("deployments", "led", 0)
	w.lease("led", "led-7d9-x", time.Now())
	w.workload("deployments", "unled", 0)
	w.lease("unled", "unled-7d9-x", time.Now().Add(-2*time.Hour))
	w.lease("beating", "somebody", time.Now())
	w.lease("silent", "somebody", time.Now().Add(-2*time.Hour))
	w.lease("nobody", "", time.Now())
	w.workload("deployments", "settling", 0)
	w.workload("deployments", "behind", 0) // its own clock says two hours ago, the server saw it write just now
	w.create(w.in(leasesV1, "leases", ""), fields{"metadata": fields{"name": "behind"}, "spec": fields{
		"holderIdentity": "behind-1", "leaseDurationSeconds": 3600, "renewTime": time.Now().Add(-2 * time.Hour).UTC().Format("2006-01-02T15:04:05.000000Z07:00")}})
	w.create(w.in("", "pods", ""), fields{"metadata": fields{"name": "left-over-1"}, "spec": podTemplate("x")["spec"]})
	elsewhere := w.another()

	for _, tc := range []struct {
		controller string
		want       stuck.Verdict
		why        string
	}{
		{"deployment/living", stuck.Alive, "1 of 1 ready"},
		{"deployment/" + w.ns + "/living", stuck.Alive, "1 of 1 ready"},
		{"deploy/living", "", "want deployment"},
		{"deployments.apps/living", stuck.Alive, "ready"},
		{"deployment/starting", stuck.Unknown, "none of 1 ready"},
		{"deployment/stopped", stuck.Dead, "scaled to 0"},
		{"deployment/absent", stuck.Unknown, "is not there"},
		{"statefulset/ordered", stuck.Alive, "ready"},
		{"statefulset/living", stuck.Unknown, "of its name is still there"}, // the pod of the Deployment bears the name
		{"daemonset/nodeless", stuck.Dead, "0"},
		{"deployment/led", stuck.Alive, "renewed by led-7d9-x"}, // whatever the Deployment says
		{"deployment/settling", stuck.Unknown, "may be starting again"},
		{"deployment/behind", stuck.Alive, "renewed by behind-1"},
		{"deployment/unled", stuck.Dead, "no Lease"},
		{"lease/beating", stuck.Alive, "renewed by somebody"},
		{"lease/silent", stuck.Unknown, "last renewed"},
		{"lease/nobody", stuck.Unknown, "has no holder"},
		{"lease/absent", stuck.Unknown, "never that it is gone"},
		{"deployment/left-over", stuck.Unknown, "pod left-over-1"},
		{"pod/left-over-1", stuck.Unknown, "not ready"},
		{"pod/absent", stuck.Unknown, "is not there"},
		{"deployment/" + elsewhere.Name + "/living", stuck.Unknown, "permission denied"},
	} {
		t.Run(tc.controller, func(t *testing.T) {
			t.Parallel()
			w := *w
			w.t = t
			c := w.client(w.env)
			if tc.controller == "deployment/settling" { // it ended just now, whenever this begins
				w.lease("settling", "settling-1", time.Now().Add(-time.Hour-time.Minute))
			}
			p, err := stuck.ParsePlace(tc.controller, w.ns)
			if tc.want == "" {
				if !errors.Is(err, stuck.ErrPlace) {
					t.Errorf("parsePlace() = %v, want errPlace", err)
				}
				return
			}
			got, err := stuck.Look(t.Context(), c, p)
			if err != nil || got.Alive != tc.want || !strings.Contains(got.Why, tc.why) {
				t.Errorf("look() = %s %q, %v, want %s for %q", got.Alive, got.Why, err, tc.want, tc.why)
			}
		})
	}
}

// TestNoSilenceProvesDeath takes away one right after the other.
func TestNoSilenceProvesDeath(t *testing.T) {
	t.Parallel()
	w := newKeepersWorld(t)
	w.guarded("held", "example.com/hook-cleanup")
	w.workload("deployments", "hook-cleaner", 0)
	look := []fields{may("", "configmaps", "get"), may("apps", "deployments", "get"), may("", "pods", "list"), may("coordination.k8s.io", "leases", "list"),
		may("apps", "deployments", "list"), may("apps", "statefulsets", "list"), may("apps", "daemonsets", "list"), may("batch", "cronjobs", "list")}
	for i := range len(look) {
		env := w.limited(fmt.Sprintf("blind-%d", i), append(append([]fields{}, look[:i]...), look[i+1:]...)...)
		if i == 0 {
			continue // cannot read the object at all
		}
		c := w.client(env)
		target, o := w.seen(c, "cm", "held")
		k, err := stuck.KeeperOf(t.Context(), c, target, o, "example.com/hook-cleanup", "deployment/hook-cleaner")
		if err != nil || k.Alive != stuck.Unknown || !strings.Contains(k.Why, steps.ErrDenied.Error()) {
			t.Errorf("without %v: keeper() = %s %q, %v, want unknown", look[i]["resources"], k.Alive, k.Why, err)
		}
	}
	c := w.client(w.limited("sees", look...))
	target, o := w.seen(c, "cm", "held")
	if k, err := stuck.KeeperOf(t.Context(), c, target, o, "example.com/hook-cleanup", "deployment/hook-cleaner"); err != nil || k.Alive != stuck.Dead {
		t.Errorf("with every right: keeper() = %s %q, %v, want dead", k.Alive, k.Why, err)
	}
}

// TestKeeperIsProvenNotNamed: a name closes no life. What a person names must be
// tied to the finalizer by what the cluster says.
func TestKeeperIsProvenNotNamed(t *testing.T) {
	t.Parallel()
	w := newKeepersWorld(t)
	// The tests of other packages use the same cluster.
	domain, cleaner := w.ns+".example.com", "cleaner-of-"+w.ns
	held := domain + "/hook-cleanup"
	w.create(w.in("", "configmaps", "")+"?fieldManager="+cleaner, fields{"metadata": fields{"name": "held", "finalizers": []string{held}}})
	w.freed(w.in("", "configmaps", "held"))
	c := w.client(w.root())
	target, o := w.seen(c, "cm", "held")
	by := blame.SetBy(o, held)
	if len(by) != 1 || by[0].Manager != cleaner || by[0].At.IsZero() || blame.SetBy(o, domain+"/hook") != nil {
		t.Errorf("setBy() = %v, want %s", by, cleaner)
	}
	check := func(controller string, want stuck.Verdict, why string) {
		t.Helper()
		k, err := stuck.KeeperOf(t.Context(), c, target, o, held, controller)
		if err != nil || k.Alive != want || !strings.Contains(k.Why, why) {
			t.Errorf("keeper(%q) = %s %q, %v, want %s for %q", controller, k.Alive, k.Why, err, want, why)
		}
		if k.Builtin || k.Leak == "" || k.Nothing {
			t.Errorf("keeper(%q) = %+v, want nothing known of what it guards", controller, k)
		}
	}
	w.workload("deployments", "other", 0)
	check("deployment/other", stuck.Unknown, "nothing in the cluster ties it")
	check("deployment/mistyped", stuck.Unknown, "absence is no death: the finalizer was written by "+cleaner)
	check("deployment/mistyped", stuck.Unknown, "In "+w.ns+" there is: other")
	check("deployment/"+cleaner, stuck.Unknown, "absence is no death: no Lease shows that it ran in this cluster")
	check("", stuck.Unknown, "does not know who keeps")
	// Only where nothing in the whole cluster is tied to it may a person answer for it, by
	// a waiver: the gate arms, and names what is to be waived.
	uid := o.GetUID()
	said := func(word string) steps.Preview {
		t.Helper()
		in := steps.Params{"resource": steps.StringOf("configmap"), "name": steps.StringOf("held"), "namespace": steps.StringOf(w.ns), "uid": steps.IdentOf(string(uid)), "finalizer": steps.StringOf(held)}
		if word != "" {
			in["keeper"] = steps.EnumOf(word)
		}
		p, err := gateOf("kube/strip-finalizer", w.root()).Preview(t.Context(), in, &scrap{})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	answered := func(p steps.Preview) bool {
		return slices.ContainsFunc(p.Owners, func(o steps.Owner) bool { return o.Name == "the controller of "+held && o.Paused == "unknown" })
	}
	for word, open := range map[string]bool{"": false, stuck.KeeperSeen: false, stuck.KeeperOutside: true, stuck.KeeperUnknown: true} {
		if p := said(word); (len(p.Unmet) == 0) != open || answered(p) != open {
			t.Errorf("said %q: unmet = %+v, owners = %+v, want open %v", word, p.Unmet, p.Owners, open)
		}
	}
	w.workload("statefulsets", cleaner, 0)
	if p := said(stuck.KeeperOutside); len(p.Unmet) == 0 || answered(p) {
		t.Errorf("with a workload that is tied to it: unmet = %+v, owners = %+v, want it shut", p.Unmet, p.Owners)
	}
	check("statefulset/"+cleaner, stuck.Dead, "scaled to 0")
	check("", stuck.Unknown, "does not know who keeps")
	if k, err := stuck.KeeperOf(t.Context(), c, target, o, held, "deployment/other"); err != nil || !strings.Contains(k.Leads, "statefulset/"+w.ns+"/"+cleaner+" (") {
		t.Errorf("leads = %q, %v", k.Leads, err)
	}

	// What is told the finalizer keeps it too, of whichever kind and wherever it is.
	elsewhere := w.another().Name
	told := podTemplate("sweeper")
	told["spec"].(fields)["containers"].([]fields)[0]["args"] = []string{"--finalizer=" + held}
	cron := "/apis/" + batchV1 + "/namespaces/" + elsewhere + "/cronjobs"
	told["spec"].(fields)["restartPolicy"] = "Never"
	w.create(cron, fields{"metadata": fields{"name": "sweeper"}, "spec": fields{"schedule": "0 0 1 1 *", "jobTemplate": fields{"spec": fields{"template": told}}}})
	check("statefulset/"+cleaner, stuck.Dead, "scaled to 0") // in its namespace it cannot write this one
	const rbacV1 = "rbac.authorization.k8s.io/v1"
	w.create(w.in(rbacV1, "roles", ""), fields{"metadata": fields{"name": "sweeper"}, "rules": []fields{may("", "configmaps", "patch")}})
	w.create(w.in(rbacV1, "rolebindings", ""), fields{"metadata": fields{"name": "sweeper"}, "subjects": []fields{{"kind": "ServiceAccount", "name": "default", "namespace": elsewhere}},
		"roleRef": fields{"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "sweeper"}})
	w.until("the right of the sweeper", func() bool {
		allowed, _, err := c.Review(t.Context(), "subjectaccessreviews", "SubjectAccessReview", "", fields{"user": "system:serviceaccount:" + elsewhere + ":default",
			"resourceAttributes": fields{"verb": "patch", "resource": "configmaps", "namespace": w.ns}})
		return err == nil && allowed
	})
	check("statefulset/"+cleaner, stuck.Unknown, "cronjob/"+elsewhere+"/sweeper may keep it as well")
	check("cronjob/"+elsewhere+"/sweeper", stuck.Unknown, "runs now and then")
	w.merge(cron+"/sweeper", fields{"spec": fields{"suspend": true}})
	check("statefulset/"+cleaner, stuck.Dead, "scaled to 0")
	check("cronjob/"+elsewhere+"/sweeper", stuck.Dead, "is suspended")

	// A Pod of the same program is another install of it.
	pods := "/api/v1/namespaces/" + elsewhere + "/pods"
	w.create(pods, fields{"metadata": fields{"name": "second"}, "spec": podTemplate(cleaner)["spec"]})
	check("statefulset/"+cleaner, stuck.Unknown, "may keep it as well")
	w.remove(pods+"/second", fields{"gracePeriodSeconds": 0})

	// A Lease that is called after the finalizer lives, whatever the workload says.
	leases := "/apis/" + leasesV1 + "/namespaces/" + elsewhere + "/leases"
	w.create(leases, fields{"metadata": fields{"name": "9c1f." + domain}, "spec": fields{
		"holderIdentity": "nobody-knows-1", "leaseDurationSeconds": 60, "renewTime": time.Now().UTC().Format("2006-01-02T15:04:05.000000Z07:00")}})
	check("statefulset/"+cleaner, stuck.Alive, "is renewed by nobody-knows-1")
	check("deployment/other", stuck.Alive, "is renewed by nobody-knows-1")
	w.remove(leases+"/9c1f."+domain, nil)
	check("statefulset/"+cleaner, stuck.Dead, "scaled to 0")

	// One that runs is alive, whatever else was named.
	w.merge(w.in(appsV1, "statefulsets", cleaner), fields{"spec": fields{"replicas": 1}})
	w.started("statefulsets", cleaner)
	check("deployment/other", stuck.Alive, "statefulset/"+w.ns+"/"+cleaner+" may keep it as well")
	check("", stuck.Unknown, "does not know who keeps")
}

// TestUninstalledKeeper: what is not there is dead only where the cluster shows
// that it ran here and stopped.
func TestUninstalledKeeper(t *testing.T) {
	t.Parallel()
	w := newKeepersWorld(t)
	cleaner := "cleaner-of-" + w.ns
	w.create(w.in("", "configmaps", "")+"?fieldManager="+cleaner, fields{"metadata": fields{"name": "held", "finalizers": []string{"example.com/hook-cleanup"}}})
	w.freed(w.in("", "configmaps", "held"))
	w.lease("cleanup-leader", cleaner+"-7d9-x", time.Now().Add(-3*time.Hour))
	root, op := w.client(w.root()), w.client(w.env)
	target, o := w.seen(root, "cm", "held")
	for _, tc := range []struct {
		c          *cluster.Client
		controller string
		want       stuck.Verdict
		why        string
	}{
		{root, "deployment/" + cleaner, stuck.Dead, "it wrote the finalizer, and lease/"},
		{root, "deployment/other", stuck.Unknown, "absence is no death"},
		{op, "deployment/" + cleaner, stuck.Unknown, "cannot be looked for in other namespaces"},
	} {
		k, err := stuck.KeeperOf(t.Context(), tc.c, target, o, "example.com/hook-cleanup", tc.controller)
		if err != nil || k.Alive != tc.want || !strings.Contains(k.Why, tc.why) {
			t.Errorf("keeper(%q) = %s %q, %v, want %s for %q", tc.controller, k.Alive, k.Why, err, tc.want, tc.why)
		}
	}
}

// TestKnownKeepers looks for the controllers of the table in the whole cluster.
func TestKnownKeepers(t *testing.T) {
	t.Parallel()
	w := newKeepersWorld(t)
	w.guarded("held", "cnpg.io/deleteDatabase")
	root, op := w.client(w.root()), w.client(w.env)
	target, o := w.seen(root, "cm", "held")
	check := func(c *cluster.Client, finalizer, controller string, want stuck.Verdict, why string) {
		t.Helper()
		k, err := stuck.KeeperOf(t.Context(), c, target, o, finalizer, controller)
		if err != nil || k.Alive != want || !strings.Contains(k.Why, why) {
			t.Errorf("keeper(%s, %q) = %s %q, %v, want %s for %q", finalizer, controller, k.Alive, k.Why, err, want, why)
		}
	}
	check(root, "kubernetes.io/pvc-protection", "", stuck.Alive, "control plane")
	check(root, "foregroundDeletion", "deployment/absent", stuck.Alive, "control plane")
	check(root, "cnpg.io/deleteDatabase", "", stuck.Unknown, "absence is no death")
	w.lease("cnpg-leader", "cnpg-1", time.Now().Add(-3*time.Hour))
	check(root, "cnpg.io/deleteDatabase", "", stuck.Dead, "was last renewed")
	check(op, "cnpg.io/deleteDatabase", "", stuck.Unknown, "permission denied")
	check(op, "cnpg.io/deleteDatabase", "deployment/absent", stuck.Unknown, "permission denied") // a place is added, none taken away
	check(root, "argocd.argoproj.io/hook-finalizer", "", stuck.Unknown, "absence is no death")
	check(root, "external-attacher/ebs-csi-aws-com", "deployment/absent", stuck.Unknown, "not the same workload everywhere")
	w.workload("deployments", "cnpg-dashboard", 1)
	check(root, "cnpg.io/deleteDatabase", "", stuck.Unknown, "none of 1 ready")
	w.started("deployments", "cnpg-dashboard")
	check(root, "cnpg.io/deleteDatabase", "", stuck.Unknown, "another part")
	w.workload("deployments", "my-cloudnative-pg", 1)
	w.started("deployments", "my-cloudnative-pg")
	check(root, "cnpg.io/deleteDatabase", "", stuck.Alive, "my-cloudnative-pg")
	check(root, "cnpg.io/deleteDatabase", "deployment/absent", stuck.Alive, "my-cloudnative-pg")
}
