package object

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"handrail/steps"
	"handrail/steps/cluster"
)

// readObject is an object as get reads it.
func readObject(t testing.TB, raw string) cluster.Object {
	t.Helper()
	o, err := cluster.ParseObject([]byte(raw))
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func describeIt(t testing.TB, raw string, now time.Time) *describeRun {
	t.Helper()
	d := &describeRun{Object: readObject(t, raw), facts: steps.NewFacts(getFacts()), now: now}
	d.all(cluster.Resource{Group: "batch", Version: "v1", Plural: "jobs", Kind: "Job", Namespaced: true})
	return d
}

func TestTimes(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	at := func(d time.Duration) string { return now.Add(d).Format(time.RFC3339) }
	for _, tc := range []struct {
		name, created, deleted, finalizers string
		age, gone                          string
		finding                            bool
	}{
		{name: "young", created: at(-time.Minute), age: "1m0s", gone: "0s"},
		{name: "grace period not over", created: at(-time.Hour), deleted: at(time.Hour), age: "1h0m0s", gone: "0s"},
		{name: "stuck", created: at(-time.Hour), deleted: at(-47 * time.Minute), finalizers: `"a/b"`, age: "1h0m0s", gone: "47m0s", finding: true},
		{name: "on its way", created: at(-time.Hour), deleted: at(-time.Minute), finalizers: `"a/b"`, age: "1h0m0s", gone: "1m0s"},
		{name: "rounding of the clock", created: at(time.Second), age: "0s", gone: "0s"},
		{name: "from the future", created: at(time.Hour), age: "unknown", gone: "0s"},
		{name: "no time", age: "unknown", gone: "0s"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			md := `"name":"j","uid":"u","finalizers":[` + tc.finalizers + `]`
			if tc.created != "" {
				md += `,"creationTimestamp":"` + tc.created + `"`
			}
			if tc.deleted != "" {
				md += `,"deletionTimestamp":"` + tc.deleted + `"`
			}
			d := describeIt(t, `{"metadata":{`+md+`}}`, now)
			if age, gone := d.facts.Got("age").Text(), d.facts.Got("terminating_for").Text(); age != tc.age || gone != tc.gone {
				t.Errorf("age %s, terminating for %s; want %s, %s", age, gone, tc.age, tc.gone)
			}
			if d.facts.Got("terminating").Bool() != (tc.deleted != "") || (len(d.findings) > 0) != tc.finding {
				t.Errorf("terminating = %v, findings = %v", d.facts.Got("terminating").Bool(), d.findings)
			}
		})
	}
}

func TestLastWriter(t *testing.T) {
	t.Parallel()
	const early, late = "2026-05-01T10:00:00Z", "2026-05-01T11:00:00Z"
	entry := func(manager, at, sub string) string {
		raw, _ := json.Marshal(m{"manager": manager, "operation": "Update", "subresource": sub})
		if at != "" {
			raw = append(raw[:len(raw)-1], fmt.Sprintf(`,"time":%q}`, at)...)
		}
		return string(raw)
	}
	for _, tc := range []struct {
		name    string
		entries []string
		Writer  string
		when    string
	}{
		{"newest", []string{entry("a", late, ""), entry("b", early, "")}, "a", late},
		{"no time is last", []string{entry("a", early, ""), entry("b", "", "")}, "a", early},
		{"status is not the object", []string{entry("a", early, ""), entry("b", late, "status")}, "a", early},
		{"scale writes the spec", []string{entry("a", early, ""), entry("b", late, "scale")}, "b", late},
		{"nothing but status", []string{entry("b", late, "status")}, "b", late},
		{"nothing but no time", []string{entry("b", "", "")}, "b", "unknown"},
		{"none", nil, "unknown", "unknown"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			d := describeIt(t, `{"metadata":{"name":"j","uid":"u","managedFields":[`+strings.Join(tc.entries, ",")+`]}}`, time.Time{})
			if w, at := d.facts.Got("last_writer").Text(), d.facts.Got("last_written").Text(); w != tc.Writer || at != tc.when {
				t.Errorf("last writer %s at %s, want %s at %s", w, at, tc.Writer, tc.when)
			}
		})
	}
}

func TestSpec(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		`{}`: "false", `{"spec":{}}`: "false", `{"spec":{"suspend":true}}`: "true", `{"spec":{"suspend":null}}`: "false",
		`{"spec":{"suspend":"yes"}}`: "unknown", `{"spec":[]}`: "false",
	} {
		body := strings.TrimSuffix(strings.TrimPrefix(raw, "{"), "}")
		if body != "" {
			body = "," + body
		}
		d := describeIt(t, `{"metadata":{"name":"j","uid":"u"}`+body+`}`, time.Time{})
		if got := d.facts.Got("suspended").Text(); got != want {
			t.Errorf("suspended of %s = %s, want %s", raw, got, want)
		}
	}
}

// FuzzObject: whatever a server answers, describing it ends without a panic and
// sets each fact with its type.
func FuzzObject(f *testing.F) {
	f.Add([]byte(`{"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"j","uid":"u","generation":3,"finalizers":["a/b"],"managedFields":[{"manager":"x","time":"2026-05-01T10:00:00Z"}]},"spec":{"suspend":true},"status":{"conditions":[{"type":"Complete","status":"True"}]}}`))
	f.Add([]byte(`{"metadata":{"generation":1.5,"labels":{"a":null}},"status":{"conditions":{}}}`))
	f.Add([]byte(`null`))
	f.Add([]byte(`{"metadata":null,"spec":7,"data":"x"}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		o, err := cluster.ParseObject(raw)
		if err != nil {
			return
		}
		for _, r := range []cluster.Resource{{Version: "v1", Plural: "secrets", Kind: "Secret"}, {Group: "batch", Version: "v1", Plural: "jobs", Kind: "Job"}} {
			d := &describeRun{Object: o, facts: steps.NewFacts(getFacts()), now: time.Unix(0, 0)}
			d.all(r)
			_ = d.summary(cluster.Target{Resource: r})
			all := d.facts.Rest("rest")
			for _, field := range getFacts() {
				if all[field.Name].Type() != field.Type {
					t.Errorf("%s has type %q", field.Name, all[field.Name].Type())
				}
			}
		}
	})
}

func TestContentOfASecretIsNoHashOfItsValues(t *testing.T) {
	t.Parallel()
	r := cluster.Resource{Version: "v1", Plural: "secrets", Kind: "Secret"}
	sum := func(value string) string {
		o := readObject(t, `{"metadata":{"name":"s","uid":"u","resourceVersion":"7","annotations":{"`+LastApplied+`":"`+value+`"}},"data":{"p":"`+value+`"}}`)
		s, err := ContentSum(o, r)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	if sum("a") != sum("b") {
		t.Error("the hash depends on the values, so that short ones could be guessed")
	}
}

type m = map[string]any
