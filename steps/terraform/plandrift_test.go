package terraform

import (
	"net/http"
	"slices"
	"testing"

	"handrail/steps"
)

// TestEmptyPlanTellsDrift: a plan that has nothing to do, since its configuration ignores
// what was changed by hand, names all the same what was: one plan after an act answers
// both questions.
func TestEmptyPlanTellsDrift(t *testing.T) {
	t.Parallel()
	eachProgram(t, func(t *testing.T, program string) {
		o := newOutside(t, program)
		o.config(entryBlock("a", "a", "one", "  lifecycle {\n    ignore_changes = [value]\n  }\n") + entryBlock("b", "b", "two", ""))
		o.run("init", "-input=false")
		o.run("apply", "-auto-approve", "-input=false")
		if f := o.probe("terraform/plan", nil).Facts; !f["clean"].Bool() || !f["drift"].Known() || len(f["drift"].Strings()) != 0 {
			t.Fatalf("before = %v", f)
		}
		o.ask(http.MethodPut, "/entries/a", `{"value":"by hand"}`)
		if f := o.probe("terraform/plan", nil).Facts; !f["clean"].Bool() || !slices.Equal(f["drift"].Strings(), []string{"records_entry.a"}) {
			t.Errorf("an empty plan over drift = %v", f)
		}
		// By the record alone b is as it should be, c is to be made, and what lives is not known.
		o.ask(http.MethodPut, "/entries/b", `{"value":"by hand"}`)
		o.config(entryBlock("b", "b", "two", "") + entryBlock("c", "c", "three", ""))
		f := o.probe("terraform/plan", steps.Params{"refresh": steps.BoolOf(false)}).Facts
		if got := f["creates"].Strings(); !slices.Equal(got, []string{"records_entry.c"}) || slices.Contains(f["changed"].Strings(), "records_entry.b") {
			t.Errorf("by the record = %v", f)
		}
		for _, name := range []string{"exit", "clean", "drift", "ghosts"} {
			if f[name].Known() {
				t.Errorf("by the record %s = %v", name, f[name])
			}
		}
		if f := o.probe("terraform/saved-plan", nil).Facts; !slices.Contains(f["addresses"].Strings(), "records_entry.b") || !slices.Contains(f["drift"].Strings(), "records_entry.b") {
			t.Errorf("a plan of what lives = %v", f)
		}
	})
}
