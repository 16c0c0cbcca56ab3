package catalog

import (
	"regexp"
	"slices"
	"testing"

	"handrail/steps"
)

func TestKindsAreWellFormed(t *testing.T) {
	t.Parallel()
	kinds := New().Kinds()
	if len(kinds) == 0 {
		t.Fatal("the catalog is empty")
	}
	name := regexp.MustCompile(`^[a-z]+/[a-z][a-z-]*$`)
	field := regexp.MustCompile(`^[a-z][a-z0-9_]*$`)
	classes := []steps.Class{steps.Probe, steps.Heavy, steps.Contain, steps.Release, steps.Repair, steps.Rerun}
	for i, k := range kinds {
		if i > 0 && kinds[i-1].Name >= k.Name {
			t.Errorf("%s stands after %s: names must be unique and in order", k.Name, kinds[i-1].Name)
		}
		if !name.MatchString(k.Name) || k.Doc == "" || len(k.Touches) == 0 || !slices.Contains(classes, k.Class) {
			t.Errorf("%s lacks a proper name, a doc, a class or what it touches", k.Name)
		}
		if (k.Reads == nil) == (k.Changes == nil) || (k.Changes != nil) != k.Class.Gate() {
			t.Errorf("%s of class %s must have exactly one of Reads and Changes, and Changes only as a gate", k.Name, k.Class)
		}
		if k.Reads != nil && len(k.Facts) == 0 {
			t.Errorf("%s declares no facts", k.Name)
		}
		for _, f := range slices.Concat(k.Params, k.Facts) {
			if !field.MatchString(f.Name) || f.Doc == "" || f.Type == "" || (f.Type == steps.Enum) != (len(f.Values) > 0) {
				t.Errorf("%s: field %q needs a name, a doc, a type and, as an enum, values", k.Name, f.Name)
			}
			if f.Pattern != "" {
				if _, err := regexp.Compile(f.Pattern); err != nil {
					t.Errorf("%s: pattern of %q: %v", k.Name, f.Name, err)
				}
			}
			if f.Default != "" {
				if _, err := steps.ParseValue(f.Type, f.Default); err != nil {
					t.Errorf("%s: default of %q: %v", k.Name, f.Name, err)
				}
			}
		}
		drawn := map[string]steps.Type{}
		if d := k.Drawing; d != nil {
			drawn = map[string]steps.Type{d.Order: steps.Strings, d.After: steps.Table, d.What: steps.Table, d.States: steps.Table, d.Was: steps.Strings, d.Reasons: steps.Strings, d.Lines: steps.Strings}
		}
		for name, want := range drawn {
			if i := slices.IndexFunc(k.Facts, func(f steps.Field) bool { return f.Name == name }); name != "" && (i < 0 || k.Facts[i].Type != want) {
				t.Errorf("%s draws %q, which is no fact of type %s", k.Name, name, want)
			}
		}
		for _, f := range k.Facts {
			if f.Type == steps.Path || f.Default != "" || f.Required {
				t.Errorf("%s: fact %q has what only parameters have", k.Name, f.Name)
			}
		}
	}
}

func TestLookup(t *testing.T) {
	t.Parallel()
	c := New()
	for _, k := range c.Kinds() {
		if got, ok := c.Lookup(k.Name); !ok || got.Name != k.Name {
			t.Errorf("Lookup(%q) = %q, %v", k.Name, got.Name, ok)
		}
	}
	if _, ok := c.Lookup("terraform/apply"); ok {
		t.Error("Lookup finds a kind that is not there")
	}
}
