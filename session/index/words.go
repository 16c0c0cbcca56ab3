package index

// longWord is where a run of letters and digits is cut into overlapping parts:
// a text of half that length always lies whole in one of them.
const longWord = 128

// wordByte reports whether c is part of a word: ASCII letters and digits, and
// every byte of a character beyond ASCII.
func wordByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 0x80
}

// fold returns s with the ASCII letters in lower case. It keeps every offset.
func fold(s string) string {
	for i := range len(s) {
		if c := s[i]; c >= 'A' && c <= 'Z' {
			return string(foldTo(make([]byte, 0, len(s)), s))
		}
	}
	return s
}

func foldTo[T string | []byte](dst []byte, s T) []byte {
	at := len(dst)
	dst = append(dst, s...)
	for i, c := range dst[at:] {
		if c-'A' < 26 {
			dst[at+i] = c + 'a' - 'A'
		}
	}
	return dst
}

// words hands each word of a folded text to visit, long ones in parts.
func words(folded []byte, visit func([]byte)) {
	for i := 0; i < len(folded); {
		if !wordByte(folded[i]) {
			i++
			continue
		}
		start := i
		for i < len(folded) && wordByte(folded[i]) {
			i++
		}
		w := folded[start:i]
		for len(w) > longWord {
			visit(w[:longWord])
			w = w[longWord/2:]
		}
		visit(w)
	}
}

// piece is a part of a search text with what must be true of a word that holds
// it.
type piece struct {
	text        string
	begins, end bool // the word begins with the piece; ends with it
}

// pieces splits a folded search text. Every text that contains it has, for each
// piece, a word that fits.
func pieces(folded string) []piece {
	var out []piece
	for i := 0; i < len(folded); {
		if !wordByte(folded[i]) {
			i++
			continue
		}
		start := i
		for i < len(folded) && wordByte(folded[i]) {
			i++
		}
		p := piece{text: folded[start:i], begins: start > 0, end: i < len(folded)}
		if len(p.text) > longWord/2 {
			p = piece{text: p.text[:longWord/2]}
		}
		out = append(out, p)
	}
	return out
}

// rank is the higher the rarer a word is that fits, as far as its length tells.
func (p piece) rank() int {
	n := 2 * len(p.text)
	if p.begins && p.end {
		n++
	}
	return n
}
