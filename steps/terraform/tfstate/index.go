package tfstate

import (
	"bytes"
	"slices"
)

// short is what is kept of a sum. Of a million instances two share one in less
// than one of 10^16 states.
type short [12]byte

// entry is what is kept of an instance of the first state.
type entry struct {
	key  short
	sum  short   // of what it is
	rest [8]byte // start of the sum of the bookkeeping
}

// blockEntries is how many entries are got at once.
const blockEntries = 1024

// index finds the entries of one state by their key. A map would take twice the
// room, and more while it grows: entries stand in blocks that never move, and
// their numbers are sorted once all are there.
type index struct {
	blocks [][]entry
	order  []uint32
	seen   []bool // by number
}

func (x *index) at(n uint32) *entry { return &x.blocks[n/blockEntries][n%blockEntries] }

func (x *index) add(key, sum, rest Sum) {
	n := len(x.blocks)
	if n == 0 || len(x.blocks[n-1]) == blockEntries {
		x.blocks = append(x.blocks, make([]entry, 0, blockEntries))
		n++
	}
	x.blocks[n-1] = append(x.blocks[n-1], entry{key: short(key[:]), sum: short(sum[:]), rest: [8]byte(rest[:])})
}

// sort is called once, before the first find. Of entries with one key the last
// counts.
func (x *index) sort() {
	n := 0
	for _, b := range x.blocks {
		n += len(b)
	}
	x.seen, x.order = make([]bool, n), make([]uint32, n)
	for i := range x.order {
		x.order[i] = uint32(n - 1 - i)
	}
	slices.SortStableFunc(x.order, func(a, b uint32) int { return bytes.Compare(x.at(a).key[:], x.at(b).key[:]) })
	x.order = slices.CompactFunc(x.order, func(a, b uint32) bool { return x.at(a).key == x.at(b).key })
}

// find returns the entry of a key and its number, nil for none.
func (x *index) find(key Sum) (*entry, uint32) {
	i, ok := slices.BinarySearchFunc(x.order, short(key[:]), func(n uint32, k short) int { return bytes.Compare(x.at(n).key[:], k[:]) })
	if !ok {
		return nil, 0
	}
	return x.at(x.order[i]), x.order[i]
}

// unseen reports whether an entry was never found in the other state.
func (x *index) unseen() bool {
	return slices.ContainsFunc(x.order, func(n uint32) bool { return !x.seen[n] })
}
