package admission_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"handrail/steps/kube/admission"
)

func read[T any](t *testing.T, raw string) T {
	t.Helper()
	var v T
	if err := json.Unmarshal([]byte(raw), &v); err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
	return v
}

func create(t *testing.T) admission.Request {
	content := read[map[string]any](t, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"till-7","namespace":"shop","labels":{"app":"till"}},"data":{"owner":"ann","most":"5"}}`)
	return admission.Request{
		Object: admission.Object{Version: "v1", Resource: "configmaps", Namespaced: true, Name: "till-7", Labels: map[string]string{"app": "till"},
			Space: map[string]string{"kubernetes.io/metadata.name": "shop", "pod-security.kubernetes.io/enforce": "restricted"}},
		Kind: "ConfigMap", Operation: "CREATE", Namespace: "shop", Served: []string{"v1"}, Content: content,
		LiveNamespace: read[map[string]any](t, `{"metadata":{"name":"shop","labels":{"tier":"front"}}}`),
	}
}

const configmaps = `"rules":[{"apiGroups":[""],"apiVersions":["v1"],"operations":["CREATE"],"resources":["configmaps"]}]`

func hook(t *testing.T, raw string) admission.Config {
	return admission.Config{ValidatingHooks: []admission.Hooks{{Name: "v", Entries: []admission.Webhook{read[admission.Webhook](t, raw)}}}}
}

// TestTraceOfWebhook: whether one webhook sees a request, and why not.
func TestTraceOfWebhook(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, hook string
		with       func(*admission.Request)
		match      admission.Answer
		why        string
	}{
		{"its rule", `{` + configmaps + `}`, nil, "yes", ""},
		{"another operation", `{` + configmaps + `}`, func(r *admission.Request) { r.Operation = "UPDATE" }, "no", "no rule of it is for update of configmaps"},
		{"a subresource", `{` + configmaps + `}`, func(r *admission.Request) { r.Subresource = "status" }, "no", "no rule of it is for create of configmaps/status"},
		{"a version that is served", `{"rules":[{` + all + `["configmaps"],"apiVersions":["v1beta1"]}]}`, func(r *admission.Request) { r.Served = []string{"v1", "v1beta1"} }, "yes", ""},
		{"one that is not", `{"rules":[{` + all + `["configmaps"],"apiVersions":["v1beta1"]}]}`, nil, "no", "no rule"},
		{"versions that are not known", `{"rules":[{` + all + `["configmaps"],"apiVersions":["v1beta1"]}]}`, func(r *admission.Request) { r.Served = nil }, "unknown", "which versions are served is not known"},
		{"exactly", `{"matchPolicy":"Exact","rules":[{` + all + `["configmaps"],"apiVersions":["v1beta1"]}]}`, func(r *admission.Request) { r.Served = []string{"v1", "v1beta1"} }, "no", "no rule"},
		{"another namespace", `{` + configmaps + `,"namespaceSelector":{"matchLabels":{"tier":"back"}}}`, nil, "no", "its namespaceSelector leaves it out: tier=back"},
		{"labels of the namespace are not known", `{` + configmaps + `,"namespaceSelector":{"matchLabels":{"tier":"back"}}}`, func(r *admission.Request) { r.Space, r.NoSpace = nil, "forbidden" }, "unknown", "forbidden"},
		{"other objects", `{` + configmaps + `,"objectSelector":{"matchLabels":{"app":"api"}}}`, nil, "no", "its objectSelector"},
		{"an update away from a label", `{"rules":[{` + all + `["*"]}],"objectSelector":{"matchLabels":{"app":"api"}}}`, func(r *admission.Request) {
			r.Operation, r.Old = "UPDATE", map[string]any{"metadata": map[string]any{"labels": map[string]any{"app": "api"}}}
		}, "yes", ""},
		{"a condition", `{` + configmaps + `,"matchConditions":[{"name":"of-ann","expression":"object.data.owner == 'ann'"}]}`, nil, "yes", ""},
		{"a condition that is false", `{` + configmaps + `,"matchConditions":[{"name":"fails","expression":"object.nope == 1"},{"name":"of-bob","expression":"object.data.owner == 'bob'"}]}`, nil, "no", "its condition of-bob is false"},
		{"a condition that fails", `{` + configmaps + `,"matchConditions":[{"name":"c","expression":"object.spec.x == 1"}]}`, nil, "unknown", "its condition c fails: no such key: spec"},
		{"the same of an object as it is written", `{` + configmaps + `,"matchConditions":[{"name":"c","expression":"object.spec.x == 1"}]}`, func(r *admission.Request) { r.Partial = "the server fills in defaults" }, "unknown", "not known: no such key: spec, and the server fills in defaults"},
		{"who asks", `{` + configmaps + `,"matchConditions":[{"name":"c","expression":"!request.userInfo.username.startsWith('system:')"}]}`, nil, "unknown", "it depends on who sends the request"},
		{"who asks does not matter", `{` + configmaps + `,"matchConditions":[{"name":"c","expression":"request.userInfo.username == 'x' || request.operation == 'CREATE'"}]}`, nil, "yes", ""},
		{"the authorizer", `{` + configmaps + `,"matchConditions":[{"name":"c","expression":"authorizer.group('').resource('pods').check('get').allowed()"}]}`, nil, "unknown", "it uses what is not evaluated here"},
		{"an optional field", `{` + configmaps + `,"matchConditions":[{"name":"c","expression":"object.?spec.?x.orValue(1) == 1"}]}`, nil, "yes", ""},
		{"the old object of a creation", `{` + configmaps + `,"matchConditions":[{"name":"c","expression":"oldObject == null"}]}`, nil, "yes", ""},
		{"an object that was not read", `{` + configmaps + `,"matchConditions":[{"name":"c","expression":"has(object.data)"}]}`, func(r *admission.Request) { r.Content = nil }, "unknown", "object is not known: it was not read"},
		{"the values of a Secret", `{` + configmaps + `,"matchConditions":[{"name":"c","expression":"has(object.data) && 'x' in object.data"}]}`, func(r *admission.Request) { r.Sealed = true; delete(r.Content, "data") }, "unknown", "the values of a Secret are not read"},
		{"endless work", `{` + configmaps + `,"matchConditions":[{"name":"c","expression":"[1,2,3,4,5,6,7,8,9].all(a,[1,2,3,4,5,6,7,8,9].all(b,[1,2,3,4,5,6,7,8,9].all(c,[1,2,3,4,5,6,7,8,9].all(d,[1,2,3,4,5,6,7,8,9].all(e,[1,2,3,4,5,6,7,8,9].all(f,[1,2,3,4,5,6,7,8,9].all(g,a+b+c+d+e+f+g>0)))))))"}]}`, nil, "unknown", "its condition c"},
		{"what configures admission", `{"rules":[{` + all + `["*/*"]}]}`, func(r *admission.Request) { r.Group, r.Resource = admission.Group, "validatingwebhookconfigurations" }, "no", "seen by none"},
	} {
		r := create(t)
		if tc.with != nil {
			tc.with(&r)
		}
		rows := admission.Trace(r, hook(t, tc.hook))
		got := rows[len(rows)-1]
		if got.Match != tc.match || !strings.Contains(got.Why, tc.why) || tc.why == "" && got.Why != "" {
			t.Errorf("%s: match %s (%s), want %s (%s)", tc.name, got.Match, got.Why, tc.match, tc.why)
		}
	}
}

const constraints = `"matchConstraints":{"resourceRules":[{` + all + `["configmaps"]}]}`

// TestTraceOfPolicy: what a bound policy makes of a request.
func TestTraceOfPolicy(t *testing.T) {
	t.Parallel()
	most := `{` + constraints + `,"paramKind":{"apiVersion":"v1","kind":"ConfigMap"},"variables":[{"name":"most","expression":"int(object.data.most)"}],"validations":[{"expression":"variables.most <= int(params.data.most)","message":"too many"}]}`
	limit := func(n string) map[string]any { return map[string]any{"data": map[string]any{"most": n}} }
	for _, tc := range []struct {
		name, policy, binding string
		params                []map[string]any
		noParams              string
		match, admits         admission.Answer
		says                  string
	}{
		{"admits", most, `{"validationActions":["Deny"]}`, []map[string]any{limit("9")}, "", "yes", "yes", ""},
		{"refuses", most, `{"validationActions":["Deny"]}`, []map[string]any{limit("3")}, "", "yes", "no", "too many"},
		{"the worst of several", most, `{"validationActions":["Deny"]}`, []map[string]any{limit("9"), limit("3"), limit("7")}, "", "yes", "no", "too many"},
		{"params that are not known", most, `{}`, nil, "forbidden", "yes", "unknown", "params is not known: forbidden"},
		{"params that are not there", most, `{"paramRef":{"name":"x","parameterNotFoundAction":"Deny"}}`, nil, "", "yes", "no", "not there"},
		{"nor wanted", most, `{"paramRef":{"name":"x","parameterNotFoundAction":"Allow"}}`, nil, "", "no", "", ""},
		{"a variable that is not known", `{` + constraints + `,"variables":[{"name":"who","expression":"request.userInfo.username"}],"validations":[{"expression":"variables.who != ''"}]}`, `{}`, nil, "", "yes", "unknown", "variables.who"},
		{"no message", `{` + constraints + `,"validations":[{"expression":"object.data.owner == 'bob'"}]}`, `{}`, nil, "", "yes", "no", "failed expression: object.data.owner == 'bob'"},
		{"narrowed by its binding", `{` + constraints + `,"validations":[{"expression":"false"}]}`, `{"matchResources":{"namespaceSelector":{"matchLabels":{"tier":"back"}}}}`, nil, "", "no", "", ""},
		{"left out by name", `{` + constraints + `,"validations":[{"expression":"false"}]}`, `{"matchResources":{"excludeResourceRules":[{"resourceNames":["till-7"],` + all + `["configmaps"]}]}}`, nil, "", "no", "", ""},
		{"a type that does not fit", `{` + constraints + `,"validations":[{"expression":"object.data.most > 3"}]}`, `{}`, nil, "", "yes", "unknown", "its expression fails"},
	} {
		p, b := read[admission.Policy](t, tc.policy), read[admission.Binding](t, tc.binding)
		got := admission.Trace(create(t), admission.Config{ValidatingPolicies: []admission.Bound{{Policy: "p", Binding: "b", Of: p, By: b, Params: tc.params, NoParams: tc.noParams}}})[0]
		if got.Match != tc.match || got.Admits != tc.admits || !strings.Contains(got.Says, tc.says) {
			t.Errorf("%s: %+v, want match %s, admits %s, %q", tc.name, got, tc.match, tc.admits, tc.says)
		}
	}
}

// TestTraceException: an exception is read from the condition that takes the object out.
func TestTraceException(t *testing.T) {
	t.Parallel()
	until := time.Date(2026, 12, 31, 0, 0, 0, 0, time.UTC)
	name := admission.ExceptionName("till-7", until)
	p := read[admission.Policy](t, `{`+constraints+`,"validations":[{"expression":"false"}],"matchConditions":[{"name":"`+name+`","expression":"!(request.namespace == 'shop' && request.name == 'till-7')"}]}`)
	config := admission.Config{ValidatingPolicies: []admission.Bound{{Policy: "p", Binding: "b", Of: p, By: admission.Binding{ValidationActions: []string{"Deny"}}}}}
	r := create(t)
	if got := admission.Trace(r, config)[0]; got.Match != admission.No || got.Exception != name || !got.Until.Equal(until) || got.Denies() {
		t.Errorf("the object of the exception: %+v", got)
	}
	r.Name = "till-8"
	if got := admission.Trace(r, config)[0]; got.Match != admission.Yes || got.Exception != "" || !got.Denies() {
		t.Errorf("its neighbour: %+v", got)
	}
}

// TestTraceOrder: what changes an object comes first, and one after the other.
func TestTraceOrder(t *testing.T) {
	t.Parallel()
	w := func(name, more string) admission.Webhook {
		return read[admission.Webhook](t, `{"name":"`+name+`",`+configmaps+more+`}`)
	}
	p := read[admission.Policy](t, `{`+constraints+`,"validations":[{"expression":"false","message":"no"}]}`)
	bound := []admission.Bound{{Policy: "p", Binding: "b", Of: p, By: admission.Binding{ValidationActions: []string{"Audit"}}}}
	c := admission.Config{
		MutatingHooks:      []admission.Hooks{{Name: "m-b", Entries: []admission.Webhook{w("third", `,"timeoutSeconds":5`)}}, {Name: "m-a", Entries: []admission.Webhook{w("first", `,"timeoutSeconds":3,"reinvocationPolicy":"IfNeeded"`), w("second", "")}}},
		ValidatingHooks:    []admission.Hooks{{Name: "v", Entries: []admission.Webhook{w("fifth", `,"timeoutSeconds":7`), w("sixth", `,"timeoutSeconds":2,"failurePolicy":"Ignore"`)}}},
		ValidatingPolicies: bound, MutatingPolicies: nil,
	}
	r := create(t)
	r.Partial = "the server fills in defaults"
	rows := admission.Trace(r, c)
	var names []string
	for _, row := range rows {
		names = append(names, row.Entry)
	}
	if got := strings.Join(names, " "); got != "first second third b fifth sixth" {
		t.Errorf("order %s", got)
	}
	if got := admission.Budget(rows); got != 28*time.Second { // 3 twice, 10, 5, and the longer of 7 and 2
		t.Errorf("budget %s, want 28s", got)
	}
	if row := rows[3]; row.Admits != admission.Unknown || !strings.Contains(row.Says, "as it was given, it is refused (no)") {
		t.Errorf("a policy after others that change the object: %+v", row)
	}
	r.Partial = ""
	if row := admission.Trace(r, c)[3]; row.Admits != admission.No || row.Denies() {
		t.Errorf("a policy that only audits: %+v", row)
	}
	if rows[5].Fails != "open" || rows[4].Fails != "closed" || !strings.Contains(rows[4].String(), "validating v: fifth, match yes, fails closed, waits up to 7s") {
		t.Errorf("%s", rows[4])
	}
}

// TestTraceLevels: a level refuses Pods, and nothing that makes them.
func TestTraceLevels(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		resource, level, entry string
		match                  admission.Answer
		rows                   int
	}{
		{"pods", "restricted", "restricted:latest", "yes", 1},
		{"deployments", "restricted", "restricted:latest", "no", 1},
		{"pods", "privileged", "privileged", "no", 1},
		{"pods", "", "no level", "unknown", 1},
		{"configmaps", "restricted", "", "", 0},
	} {
		r := create(t)
		r.Resource = tc.resource
		r.Space = map[string]string{"pod-security.kubernetes.io/enforce": tc.level}
		rows := admission.Trace(r, admission.Config{})
		if len(rows) != tc.rows || tc.rows > 0 && (rows[0].Entry != tc.entry || rows[0].Match != tc.match) {
			t.Errorf("%s below %q: %+v", tc.resource, tc.level, rows)
		}
	}
}

// FuzzTrace traces a request through what a cluster may hold: a match that is ruled out
// is ruled out for a reason, and nothing is both ruled out and judged.
func FuzzTrace(f *testing.F) {
	f.Add(`{`+configmaps+`,"matchConditions":[{"name":"c","expression":"object.data.owner == 'ann'"}]}`, `{`+constraints+`,"validations":[{"expression":"has(object.spec)"}]}`, `{"data":{"owner":"ann"}}`)
	f.Add(`{"rules":[{}]}`, `{`+constraints+`,"variables":[{"name":"a","expression":"variables.a"}],"validations":[{"expression":"variables.a"}]}`, `{"metadata":{"labels":{"a":1}}}`)
	f.Add(`{}`, `{`+constraints+`,"paramKind":{"kind":"x"},"validations":[{"expression":"params.x.all(a, a.matches('(a+)+'))"}]}`, `null`)
	f.Fuzz(func(t *testing.T, hook, policy, object string) {
		var w admission.Webhook
		var p admission.Policy
		var o map[string]any
		if json.Unmarshal([]byte(hook), &w) != nil || json.Unmarshal([]byte(policy), &p) != nil || json.Unmarshal([]byte(object), &o) != nil {
			return
		}
		r := create(t)
		r.Content = o
		rows := admission.Trace(r, admission.Config{MutatingHooks: []admission.Hooks{{Name: "m", Entries: []admission.Webhook{w}}},
			ValidatingPolicies: []admission.Bound{{Policy: "p", Of: p, Params: []map[string]any{o}}}})
		for _, row := range rows {
			if row.Match == admission.No && row.Why == "" || row.Match == admission.No && row.Denies() || row.String() == "" {
				t.Fatalf("%+v", row)
			}
		}
		if admission.Budget(rows) < 0 && w.TimeoutSeconds >= 0 {
			t.Fatalf("a budget of %s", admission.Budget(rows))
		}
	})
}
