package longtext

import (
	"bytes"
	"context"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Pattern is a plain text to look for. All in lower case, it is found in either.
type Pattern struct {
	raw  []byte
	fold bool           // of ASCII, in lower case
	re   *regexp.Regexp // letters beyond ASCII, in either case
}

// Plain makes a pattern of what a person typed.
func Plain(s string) Pattern {
	p := Pattern{raw: []byte(s)}
	switch {
	case strings.IndexFunc(s, unicode.IsUpper) >= 0 || strings.ToUpper(s) == s:
	case strings.IndexFunc(s, func(r rune) bool { return r >= utf8.RuneSelf }) < 0:
		p.fold = true
	case utf8.ValidString(s):
		p.re = regexp.MustCompile("(?i)" + regexp.QuoteMeta(s))
	}
	return p
}

// Empty says that there is nothing to look for.
func (p Pattern) Empty() bool { return len(p.raw) == 0 }

// find returns where the pattern stands first in b, which folded was called for, and how long it is there; -1 where it does
// not.
func (p Pattern) find(b []byte) (at, n int) {
	if p.re == nil {
		return bytes.Index(b, p.raw), len(p.raw)
	}
	if loc := p.re.FindIndex(b); loc != nil {
		return loc[0], loc[1] - loc[0]
	}
	return -1, 0
}

// folded makes b ready to be looked through, in its place.
func (p Pattern) folded(b []byte) []byte {
	if p.fold {
		lower(b)
	}
	return b
}

// All returns where the pattern stands in s, from and to, up to most times.
func (p Pattern) All(s string, most int) [][2]int {
	if p.Empty() {
		return nil
	}
	b := p.folded([]byte(s))
	var out [][2]int
	for from := 0; len(out) < most; {
		at, n := p.find(b[from:])
		if at < 0 || n == 0 {
			break
		}
		out = append(out, [2]int{from + at, from + at + n})
		from += at + n
	}
	return out
}

// lower writes ASCII letters small, so that offsets stay.
func lower(b []byte) {
	for i, c := range b {
		if c-'A' < 26 {
			b[i] = c + 'a' - 'A'
		}
	}
}

// reach is how far a match may go beyond the byte it begins at: the case of a letter may be of another length.
func (p Pattern) reach() int64 {
	if p.re == nil {
		return max(0, int64(len(p.raw))-1)
	}
	return int64(utf8.RuneCount(p.raw) * utf8.UTFMax)
}

// Search looks for the first match that begins in [from, from+most), and returns where it begins, -1 for none, and where to
// look on. A match that began before ctx ended may be lost; the error says so.
func (f *File) Search(ctx context.Context, p Pattern, from, most int64) (hit, on int64, err error) {
	buf := make([]byte, block+p.reach())
	for stop := min(from+most, f.size); from < stop; {
		if err := ctx.Err(); err != nil {
			return -1, from, err
		}
		step := min(block, stop-from)
		b := buf[:min(step+p.reach(), f.size-from)]
		if err := f.fill(b, from); err != nil {
			return -1, from, err
		}
		if at, _ := p.find(p.folded(b)); at >= 0 && int64(at) < step {
			return from + int64(at), from, nil
		}
		from += step
	}
	return -1, from, nil
}

// SearchBack looks for the last match that begins in [before-most, before), and returns where, -1 for none, and where to
// look on before.
func (f *File) SearchBack(ctx context.Context, p Pattern, before, most int64) (hit, on int64, err error) {
	buf := make([]byte, block+p.reach())
	before = min(before, f.size)
	for stop := max(0, before-most); before > stop; {
		if err := ctx.Err(); err != nil {
			return -1, before, err
		}
		from := max(stop, before-block)
		b := buf[:min(before-from+p.reach(), f.size-from)]
		if err := f.fill(b, from); err != nil {
			return -1, before, err
		}
		last := int64(-1)
		if b = p.folded(b); p.re == nil {
			last = int64(bytes.LastIndex(b, p.raw))
		}
		for pos := 0; p.re != nil && pos < len(b); {
			at, _ := p.find(b[pos:])
			if at < 0 || from+int64(pos+at) >= before {
				break
			}
			last = int64(pos + at)
			pos += at + 1
		}
		if last >= 0 {
			return from + last, from, nil
		}
		before = from
	}
	return -1, before, nil
}
