package terraform

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"handrail/steps"
	"handrail/steps/stepstest"
	"handrail/steps/terraform/change"
)

// entriesOf is a configuration of that many entries of the API.
func entriesOf(n int, more string) string {
	return fmt.Sprintf("resource \"records_entry\" \"e\" {\n  for_each = toset([for n in range(%d) : tostring(n)])\n  name     = \"e${each.key}\"\n  value    = \"v\"\n}\n%s", n, more)
}

// TestApplyInBatches deletes what a plan lists two at a time, and stops where one of
// them is not what was approved any more: what came before is done and recorded, what
// comes after is as it was.
func TestApplyInBatches(t *testing.T) {
	t.Parallel()
	eachProgram(t, func(t *testing.T, program string) {
		o := newOutside(t, program)
		o.config(entriesOf(5, entryBlock("kept", "kept", "v", "")))
		o.run("init", "-input=false")
		o.run("apply", "-auto-approve", "-input=false")
		o.config(entriesOf(0, entryBlock("kept", "kept", "v", "")))
		_, in := o.saved(nil)
		in["size"] = steps.IntOf(2)
		wrote := o.wrote()

		p := o.previewOf("terraform/apply-batches", in)
		if len(p.Unmet) > 0 || !strings.HasSuffix(p.Phrase, " destroying 5 by 2") || strings.Count(p.Command, "-target=") != 5 || len(strings.Split(p.Command, "\n")) != 3 {
			t.Fatalf("preview = %q %q %v", p.Phrase, p.Command, p.Unmet)
		}
		a, err := steps.Confirm(p, "i", "s", p.Digest("i", "s"), p.Phrase)
		ok(t, err)
		o.ask(http.MethodPut, "/entries/e3", `{"value":"of another client"}`)
		got, err := change.ApplyBatchGate{Env: o.env}.Act(t.Context(), a, stepstest.NewSink())
		if err != nil || got.Result != steps.Failed || !strings.Contains(got.Response, "1 of 3 are done. It stopped at batch 2 of 3: not started: ") || !strings.Contains(got.Response, `something else to records_entry.e["3"]`) {
			t.Fatalf("act = %+v, %v", got, err)
		}
		outcomes := func(o steps.Outcome) (all []string) {
			for _, it := range o.Items {
				all = append(all, string(it.Outcome))
			}
			return all
		}
		if want := []string{"done", "refused", "left"}; !slices.Equal(outcomes(got), want) {
			t.Errorf("items = %v, want %v", outcomes(got), want)
		}
		if n := o.wrote() - wrote; n != 2 {
			t.Errorf("the act wrote %d times, want 2", n)
		}
		if _, err := (change.ApplyBatchGate{Env: o.env}).Act(t.Context(), a, stepstest.NewSink()); err == nil {
			t.Error("an approval was spent twice")
		}

		// The plan of what is left is another one, with an approval of its own.
		wantUnmet(t, o.previewOf("terraform/apply-batches", in), "serial or lineage moved")
		_, in = o.saved(nil)
		in["size"] = steps.IntOf(2)
		got = o.acts("terraform/apply-batches", in, stepstest.NewSink())
		if got.Result != steps.Done || !slices.Equal(outcomes(got), []string{"done", "done"}) || o.wrote()-wrote != 5 {
			t.Errorf("act = %+v, wrote %d", got, o.wrote()-wrote)
		}
		if left := o.run("state", "list"); strings.TrimSpace(left) != "records_entry.kept" {
			t.Errorf("recorded = %q", left)
		}
		if steps.Find(got.After, "state serial") == "" {
			t.Errorf("after = %v", got.After)
		}
	})
}

// TestBatchOfADependency: what is to be made takes along what it needs, once.
func TestBatchOfADependency(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "local", `resource "terraform_data" "z" {}
resource "terraform_data" "a" { depends_on = [terraform_data.z] }
resource "terraform_data" "b" {}
`)
	w.run("apply", "-auto-approve", "-input=false", "-target=terraform_data.b")
	_, in := w.saved(nil)
	in["size"] = steps.IntOf(1)
	before := w.previewOf("terraform/apply-batches", in).Target
	o := w.acts("terraform/apply-batches", in, stepstest.NewSink())
	if o.Result != steps.Done || len(o.Items) != 2 || !strings.Contains(o.Items[1].Response, "together with what it depends on") {
		t.Fatalf("act = %+v", o)
	}
	// Whose end was not recorded is found by what is recorded.
	found, err := change.ApplyBatchGate{Env: w.env}.Find(t.Context(), before, nil, stepstest.NewSink())
	if err != nil || found.Result != steps.Done {
		t.Errorf("find = %+v, %v", found, err)
	}
}
