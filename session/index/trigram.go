package index

// A search for a part of a word would have to read every block of words. Which
// blocks have a word with three given characters in a row is therefore noted
// in a table: a row of bits for each trigram, a bit for each block. Bytes
// beyond ASCII count as one character.
const (
	classes  = 26 + 10 + 1
	trigrams = classes * classes * classes
	// rowGroup is how many rows are read and checked together.
	rowGroup = classes
)

func class(c byte) int {
	switch {
	case c >= 'a' && c <= 'z':
		return int(c - 'a')
	case c >= '0' && c <= '9':
		return 26 + int(c-'0')
	}
	return classes - 1
}

// trigramsOf visits the number of each trigram of a word.
func trigramsOf[T string | []byte](word T, visit func(int)) {
	for i := 0; i+3 <= len(word); i++ {
		visit((class(word[i])*classes+class(word[i+1]))*classes + class(word[i+2]))
	}
}

// bits is a row of bits.
type bits []byte

func (b bits) set(i int)      { b[i/8] |= 1 << (i % 8) }
func (b bits) has(i int) bool { return b[i/8]&(1<<(i%8)) != 0 }

// table turns the trigrams of each block into groups of rows.
func table(perBlock []bits) [][]byte {
	width := (len(perBlock) + 7) / 8
	groups := make([][]byte, trigrams/rowGroup)
	for g := range groups {
		groups[g] = make([]byte, rowGroup*width)
	}
	for b, of := range perBlock {
		for t := range trigrams {
			if of.has(t) {
				bits(groups[t/rowGroup][t%rowGroup*width:]).set(b)
			}
		}
	}
	return groups
}

// blocksWith says which blocks can have a word that holds text.
func (t *textFile) blocksWith(text string) (bits, error) {
	width := (len(t.blocks) + 7) / 8
	all := make(bits, width)
	for i := range all {
		all[i] = 0xff
	}
	var failed error
	trigramsOf(text, func(n int) {
		if failed != nil {
			return
		}
		group, err := t.read(t.groups[n/rowGroup])
		if err == nil && len(group) != rowGroup*width {
			err = errDamaged
		}
		if err != nil {
			failed = err
			return
		}
		row := group[n%rowGroup*width:]
		for i := range all {
			all[i] &= row[i]
		}
	})
	return all, failed
}
