package admission_test

import (
	"encoding/json"
	"strings"
	"testing"

	"handrail/steps/kube/admission"
)

// constraintOf reads a spec as a constraint has it.
func constraintOf(t *testing.T, spec string) (c admission.ConstraintSpec) {
	t.Helper()
	if err := json.Unmarshal([]byte(spec), &c); err != nil {
		t.Fatal(err)
	}
	return c
}

// till is a ConfigMap of the namespace shop.
func till() admission.Request {
	return admission.Request{Object: admission.Object{Version: "v1", Resource: "configmaps", Namespaced: true, Name: "till-7",
		Labels: map[string]string{"tills.example/till": "seven"}, Space: map[string]string{"env": "prod"}}, Kind: "ConfigMap", Operation: "CREATE", Namespace: "shop"}
}

// TestConstraintMatch holds the match to that of Gatekeeper v3.20.1 (pkg/mutation/match).
func TestConstraintMatch(t *testing.T) {
	t.Parallel()
	space := till()
	space.Object = admission.Object{Version: "v1", Resource: "namespaces", Name: "shop", Labels: map[string]string{"env": "prod"}}
	space.Kind, space.Namespace = "Namespace", ""
	unread := till()
	unread.NoSpace, unread.Space = "no answer", nil
	for _, tc := range []struct {
		name string
		of   admission.Request
		spec string
		want admission.Answer
		why  string
	}{
		{"nothing narrows it", till(), `{}`, admission.Yes, ""},
		{"its kind", till(), `{"match":{"kinds":[{"apiGroups":[""],"kinds":["Pod","ConfigMap"]}]}}`, admission.Yes, ""},
		{"any kind of a group", till(), `{"match":{"kinds":[{"apiGroups":[""],"kinds":["*"]}]}}`, admission.Yes, ""},
		{"another kind", till(), `{"match":{"kinds":[{"apiGroups":["apps"],"kinds":["ConfigMap"]}]}}`, admission.No, "its kinds leave ConfigMap out"},
		{"its namespace, by a star", till(), `{"match":{"namespaces":["sh*"]}}`, admission.Yes, ""},
		{"another namespace", till(), `{"match":{"namespaces":["shop-2"]}}`, admission.No, "its namespaces leave shop out"},
		{"its namespace is left out", till(), `{"match":{"excludedNamespaces":["kube-*","*op"]}}`, admission.No, "its excludedNamespaces name shop"},
		{"a namespace itself is left out", space, `{"match":{"excludedNamespaces":["shop"]}}`, admission.No, "its excludedNamespaces name shop"},
		{"a namespace is of the cluster", space, `{"match":{"scope":"Namespaced"}}`, admission.No, "its scope is Namespaced"},
		{"another name", till(), `{"match":{"name":"till-1*"}}`, admission.No, "its name is till-1*"},
		{"its label is left out", till(), `{"match":{"labelSelector":{"matchExpressions":[{"key":"tills.example/till","operator":"NotIn","values":["seven"]}]}}}`, admission.No, "its labelSelector leaves it out"},
		{"labels of its namespace", till(), `{"match":{"namespaceSelector":{"matchLabels":{"env":"prod"}}}}`, admission.Yes, ""},
		{"labels of its namespace that could not be read", unread, `{"match":{"namespaceSelector":{"matchLabels":{"env":"prod"}}}}`, admission.Unknown, "no answer"},
		{"what a workload would make", till(), `{"match":{"source":"Generated"}}`, admission.No, "what a workload would make"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			rows := admission.Trace(tc.of, admission.Config{Constraints: []admission.Constraint{{Name: "k8srequiredlabels/tills", Template: "constrainttemplate/k8srequiredlabels", Of: constraintOf(t, tc.spec)}}})
			row := rows[len(rows)-1]
			if row.Sort != admission.ByConstraint || row.Match != tc.want || !strings.Contains(row.Why, tc.why) {
				t.Errorf("row = %s, want match %s (%s)", row, tc.want, tc.why)
			}
			if row.Denies() {
				t.Error("a constraint that nothing asked is said to refuse")
			}
		})
	}
}

