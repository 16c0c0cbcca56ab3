package terraform

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"handrail/steps"
	"handrail/steps/stepstest"
)

func imports(pairs map[string]string) steps.Params {
	var list []string
	for a := range pairs {
		list = append(list, a)
	}
	return steps.Params{"addresses": steps.StringsOf(list), "ids": steps.TableOf(pairs)}
}

func items(o steps.Outcome) string {
	var out []string
	for _, it := range o.Items {
		out = append(out, it.Object+" "+it.Outcome)
	}
	return strings.Join(out, ", ")
}

// TestImportBatch records a list by one phrase, each by a run of its own, stops at the
// first that fails, and goes on from there.
func TestImportBatch(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "local", threeKinds)
	w.withModule()
	// The program has the last word on keys: the second in order fails.
	in := imports(map[string]string{"terraform_data.a": "o-1", `terraform_data.c["nobody"]`: "o-2", `module.net["eu"].terraform_data.n`: "o-3", "terraform_data.b[1]": "o-4"})
	// A first run on a local backend that was killed leaves 0 bytes.
	at := filepath.Join(w.dir, "terraform.tfstate")
	for name, text := range map[string]string{at: "", at + ".backup": `{"version":4,"serial":3,"lineage":"l","resources":[]}`} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	wantUnmet(t, w.shows("import-batch", in), "terraform.tfstate.backup beside it is a copy that is not empty")
	if _, err := probe(t.Context(), w.env, "terraform/plan", nil, stepstest.NewSink()); err == nil || !strings.Contains(err.Error(), "0 bytes") {
		t.Errorf("a plan after a lost state: %v", err)
	}
	if err := os.Remove(at + ".backup"); err != nil {
		t.Fatal(err)
	}
	if plan := w.probe("terraform/plan", nil); len(plan.Facts["creates"].Strings()) == 0 || len(plan.Findings) > 0 {
		t.Errorf("a plan from nothing = %v, %v", plan.Facts, plan.Findings)
	}
	if info, err := os.Stat(at); err != nil || info.Size() != 0 {
		t.Errorf("the plan wrote the state: %v, %v", info, err)
	}
	p := w.shows("import-batch", in)
	if len(p.Unmet) > 0 || len(p.Diff) != 4 || !strings.HasPrefix(p.Phrase, "import 4 ") || strings.Count(p.Request, "\n") != 3 {
		t.Fatalf("preview = %+v", p)
	}
	if o, err := w.find("import-batch", p, in); err == nil && o.Result != steps.Failed {
		t.Errorf("Find() before the act = %+v, %v", o, err)
	}
	o := w.carry("import-batch", p)
	want := `module.net["eu"].terraform_data.n done, terraform_data.a done, terraform_data.b[1] done, terraform_data.c["nobody"] failed`
	if o.Result != steps.Failed || items(o) != want || len(w.ledger().Entries) != 3 {
		t.Fatalf("Act() = %s, %s, want %s", o.Result, items(o), want)
	}
	if o, err := w.find("import-batch", p, in); err != nil || o.Result != steps.Failed || items(o) != want {
		t.Errorf("Find() = %s, %v", items(o), err)
	}

	// What is recorded is left out; a file lists the rest, for any provider.
	file := filepath.Join(t.TempDir(), "list")
	if err := os.WriteFile(file, []byte("# from the inventory\nterraform_data.a o-1\n'terraform_data.c[\"k.1\"]'  o 5\nterraform_data.b[0]\to-6\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	in = steps.Params{"file": steps.PathOf(file)}
	p = w.opens("import-batch", in)
	if steps.Find(p.Shown, "recorded already") != "terraform_data.a" || len(p.Diff) != 2 {
		t.Errorf("preview of the rest = %v, %v", p.Shown, p.Diff)
	}
	was := w.ledger()
	if o := w.carry("import-batch", p); o.Result != steps.Done || len(w.ledger().Entries) != 5 {
		t.Fatalf("Act() = %+v", o)
	}
	if o, err := w.find("import-batch", p, in); err != nil || o.Result != steps.Done {
		t.Errorf("Find() = %+v, %v", o, err)
	}
	w.undone(p, was)
}

// TestImportBatchIsShut: nothing is imported that was not shown, and no list that does
// not fit as a whole.
func TestImportBatchIsShut(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "local", threeKinds)
	w.run("import", "-no-color", "terraform_data.b[1]", "object")
	file := filepath.Join(t.TempDir(), "list")
	listed := func(text string) steps.Params {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return steps.Params{"file": steps.PathOf(file)}
	}
	created := imports(map[string]string{"terraform_data.a": "x"})
	created["creates"] = steps.StringsOf([]string{"terraform_data.b[0]"})
	unknown := steps.Params{"addresses": steps.StringsOf([]string{"terraform_data.a"}), "ids": steps.TableOf(nil)}
	for want, in := range map[string]steps.Params{
		"No address is named":                     {},
		"The id of terraform_data.a is not known": unknown,
		"does not create terraform_data.a":        created,
		"Line 2 of the list":                      listed("terraform_data.a x\nterraform_data.b[0]\n"),
		"are given one object":                    imports(map[string]string{"terraform_data.b[0]": "x", "terraform_data.a": "x"}),
		"Two ids are given":                       {"file": steps.PathOf(file), "addresses": steps.StringsOf([]string{"terraform_data.a"}), "ids": steps.TableOf(map[string]string{"terraform_data.a": "z"})},
		`recorded already, as "object"`:           imports(map[string]string{"terraform_data.b[1]": "x", "terraform_data.a": "y"}),
		"does not declare":                        imports(map[string]string{"terraform_data.gone": "x", "terraform_data.a": "y"}),
	} {
		if strings.HasPrefix(want, "Two ids") {
			listed("terraform_data.a x\n")
		} else if strings.HasPrefix(want, "Line 2") {
			listed("terraform_data.a x\nterraform_data.b[0]\n")
		}
		wantUnmet(t, w.shows("import-batch", in), want)
	}
	// The list changes after it was shown: the digest moves, so that no approval fits.
	before := w.shows("import-batch", listed("terraform_data.a x\n"))
	after := w.shows("import-batch", listed("terraform_data.a x\nterraform_data.b[0] y\n"))
	if _, err := steps.Confirm(after, "i", "s", before.Digest("i", "s"), after.Phrase); err == nil {
		t.Error("another list can be confirmed")
	}
	// Another run writes between the preview and the act: none is begun.
	a := w.approve(before)
	w.run("import", "-no-color", "terraform_data.b[0]", "meanwhile")
	o, err := w.gate("import-batch").Act(t.Context(), a, stepstest.NewSink())
	if err != nil || o.Result != steps.Refused || len(w.ledger().At("terraform_data.a")) > 0 {
		t.Errorf("Act() onto another state = %+v, %v, want refused", o, err)
	}
}
