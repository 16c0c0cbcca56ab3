package change

import (
	"fmt"
	"slices"
	"testing"

	"handrail/steps/terraform/tfplan"
)

func TestBatchesAreInOrder(t *testing.T) {
	t.Parallel()
	d := &tfplan.Doc{Changes: []tfplan.Change{
		{Address: "a.c", Act: tfplan.Delete}, {Address: "a.a", Act: tfplan.Delete}, {Address: "data.x.y", Act: tfplan.Read},
		{Address: "a.b", Act: tfplan.Create}, {Address: "a.a", Act: tfplan.Delete, Deposed: "aa"},
	}}
	for size, want := range map[int]string{1: "[[a.a] [a.b] [a.c]]", 2: "[[a.a a.b] [a.c]]", 3: "[[a.a a.b a.c]]", 10: "[[a.a a.b a.c]]", 0: "[[a.a] [a.b] [a.c]]"} {
		if got := fmt.Sprint(batches(d, size)); got != want {
			t.Errorf("batches of %d = %v, want %v", size, got, want)
		}
	}
}

// TestPartsFloors: what cannot be made some at a time stays out of batches.
func TestPartsFloors(t *testing.T) {
	t.Parallel()
	many := func(n int) []tfplan.Change {
		return slices.Repeat([]tfplan.Change{{Address: "a.b", Act: tfplan.Delete}}, n)
	}
	one := func(c tfplan.Change) []tfplan.Change { c.Address = "a.b"; return []tfplan.Change{c} }
	for name, tc := range map[string]struct {
		doc   tfplan.Doc
		mode  string
		size  int
		unmet []string
	}{
		"ten at a time":       {doc: tfplan.Doc{Changes: many(3)}, size: 10},
		"one":                 {doc: tfplan.Doc{Changes: many(3)}, size: 1},
		"fifty":               {doc: tfplan.Doc{Changes: many(3)}, size: 50},
		"none":                {doc: tfplan.Doc{Changes: many(3)}, size: 0, unmet: []string{"1 to 50 changes, not 0"}},
		"fifty-one":           {doc: tfplan.Doc{Changes: many(3)}, size: 51, unmet: []string{"not 51"}},
		"as many as one gate": {doc: tfplan.Doc{Changes: many(500)}, size: 10},
		"one more":            {doc: tfplan.Doc{Changes: many(501)}, size: 10, unmet: []string{"acts on 501 objects"}},
		"deferred":            {doc: tfplan.Doc{Changes: many(1), Deferred: 1}, size: 10, unmet: []string{"leaves changes for a later one"}},
		"a plan to destroy":   {doc: tfplan.Doc{Changes: many(1)}, mode: "destroy", size: 10, unmet: []string{"the mode destroy"}},
		"created":             {doc: tfplan.Doc{Changes: one(tfplan.Change{Act: tfplan.Create})}, size: 10},
		"changed":             {doc: tfplan.Doc{Changes: one(tfplan.Change{Act: tfplan.Update})}, size: 10},
		"read":                {doc: tfplan.Doc{Changes: one(tfplan.Change{Act: tfplan.Read, Previous: "a.c"})}, size: 10},
		"replaced":            {doc: tfplan.Doc{Changes: one(tfplan.Change{Act: tfplan.Replace})}, size: 10, unmet: []string{"to a.b"}},
		"forgotten":           {doc: tfplan.Doc{Changes: one(tfplan.Change{Act: tfplan.Forget})}, size: 10, unmet: []string{"to a.b"}},
		"moved":               {doc: tfplan.Doc{Changes: one(tfplan.Change{Act: tfplan.Update, Previous: "a.c"})}, size: 10, unmet: []string{"to a.b"}},
		"imported":            {doc: tfplan.Doc{Changes: one(tfplan.Change{Act: tfplan.Update, Importing: "i"})}, size: 10, unmet: []string{"to a.b"}},
		"deposed":             {doc: tfplan.Doc{Changes: one(tfplan.Change{Act: tfplan.Delete, Deposed: "aa"})}, size: 10, unmet: []string{"to a.b"}},
	} {
		if tc.mode == "" {
			tc.mode = "normal"
		}
		wantUnmet(t, func(f floors) { f.parts(&tfplan.Saved{Mode: tc.mode, Doc: &tc.doc}, tc.size) }, tc.unmet...)
		if t.Failed() {
			t.Fatal(name)
		}
	}
}

