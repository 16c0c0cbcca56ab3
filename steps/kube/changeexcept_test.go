package kube

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"handrail/steps"
)

// answers waits until the API server says a text of a rehearsed creation.
func (s *stage) answers(name, want string) {
	s.t.Helper()
	limit, cancel := context.WithTimeout(s.t.Context(), 3*time.Minute)
	defer cancel()
	look := time.NewTicker(50 * time.Millisecond)
	defer look.Stop()
	for {
		code, raw := s.raw(http.MethodPost, s.path("configmaps", "")+"?dryRun=All", "application/json", fmt.Sprintf(`{"metadata":{"name":%q}}`, name))
		said := fmt.Sprintf("%d %s", code, raw)
		if strings.Contains(said, want) {
			return
		}
		select {
		case <-look.C:
		case <-limit.Done():
			s.t.Fatalf("a creation of %s is answered %s, want %q", name, said, want)
		}
	}
}

// TestExceptPolicy: one object is left out until a day, its neighbour is judged as
// before, and what is no exception is refused.
func TestExceptPolicy(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.allow(true, []string{"admissionregistration.k8s.io"}, []string{"*"})
	const group = "/apis/admissionregistration.k8s.io/v1/"
	name := s.ns.Name + "-no"
	made := s.must(http.MethodPost, group+"validatingadmissionpolicies", "application/json", fmt.Sprintf(`{"metadata":{"name":%q},"spec":{"validations":[{"expression":"false","message":"nothing at all"}],
		"matchConstraints":{"namespaceSelector":{"matchLabels":{"kubernetes.io/metadata.name":%q}},"resourceRules":[{"operations":["CREATE"],"apiGroups":[""],"apiVersions":["v1"],"resources":["configmaps"]}]}}}`, name, s.ns.Name))
	s.t.Cleanup(func() { s.sweepUp(group + "validatingadmissionpolicies/" + name) })
	s.must(http.MethodPost, group+"validatingadmissionpolicybindings", "application/json", fmt.Sprintf(`{"metadata":{"name":%q},"spec":{"policyName":%q,"validationActions":["Deny"]}}`, name, name))
	s.t.Cleanup(func() { s.sweepUp(group + "validatingadmissionpolicybindings/" + name) })
	s.answers("till-7", "nothing at all")
	uid := made["metadata"].(map[string]any)["uid"].(string)
	day := func(days int) string { return time.Now().UTC().AddDate(0, 0, days).Format(time.DateOnly) }
	in := func(days string, more ...string) steps.Params {
		return changeIn("validatingadmissionpolicy", name, uid, append([]string{"object_resource", "cm", "object", "till-7", "object_namespace", s.ns.Name, "days", days}, more...)...)
	}
	s.refused("kube/except-policy", in("0"), "is none")
	s.refused("kube/except-policy", in("91"), "is none")
	s.refused("kube/except-policy", in("7", "object_namespace", ""), "is not said")
	s.refused("kube/delete-policy", changeIn("validatingadmissionpolicy", name, uid), "binds")
	p, _ := s.acts("kube/except-policy", in("90"), steps.Done)
	if p.Phrase != "except validatingadmissionpolicy/"+name || len(p.Owes) != 1 || !strings.Contains(p.Owes[0].Text, day(90)) {
		t.Errorf("phrase = %q, owes = %v", p.Phrase, p.Owes)
	}
	s.refused("kube/except-policy", in("90"), "leaves the object out already")
	s.answers("till-7", `"uid"`) // admitted
	s.answers("till-8", "nothing at all")
	s.acts("kube/except-policy", in("1", "object", "till-8"), steps.Done)
	s.answers("till-8", `"uid"`)
	s.answers("till-9", "nothing at all")
}

