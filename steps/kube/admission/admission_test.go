package admission_test

import (
	"encoding/json"
	"strings"
	"testing"

	"handrail/steps/kube/admission"
)

func web() admission.Object {
	return admission.Object{Group: "apps", Version: "v1", Resource: "deployments", Namespaced: true, Name: "web",
		Labels: map[string]string{"app": "web"}, Space: map[string]string{"kubernetes.io/metadata.name": "shop"}}
}

const all = `"apiGroups":["*"],"apiVersions":["*"],"operations":["*"],"resources":`

func TestWebhookMatches(t *testing.T) {
	t.Parallel()
	bind := admission.Object{Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "clusterrolebindings", Name: "x"}
	space := admission.Object{Version: "v1", Resource: "namespaces", Name: "shop", Labels: map[string]string{"kubernetes.io/metadata.name": "shop"}}
	own := admission.Object{Group: admission.Group, Version: "v1", Resource: "mutatingwebhookconfigurations", Name: "x"}
	for _, tc := range []struct {
		name    string
		webhook string
		object  admission.Object
		want    string // "" for no match
	}{
		{"everything", `{"rules":[{` + all + `["*/*"]}]}`, web(), "on create, update, update of scale"},
		{"all resources", `{"rules":[{` + all + `["*"]}]}`, web(), "on create, update"},
		{"scale alone", `{"rules":[{` + all + `["*/scale"]}]}`, web(), "on update of scale"},
		{"it and all below", `{"rules":[{` + all + `["deployments/*"]}]}`, web(), "on create, update, update of scale"},
		{"status alone", `{"rules":[{` + all + `["deployments/status"]}]}`, web(), ""},
		{"updates", `{"rules":[{"apiGroups":["apps"],"apiVersions":["v1"],"operations":["UPDATE","DELETE"],"resources":["deployments"]}]}`, web(), "on update"},
		{"deletions", `{"rules":[{"apiGroups":["apps"],"apiVersions":["v1"],"operations":["DELETE"],"resources":["deployments"]}]}`, web(), ""},
		{"another group", `{"rules":[{"apiGroups":[""],"apiVersions":["v1"],"operations":["*"],"resources":["deployments"]}]}`, web(), ""},
		{"another version", `{"rules":[{"apiGroups":["apps"],"apiVersions":["v1beta1"],"operations":["CREATE"],"resources":["deployments"]}]}`, web(), "on create"},
		{"another version exactly", `{"matchPolicy":"Exact","rules":[{"apiGroups":["apps"],"apiVersions":["v1beta1"],"operations":["CREATE"],"resources":["deployments"]}]}`, web(), "on create, may match: it sees other versions of deployments alone"},
		{"its namespace", `{"namespaceSelector":{"matchLabels":{"kubernetes.io/metadata.name":"shop"}},"rules":[{` + all + `["*"]}]}`, web(), "on create, update"},
		{"another namespace", `{"namespaceSelector":{"matchLabels":{"kubernetes.io/metadata.name":"other"}},"rules":[{` + all + `["*"]}]}`, web(), ""},
		{"not in", `{"namespaceSelector":{"matchExpressions":[{"key":"kubernetes.io/metadata.name","operator":"NotIn","values":["shop"]}]},"rules":[{` + all + `["*"]}]}`, web(), ""},
		{"bad selector", `{"namespaceSelector":{"matchExpressions":[{"key":"a","operator":"Sometimes"}]},"rules":[{` + all + `["*"]}]}`, web(), "on create, update, may match: its namespace selector cannot be read"},
		{"other objects", `{"objectSelector":{"matchLabels":{"app":"api"}},"rules":[{` + all + `["*"]}]}`, web(), ""},
		{"conditions", `{"matchConditions":[{"name":"not-us","expression":"false"}],"rules":[{` + all + `["*"]}]}`, web(), "on create, update, may match: it has conditions (not-us)"},
		{"cluster scope", `{"rules":[{"scope":"Cluster",` + all + `["*"]}]}`, web(), ""},
		{"cluster-wide object", `{"namespaceSelector":{"matchLabels":{"a":"b"}},"rules":[{"scope":"Cluster",` + all + `["*"]}]}`, bind, "on create, update"},
		{"a namespace itself", `{"namespaceSelector":{"matchLabels":{"kubernetes.io/metadata.name":"other"}},"rules":[{` + all + `["*"]}]}`, space, ""},
		{"what configures admission", `{"rules":[{` + all + `["*/*"]}]}`, own, ""},
		{"no rules", `{}`, web(), ""},
	} {
		var w admission.Webhook
		if err := json.Unmarshal([]byte(tc.webhook), &w); err != nil {
			t.Fatal(err)
		}
		m, ok := w.Matches(tc.object)
		got := ""
		if ok {
			got = m.String()
		}
		if got != tc.want {
			t.Errorf("%s: %q, want %q", tc.name, got, tc.want)
		}
	}
	blind := web()
	blind.Space, blind.NoSpace = nil, "forbidden"
	var w admission.Webhook
	if err := json.Unmarshal([]byte(`{"namespaceSelector":{"matchLabels":{"a":"b"}},"rules":[{`+all+`["*"]}]}`), &w); err != nil {
		t.Fatal(err)
	}
	if m, ok := w.Matches(blind); !ok || !strings.Contains(m.String(), "the labels of the namespace are not known: forbidden") {
		t.Errorf("without the labels of its namespace: %v %v, want a possible match", m, ok)
	}
}

func TestPolicyMatches(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ name, policy, binding, want string }{
		{"plain", `{"matchConstraints":{"resourceRules":[{` + all + `["deployments"]}]}}`, `{}`, "on create, update"},
		{"excluded", `{"matchConstraints":{"resourceRules":[{` + all + `["*"]}],"excludeResourceRules":[{` + all + `["deployments"]}]}}`, `{}`, ""},
		{"other names", `{"matchConstraints":{"resourceRules":[{"resourceNames":["api"],` + all + `["*"]}]}}`, `{}`, ""},
		{"narrowed", `{"matchConstraints":{"resourceRules":[{` + all + `["*"]}]}}`, `{"matchResources":{"resourceRules":[{"apiGroups":["*"],"apiVersions":["*"],"operations":["UPDATE"],"resources":["*"]}]}}`, "on update"},
		{"narrowed away", `{"matchConstraints":{"resourceRules":[{` + all + `["*"]}]}}`, `{"matchResources":{"namespaceSelector":{"matchLabels":{"a":"b"}}}}`, ""},
		{"without constraints", `{}`, `{}`, ""},
		{"conditions", `{"matchConstraints":{"resourceRules":[{` + all + `["*"]}]},"matchConditions":[{"name":"c","expression":"true"}]}`, `{}`, "on create, update, may match: it has conditions (c)"},
	} {
		var p admission.Policy
		var b admission.Binding
		if err := json.Unmarshal([]byte(tc.policy), &p); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal([]byte(tc.binding), &b); err != nil {
			t.Fatal(err)
		}
		m, ok := p.Matches(b, web())
		got := ""
		if ok {
			got = m.String()
		}
		if got != tc.want {
			t.Errorf("%s: %q, want %q", tc.name, got, tc.want)
		}
	}
}