// TestHeldFloors: the plan of a batch does what was approved to its addresses, to the
// very values, and nothing else.
func TestHeldFloors(t *testing.T) {
	t.Parallel()
	saved := func(cs ...tfplan.Change) *tfplan.Saved {
		return &tfplan.Saved{Workspace: "w", Backend: "b", LockFile: []byte("l"), Files: map[string][32]byte{"main.tf": {1}}, Doc: &tfplan.Doc{Tool: "1.9.0", Changes: cs}}
	}
	del := func(address string) tfplan.Change {
		return tfplan.Change{Address: address, Act: tfplan.Delete, Values: [32]byte{7}}
	}
	approved := saved(del("a.a"), del("a.b"), del("a.c"), del("a.d"), tfplan.Change{Address: "a.n", Act: tfplan.Create})
	approved.Doc.Drift = []tfplan.Change{{Address: "a.d", Act: tfplan.Update}}
	for name, tc := range map[string]struct {
		part  []string
		now   *tfplan.Saved
		edit  func(*tfplan.Saved)
		unmet []string
	}{
		"the same":                 {part: []string{"a.a", "a.b"}, now: saved(del("a.a"), del("a.b"))},
		"with what depends on it":  {part: []string{"a.a"}, now: saved(del("a.a"), del("a.b"))},
		"with too much of it":      {part: []string{"a.a"}, now: saved(del("a.a"), del("a.b"), del("a.c")), unmet: []string{"3 changes at once, where 1"}},
		"a read beside":            {part: []string{"a.a"}, now: saved(del("a.a"), tfplan.Change{Address: "data.x", Act: tfplan.Read})},
		"not approved":             {part: []string{"a.a"}, now: saved(del("a.a"), del("a.z")), unmet: []string{"something else to a.z"}},
		"other act":                {part: []string{"a.a"}, now: saved(tfplan.Change{Address: "a.a", Act: tfplan.Update, Values: [32]byte{7}}), unmet: []string{"something else to a.a"}},
		"other values":             {part: []string{"a.a"}, now: saved(tfplan.Change{Address: "a.a", Act: tfplan.Delete, Values: [32]byte{8}}), unmet: []string{"something else to a.a"}},
		"moved":                    {part: []string{"a.a"}, now: saved(tfplan.Change{Address: "a.a", Act: tfplan.Delete, Values: [32]byte{7}, Previous: "a.y"}), unmet: []string{"something else to a.a"}},
		"imported":                 {part: []string{"a.n"}, now: saved(tfplan.Change{Address: "a.n", Act: tfplan.Create, Importing: "i"}), unmet: []string{"something else to a.n"}},
		"deposed":                  {part: []string{"a.a"}, now: saved(tfplan.Change{Address: "a.a", Act: tfplan.Delete, Values: [32]byte{7}, Deposed: "aa"}), unmet: []string{"something else to a.a"}},
		"gone already":             {part: []string{"a.a", "a.b"}, now: saved(del("a.b")), unmet: []string{"nothing to a.a"}},
		"drift that was known":     {part: []string{"a.a"}, now: saved(del("a.a")), edit: func(s *tfplan.Saved) { s.Doc.Drift = []tfplan.Change{{Address: "a.d", Act: tfplan.Update}} }},
		"drift that is none":       {part: []string{"a.a"}, now: saved(del("a.a")), edit: func(s *tfplan.Saved) { s.Doc.Drift = []tfplan.Change{{Address: "a.c", Act: tfplan.None}} }},
		"drift since":              {part: []string{"a.a"}, now: saved(del("a.a")), edit: func(s *tfplan.Saved) { s.Doc.Drift = []tfplan.Change{{Address: "a.c", Act: tfplan.Update}} }, unmet: []string{"a.c was changed outside"}},
		"another workspace":        {part: []string{"a.a"}, now: saved(del("a.a")), edit: func(s *tfplan.Saved) { s.Workspace = "x" }, unmet: []string{"the workspace"}},
		"another backend":          {part: []string{"a.a"}, now: saved(del("a.a")), edit: func(s *tfplan.Saved) { s.Backend = "x" }, unmet: []string{"the backend"}},
		"another tool":             {part: []string{"a.a"}, now: saved(del("a.a")), edit: func(s *tfplan.Saved) { s.Doc.Tool = "1.9.1" }, unmet: []string{"the tool"}},
		"other providers":          {part: []string{"a.a"}, now: saved(del("a.a")), edit: func(s *tfplan.Saved) { s.LockFile = nil }, unmet: []string{"the providers"}},
		"one file more":            {part: []string{"a.a"}, now: saved(del("a.a")), edit: func(s *tfplan.Saved) { s.Files["b.tf"] = [32]byte{} }, unmet: []string{"The configuration"}},
		"another file of the name": {part: []string{"a.a"}, now: saved(del("a.a")), edit: func(s *tfplan.Saved) { s.Files["main.tf"] = [32]byte{2} }, unmet: []string{"The configuration"}},
	} {
		if tc.edit != nil {
			tc.edit(tc.now)
		}
		wantUnmet(t, func(f floors) { f.held(approved, tc.now, tc.part) }, tc.unmet...)
		if t.Failed() {
			t.Fatal(name)
		}
	}
}
