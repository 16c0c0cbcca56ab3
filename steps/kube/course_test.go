package kube

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"handrail/steps"
	"handrail/steps/kube/act"
)

// changes writes a list of changes, and returns the parameters of the gate that makes them.
func (s *stage) changes(uids map[string]string, entries ...string) steps.Params {
	s.t.Helper()
	file := filepath.Join(s.t.TempDir(), "changes.yaml")
	text := "apiVersion: handrail/v1\nkind: Changes\nchanges:\n" + strings.Join(entries, "\n") + "\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
	return steps.Params{"uids": steps.TableOf(uids), "changes": steps.PathOf(file), "namespace": steps.StringOf(s.ns.Name), "settle": steps.DurationOf(0)}
}

func (s *stage) named(in steps.Params) map[string]steps.Value {
	s.t.Helper()
	obs, err := readsProbe(s.t.Context(), s.env, "kube/named", in, newReadsSink())
	if err != nil {
		s.t.Fatal(err)
	}
	return obs.Facts
}

// TestCourse makes the changes of a list in its order by one phrase, and stops at the first object
// that is not what was shown.
func TestCourse(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	for _, name := range []string{"scrape", "panels", "logs"} {
		s.make(thingMade{resource: "configmaps", name: name})
	}
	list := []string{
		"- {object: configmaps/scrape, why: the chart, patch: [{op: add, path: /data/interval, value: 30s; or so}]}",
		"- create: {apiVersion: v1, kind: ServiceAccount, metadata: {name: scraper}}",
		"- {object: configmap/panels, patch: [{op: add, path: /data/port, value: '9090'}]}",
		"- {object: configmaps/logs, patch: [{op: add, path: /data/port, value: '3100'}]}",
	}
	in := s.changes(nil, list...)
	ns := s.ns.Name
	facts := s.named(steps.Params{"changes": in["changes"], "namespace": in["namespace"]})
	if got := facts["lacking"].Strings(); len(got) != 4 || facts["uids"].Table()["configmaps/"+ns+"/scrape"] == "" || !slices.Equal(facts["absent"].Strings(), []string{"serviceaccounts/" + ns + "/scraper"}) {
		t.Fatalf("named: %v", facts)
	}
	in["uids"] = facts["uids"]
	g := gateOf("kube/change-batch", s.env)
	armed := s.preview(g, in)
	if len(armed.Unmet) > 0 || !strings.HasPrefix(armed.Phrase, "patch 4 ") || len(armed.Owes) != 4 {
		t.Fatalf("preview: %s, %q, %v", unmetText(armed), armed.Phrase, armed.Owes)
	}
	order := strings.Split(armed.Request, "\n")
	at := func(part string) int {
		return slices.IndexFunc(order, func(line string) bool { return strings.Contains(line, part) })
	}
	if !(at("/scrape") >= 0 && at("/scrape") < at("serviceaccounts") && at("serviceaccounts") < at("/panels") && at("/panels") < at("/logs")) {
		t.Errorf("the order is not that of the list: %q", order)
	}
	fresh := s.preview(g, in)
	if fresh.Digest("i", "s") != armed.Digest("i", "s") {
		t.Fatalf("two previews differ: %v, %v", armed.Target, fresh.Target)
	}
	// Another person, after the preview: what a program wrote a moment ago could not be changed.
	s.must("PATCH", s.path("configmaps", "panels")+"?fieldManager=kubectl-edit", "application/merge-patch+json", `{"data":{"port":"9999"}}`)
	o, err := g.Act(t.Context(), s.confirm(fresh, armed.Digest("i", "s")), &scrap{})
	if err != nil || o.Result != steps.Failed || outcomes(o) != "scrape done, scraper done, panels refused, logs left" {
		t.Fatalf("Act() = %s, %+v, %v", outcomes(o), o, err)
	}
	if owes := o.Owing(armed.Owes); len(owes) != 2 {
		t.Errorf("owes = %v, want those of what was made", owes)
	}
	before := slices.Concat(armed.Target, armed.Shown)
	found, err := g.Find(t.Context(), before, in, &scrap{})
	if err != nil || !strings.HasPrefix(outcomes(found), "scrape done, scraper done, panels failed, logs ") || found.Result == steps.Done {
		t.Errorf("Find() = %s, %v", outcomes(found), err)
	}

	// The rest goes on from what is there: what is done already is passed over.
	rest := s.preview(g, in)
	if done := steps.Find(rest.Shown, "done already"); !strings.Contains(done, "scrape") || !strings.Contains(done, "scraper") || !strings.HasPrefix(rest.Phrase, "patch 2 ") {
		t.Fatalf("the rest: %v, %q, %s", rest.Shown, rest.Phrase, unmetText(rest))
	}
	if o, err := g.Act(t.Context(), s.confirm(rest, rest.Digest("i", "s")), &scrap{}); err != nil || o.Result != steps.Done {
		t.Fatalf("Act() = %+v, %v", o, err)
	}
	if again, err := g.(steps.Rereader).Again(t.Context(), slices.Concat(rest.Target, rest.Shown), in, &scrap{}); err != nil || again.Result != steps.Done {
		t.Errorf("Again() = %+v, %v", again, err)
	}
	if got := s.named(steps.Params{"changes": in["changes"], "namespace": in["namespace"]})["lacking"].Strings(); len(got) != 0 {
		t.Errorf("still lacking: %v", got)
	}
}

