package kube

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"handrail/steps"
	"handrail/steps/cluster"
)

// TestOwnersReachThePreview finds who would make the object again.
func TestOwnersReachThePreview(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	cron := s.must("POST", s.path("cronjobs", ""), cluster.AsJSON, `{"metadata":{"name":"nightly"},"spec":{"schedule":"0 0 1 1 *","jobTemplate":{"spec":{"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"a","image":"b"}]}}}}}}`)
	owner := []any{map[string]any{"apiVersion": "batch/v1", "kind": "CronJob", "name": "nightly", "uid": cron["metadata"].(map[string]any)["uid"], "controller": true}}
	held := s.make(thingMade{resource: "jobs", name: "held", finalizers: []string{cleaner}, owners: owner})
	free := s.make(thingMade{resource: "jobs", name: "free", owners: owner})
	for name, p := range map[string]steps.Preview{
		"strip":  s.preview(gateOf("kube/strip-finalizer", s.env), s.stripParams("job", "held", held)),
		"delete": s.preview(gateOf("kube/delete", s.env), deleteParams("job", "free", free)),
	} {
		if len(p.Unmet) > 0 || len(p.Owners) != 1 || !strings.Contains(p.Owners[0].Name, "nightly") || p.Owners[0].Paused != "no" {
			t.Errorf("%s: owners = %+v, unmet = %q", name, p.Owners, unmetText(p))
		}
	}
}

// TestAdmissionThatAddsIsRefused lets a policy of the cluster write into the
// request: what would be done is then not what a person asked for.
func TestAdmissionThatAddsIsRefused(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	uid := s.make(thingMade{resource: "configmaps", name: "held", finalizers: []string{cleaner}})
	const api = "/apis/admissionregistration.k8s.io/v1/"
	name := "handrail-" + s.ns.Name
	s.must("POST", api+"mutatingadmissionpolicies", cluster.AsJSON, fmt.Sprintf(`{"metadata":{"name":%q},"spec":{"failurePolicy":"Fail","reinvocationPolicy":"Never",
		"matchConstraints":{"namespaceSelector":{"matchLabels":{"kubernetes.io/metadata.name":%q}},"resourceRules":[{"apiGroups":[""],"apiVersions":["v1"],"operations":["UPDATE"],"resources":["configmaps"]}]},
		"mutations":[{"patchType":"ApplyConfiguration","applyConfiguration":{"expression":"Object{data: {\"touched\": \"yes\"}}"}}]}}`, name, s.ns.Name))
	t.Cleanup(func() { s.sweepAway(api + "mutatingadmissionpolicies/" + name) })
	s.must("POST", api+"mutatingadmissionpolicybindings", cluster.AsJSON, fmt.Sprintf(`{"metadata":{"name":%q},"spec":{"policyName":%q}}`, name, name))
	t.Cleanup(func() { s.sweepAway(api + "mutatingadmissionpolicybindings/" + name) })
	before := s.content("configmaps", "held")
	var p steps.Preview
	for p = s.preview(gateOf("kube/strip-finalizer", s.env), s.stripParams("configmap", "held", uid)); len(p.Unmet) == 0; { // it takes effect in a moment
		p = s.preview(gateOf("kube/strip-finalizer", s.env), s.stripParams("configmap", "held", uid))
	}
	s.refusedBy(p, "would change more than this one finalizer")
	if text := strings.Join(p.Diff, "\n"); !strings.Contains(text, `+ data.touched: "yes"`) || !strings.Contains(text, cleaner) {
		t.Errorf("diff = %q", p.Diff)
	}
	if s.content("configmaps", "held") != before || len(s.writes()) != 0 {
		t.Error("the rehearsal left something")
	}
}

// sweepAway deletes what is not in the namespace, when the test has ended.
func (s *stage) sweepAway(path string) {
	req, err := http.NewRequest(http.MethodDelete, s.lab.URL()+path, nil)
	if err != nil {
		s.t.Error(err)
		return
	}
	resp, err := s.other.Do(req)
	if err != nil {
		s.t.Error(err)
		return
	}
	if err := resp.Body.Close(); err != nil || resp.StatusCode != http.StatusOK {
		s.t.Errorf("DELETE %s: %s, %v", path, resp.Status, err)
	}
}

// TestBusyObjectIsRehearsedAgain writes the object between its read and its
// rehearsal.
func TestBusyObjectIsRehearsedAgain(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	uid := s.make(thingMade{resource: "configmaps", name: "held", finalizers: []string{cleaner}})
	beats := 0
	env := s.env
	env.Audit = func() string { return "" }
	var limit int
	// The sink hears of the rehearsal only after it; the manifest is kept just before.
	out := &beatingSink{beat: func() {
		if beats++; beats <= limit {
			s.merge("configmaps", "held", fmt.Sprintf(`{"data":{"beat":"%d"}}`, beats))
		}
	}}
	limit = 6 - 1
	p, err := gateOf("kube/strip-finalizer", env).Preview(t.Context(), s.stripParams("configmap", "held", uid), out)
	if err != nil || len(p.Unmet) > 0 || len(p.Diff) != 1 {
		t.Errorf("Preview() of an object that beats = %+v, %v", p, err)
	}
	beats, limit = 0, 6
	if _, err := (gateOf("kube/strip-finalizer", env)).Preview(t.Context(), s.stripParams("configmap", "held", uid), out); err == nil || !strings.Contains(err.Error(), "was written since it was read") {
		t.Errorf("Preview() of an object that never rests = %v, want errMoved", err)
	}
}

// TestReportingObjectIsReadOnce: where only its status is written, the rehearsal takes the newer version, and the
// manifest that was read stands.
func TestReportingObjectIsReadOnce(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	uid := s.born("batch", "cronjobs", cronJob("audit"))
	at, reports, kept := s.at("batch", "cronjobs", "audit"), 0, 0
	s.must("PATCH", at, "application/merge-patch+json", `{"metadata":{"finalizers":["`+cleaner+`"]}}`)
	out := &beatingSink{beat: func() {
		if kept++; reports < 4 {
			reports++
			s.must("PATCH", at+"/status", "application/merge-patch+json", fmt.Sprintf(`{"status":{"lastScheduleTime":"2026-11-01T00:00:0%dZ"}}`, reports))
		}
	}}
	p, err := s.gate("kube/strip-finalizer").Preview(t.Context(), s.stripParams("cronjob", "audit", uid), out)
	if err != nil || len(p.Unmet) > 0 || len(p.Diff) != 1 || kept != 1 {
		t.Errorf("Preview() of an object that reports read it %d times: %+v, %v", kept, p, err)
	}
}
