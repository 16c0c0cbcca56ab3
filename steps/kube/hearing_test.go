package kube

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"handrail/drills/lab"
	"handrail/steps"
)

// TestWarnings: what a server says beside its answers is a finding, once.
func TestWarnings(t *testing.T) {
	t.Parallel()
	f := newFakeServer(t)
	f.table([]string{"a"}, nil)
	f.answer = func(w http.ResponseWriter, r *http.Request) bool {
		w.Header().Add("Warning", `299 - "things is deprecated"`)
		w.Header().Add("Warning", `199 - "not for people"`)
		return false
	}
	obs, _ := f.probe("kube/list", what("resource", "things"))
	if len(obs.Findings) != 1 || !strings.Contains(obs.Findings[0].Say, "things is deprecated") || obs.Findings[0].Level != steps.Info {
		t.Errorf("findings = %v", obs.Findings)
	}
}

func TestServersClock(t *testing.T) {
	t.Parallel()
	server := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	for _, tc := range []struct {
		name string
		date time.Time
		ours time.Time
		why  string
	}{
		{"never heard", time.Time{}, server, "did not say"},
		{"agree", server, server.Add(time.Second), ""},
		{"ours is ahead", server, server.Add(time.Hour), "differ by 1h0m0s"},
		{"ours is behind", server, server.Add(-time.Hour), "differ by 1h0m0s"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			c := &client{heard: &hearing{date: tc.date, at: time.Now()}, env: steps.Env{Now: func() time.Time { return tc.ours }}}
			got, why := c.now()
			if (why == "") != (tc.why == "") || !strings.Contains(why, tc.why) || why == "" && !got.Equal(server) {
				t.Errorf("now() = %v, %q; want %v, %q", got, why, server, tc.why)
			}
		})
	}
}

// TestNoProbeWrites runs every probe of the package on every kind of thing that
// it takes; the server's own audit log holds no write of them, and no review but
// those that ask whether somebody may do something, which store nothing.
func TestNoProbeWrites(t *testing.T) {
	t.Parallel()
	w := newReadsWorld(t)
	w.fill(w.ns, "a")
	began := time.Now()
	ran := 0
	for _, k := range Kinds() {
		if k.Reads == nil {
			continue
		}
		for _, more := range [][]string{{"name", "a"}, {"name", "absent"}, {"read", "metadata"}, {"all_namespaces", "true"}} {
			in := what(append([]string{"resource", "configmaps"}, more...)...)
			if _, ok := in["name"]; !ok && k.Name != "kube/list" {
				continue
			}
			// What a probe finds is for its own tests; here it is only watched.
			_, _ = k.Reads(w.env).Probe(t.Context(), in, newReadsSink())
			ran++
		}
	}
	if ran < 10 {
		t.Errorf("%d runs of probes, want more", ran)
	}
	events, err := w.lab.AuditEvents(context.Background(), lab.AuditFilter{User: w.ns.Operator, Since: began})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range events {
		if e.Verb == "create" && (e.Resource == "subjectaccessreviews" || e.Resource == "localsubjectaccessreviews") {
			continue
		}
		t.Errorf("a probe did %s %s/%s %s", e.Verb, e.Resource, e.Name, e.URI)
	}
}

// TestClientCannotWrite: not even one who tries gets a write out of the client.
func TestClientCannotWrite(t *testing.T) {
	t.Parallel()
	w := newReadsWorld(t)
	w.fill(w.ns, "a")
	began := time.Now()
	c, err := connect(w.env, newReadsSink())
	if err != nil {
		t.Fatal(err)
	}
	path := "/api/v1/namespaces/" + w.ns.Name + "/configmaps"
	for _, err := range []error{
		c.rest.Delete().AbsPath(path + "/a").Do(t.Context()).Error(),
		c.rest.Post().AbsPath(path).Body([]byte(`{"metadata":{"name":"b"}}`)).Do(t.Context()).Error(),
		c.rest.Verb("DELETE").AbsPath(path).Do(t.Context()).Error(),
	} {
		if err == nil || !strings.Contains(err.Error(), "refused") {
			t.Errorf("a write through the client of probes = %v", err)
		}
	}
	events, err := w.lab.AuditEvents(context.Background(), lab.AuditFilter{User: w.ns.Operator, Since: began})
	if err != nil || len(events) > 0 {
		t.Errorf("the server heard of %v, %v", events, err)
	}
}
