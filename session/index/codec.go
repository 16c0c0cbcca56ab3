package index

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
)

// errDamaged says that index bytes do not mean anything. The index is then
// thrown away and made again; it never reaches the operator.
var errDamaged = errors.New("index is damaged")

// sumLen is how much of a SHA-256 guards a part of the index.
const sumLen = 16

func sumOf(b []byte) (s [sumLen]byte) {
	full := sha256.Sum256(b)
	copy(s[:], full[:])
	return s
}

// encoder writes numbers and texts one after the other.
type encoder struct{ b []byte }

func (e *encoder) num(n uint64)  { e.b = binary.AppendUvarint(e.b, n) }
func (e *encoder) int(n int64)   { e.b = binary.AppendVarint(e.b, n) }
func (e *encoder) raw(p []byte)  { e.b = append(e.b, p...) }
func (e *encoder) text(s string) { e.num(uint64(len(s))); e.b = append(e.b, s...) }

func (e *encoder) flag(on bool) {
	if on {
		e.num(1)
	} else {
		e.num(0)
	}
}

// decoder reads what encoder wrote. The first thing that cannot be is kept in
// err, and all that follows reads as zero: no input makes it panic, loop or
// allocate more than the input is long.
type decoder struct {
	s   string
	at  int
	err error
}

func (d *decoder) fail() {
	d.err = errDamaged
	d.at = len(d.s)
}

func (d *decoder) num() uint64 {
	var n uint64
	for shift := uint(0); shift < 64; shift += 7 {
		if d.at >= len(d.s) {
			break
		}
		c := d.s[d.at]
		d.at++
		n |= uint64(c&0x7f) << shift
		if c < 0x80 {
			return n
		}
	}
	d.fail()
	return 0
}

func (d *decoder) int() int64 {
	u := d.num()
	return int64(u>>1) ^ -int64(u&1)
}

func (d *decoder) text() string {
	n := d.num()
	if n > uint64(len(d.s)-d.at) {
		d.fail()
		return ""
	}
	s := d.s[d.at : d.at+int(n)]
	d.at += int(n)
	return s
}

func (d *decoder) raw(n int) string {
	if n > len(d.s)-d.at {
		d.fail()
		return ""
	}
	s := d.s[d.at : d.at+n]
	d.at += n
	return s
}

func (d *decoder) flag() bool { return d.num() == 1 }

// count reads how many items follow, each of at least one byte.
func (d *decoder) count() int {
	n := d.num()
	if n > uint64(len(d.s)-d.at) {
		d.fail()
		return 0
	}
	return int(n)
}

// done is the error of a text that was not read to its end, or of one before.
func (d *decoder) done() error {
	if d.err == nil && d.at != len(d.s) {
		d.err = errDamaged
	}
	return d.err
}
