package evidence

// automaton finds literals in one pass over the input (Aho-Corasick with a dense table). It is the cheap filter before
// anything costly looks at a place.
type automaton struct {
	next [][256]uint16
	out  [][]int32 // literals that end in a state, longest first
	lens []int
}

// newAutomaton builds one for the literals. With fold, ASCII case does not matter; the literals must then be lower case.
func newAutomaton(literals []string, fold bool) *automaton {
	a := &automaton{next: make([][256]uint16, 1), out: make([][]int32, 1)}
	for id, lit := range literals {
		a.lens = append(a.lens, len(lit))
		s := uint16(0)
		for i := range len(lit) {
			c := lit[i]
			if a.next[s][c] == 0 {
				a.next = append(a.next, [256]uint16{})
				a.out = append(a.out, nil)
				a.next[s][c] = uint16(len(a.next) - 1)
			}
			s = a.next[s][c]
		}
		a.out[s] = append(a.out[s], int32(id))
	}
	fail := make([]uint16, len(a.next))
	var queue []uint16
	for _, s := range a.next[0] {
		if s != 0 {
			queue = append(queue, s)
		}
	}
	for ; len(queue) > 0; queue = queue[1:] {
		s := queue[0]
		a.out[s] = append(a.out[s], a.out[fail[s]]...)
		for c, t := range a.next[s] {
			if t == 0 {
				a.next[s][c] = a.next[fail[s]][c]
				continue
			}
			fail[t] = a.next[fail[s]][c]
			queue = append(queue, t)
		}
	}
	if fold {
		for s := range a.next {
			for c := 'a'; c <= 'z'; c++ {
				a.next[s][c-'a'+'A'] = a.next[s][c]
			}
		}
	}
	return a
}
