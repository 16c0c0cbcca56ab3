package debrief

import "slices"

// How a leg of the path stands to the reference.
const (
	Same      = "same"
	Otherwise = "otherwise" // the same step with another answer, conclusion or way
	Order     = "other order"
	Extra     = "extra"
	LeftOut   = "left out"
)

// Leg is one line of two paths side by side.
type Leg struct {
	Is        string `json:"is"`
	Yours     *Stop  `json:"yours,omitempty"`
	Reference *Stop  `json:"reference,omitempty"`
}

// Align puts two paths side by side: the longest common run of steps stands as it
// is, and around it what was left out, what is extra, and what came at another
// time. Every stop of either path is in exactly one leg.
func Align(yours, reference []Stop) []Leg {
	common := longest(yours, reference)
	in := func(path []Stop, step string) int {
		return slices.IndexFunc(path, func(s Stop) bool { return s.Step == step })
	}
	var out []Leg
	i, j := 0, 0
	upTo := func(y, r int) {
		for ; j < r; j++ {
			if in(yours, reference[j].Step) < 0 {
				out = append(out, Leg{Is: LeftOut, Reference: &reference[j]})
			}
		}
		for ; i < y; i++ {
			leg := Leg{Is: Extra, Yours: &yours[i]}
			if k := in(reference, yours[i].Step); k >= 0 {
				leg.Is, leg.Reference = Order, &reference[k]
			}
			out = append(out, leg)
		}
	}
	for _, pair := range common {
		upTo(pair[0], pair[1])
		leg := Leg{Is: Same, Yours: &yours[i], Reference: &reference[j]}
		if yours[i].Do != reference[j].Do || yours[i].Value != reference[j].Value {
			leg.Is = Otherwise
		}
		out = append(out, leg)
		i, j = i+1, j+1
	}
	upTo(len(yours), len(reference))
	return out
}

// longest is the longest common subsequence of the steps of two paths, as pairs
// of indices.
func longest(a, b []Stop) [][2]int {
	n := make([][]int, len(a)+1)
	for i := range n {
		n[i] = make([]int, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i].Step == b[j].Step {
				n[i][j] = n[i+1][j+1] + 1
			} else {
				n[i][j] = max(n[i+1][j], n[i][j+1])
			}
		}
	}
	var out [][2]int
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case a[i].Step == b[j].Step:
			out = append(out, [2]int{i, j})
			i, j = i+1, j+1
		case n[i+1][j] >= n[i][j+1]:
			i++
		default:
			j++
		}
	}
	return out
}
