package terraform

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"handrail/steps"
	"handrail/steps/terraform/loosetype"
)

// withModule is threeKinds and a module below it.
func (w *world) withModule() {
	w.t.Helper()
	below := filepath.Join(w.dir, "net")
	if err := os.MkdirAll(below, 0o700); err != nil {
		w.t.Fatal(err)
	}
	for name, text := range map[string]string{
		filepath.Join(below, "net.tf"):     "resource \"terraform_data\" \"n\" {}\n",
		filepath.Join(w.dir, "modules.tf"): "module \"net\" {\n  for_each = toset([\"eu\"])\n  source = \"./net\"\n}\n",
	} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			w.t.Fatal(err)
		}
	}
	w.run("init", "-input=false", "-no-color")
}

func importParams(address, id string) steps.Params {
	return steps.Params{"address": text(address), "id": text(id), "plan": text("1 to add")}
}

// TestImport records objects under plain, counted, keyed and nested addresses,
// first into no state at all, and undoes each in both ways.
func TestImport(t *testing.T) {
	t.Parallel()
	backendsOfTests(t, func(t *testing.T, backend string) {
		w := newWorld(t, backend, threeKinds)
		w.withModule()
		for i, address := range []string{"terraform_data.a", "terraform_data.b[1]", `terraform_data.c["q\"uo"]`, `module.net["eu"].terraform_data.n`} {
			in := importParams(address, fmt.Sprintf("object-%d", i))
			p := w.shows("import", in)
			if len(p.Unmet) > 0 || (p.Prior == nil) != (i == 0 && backend == "local") || steps.Find(p.Shown, "present plan") != "1 to add" || steps.Find(p.Shown, "declared") == "" {
				t.Fatalf("preview of %s = %+v", address, p)
			}
			if o, err := w.find("import", p, in); i > 0 && (err != nil || o.Result != steps.Failed) || i == 0 && o.Result == steps.Done {
				t.Errorf("Find() before the act = %+v, %v, want failed", o, err)
			}
			if o := w.carry("import", p); o.Result != steps.Done {
				t.Fatalf("Act(%s) = %+v, want done", address, o)
			}
			if o, err := w.find("import", p, in); err != nil || o.Result != steps.Done {
				t.Errorf("Find() after the act = %+v, %v, want done", o, err)
			}
			now := w.ledger()
			if got := now.At(address); len(got) != 1 || got[0].ID != fmt.Sprintf("object-%d", i) || len(now.Entries) != i+1 {
				t.Errorf("%s is recorded as %v among %d", address, got, len(now.Entries))
			}
			wantUnmet(t, w.shows("import", in), "is recorded already")
			if i > 0 {
				if err := w.putBack(p); err != nil {
					t.Errorf("undo: %v", err)
				}
				if now := w.ledger(); len(now.At(address)) > 0 || len(now.Entries) != i {
					t.Errorf("after the undo of %s: %v", address, now.Entries)
				}
				w.carry("import", w.shows("import", in))
			}
		}
		w.run("state", "rm", "terraform_data.a") // the other undo
		if o := w.carry("import", w.shows("import", importParams("terraform_data.a", "object-9"))); o.Result != steps.Done {
			t.Errorf("Act() after an undo = %+v", o)
		}
	})
}

func TestImportIsShut(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "local", threeKinds)
	w.withModule()
	w.run("import", "-no-color", "terraform_data.b[1]", "object")
	for _, tc := range []struct{ address, id, want string }{
		{"terraform_data.gone", "x", "does not declare"},
		{"module.net[\"eu\"].terraform_data.gone", "x", "does not declare"},
		{"module.gone.terraform_data.n", "x", "does not declare"},
		{"terraform_data.b", "x", "names no index"},
		{"terraform_data.c[0]", "x", "names no key"},
		{"terraform_data.a[0]", "x", "without count or for_each"},
		{"data.terraform_data.a", "x", "is a data source"},
		{"module.net", "x", "does not name one"},
		{"-lock=false", "x", "does not name one"},
		{"terraform_data.a", "", "is no id"},
		{"terraform_data.a", "a\nb", "is no id"},
		{"terraform_data.a", "object", "recorded already, as terraform_data.b[1]"},
		{"terraform_data.b[1]", "other", "is recorded already"},
	} {
		wantUnmet(t, w.shows("import", importParams(tc.address, tc.id)), tc.want)
	}
	wrapped := filepath.Join(w.dir, "terragrunt.hcl")
	if err := os.WriteFile(wrapped, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	wantUnmet(t, w.shows("import", importParams("terraform_data.a", "x")), "unit of terragrunt")
	if err := os.Remove(wrapped); err != nil {
		t.Fatal(err)
	}
	// The program has the last word on keys.
	was := w.ledger()
	p := w.opens("import", importParams(`terraform_data.c["nobody"]`, "x"))
	o := w.carry("import", p)
	if o.Result != steps.Failed || !strings.Contains(o.Response, "as it was") || w.ledger().Sum() != was.Sum() {
		t.Errorf("Act() of a key that is not declared = %+v, want failed with nothing written", o)
	}
}

func TestDeclares(t *testing.T) {
	t.Parallel()
	files := map[string]map[string][]byte{
		".": {"a.tf": []byte(`resource "t" "one" {
  nested {
    count = 3
  }
}
resource "t" "many" { count = 2 }
module "far" { source = "registry/x/y" }
module "near" { source = "./near" }`), "b.tofu.json": []byte(`{"resource":{"t":{"json":{"for_each":["a"]}}}}`)},
		"near": {"n.tf": []byte(`resource "t" "n" {}`)},
	}
	read := func(dir string) (map[string][]byte, error) {
		if f, ok := files[filepath.Clean(dir)]; ok {
			return f, nil
		}
		return nil, os.ErrNotExist
	}
	for _, tc := range []struct {
		key, name, repeat string
		found             bool
	}{
		{"", "one", "", true}, {"", "many", "count", true}, {"", "json", "for_each", true}, {"near", "n", "", true}, {"", "n", "", false}, {"far", "n", "", false},
	} {
		d := loosetype.Declares(read, ".", nil, tc.key, "t", tc.name)
		if d.Found != tc.found || d.Repeat != tc.repeat || len(d.Gaps) == 0 {
			t.Errorf("%s %s: %+v", tc.key, tc.name, d)
		}
	}
}
