package plan

import (
	"strings"
	"testing"

	"handrail/steps"
)

// TestOnlyWhatIsWrittenIsAccepted: an update is accepted by exactly its attributes. One more
// attribute, a replacement, a credential or an unknown plan is not.
func TestOnlyWhatIsWrittenIsAccepted(t *testing.T) {
	t.Parallel()
	facts := func() map[string]steps.Value {
		return map[string]steps.Value{
			"changed": steps.StringsOf([]string{"t.new", "t.op", "t.more", "t.key", "t.replaced"}), "creates": steps.StringsOf([]string{"t.new"}),
			"updates":            steps.TableOf(map[string]string{"t.op": "spec.size", "t.more": "spec.size, spec.name", "t.key": "data.token"}),
			"credential_updates": steps.StringsOf([]string{"t.key"}), "unaccepted": steps.Unknown(steps.Strings, "not in the plan"),
		}
	}
	written := map[string]string{"t.op": "spec.size", "t.more": "spec.size", "t.key": "data.token", "t.replaced": "spec.size"}
	for _, tc := range []struct {
		accepted map[string]string
		want     string
	}{
		{written, "t.more t.key t.replaced"},
		{nil, "t.op t.more t.key t.replaced"},
		{map[string]string{"t.replaced": ""}, "t.op t.more t.key t.replaced"},
	} {
		obs := steps.Observation{Facts: facts()}
		accept(tc.accepted, &obs)
		if got := strings.Join(obs.Facts["unaccepted"].Strings(), " "); got != tc.want {
			t.Errorf("with %v not accepted is %q, want %q", tc.accepted, got, tc.want)
		}
	}
	obs := steps.Observation{Facts: facts()}
	obs.Facts["credential_updates"] = steps.Unknown(steps.Strings, "cut")
	if accept(written, &obs); obs.Facts["unaccepted"].Known() {
		t.Error("what a cut plan changes is accepted")
	}
}
