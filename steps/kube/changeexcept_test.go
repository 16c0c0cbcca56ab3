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
