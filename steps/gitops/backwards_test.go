package gitops

import (
	"encoding/json"
	"slices"
	"testing"
)

// TestDepartures: what a sync would take back is told field by field, and what a server
// adds by itself is none of it.
func TestDepartures(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		applied, live string
		want          []string
	}{
		"the same":          {`{"spec":{"replicas":3}}`, `{"spec":{"replicas":3,"strategy":{"type":"RollingUpdate"}},"status":{"replicas":3}}`, nil},
		"a number":          {`{"spec":{"replicas":3}}`, `{"spec":{"replicas":7}}`, []string{"spec.replicas 7, was applied as 3"}},
		"gone":              {`{"spec":{"paused":true}}`, `{"spec":{}}`, []string{"spec.paused none, was applied as true"}},
		"an image":          {`{"spec":{"containers":[{"name":"app","image":"app:1"}]}}`, `{"spec":{"containers":[{"name":"app","image":"app:2","imagePullPolicy":"Always"}]}}`, []string{`spec.containers[name=app].image "app:2", was applied as "app:1"`}},
		"a container more":  {`{"spec":{"containers":[{"name":"app"}]}}`, `{"spec":{"containers":[{"name":"app"},{"name":"debug"}]}}`, []string{"spec.containers[name=debug] is added"}},
		"a container less":  {`{"spec":{"containers":[{"name":"app"},{"name":"proxy"}]}}`, `{"spec":{"containers":[{"name":"app"}]}}`, []string{"spec.containers[name=proxy] is gone"}},
		"a list of texts":   {`{"spec":{"args":["-v"]}}`, `{"spec":{"args":["-v","-d"]}}`, []string{`spec.args ["-v","-d"], was applied as ["-v"]`}},
		"annotations apart": {`{"metadata":{"annotations":{"a":"b"},"labels":{"team":"shop"}}}`, `{"metadata":{"annotations":{},"labels":{"team":"other"}}}`, []string{`metadata.labels.team "other", was applied as "shop"`}},
		"another type":      {`{"data":{"a":"b"}}`, `{"data":"c"}`, []string{`data "c", was applied as {"a":"b"}`}},
	} {
		var applied, live any
		for text, into := range map[string]*any{tc.applied: &applied, tc.live: &live} {
			if err := json.Unmarshal([]byte(text), into); err != nil {
				t.Fatal(err)
			}
		}
		if got := departures("", applied, live); !slices.Equal(got, tc.want) {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
}
