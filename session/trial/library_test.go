package trial

import (
	"strings"
	"testing"

	"handrail/runbooks"
	"handrail/steps/catalog"
)

// mostPlans bounds the plans of a walk that read every object of a module.
const mostPlans = 2

// TestLibrary runs the tests of every runbook that comes with the program, and holds them to
// all of its branches: one that no case can go is none that a runbook should have. Nor has a
// person to say what the loop knows of a difference: but for one case, in which what serves
// is broken and no class says whether Git or the state is right.
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
				asks := strings.Contains(c.Stop, "before the record is written")
				if asks && (rb.ID != "state-collision" || !strings.HasPrefix(c.Name, "something that serves is broken")) {
					t.Errorf("%s: %s: %s", file, c.Name, c.Stop)
				}
				if c.Recovered && c.Plans > mostPlans {
					t.Errorf("%s:%d: %s: %d plans that read every object of the module, at most %d are allowed", file, c.Line, c.Name, c.Plans, mostPlans)
				}
				for _, wrong := range c.Wrong {
					t.Errorf("%s:%d: %s: %s", file, c.Line, c.Name, wrong)
				}
			}
			missed := r.Missed()
			t.Logf("%s: %d of %d branches walked, %d cases", rb.ID, len(r.Branches)-len(missed), len(r.Branches), len(r.Cases))
			for _, m := range missed {
				t.Errorf("%s: no case goes %s", file, m)
			}
		})
	}
}
