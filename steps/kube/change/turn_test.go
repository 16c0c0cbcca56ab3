package change

import (
	"slices"
	"testing"

	"handrail/steps"
)

// TestReadAtTurn: only where nothing but what could not be looked for differs is an object
// read again, and at most turnReads times.
func TestReadAtTurn(t *testing.T) {
	t.Parallel()
	shown := steps.Preview{Diff: []string{"- job/a"}}
	unknown := []string{"- job/a", notKnown + "ledgers: not found"}
	for name, tc := range map[string]struct {
		diffs [][]string // of each read; the last one stays
		reads int
		why   bool
	}{
		"as shown":           {[][]string{{"- job/a"}}, 1, false},
		"a type that goes":   {[][]string{unknown, {"- job/a"}}, 2, false},
		"a type that stays":  {[][]string{unknown}, turnReads, true},
		"another child":      {[][]string{{"- job/a", "- pod/b, in the background"}}, 1, true},
		"both of them":       {[][]string{append(slices.Clone(unknown), "- pod/b, in the background")}, 1, true},
		"another one, later": {[][]string{unknown, {"- job/a", "- pod/b, in the background"}}, 2, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := 0
			fresh, err := readAtTurn(t.Context(), shown, func() (steps.Preview, error) {
				n++
				return steps.Preview{Diff: tc.diffs[min(n, len(tc.diffs))-1]}, nil
			})
			if err != nil || n != tc.reads || (strayedFrom(fresh, shown) != "") != tc.why {
				t.Errorf("%d reads, %q, %v", n, strayedFrom(fresh, shown), err)
			}
		})
	}
}
