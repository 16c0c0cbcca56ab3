package adopt

import (
	"bytes"
	"fmt"
	"strings"
)

const (
	around3 = 3 // lines of context, as diff has them by default
	// mostApart bounds the lines in which two files may differ; beyond that, all between the first and the last counts as changed.
	mostApart = 1000
)

// unified is what differs of two files, in the unified format (POSIX diff, "Diff -u Output Format").
func unified(was, is []byte) []byte {
	a, b := lines(was), lines(is)
	keep := common(a, b)
	var out bytes.Buffer
	for at := 0; ; {
		first := at
		for first < len(keep) && keep[first].same {
			first++
		}
		if first == len(keep) {
			return out.Bytes()
		}
		from, last := max(first-around3, at), first
		for i := first; i < len(keep) && i <= last+2*around3; i++ {
			if !keep[i].same {
				last = i
			}
		}
		at = min(last+around3+1, len(keep))
		hunk(&out, keep[from:at])
	}
}

// lines are those of a text, each with its end.
func lines(text []byte) []string {
	out := strings.SplitAfter(string(text), "\n")
	if out[len(out)-1] == "" {
		out = out[:len(out)-1]
	}
	return out
}

// run is one line of both files or of one: with its sign and its place in both, from 1.
type run struct {
	line string
	sign byte
	same bool
	a, b int
}

func hunk(out *bytes.Buffer, of []run) {
	var a, b int
	for _, r := range of {
		if r.sign != '+' {
			a++
		}
		if r.sign != '-' {
			b++
		}
	}
	begin := func(at, n int) string {
		if n == 0 {
			at--
		}
		return fmt.Sprintf("%d,%d", at, n)
	}
	fmt.Fprintf(out, "@@ -%s +%s @@\n", begin(of[0].a, a), begin(of[0].b, b))
	for _, r := range of {
		out.WriteByte(r.sign)
		out.WriteString(r.line)
		if !strings.HasSuffix(r.line, "\n") {
			out.WriteString("\n\\ No newline at end of file\n")
		}
	}
}

// common puts the lines of two files in one order, by the shortest way from one to the other (E. Myers, "An O(ND) Difference
// Algorithm and Its Variations", 1986, figure 2).
func common(a, b []string) []run {
	way := shortest(a, b)
	var out []run
	i, j := 0, 0
	add := func(sign byte, line string) {
		out = append(out, run{line, sign, sign == ' ', i + 1, j + 1})
	}
	for _, sign := range way {
		switch sign {
		case '-':
			add(sign, a[i])
			i++
		case '+':
			add(sign, b[j])
			j++
		default:
			add(sign, a[i])
			i, j = i+1, j+1
		}
	}
	return out
}

// shortest is the way from a to b by signs.
func shortest(a, b []string) []byte {
	head := 0
	for head < min(len(a), len(b)) && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < min(len(a), len(b))-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	middle := myers(a[head:len(a)-tail], b[head:len(b)-tail])
	return []byte(strings.Repeat(" ", head) + string(middle) + strings.Repeat(" ", tail))
}

func myers(a, b []string) []byte {
	most := min(len(a)+len(b), mostApart)
	far := make([]int, 2*most+3) // by diagonal, how far a is reached
	zero := most + 1
	var trace [][]int
	for d := 0; d <= most; d++ {
		trace = append(trace, append([]int(nil), far[zero-d-1:zero+d+2]...))
		for k := -d; k <= d; k += 2 {
			x := far[zero+k-1] + 1
			if k == -d || k != d && far[zero+k-1] < far[zero+k+1] {
				x = far[zero+k+1]
			}
			y := x - k
			for x < len(a) && y < len(b) && a[x] == b[y] {
				x, y = x+1, y+1
			}
			far[zero+k] = x
			if x >= len(a) && y >= len(b) {
				return back(trace, len(a), len(b))
			}
		}
	}
	return []byte(strings.Repeat("-", len(a)) + strings.Repeat("+", len(b)))
}

// back goes the way from its end.
func back(trace [][]int, x, y int) []byte {
	var out []byte
	for d := len(trace) - 1; d > 0; d-- {
		far := trace[d]
		at := func(k int) int { return far[k+d+1] }
		k := x - y
		down := k == -d || k != d && at(k-1) < at(k+1)
		was := k - 1
		if down {
			was = k + 1
		}
		x0 := at(was)
		y0 := x0 - was
		for x > x0 && y > y0 {
			out, x, y = append(out, ' '), x-1, y-1
		}
		if down {
			out = append(out, '+')
		} else {
			out = append(out, '-')
		}
		x, y = x0, y0
	}
	for range x {
		out = append(out, ' ')
	}
	for i, j := 0, len(out)-1; i < j; i, j = i+1, j-1 {
		out[i], out[j] = out[j], out[i]
	}
	return out
}