func TestConstraintActs(t *testing.T) {
	t.Parallel()
	for spec, want := range map[string]string{
		`{}`:                             "deny",
		`{"enforcementAction":"dryrun"}`: "dryrun",
		`{"enforcementAction":"scoped","scopedEnforcementActions":[{"action":"deny","enforcementPoints":[{"name":"audit.gatekeeper.sh"}]},{"action":"warn","enforcementPoints":[{"name":"validation.gatekeeper.sh"}]}]}`: "warn",
		`{"enforcementAction":"scoped","scopedEnforcementActions":[{"action":"deny","enforcementPoints":[{"name":"*"}]}]}`:                                                                                               "deny",
	} {
		c := constraintOf(t, spec)
		if got := strings.Join(c.Acts(), ", "); got != want || c.Denies() != (want == "deny") {
			t.Errorf("Acts(%s) = %q and Denies() = %t, want %q", spec, got, c.Denies(), want)
		}
	}
}

// TestConstraintException: what the gate writes is what a trace reads, and an annotation without its selector is none.
func TestConstraintException(t *testing.T) {
	t.Parallel()
	day, _ := admission.ExceptionUntil("except-x-until-2026-12-11")
	note, text := admission.LabelException("till-7", "tills.example/till", "seven", day)
	if note != "handrail/except-till-7-until-2026-12-11" || text != "tills.example/till=seven" {
		t.Fatalf("annotation %s: %s", note, text)
	}
	c := admission.Constraint{Name: "k8srequiredlabels/tills", Exceptions: admission.ExceptionsIn(map[string]string{note: text, "handrail/paused-why": "x", "other/except-a-until-2026-12-11": "a=b"}),
		Of: constraintOf(t, `{"match":{"labelSelector":{"matchExpressions":[{"key":"tills.example/till","operator":"NotIn","values":["seven"]}]}}}`)}
	if len(c.Exceptions) != 1 {
		t.Errorf("exceptions = %v, want one", c.Exceptions)
	}
	row := func(r admission.Request) admission.Row {
		rows := admission.Trace(r, admission.Config{Constraints: []admission.Constraint{c}})
		return rows[len(rows)-1]
	}
	if got := row(till()); got.Exception != "except-till-7-until-2026-12-11" || !got.Until.Equal(day) {
		t.Errorf("row = %s, want the exception", got)
	}
	other := till()
	other.Labels = map[string]string{"tills.example/till": "one"}
	if got := row(other); got.Exception != "" || got.Match != admission.Yes {
		t.Errorf("row of another = %s, want it judged", got)
	}
	elsewhere := till()
	elsewhere.Namespace = "depot"
	c.Of.Match.Namespaces = []string{"shop"}
	if got := row(elsewhere); got.Exception != "" {
		t.Errorf("row = %s, want no exception: the constraint is of another namespace", got)
	}
	c.Of = constraintOf(t, `{}`)
	if got := row(till()); got.Exception != "" || got.Match != admission.Yes {
		t.Errorf("row = %s, want none: nothing leaves it out", got)
	}
	if long, _ := admission.LabelException(strings.Repeat("a", 200), "k", "v", day); len(long) > len(admission.ExceptionPrefix)+63 {
		t.Errorf("annotation of a long name is %q, longer than the server takes", long)
	}
}

func TestReadLabel(t *testing.T) {
	t.Parallel()
	if key, value, err := admission.ReadLabel("tills.example/till=seven"); err != nil || key != "tills.example/till" || value != "seven" {
		t.Errorf("ReadLabel = %q, %q, %v", key, value, err)
	}
	for _, text := range []string{"", "till", "till=", "=seven", "a b=c", "a=b c", "a/b/c=d"} {
		if _, _, err := admission.ReadLabel(text); err == nil {
			t.Errorf("ReadLabel(%q) is no error", text)
		}
	}
}
