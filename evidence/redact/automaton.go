package redact

import "slices"

// automaton finds literals in one pass over the input (Aho-Corasick). It is the cheap filter before anything costly looks
// at a place. Its table has one column for each class of bytes that the literals tell apart, so that it stays small
// enough for a near cache; ASCII case does not matter, and the literals must be lower case.
type automaton struct {
	class [256]uint8
	next  []uint32 // by state plus class; a state is its row's offset
	width uint32
	ends  uint32    // states from here on end a literal
	out   [][]int32 // literals that end in a state from ends on, longest first
	lens  []int
}

func newAutomaton(literals []string) *automaton {
	a := &automaton{}
	used := uint8(0) // class 0 is every byte that no literal has
	for _, lit := range literals {
		a.lens = append(a.lens, len(lit))
		for i := range len(lit) {
			if c := lit[i]; a.class[c] == 0 {
				used++
				a.class[c] = used
			}
		}
	}
	for c := 'a'; c <= 'z'; c++ {
		a.class[c-'a'+'A'] = a.class[c]
	}
	a.width = uint32(used) + 1
	next, out := a.trie(literals)
	a.number(next, out)
	return a
}

// trie builds the states with all transitions, in no particular numbering.
func (a *automaton) trie(literals []string) (next [][]uint32, out [][]int32) {
	row := func() []uint32 { return make([]uint32, a.width) }
	next, out = [][]uint32{row()}, [][]int32{nil}
	for id, lit := range literals {
		s := uint32(0)
		for i := range len(lit) {
			c := a.class[lit[i]]
			if next[s][c] == 0 {
				next, out = append(next, row()), append(out, nil)
				next[s][c] = uint32(len(next) - 1)
			}
			s = next[s][c]
		}
		out[s] = append(out[s], int32(id))
	}
	fail := make([]uint32, len(next))
	var queue []uint32
	for _, s := range next[0] {
		if s != 0 {
			queue = append(queue, s)
		}
	}
	for ; len(queue) > 0; queue = queue[1:] {
		s := queue[0]
		out[s] = append(out[s], out[fail[s]]...)
		for c, t := range next[s] {
			if t == 0 {
				next[s][c] = next[fail[s]][c]
				continue
			}
			fail[t] = next[fail[s]][c]
			queue = append(queue, t)
		}
	}
	return next, out
}

// number puts the states that end a literal last, so that one comparison tells them.
func (a *automaton) number(next [][]uint32, out [][]int32) {
	order := make([]int, len(next))
	for s := range order {
		order[s] = s
	}
	slices.SortStableFunc(order, func(x, y int) int { return min(1, len(out[x])) - min(1, len(out[y])) })
	at := make([]uint32, len(next))
	for n, s := range order {
		at[s] = uint32(n) * a.width
		if len(out[s]) > 0 {
			a.out = append(a.out, out[s])
		}
	}
	a.ends = uint32(len(next)-len(a.out)) * a.width
	a.next = make([]uint32, 0, len(next)*int(a.width))
	for _, s := range order {
		for _, t := range next[s] {
			a.next = append(a.next, at[t])
		}
	}
}

// find returns where the first literal at or after from ends, and the state there; len(in) when there is none.
func (a *automaton) find(in []byte, from int, state uint32) (int, uint32) {
	next, ends, class := a.next, a.ends, &a.class
	for i := from; i < len(in); i++ {
		state = next[state+uint32(class[in[i]])]
		if state >= ends {
			return i, state
		}
	}
	return len(in), state
}

// at returns the literals that end in a state that find returned.
func (a *automaton) at(state uint32) []int32 { return a.out[(state-a.ends)/a.width] }
