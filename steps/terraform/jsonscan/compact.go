package jsonscan

import (
	"io"
	"unicode/utf8"
)

// Compactor passes JSON on to a hash without the white space between values and
// with every escape in one form, so that the same content laid out differently
// gives the same sum. It takes what a Tap gives; the order of keys stays.
type Compactor struct {
	To     io.Writer
	in     bool // inside a string
	esc    int  // bytes still to come of an escape; -1: the letter after the backslash
	unit   rune
	high   rune
	out    []byte
	single [utf8.UTFMax]byte
}

// Write takes a part of a document; parts may end anywhere.
func (c *Compactor) Write(p []byte) {
	c.out = c.out[:0]
	for i := 0; i < len(p); i++ {
		b := p[i]
		switch {
		case !c.in:
			c.outside(b)
		case c.esc == -1:
			c.letter(b)
		case c.esc > 0:
			c.unit = c.unit<<4 | max(0, hex(b))
			if c.esc--; c.esc == 0 {
				c.high = unit(c.unit, c.high, c.put)
			}
		case b == '\\':
			c.esc = -1
		case b == '"':
			c.high = flush(c.high, c.put)
			c.in = false
			c.out = append(c.out, '"')
		default:
			c.high = flush(c.high, c.put)
			from := i
			for i+1 < len(p) && p[i+1] != '"' && p[i+1] != '\\' {
				i++
			}
			c.out = append(c.out, p[from:i+1]...)
		}
	}
	_, _ = c.To.Write(c.out) // a hash never fails
}

func (c *Compactor) outside(b byte) {
	switch b {
	case ' ', '\n', '\t', '\r':
		return
	case '"':
		c.in = true
	}
	c.out = append(c.out, b)
}

// letter takes the byte after a backslash.
func (c *Compactor) letter(b byte) {
	c.esc = 0
	if b == 'u' {
		c.esc, c.unit = 4, 0
		return
	}
	c.high = flush(c.high, c.put)
	switch b {
	case 'b':
		b = '\b'
	case 'f':
		b = '\f'
	case 'n':
		b = '\n'
	case 'r':
		b = '\r'
	case 't':
		b = '\t'
	}
	c.single[0] = b
	c.put(c.single[:1])
}

// put writes what an escape stands for; a quote and a backslash stay escaped, so
// that two documents never meet in one form.
func (c *Compactor) put(b []byte) {
	if len(b) == 1 && (b[0] == '"' || b[0] == '\\') {
		c.out = append(c.out, '\\')
	}
	c.out = append(c.out, b...)
}
