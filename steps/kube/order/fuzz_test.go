package order

import (
	"slices"
	"strings"
	"testing"
)

// FuzzMake gives what a team and the facts of other steps may give: names, edges
// and an order, as text. What is taken is ordered whole, and what is not is refused
// with words.
func FuzzMake(f *testing.F) {
	f.Add("quota,rbac,migration", "quota before webhook because its Pods are refused", "rbac", "")
	f.Add("init,schema,init", "init before schema because so\nschema before init because so", "", "schema,init")
	f.Add("Quota", "a before a because b", "x", ",")
	f.Add("", "", "", "")
	f.Fuzz(func(t *testing.T, names, edges, first, chosen string) {
		var also []Edge
		for line := range strings.Lines(edges) {
			e, err := ParseEdge(line)
			if err != nil {
				continue
			}
			if back, err := ParseEdge(e.Before + " before " + e.After + " because " + e.Why); err != nil || back != e {
				t.Fatalf("%q is %+v and then %+v, %v", line, e, back, err)
			}
			also = append(also, e)
		}
		var wish []string
		if chosen != "" {
			wish = strings.Split(chosen, ",")
		}
		faults := strings.Split(names, ",")
		p, err := Make(faults, also, first, wish)
		if err != nil {
			if err.Error() == "" {
				t.Fatal("refused without a word")
			}
			return
		}
		want := slices.Compact(slices.Sorted(slices.Values(faults)))
		for _, got := range [][]string{p.Proposed, p.Order} {
			if !slices.Equal(slices.Sorted(slices.Values(got)), want) {
				t.Fatalf("%q of %q", got, want)
			}
		}
		for _, e := range p.Edges {
			broken := slices.Index(p.Order, e.Before) > slices.Index(p.Order, e.After)
			if broken != slices.Contains(p.Against, e) {
				t.Fatalf("%v in %q: broken is %v, said is %v", e, p.Order, broken, p.Against)
			}
		}
	})
}
