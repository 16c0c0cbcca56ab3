package kube

import (
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"handrail/steps"
	"handrail/steps/cluster"
	"handrail/steps/kube/patch"
)

// allow gives the operator rights that the lab's own do not hold, everywhere or
// in the namespace of the stage.
func (s *stage) allow(cluster bool, groups, resources []string) {
	s.t.Helper()
	role := map[string]any{"metadata": map[string]any{"name": s.ns.Name + "-" + strings.NewReplacer("/", "-", "*", "all").Replace(resources[0])},
		"rules": []any{map[string]any{"apiGroups": groups, "resources": resources, "verbs": []string{"*"}}}}
	name := role["metadata"].(map[string]any)["name"].(string)
	base, kind := "/apis/rbac.authorization.k8s.io/v1/namespaces/"+s.ns.Name, "Role"
	roles, binds := base+"/roles", base+"/rolebindings"
	if cluster {
		roles, binds, kind = "/apis/rbac.authorization.k8s.io/v1/clusterroles", "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", "ClusterRole"
		s.t.Cleanup(func() {
			for _, p := range []string{roles, binds} {
				s.sweepUp(p + "/" + name)
			}
		})
	}
	binding := map[string]any{"metadata": map[string]any{"name": name},
		"subjects": []any{map[string]any{"kind": "ServiceAccount", "name": "operator", "namespace": s.ns.Name}},
		"roleRef":  map[string]any{"apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": name}}
	s.post(roles, role)
	s.post(binds, binding)
	s.settled(groups[0], resources[0], cluster)
}

// settled waits until the server knows of a right of the operator.
func (s *stage) settled(group, resource string, cluster bool) {
	s.t.Helper()
	plural, sub, _ := strings.Cut(resource, "/")
	at := map[string]any{"verb": "patch", "group": group, "resource": plural, "subresource": sub}
	if !cluster {
		at["namespace"] = s.ns.Name
	}
	for {
		got := s.post("/apis/authorization.k8s.io/v1/subjectaccessreviews", map[string]any{"spec": map[string]any{"user": s.ns.Operator, "resourceAttributes": at}})
		if got["status"].(map[string]any)["allowed"] == true {
			return
		}
		if s.t.Context().Err() != nil {
			s.t.Fatalf("the operator never got the right to patch %s", resource)
		}
	}
}

func (s *stage) post(path string, body map[string]any) map[string]any {
	s.t.Helper()
	b, err := json.Marshal(body)
	if err != nil {
		s.t.Fatal(err)
	}
	return s.must("POST", path, cluster.AsJSON, string(b))
}

// sweepUp removes what no namespace takes along.
func (s *stage) sweepUp(path string) {
	req, err := http.NewRequest(http.MethodDelete, s.lab.URL()+path, nil)
	if err != nil {
		return
	}
	if resp, err := s.other.Do(req); err == nil {
		_ = resp.Body.Close()
	}
}

// at is the path of an object of any group in the namespace of the stage.
func (s *stage) at(group, resource, name string) string {
	p := "/apis/" + group + "/v1"
	if group == "" {
		p = "/api/v1"
	}
	p += "/namespaces/" + s.ns.Name + "/" + resource
	if name != "" {
		p += "/" + name
	}
	return p
}

// born makes an object and returns its UID.
func (s *stage) born(group, resource string, body map[string]any) string {
	s.t.Helper()
	meta := s.post(s.at(group, resource, ""), body)["metadata"].(map[string]any)
	if resource == "deployments" {
		s.numbered(meta["name"].(string))
	}
	return meta["uid"].(string)
}

// numbered waits until the controller of a Deployment has seen it as it is.
func (s *stage) numbered(name string) {
	s.t.Helper()
	numbered(s.t, func() map[string]any { return s.now(s.at("apps", "deployments", name)) })
}