// TestCourseSettles: a change that is undone while it settles stops the list.
func TestCourseSettles(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	uids := map[string]string{}
	for _, name := range []string{"scrape", "panels"} {
		uids["configmaps/"+s.ns.Name+"/"+name] = s.make(thingMade{resource: "configmaps", name: name})
	}
	in := s.changes(uids, "- {object: configmaps/scrape, patch: [{op: add, path: /data/interval, value: 30s}]}",
		"- {object: configmaps/panels, patch: [{op: add, path: /data/port, value: '9090'}]}")
	in["settle"] = steps.DurationOf(2 * time.Second)
	stop := make(chan struct{})
	ended := make(chan struct{})
	defer func() { close(stop); <-ended }()
	path := s.path("configmaps", "scrape")
	go func() { // a writer that waits for the fix
		defer close(ended)
		for {
			select {
			case <-stop:
				return
			default:
			}
			if data, _ := s.now(path)["data"].(map[string]any); data["interval"] == "30s" {
				s.merge("configmaps", "scrape", `{"data":{"interval":"300s"}}`)
				return
			}
		}
	}()
	g := gateOf("kube/change-batch", s.env)
	p := s.preview(g, in)
	o, err := g.Act(t.Context(), s.confirm(p, p.Digest("i", "s")), &scrap{})
	if err != nil || outcomes(o) != "scrape failed, panels left" || !strings.Contains(o.Response, "did not stay so for 2s") {
		t.Errorf("Act() = %s, %+v, %v", outcomes(o), o, err)
	}
}