// TestExceptConstraint: a constraint leaves one object out by a label that it alone carries, and nothing that would leave more
// out. The server needs no Gatekeeper for that, only the kind that a template would have made.
func TestExceptConstraint(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.allow(true, []string{"constraints.gatekeeper.sh"}, []string{"*"})
	plural := "needs" + s.ns.Name[strings.LastIndexByte(s.ns.Name, '-')+1:]
	const customs, group = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", "/apis/constraints.gatekeeper.sh/v1beta1/"
	s.must(http.MethodPost, customs, "application/json", fmt.Sprintf(`{"metadata":{"name":"%[1]s.constraints.gatekeeper.sh"},"spec":{"group":"constraints.gatekeeper.sh","scope":"Cluster","names":{"kind":%[2]q,"plural":%[1]q,"singular":%[1]q},
		"versions":[{"name":"v1beta1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}]}}`, plural, strings.ToUpper(plural[:1])+plural[1:]))
	s.t.Cleanup(func() { s.sweepUp(customs + "/" + plural + ".constraints.gatekeeper.sh") })
	for {
		if code, _ := s.raw(http.MethodGet, group+plural, "", ""); code == http.StatusOK {
			break
		}
		select {
		case <-time.After(50 * time.Millisecond):
		case <-t.Context().Done():
			t.Fatal("the kind of constraints is not served")
		}
	}
	constraint := func(name, spec string) string {
		t.Helper()
		made := s.must(http.MethodPost, group+plural, "application/json", fmt.Sprintf(`{"apiVersion":"constraints.gatekeeper.sh/v1beta1","kind":%q,"metadata":{"name":%q},"spec":%s}`, strings.ToUpper(plural[:1])+plural[1:], name, spec))
		return made["metadata"].(map[string]any)["uid"].(string)
	}
	for name, labels := range map[string]string{"till-7": `{"till":"seven","team":"retail"}`, "till-1": `{"till":"one","team":"retail"}`} {
		s.must(http.MethodPost, s.path("configmaps", ""), "application/json", fmt.Sprintf(`{"metadata":{"name":%q,"labels":%s}}`, name, labels))
	}
	in := func(name, uid, label string, more ...string) steps.Params {
		return changeIn(plural+".constraints.gatekeeper.sh", name, uid, append([]string{"object_resource", "cm", "object", "till-7", "object_namespace", s.ns.Name, "label", label, "days", "14"}, more...)...)
	}
	match := fmt.Sprintf(`"match":{"kinds":[{"apiGroups":[""],"kinds":["ConfigMap"]}],"namespaces":[%q]}`, s.ns.Name)
	wild, idle := constraint("wild", `{"match":{"kinds":[{"apiGroups":["*"],"kinds":["ConfigMap"]}]}}`), constraint("idle", `{"enforcementAction":"dryrun",`+match+`}`)
	uid := constraint("need-team", "{"+match+"}")
	s.refused("kube/except-policy", in("need-team", uid, ""), "is no label")
	s.refused("kube/except-policy", in("need-team", uid, "till=eight"), "does not carry till=eight")
	s.refused("kube/except-policy", in("need-team", uid, "team=retail"), "/till-1 carries team=retail too")
	s.refused("kube/except-policy", in("need-team", uid, "till=seven", "days", "91"), "is none")
	s.refused("kube/except-policy", in("wild", wild, "till=seven"), "judges kinds by a star")
	s.refused("kube/except-policy", in("idle", idle, "till=seven"), "denies nothing: its action is dryrun")
	s.refused("kube/delete-policy", changeIn(plural+".constraints.gatekeeper.sh", "need-team", uid), "no admission policy")
	p, _ := s.acts("kube/except-policy", in("need-team", uid, "till=seven"), steps.Done)
	day := time.Now().UTC().AddDate(0, 0, 14).Format(time.DateOnly)
	if p.Phrase != "except "+plural+"/need-team" || len(p.Owes) != 1 || !strings.Contains(p.Owes[0].Text, "handrail/except-till-7-until-"+day) {
		t.Errorf("phrase = %q, owes = %v", p.Phrase, p.Owes)
	}
	s.refused("kube/except-policy", in("need-team", uid, "till=seven"), "leaves out what carries till=seven already")
}
