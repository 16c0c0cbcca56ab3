package kube

import (
	"context"
	"net/http"
	"net/url"
	"slices"
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

// TestNoProbeWrites runs every probe of the package on every kind of thing that
// it takes; the server's own audit log holds no write of them, and no review but
// access reviews and the requests of kube/dry-run, which store nothing: each of these
// says dryRun=All, once.
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
			in["window"] = steps.DurationOf(time.Second)
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
	dry := 0
	for _, e := range events {
		if e.Verb == "create" && (e.Resource == "subjectaccessreviews" || e.Resource == "localsubjectaccessreviews") {
			continue
		}
		if u, err := url.Parse(e.URI); err == nil && slices.Equal(u.Query()["dryRun"], []string{"All"}) {
			dry++
			continue
		}
		t.Errorf("a probe did %s %s/%s %s", e.Verb, e.Resource, e.Name, e.URI)
	}
	if dry == 0 {
		t.Error("kube/dry-run asked for nothing")
	}
}