// TestCourseIsShut: one object that may not be changed keeps all of them.
func TestCourseIsShut(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	uid := s.make(thingMade{resource: "configmaps", name: "a"})
	key := "configmaps/" + s.ns.Name + "/a"
	one := "- {object: configmaps/a, patch: [{op: add, path: /data/b, value: c}]}"
	g := gateOf("kube/change-batch", s.env)
	for want, in := range map[string]steps.Params{
		"is another object":          s.changes(map[string]string{key: "11111111-2222-4333-8444-555555555555"}, one),
		"is not valid":               s.changes(nil, one),
		"counts the items of a list": s.changes(map[string]string{key: uid}, "- {object: configmaps/a, patch: [{op: remove, path: /metadata/managedFields/0}]}"),
		"b is not there":             s.changes(map[string]string{key: uid}, one, "- {object: configmaps/b, patch: [{op: add, path: /data/b, value: c}]}"),
		"looks like a secret": s.changes(map[string]string{key: uid}, one,
			"- create: {apiVersion: v1, kind: Secret, metadata: {name: s}, stringData: {password: hunter2}}"),
	} {
		p := s.preview(g, in)
		if !strings.Contains(unmetText(p), want) {
			t.Errorf("unmet = %q, want %q", unmetText(p), want)
		}
		if a, err := steps.Confirm(p, "i", "s", p.Digest("i", "s"), p.Phrase); err == nil || a != nil {
			t.Errorf("%s: it can be confirmed", want)
		}
	}
	for want, in := range map[string]steps.Params{
		"stands in the list twice": s.changes(map[string]string{key: uid}, one, one),
		"has no key":               s.changes(nil, "- {object: configmaps/a, pathc: []}"),
		"no resource/name":         s.changes(nil, "- {object: a, patch: [{op: add, path: /data/b, value: c}]}"),
	} {
		if _, err := g.Preview(t.Context(), in, &scrap{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// TestNamedBatches suspends and deletes what a person named, each object by its UID, and says how
// long the CronJobs may be silent.
func TestNamedBatches(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.allow(true, []string{"admissionregistration.k8s.io"}, []string{"validatingwebhookconfigurations", "mutatingwebhookconfigurations"})
	every := func(schedule string, name string) map[string]any {
		m := cronJob(name)
		m["spec"].(map[string]any)["schedule"] = schedule
		return m
	}
	ns := s.ns.Name
	s.born("batch", "cronjobs", every("*/1 * * * *", "audit"))
	s.born("batch", "cronjobs", every("*/5 * * * *", "federation"))
	s.born("batch", "cronjobs", every("@every 20s", "report"))
	checks := s.hook("validatingwebhookconfigurations", "checks-"+ns, "Ignore")
	writes := s.hook("mutatingwebhookconfigurations", "writes-"+ns, "Ignore")
	facts := s.named(steps.Params{"namespace": steps.StringOf(ns), "objects": steps.StringOf(
		"cronjob/audit, cronjobs.batch/" + ns + "/federation cronjob/report validatingwebhookconfiguration/checks-" + ns + " mutatingwebhookconfiguration/writes-" + ns)})
	if len(facts["cronjobs"].Table()) != 3 || len(facts["admission"].Table()) != 2 || facts["longest"].Duration() != 5*time.Minute || len(facts["active"].Strings()) != 3 {
		t.Fatalf("named: %v", facts)
	}
	all := facts["admission"].Table()
	if all["validatingwebhookconfigurations.admissionregistration.k8s.io/checks-"+ns] != checks || all["mutatingwebhookconfigurations.admissionregistration.k8s.io/writes-"+ns] != writes {
		t.Errorf("webhooks: %v", all)
	}
	act3 := func(kind string, in steps.Params, phrase string) steps.Outcome {
		t.Helper()
		g := gateOf(kind, s.env)
		p := s.preview(g, in)
		if len(p.Unmet) > 0 || !strings.HasPrefix(p.Phrase, phrase) {
			t.Fatalf("%s: %s, %q", kind, unmetText(p), p.Phrase)
		}
		o, err := g.Act(t.Context(), s.confirm(p, p.Digest("i", "s")), &scrap{})
		if err != nil || o.Result != steps.Done {
			t.Fatalf("%s: %+v, %v", kind, o, err)
		}
		for _, it := range o.Items {
			if steps.Find(it.After, act.KeyAudit) == "" {
				t.Errorf("%s: the record of %s has no audit id", kind, it.Object)
			}
		}
		found, err := g.Find(t.Context(), slices.Concat(p.Target, p.Shown), in, &scrap{})
		if err != nil || found.Result != steps.Done {
			t.Errorf("%s: Find() = %+v, %v", kind, found, err)
		}
		return o
	}
	crons := steps.Params{"uids": facts["cronjobs"]}
	act3("kube/suspend-batch", crons, "pause 3 ")
	if got := s.named(steps.Params{"namespace": steps.StringOf(ns), "objects": steps.StringOf("cronjob/audit cronjob/federation cronjob/report")})["active"].Strings(); len(got) != 0 {
		t.Errorf("still active: %v", got)
	}
	act3("kube/delete-batch", steps.Params{"uids": facts["admission"]}, "delete 2 ")
	act3("kube/delete-batch", crons, "delete 3 ")
	if p := s.preview(gateOf("kube/delete-batch", s.env), crons); !strings.Contains(unmetText(p), "so already, or gone") {
		t.Errorf("a list of what is gone: %s", unmetText(p))
	}
}

// TestClusterBindings makes a binding of the whole cluster by a list of changes, as the runbook lets it,
// and gives another one the right role.
func TestClusterBindings(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.allow(true, []string{rbacAPI}, []string{"clusterrolebindings"})
	const api = "/apis/rbac.authorization.k8s.io/v1/"
	name := func(of string) string { return of + "-" + s.ns.Name }
	for _, role := range []string{"typed", "wrong"} {
		s.post(api+"clusterroles", map[string]any{"metadata": map[string]any{"name": name(role)}, "rules": []any{}})
		t.Cleanup(func() { s.sweepUp(api + "clusterroles/" + name(role)) })
	}
	bound := func(of, role string) map[string]any {
		return map[string]any{"metadata": map[string]any{"name": name(of)}, "roleRef": map[string]any{"apiGroup": rbacAPI, "kind": "ClusterRole", "name": name(role)},
			"subjects": []any{map[string]any{"kind": "ServiceAccount", "name": "robot", "namespace": s.ns.Name}}}
	}
	uid := s.post(api+"clusterrolebindings", bound("old", "wrong"))["metadata"].(map[string]any)["uid"].(string)
	for _, of := range []string{"old", "new"} {
		t.Cleanup(func() { s.sweepUp(api + "clusterrolebindings/" + name(of)) })
	}
	s.acts("kube/recreate", steps.Params{"resource": steps.StringOf("clusterrolebinding"), "name": steps.StringOf(name("old")), "namespace": steps.StringOf(s.ns.Name), "uid": steps.IdentOf(uid),
		"patch": steps.StringOf("[{op: replace, path: /roleRef/name, value: " + name("typed") + "}]"), "widens": steps.StringsOf([]string{"/roleRef"})}, steps.Done)
	if got, _ := s.now(api + "clusterrolebindings/" + name("old"))["roleRef"].(map[string]any); got["name"] != name("typed") {
		t.Errorf("roleRef = %v", got)
	}
	in := s.changes(nil, "- create: {apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: {name: "+name("new")+"}, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: "+name("typed")+
		"}, subjects: [{kind: ServiceAccount, name: robot, namespace: "+s.ns.Name+"}]}")
	if p := s.preview(s.gate("kube/change-batch"), in); !strings.Contains(unmetText(p), "opens") {
		t.Errorf("a binding that nothing lets the list make: %s", unmetText(p))
	}
	in["widens"] = steps.StringsOf([]string{"/roleRef", "/subjects", "/spec/template/spec/serviceAccountName"})
	p := s.preview(s.gate("kube/change-batch"), in)
	if len(p.Unmet) > 0 {
		t.Fatalf("unmet = %s", unmetText(p))
	}
	if o, err := s.gate("kube/change-batch").Act(t.Context(), s.confirm(p, p.Digest("i", "s")), &scrap{}); err != nil || o.Result != steps.Done {
		t.Errorf("Act() = %+v, %v", o, err)
	}
}
