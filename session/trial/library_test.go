package trial

import (
	"testing"

	"handrail/runbooks"
	"handrail/steps/catalog"
)

// TestLibrary runs the tests of every runbook that comes with the program, and holds them to
// all of its branches: one that no case can go is none that a runbook should have.
func TestLibrary(t *testing.T) {
	t.Parallel()
	cat := catalog.New()
	lib, err := runbooks.Library(cat)
	if err != nil {
		t.Fatal(err)
	}
	for _, rb := range lib {
		t.Run(rb.ID, func(t *testing.T) {
			t.Parallel()
			file, src, err := runbooks.LibraryTest(rb.ID)
			if err != nil {
				t.Fatal(err)
			}
			d, err := Parse(file, src, rb, cat)
			if err != nil {
				t.Fatal(err)
			}
			r, err := Run(d, rb, cat)
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range r.Cases {
				for _, wrong := range c.Wrong {
					t.Errorf("%s:%d: %s: %s", file, c.Line, c.Name, wrong)
				}
			}
			missed := r.Missed()
			t.Logf("%s: %d of %d branches gone, %d cases", rb.ID, len(r.Branches)-len(missed), len(r.Branches), len(r.Cases))
			for _, m := range missed {
				t.Errorf("%s: no case goes %s", file, m)
			}
		})
	}
}
