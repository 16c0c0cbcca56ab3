package admit

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"testing"

	"handrail/steps/cluster"
	"handrail/steps/stepstest"
)

func status(code int, reason, message string) string {
	raw, _ := json.Marshal(map[string]any{"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code, "reason": reason, "message": message})
	return string(raw)
}

// TestJudge tells a verdict from everything else that a rehearsal may be answered.
func TestJudge(t *testing.T) {
	t.Parallel()
	const object = `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a"}}`
	for _, tc := range []struct {
		name   string
		create bool
		code   int
		body   string
		result string // "" for an error
		known  bool
		denies bool
	}{
		{"made", true, 201, object, admitted, true, false},
		{"patched", false, 200, object, admitted, true, false},
		{"there already", true, 409, status(409, "AlreadyExists", `configmaps "a" already exists`), admitted, true, false},
		{"there already, by an update", false, 409, status(409, "AlreadyExists", `configmaps "a" already exists`), refused, false, false},
		{"a conflict", true, 409, status(409, "Conflict", "the object has been modified"), refused, false, false},
		{"a policy", true, 422, status(422, "Invalid", `configmaps "a" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: no`), denied, true, true},
		{"a policy without params", true, 403, status(403, "Forbidden", `configmaps "a" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: failed to configure binding: no params found`), undecided, true, true},
		{"a dead webhook", true, 500, status(500, "InternalError", `Internal error occurred: failed calling webhook "w": failed to call webhook: no endpoints available for service "s"`), down, false, false},
		{"a webhook that answers no JSON", true, 500, status(500, "InternalError", `Internal error occurred: failed calling webhook "w": failed to call webhook: couldn't get version/kind; json parse error: json: cannot unmarshal string into Go value of type struct { APIVersion string "json:\"apiVersion,omitempty\""; Kind string "json:\"kind,omitempty\"" }`), down, false, false},
		{"a webhook that answers another UID", true, 500, status(500, "InternalError", `Internal error occurred: failed calling webhook "w": received invalid webhook response: expected response.uid="7706c709-282c-4e4f-9ae8-93405b49b65b", got "other"`), down, false, false},
		{"a webhook that answers 500", true, 500, status(500, "InternalError", `Internal error occurred: failed calling webhook "w": failed to call webhook: an error on the server ("unknown") has prevented the request from succeeding`), down, false, false},
		{"a webhook without dry runs", true, 400, status(400, "BadRequest", `admission webhook "w" does not support dry run`), unrehearsed, false, false},
		{"no right", true, 403, status(403, "Forbidden", `configmaps is forbidden: User "a" cannot create resource "configmaps" in API group "" in the namespace "x"`), forbidden, false, false},
		{"an ending namespace", true, 403, status(403, "Forbidden", `configmaps "a" is forbidden: unable to create new content in namespace x because it is being terminated`), refused, false, false},
		{"a bare 403", true, 403, status(403, "Forbidden", "forbidden"), "", false, false},
		{"invalid", true, 422, status(422, "Invalid", `Service "a" is invalid: spec.ports: Required value`), invalid, false, false},
		{"a broken server", true, 500, status(500, "InternalError", "etcdserver: request timed out"), "", false, false},
		{"too many", true, 429, status(429, "TooManyRequests", "wait"), "", false, false},
		{"a proxy", true, 403, "<html>denied the request</html>", "", false, false},
		{"a proxy that is glad", true, 200, `{"ok":true}`, "", false, false},
		{"another code", true, 403, status(500, "InternalError", "x"), "", false, false},
	} {
		o, err := judge(tc.create, tc.code, []byte(tc.body))
		if (err != nil) != (tc.result == "") {
			t.Errorf("%s: %v", tc.name, err)
			continue
		}
		if is, known, why := o.denies(); err == nil && (o.result != tc.result || known != tc.known || is != tc.denies || !known && why == "") {
			t.Errorf("%s: %s, denies %v, known %v (%s), want %s, %v, %v", tc.name, o.result, is, known, why, tc.result, tc.denies, tc.known)
		}
	}
}

// FuzzJudge: whatever the answer, only what is no Status admits, and an outage is
// never a verdict.
func FuzzJudge(f *testing.F) {
	f.Add(true, 201, `{"kind":"ConfigMap","metadata":{"name":"a"}}`)
	f.Add(false, 403, status(403, "Forbidden", `failed calling webhook "w": x`))
	f.Add(true, 409, status(409, "AlreadyExists", "x"))
	f.Fuzz(func(t *testing.T, create bool, code int, body string) {
		o, err := judge(create, code, []byte(body))
		if err != nil {
			return
		}
		is, known, why := o.denies()
		if !slices.Contains(results(), o.result) || !known && why == "" || is && o.denial.Sort == "webhook-down" || o.result == admitted && code/100 != 2 && code != 409 {
			t.Fatalf("%d %q: %+v", code, body, o)
		}
	})
}

// TestAgain: what the server gave an object is not sent again, and the object that was
// read stays as it is.
func TestAgain(t *testing.T) {
	t.Parallel()
	service := cluster.Target{Resource: cluster.Resource{Version: "v1", Plural: "services", Kind: "Service"}}
	job := cluster.Target{Resource: cluster.Resource{Group: "batch", Version: "v1", Plural: "jobs", Kind: "Job"}}
	for _, tc := range []struct {
		name       string
		t          cluster.Target
		have, want string
	}{
		{"a service", service, `{"metadata":{"name":"a","uid":"u","resourceVersion":"1","labels":{"x":"y"},"ownerReferences":[]},"spec":{"clusterIP":"10.0.0.1","clusterIPs":["10.0.0.1"],"ports":[{"port":1,"nodePort":30000}]},"status":{}}`,
			`{"metadata":{"name":"a","labels":{"x":"y"}},"spec":{"ports":[{"port":1}]}}`},
		{"a headless one", service, `{"metadata":{"name":"a"},"spec":{"clusterIP":"None","clusterIPs":["None"]}}`, `{"metadata":{"name":"a"},"spec":{"clusterIP":"None","clusterIPs":["None"],"ports":[]}}`},
		{"a job", job, `{"metadata":{"name":"a"},"spec":{"selector":{"matchLabels":{"controller-uid":"u"}},"template":{"metadata":{"labels":{"controller-uid":"u","job-name":"a","app":"x"}}}}}`,
			`{"metadata":{"name":"a"},"spec":{"template":{"metadata":{"labels":{"app":"x"}}}}}`},
		{"without a spec", job, `{"data":{"a":"b"}}`, `{"metadata":{},"data":{"a":"b"}}`},
	} {
		var have, before, want map[string]any
		for raw, into := range map[*map[string]any]string{&have: tc.have, &before: tc.have, &want: tc.want} {
			if err := json.Unmarshal([]byte(into), raw); err != nil {
				t.Fatal(err)
			}
		}
		metadata(have)
		metadata(before)
		if got := again(tc.t, have); !reflect.DeepEqual(got, want) || !reflect.DeepEqual(have, before) {
			t.Errorf("%s: %v of %v, want %v of %v", tc.name, got, have, want, before)
		}
	}
}

// TestTellValues: each value of a Secret is named in both its forms before it is sent.
func TestTellValues(t *testing.T) {
	t.Parallel()
	out := stepstest.NewSink()
	hidden := base64.StdEncoding.EncodeToString([]byte("hunter2hunter2"))
	tellValues(map[string]any{"data": map[string]any{"a": hidden}, "stringData": map[string]any{"b": "correct horse"}}, out)
	if got := fmt.Sprint(out.Secrets); !slices.Contains(out.Secrets, "hunter2hunter2") || !slices.Contains(out.Secrets, hidden) || !slices.Contains(out.Secrets, "correct horse") {
		t.Errorf("told %s", got)
	}
}

// TestWhatNothingAnswers: a webhook that fails open refuses nothing while nothing answers behind it.
func TestWhatNothingAnswers(t *testing.T) {
	t.Parallel()
	for fails, want := range map[string]string{"open": "What it should judge passes unchecked.", "closed": "What it refuses it never judged."} {
		if got := unjudged(fails); got != want {
			t.Errorf("fails %s: %q, want %q", fails, got, want)
		}
	}
	for n, want := range map[[2]int]string{
		{0, 0}: "No entry is called a.b.", {1, 1}: "One entry is called a.b, and nothing answers behind it.",
		{1, 0}: "One entry is called a.b, and an answer may come from behind it.", {3, 2}: "3 entries are called a.b, and nothing answers behind 2 of them.",
	} {
		if got := entries("a.b", n[0], n[1]); got != want {
			t.Errorf("%v: %q, want %q", n, got, want)
		}
	}
}
