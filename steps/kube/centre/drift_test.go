package centre

import (
	"strings"
	"testing"
	"time"

	"handrail/steps"
	"handrail/steps/cluster"
)

// TestForgottenPause: a pause is asked after once its own time is over, or after four hours where it has none;
// of what no field pauses, or pauses without a time, nothing is said.
func TestForgottenPause(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)
	r := cluster.Resource{Group: "kustomize.toolkit.fluxcd.io", Version: "v1", Plural: "kustomizations", Kind: "Kustomization", Namespaced: true}
	object := func(manager, at, notes, spec string) cluster.Object {
		o, err := cluster.ParseObject([]byte(`{"kind":"Kustomization","metadata":{"name":"prices","namespace":"tills","annotations":{` + notes + `},"managedFields":[{"manager":"` + manager + `","operation":"Update","time":"` + at + `","fieldsType":"FieldsV1","fieldsV1":{"f:spec":{"f:suspend":{}}}}]},"spec":{` + spec + `}}`))
		if err != nil {
			t.Fatal(err)
		}
		return o
	}
	const paused = `"suspend":true`
	until := func(at string) string {
		return `"` + steps.PauseUntil + `":"` + at + `","` + steps.PauseIncident + `":"i-1"`
	}
	for name, tc := range map[string]struct {
		o    cluster.Object
		want string // "" where it is not forgotten
	}{
		"four hours":            {object("flux", "2026-11-27T08:00:00Z", "", paused), ""},
		"longer":                {object("flux", "2026-11-27T07:59:59Z", "", paused), "was not looked at since"},
		"its time is over":      {object("handrail", "2026-11-27T11:00:00Z", until("2026-11-27T11:59:00Z"), paused), "should have been looked at 2026-11-27 11:59Z"},
		"its time is not over":  {object("handrail", "2026-11-27T01:00:00Z", until("2026-11-27T13:00:00Z"), paused), ""},
		"the note is another's": {object("flux", "2026-11-27T11:00:00Z", until("2026-11-27T11:59:00Z"), paused), ""},
		"not paused":            {object("flux", "2026-11-20T08:00:00Z", until("2026-11-27T11:59:00Z"), ""), ""},
	} {
		row := steps.Standing{What: "paused"}
		if is := (&Centre{}).forgotten(&row, r, tc.o, now); is != (tc.want != "") || !strings.Contains(row.What, tc.want) {
			t.Errorf("%s: %v, %+v", name, is, row)
		}
		if tc.want != "" && (row.Runbook != "gitops-out-of-sync" || row.Params["resource"] != "kustomizations.kustomize.toolkit.fluxcd.io" || row.Params["namespace"] != "tills") {
			t.Errorf("%s leads to %s with %v", name, row.Runbook, row.Params)
		}
	}
	row := steps.Standing{}
	if (&Centre{}).forgotten(&row, r, object("flux", "2026-11-20T08:00:00Z", "", paused), time.Time{}) {
		t.Error("without a clock it is said to be forgotten")
	}
}