// numbered waits until the controller of a Deployment has seen it as it is: with
// each content that is new to it, it writes a number into an annotation, and an act
// that comes between is rightly refused.
func numbered(t *testing.T, read func() map[string]any) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		o := read()
		is, _ := patch.Get(o, "/metadata/generation")
		if seen, _ := patch.Get(o, "/status/observedGeneration"); seen == is {
			return
		}
		select {
		case <-tick.C:
		case <-t.Context().Done():
			t.Fatalf("no controller has seen %v", o)
		}
	}
}

// now reads one object as it is.
func (s *stage) now(path string) map[string]any {
	s.t.Helper()
	return s.must("GET", path, cluster.AsJSON, "")
}

func changeIn(resource, name, uid string, more ...string) steps.Params {
	in := steps.Params{"resource": steps.StringOf(resource), "name": steps.StringOf(name), "uid": steps.IdentOf(uid)}
	for i := 0; i < len(more); i += 2 {
		in[more[i]] = steps.StringOf(more[i+1])
		if more[i] == "days" {
			n, err := strconv.ParseInt(more[i+1], 10, 64)
			if err != nil {
				panic(err)
			}
			in[more[i]] = steps.IntOf(n)
		}
		if more[i] == "widens" || more[i] == "removes" {
			in[more[i]] = steps.StringsOf([]string{more[i+1]})
		}
	}
	return in
}

// gate is the gate of a kind.
func (s *stage) gate(kind string) steps.Gater {
	s.t.Helper()
	i := slices.IndexFunc(Kinds(), func(k steps.Kind) bool { return k.Name == kind })
	if i < 0 {
		s.t.Fatalf("there is no kind %s", kind)
	}
	return Kinds()[i].Changes(s.env)
}

// acts goes all the way: preview, confirm, act, and the look of a program that
// was started again.
func (s *stage) acts(kind string, in steps.Params, want string) (steps.Preview, steps.Outcome) {
	s.t.Helper()
	if in.Text("resource") == "deployment" {
		s.numbered(in.Text("name"))
	}
	g := s.gate(kind)
	armed := s.preview(g, in)
	if len(armed.Unmet) > 0 {
		s.t.Fatalf("%s: unmet = %s", kind, unmetText(armed))
	}
	fresh := s.preview(g, in)
	if fresh.Digest("i", "s") != armed.Digest("i", "s") {
		s.t.Fatalf("%s: two previews differ:\n%+v\n%+v", kind, armed, fresh)
	}
	o, err := g.Act(s.t.Context(), s.confirm(fresh, armed.Digest("i", "s")), &scrap{})
	if err != nil || o.Result != want {
		s.t.Fatalf("%s: Act() = %+v, %v, want %s", kind, o, err, want)
	}
	found, err := g.(steps.Finder).Find(s.t.Context(), slices.Concat(armed.Target, armed.Shown), in, &scrap{})
	if err != nil || found.Result != want {
		s.t.Errorf("%s: Find() = %+v, %v, want %s", kind, found, err, want)
	}
	return armed, o
}

// refused holds a gate to its floors: it says why, and nothing can be confirmed.
func (s *stage) refused(kind string, in steps.Params, why string) steps.Preview {
	s.t.Helper()
	p := s.preview(s.gate(kind), in)
	if !strings.Contains(unmetText(p), why) {
		s.t.Errorf("%s: unmet = %q, want %q", kind, unmetText(p), why)
	}
	if a, err := steps.Confirm(p, "i", "s", p.Digest("i", "s"), p.Phrase); err == nil || a != nil {
		s.t.Errorf("%s: Confirm() = %v, want a refusal", kind, err)
	}
	return p
}

func deployment(name string, labels map[string]string) map[string]any {
	sel := map[string]any{"app": name}
	return map[string]any{"metadata": map[string]any{"name": name, "labels": labels}, "spec": map[string]any{
		"replicas": 1, "selector": map[string]any{"matchLabels": sel},
		"template": map[string]any{"metadata": map[string]any{"labels": sel},
			"spec": map[string]any{"containers": []any{
				map[string]any{"name": "side", "image": "side:1"},
				map[string]any{"name": "app", "image": "app:1", "env": []any{map[string]any{"name": "DB_PASSWORD", "value": "hunter2hunter2"}}},
			}}}}}
}

var _ = testing.Short
