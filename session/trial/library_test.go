package trial

import (
	"errors"
	"io/fs"
	"testing"

	"handrail/runbooks"
	"handrail/steps/catalog"
)

// gone is how many branches of each runbook its tests go at least. It only grows: a runbook
// that is not here goes all of them.
var gone = map[string]int{
	"apply-before-mutation": 49,
	"creates-that-exist":    72,
	"hardening-cascade":     0,
	"hung-apply":            72,
	"init-cascade":          63,
	"late-destroy":          52,
	"loose-type-trap":       47,
	"partial-apply":         132,
	"provider-throttling":   56,
	"reverting-fixes":       0,
	"state-collision":       92,
	"state-corruption":      63,
	"stuck-finalizer":       102,
}

// TestLibrary runs the tests of every runbook that comes with the program, and holds them to
// the branches that they go.
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
			all := len(rb.Branches())
			want, less := gone[rb.ID]
			if !less {
				want = all
			}
			file, src, err := runbooks.LibraryTest(rb.ID)
			if errors.Is(err, fs.ErrNotExist) && less && want == 0 {
				t.Logf("%s: no test, %d branches", rb.ID, all)
				return
			}
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
			t.Logf("%s: %d of %d branches gone, %d cases", rb.ID, all-len(missed), all, len(r.Cases))
			switch got := all - len(missed); {
			case got < want:
				t.Errorf("%d of %d branches gone, want %d at least", got, all, want)
			case got > want:
				t.Errorf("%d of %d branches gone: raise the bar from %d", got, all, want)
			}
			for _, m := range missed {
				t.Logf("not gone: %s", m)
			}
		})
	}
}
