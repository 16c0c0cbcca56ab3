package redact

import (
	"strings"
	"testing"
)

// TestUnclosedBracketsCostLittle counts what is looked at for the ends of values that have none: the deeper they nest, the more often
// each would be looked at.
func TestUnclosedBracketsCostLittle(t *testing.T) {
	t.Parallel()
	r := testRedactor()
	const unit, size = 16 << 10, 128 << 10
	for name, in := range map[string]string{
		"arrays": `{"version":4,"a":` + strings.Repeat("[", size), "objects": `{"version":4,"a":` + strings.Repeat(`{"a":`, size/5), "closed": `{"version":4,"a":` + strings.Repeat("[", size/2) + strings.Repeat("]", size/2) + "}",
		"numbers": `{"version":4,"a":` + strings.Repeat("[1,", size/3), "strings": `{"version":4,"a":` + strings.Repeat(`["x",`, size/5), "a broken middle": `{"version":4,"a":` + strings.Repeat("[", 200) + strings.Repeat("1,", size/2) + "x" + strings.Repeat("]", 200) + "}",
		"a long key": `{"version":4,"` + strings.Repeat("k", size),
	} {
		var whole string
		for _, piece := range []int{size * 2, 4 << 10} {
			var out strings.Builder
			s := &jsonStream{r: r, out: &out, n: Counts{}, shape: terraformTree, unit: unit}
			for at := 0; at < len(in); at += piece {
				if _, err := s.Write([]byte(in[at:min(len(in), at+piece)])); err != nil {
					t.Fatal(err)
				}
			}
			if err := s.finish(); err != nil {
				t.Fatal(err)
			}
			if most := int64(2*levelsMost)*(size+unit) + 1<<20; s.work > most {
				t.Errorf("%s: %d bytes looked at, want at most %d", name, s.work, most)
			}
			if whole == "" {
				whole = out.String()
			} else if out.String() != whole {
				t.Errorf("%s: in pieces of %d it gives another text", name, piece)
			}
		}
	}
}
