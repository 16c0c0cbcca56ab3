package redact

import (
	"bytes"
	"io"
	"unicode/utf16"
	"unicode/utf8"
)

// What a source has packed or written in UTF-16 is stored as the text that it is: no rule finds a secret in anything else.

var gzipMagic = []byte{0x1f, 0x8b, 8}

// wideOrder says whether text begins as UTF-16 does, by its mark or by every other byte of its first line.
func wideOrder(head []byte) (big, ok bool) {
	switch {
	case bytes.HasPrefix(head, []byte{0xff, 0xfe}) && !bytes.HasPrefix(head, []byte{0xff, 0xfe, 0, 0}):
		return false, true
	case bytes.HasPrefix(head, []byte{0xfe, 0xff}):
		return true, true
	}
	return false, false
}

// fromWide turns UTF-16 into UTF-8 while it streams.
type fromWide struct {
	out  io.Writer
	big  bool
	odd  []byte // what has not come whole: half a unit, or the first of a pair
	fold []byte
}

func (f *fromWide) Write(p []byte) (int, error) {
	in := append(f.odd, p...)
	f.fold = f.fold[:0]
	i := 0
	for i+1 < len(in) {
		u := f.unit(in[i:])
		if !utf16.IsSurrogate(rune(u)) {
			f.fold = utf8.AppendRune(f.fold, rune(u))
			i += 2
			continue
		}
		if i+3 >= len(in) {
			break
		}
		if r := utf16.DecodeRune(rune(u), rune(f.unit(in[i+2:]))); r != utf8.RuneError {
			f.fold = utf8.AppendRune(f.fold, r)
			i += 4
			continue
		}
		f.fold = utf8.AppendRune(f.fold, utf8.RuneError)
		i += 2
	}
	f.odd = append([]byte(nil), in[i:]...)
	if _, err := f.out.Write(f.fold); err != nil {
		return 0, err
	}
	return len(p), nil
}

func (f *fromWide) unit(b []byte) uint16 {
	if f.big {
		return uint16(b[0])<<8 | uint16(b[1])
	}
	return uint16(b[1])<<8 | uint16(b[0])
}

func (f *fromWide) finish() error {
	if len(f.odd) == 0 {
		return nil
	}
	_, err := f.out.Write(utf8.AppendRune(nil, utf8.RuneError))
	return err
}

// unwrapped is what a whole artifact holds: unpacked, and as UTF-8.
func unwrapped(in []byte) []byte {
	big, ok := wideOrder(in)
	if !ok {
		return in
	}
	var out bytes.Buffer
	f := &fromWide{out: &out, big: big}
	_, _ = f.Write(in[2:])
	_ = f.finish()
	return out.Bytes()
}
