package gitops

import (
	"strings"
	"testing"
)

// TestTold: a field counts as changed where the server would change it; what it keeps is
// noise, and what it fills in is said.
func TestTold(t *testing.T) {
	t.Parallel()
	const head = `{"apiVersion":"v1","kind":"X","metadata":{"name":"a","resourceVersion":"1","generation":1},"spec":`
	whole := func(spec string) map[string]any {
		if spec == "" {
			return nil
		}
		return objectOf(t, head+spec+"}")
	}
	for name, of := range map[string]struct {
		desired, recorded, actual, after, remark string
		fields, back                             int
		want                                     string
	}{
		"brought":       {`{"n":2}`, `{"n":1}`, `{"n":1}`, `{"n":2}`, "", 1, 0, `spec.n 1 -> 2`},
		"taken back":    {`{"n":1}`, `{"n":1}`, `{"n":9}`, `{"n":1}`, "", 1, 1, `spec.n 9 -> 1 (changed live)`},
		"noise":         {`{"cpu":"1000m"}`, `{"cpu":"1000m"}`, `{"cpu":"1"}`, `{"cpu":"1"}`, "", 0, 0, `noise, the server keeps what it has: spec.cpu`},
		"given up":      {`{}`, `{"n":1}`, `{"n":1}`, `{"n":1}`, "", 1, 0, `spec.n 1 -> none`},
		"filled in":     {`{"n":2}`, `{"n":1}`, `{"n":1}`, `{"n":2,"injected":true}`, "", 1, 0, `spec.n 1 -> 2; and by defaults, webhooks and policies: spec.injected`},
		"made":          {`{}`, ``, ``, `{"n":1}`, "", 1, 0, `the object none -> there`},
		"deleted live":  {`{}`, `{}`, ``, `{"n":1}`, "", 1, 1, `the object none -> there (changed live)`},
		"not rehearsed": {`{"cpu":"1000m"}`, `{"cpu":"1000m"}`, `{"cpu":"1"}`, ``, "may not be tried", 1, 1, `may not be tried; spec.cpu "1" -> "1000m" (changed live)`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &side3{name: "x/a", desired: whole(of.desired), recorded: whole(of.recorded), actual: whole(of.actual)}
			var ch changes
			if got := ch.told(s, s.lines(), whole(of.after), of.remark); got != of.want || ch.fields != of.fields || ch.back != of.back {
				t.Errorf("%q with %d fields, %d back, want %q, %d, %d", got, ch.fields, ch.back, of.want, of.fields, of.back)
			}
		})
	}
}

// TestNotYours: a missing right is told from a refusal by admission.
func TestNotYours(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		`configmaps "a" is forbidden: User "me" cannot patch resource "configmaps" in API group "" in the namespace "x"`:               true,
		`deployments.apps "a" is forbidden: User "system:serviceaccount:a:b" cannot create resource "deployments" in API group "apps"`: true,
		`admission webhook "x.example" denied the request: User "me" is bad`:                                                           false,
		`pods "a" is forbidden: violates PodSecurity "restricted:latest"`:                                                              false,
		`configmaps "a" is forbidden: exceeded quota: q`:                                                                               false,
	} {
		if notYours.MatchString(text) != want {
			t.Errorf("%q: %t", strings.TrimSpace(text), !want)
		}
	}
}
