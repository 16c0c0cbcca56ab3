package kube

import (
	"strings"
	"testing"
	"time"

	"handrail/steps"
)

// TestTimeline: one timeline of what a cluster keeps of its changes, in order; what may not be read is named, and
// nothing is then said of how many there were.
func TestTimeline(t *testing.T) {
	t.Parallel()
	w := newKeepersWorld(t)
	w.create(w.in("", "configmaps", "")+"?fieldManager=helm", fields{"metadata": fields{"name": "settings"}, "data": fields{"mode": "a"}})
	w.revision("shop", 7, "deployed")
	w.deployment("web", 1, podSpec(""))
	made := w.podOf("web")
	w.merge(w.in(appsV1, "deployments", "web")+"?fieldManager=kubectl-edit", fields{"spec": fields{"paused": true}})
	w.create(w.in("", "secrets", ""), fields{"metadata": fields{"name": "held", "finalizers": []string{"example.com/hold"}}, "stringData": fields{"password": "never-told-81723"}})
	w.freed(w.in("", "secrets", "held"))
	w.told(podName(made), "Unhealthy", "Readiness probe failed")
	w.remove(w.in("", "secrets", "held"), nil)
	// Its facts hold the newest forty, and other tests make objects of the cluster beside it.
	var sink *readsSink
	hours := what("namespace", w.ns)
	hours["since"] = steps.DurationOf(6 * time.Hour)
	var obs steps.Observation
	w.until("a whole reading, beside tests that define kinds", func() bool {
		sink = newReadsSink()
		var err error
		obs, err = readsProbe(t.Context(), w.root(), "kube/timeline", hours, sink)
		if err != nil {
			t.Fatal(err)
		}
		return obs.Facts["complete"].Bool()
	})
	all := sink.text("timeline")
	for _, want := range []string{"object  configmap/" + w.ns + "/settings  was made  by helm", "helm  release " + w.ns + "/shop  revision 7 was begun, and is deployed", "rollout  deployment/" + w.ns + "/web  a new revision of its Pods",
		"object  deployment/" + w.ns + "/web  was written: spec.paused  by kubectl-edit", "object  secret/" + w.ns + "/held  is deleted, and still there: finalizers example.com/hold", "Unhealthy: Readiness probe failed"} {
		if !strings.Contains(all, want) {
			t.Errorf("%q is not in the %d lines of %s:\n%s", want, strings.Count(all, "\n"), obs.Summary, steps.Clip(all, 3_000))
		}
	}
	if strings.Contains(all, "never-told") {
		t.Error("a value is told")
	}
	// Before the window there is nothing.
	in := what("namespace", w.ns)
	in["since"] = steps.DurationOf(time.Nanosecond)
	in["clone"] = steps.PathOf(t.TempDir())
	blind, err := readsProbe(t.Context(), w.root(), "kube/timeline", in, newReadsSink())
	if err != nil {
		t.Fatal(err)
	}
	wantFact(t, blind, "complete", "false")
	if v := blind.Facts["count"]; v.Known() || len(blind.Facts["unread"].Strings()) != 1 || !strings.HasPrefix(blind.Facts["unread"].Strings()[0], "clone ") {
		t.Errorf("a clone that is none: count %v, unread %v", v, blind.Facts["unread"])
	}
	wantFinding(t, blind, "more may have changed than is listed")
}
