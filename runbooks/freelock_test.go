package runbooks

import (
	"testing"

	"handrail/steps"
)

// TestOrphansAreLookedForWithoutALock: what outlived a run is looked for also where the
// lock is free, and for the very holder where one holds it.
func TestOrphansAreLookedForWithoutALock(t *testing.T) {
	t.Parallel()
	known := func(ty steps.Type, s string) steps.Value {
		v, err := steps.ParseValue(ty, s)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	none := "no lock is held"
	free := map[string]steps.Value{"held": known(steps.Bool, "false"), "described": known(steps.Bool, "false"), "who": steps.Unknown(steps.String, none), "created": steps.Unknown(steps.Time, none)}
	held := map[string]steps.Value{"held": known(steps.Bool, "true"), "described": known(steps.Bool, "true"), "who": known(steps.String, "root@ci-7"), "created": known(steps.Time, "2026-11-20T01:27:00Z")}
	// On pg nothing describes the lock, and on http it is not even seen.
	pg := map[string]steps.Value{"held": known(steps.Bool, "true"), "described": known(steps.Bool, "false"), "who": steps.Unknown(steps.String, none), "created": steps.Unknown(steps.Time, none)}
	http := map[string]steps.Value{"held": steps.Unknown(steps.Bool, none), "described": known(steps.Bool, "false"), "who": steps.Unknown(steps.String, none), "created": steps.Unknown(steps.Time, none)}
	for _, id := range []string{"state-lock", "hung-apply"} {
		rb := bookOf(t, id)
		params, err := rb.Bind(map[string]string{"dir": ".", "log": "apply.log"})
		if err != nil {
			t.Fatal(err)
		}
		for name, lock := range map[string]map[string]steps.Value{"a free lock": free, "a lock on pg": pg, "a lock on http": http} {
			in, err := rb.With("process", Vars{Params: params, Facts: map[string]map[string]steps.Value{"lock": lock}})
			if err != nil || in.Text("who") != "" || !in["created"].Time().IsZero() {
				t.Errorf("%s: with %s it reads %v, %v", id, name, in, err)
			}
		}
		in, err := rb.With("process", Vars{Params: params, Facts: map[string]map[string]steps.Value{"lock": held}})
		if err != nil || in.Text("who") != "root@ci-7" || in["created"].Text() != "2026-11-20T01:27:00Z" {
			t.Errorf("%s: with a lock it reads %v, %v", id, in, err)
		}
	}
}
