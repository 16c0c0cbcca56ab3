package admission_test

import (
	"encoding/json"
	"testing"

	"handrail/steps/kube/admission"
)

// FuzzMatches reads what a cluster may hold as a webhook or a policy. What only
// narrows them may make a match unsure or take it away; it never makes one.
func FuzzMatches(f *testing.F) {
	f.Add(`{"rules":[{`+all+`["*/*"]}],"objectSelector":{"matchLabels":{"app":"web"}}}`, "apps", "deployments", "app", "web", true)
	f.Add(`{"matchPolicy":"Exact","rules":[{"operations":["*"],"apiGroups":["apps"],"apiVersions":["v1beta1"],"resources":["deployments/scale"]}],"matchConditions":[{"name":"n","expression":"true"}]}`, "apps", "deployments", "", "", true)
	f.Add(`{"matchConstraints":{"resourceRules":[{`+all+`["*"]}],"namespaceSelector":{"matchExpressions":[{"key":"a","operator":"Sometimes"}]}}}`, "", "pods", "a", "b", false)
	f.Add(`{"rules":null,"namespaceSelector":{"matchExpressions":null}}`, admission.Group, "mutatingwebhookconfigurations", "", "", false)
	f.Fuzz(func(t *testing.T, raw, group, resource, label, value string, namespaced bool) {
		o := admission.Object{Group: group, Version: "v1", Resource: resource, Namespaced: namespaced, Name: "x", Labels: map[string]string{label: value}}
		if namespaced {
			o.Space = map[string]string{label: value}
		}
		blind := o
		blind.Labels, blind.NoLabels = nil, "not read"
		blind.Space, blind.NoSpace = nil, "not read"
		var w admission.Webhook
		if json.Unmarshal([]byte(raw), &w) == nil {
			w.Calls()
			wide := w
			wide.NamespaceSelector, wide.ObjectSelector, wide.MatchConditions = nil, nil, nil
			sees(t, raw, func(o admission.Object) (admission.Match, bool) { return w.Matches(o) },
				func(o admission.Object) (admission.Match, bool) { return wide.Matches(o) }, o, blind)
		}
		var p admission.Policy
		if json.Unmarshal([]byte(raw), &p) == nil {
			bound := admission.Binding{MatchResources: p.MatchConstraints}
			sees(t, raw, func(o admission.Object) (admission.Match, bool) { return p.Matches(bound, o) },
				func(o admission.Object) (admission.Match, bool) { return p.Matches(admission.Binding{}, o) }, o, blind)
		}
	})
}

// sees compares a rule with the same without what narrows it, and what is known of
// an object with nothing known of its labels.
func sees(t *testing.T, raw string, narrow, wide func(admission.Object) (admission.Match, bool), o, blind admission.Object) {
	t.Helper()
	m, ok := narrow(o)
	if !ok {
		return
	}
	if len(m.Operations)+len(m.Scale) == 0 || m.String() == "" {
		t.Fatalf("%s matches no operation of %+v", raw, o)
	}
	if o.Exempt() {
		t.Fatalf("%s matches what no webhook sees: %+v", raw, o)
	}
	if _, ok := wide(o); !ok {
		t.Fatalf("%s matches %+v, and does not without what narrows it", raw, o)
	}
	if _, ok := narrow(blind); !ok {
		t.Fatalf("%s matches %+v, and is ruled out where its labels are not known", raw, o)
	}
}
