package terraform

import (
	"net/http"
	"slices"
	"testing"
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
	})
}
