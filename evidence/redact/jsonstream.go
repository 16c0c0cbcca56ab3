package redact

import (
	"bytes"
	"fmt"
	"io"
	"slices"

	"handrail/evidence/jsontree"
)

// unitMost is how much of a structure is held at once. What is larger is opened: its parts are redacted one by one, and a
// part is again held whole when it fits.
const unitMost = 8 << 20

// markedBeside are the fields whose secrecy is told by another field of the same object. When the object is too large or too
// broken to be held whole, that mark cannot be seen in time, so all their values are withheld.
var markedBeside = []string{"attributes", "attributes_flat", "values", "value", "before", "after", "default", "data", "stringData", "private", "variables",
	"constant_value", "rows", "sensitive_values"}

// jsonStream redacts JSON of any size by path while it streams, in constant memory. From the first byte on that is not
// JSON it keeps the shape and the keys and withholds every value.
type jsonStream struct {
	r      *Redactor
	out    io.Writer
	n      Counts
	shape  func(*Redactor, *jsontree.Node, Counts)
	unit   int // unitMost; less in tests
	buf    []byte
	pos    int   // in buf, what comes next
	base   int64 // bytes before buf
	res    []byte
	frames []*jsonFrame
	want   wanted
	span   valueSpan
	rest   *jsonRest // set once it is broken
	inLong bool      // the rest of an overlong string is being dropped
	done   bool      // the value has ended
	work   int64     // bytes that were looked at for the ends of values
	broken bool      // something in what is open does not parse, or has no end
}

// jsonFrame is a container that was opened.
type jsonFrame struct {
	kind jsontree.Kind
	key  string // where it stands
	at   string // the key whose value comes next
	any  bool   // it has a member
	hide bool   // all values in it are withheld
	typ  string // type of the resource it is, or is in
}

type wanted int

const (
	wantValue wanted = iota
	wantKey          // or the end of an object
	wantFirst        // a value, or the end of an array
	wantComma        // or the end
)

// valueSpan is how far the end of the value at pos was already looked for.
type valueSpan struct {
	at, depth    int
	quoted, back bool
}

func (s *jsonStream) Write(p []byte) (int, error) {
	s.buf = append(s.buf, p...)
	return len(p), s.advance(false)
}

func (s *jsonStream) finish() error { return s.advance(true) }

func (s *jsonStream) advance(final bool) error {
	for s.rest == nil {
		more, why := s.step(final)
		if why != "" {
			s.breakOff(why)
			break
		}
		if !more {
			if final && (!s.done || s.pos < len(s.buf)) {
				s.breakOff("it ends early")
			}
			break
		}
		if len(s.res) > 1<<20 {
			if err := s.flush(); err != nil {
				return err
			}
		}
	}
	if s.rest != nil {
		s.pos += s.rest.read(s.buf[s.pos:], final)
		s.res = append(s.res, s.rest.out...)
		s.rest.out = s.rest.out[:0]
	}
	if final {
		s.res = append(s.res, '\n')
	}
	return s.flush()
}

func (s *jsonStream) flush() error {
	_, err := s.out.Write(s.res)
	s.res = s.res[:0]
	s.base += int64(s.pos)
	s.buf = append(s.buf[:0], s.buf[s.pos:]...)
	s.span.at -= s.pos
	s.pos = 0
	return err
}

// breakOff goes over to keeping shape and keys only.
func (s *jsonStream) breakOff(why string) {
	s.n.add(Unparsed)
	s.res = fmt.Appendf(s.res, "\n(byte %d: %s; from here on keys are kept and values withheld)\n", s.base+int64(s.pos), why)
	s.rest = &jsonRest{r: s.r, n: s.n}
}

// step does the next thing. more is false when it needs more input; why is set when the input is not JSON.
func (s *jsonStream) step(final bool) (more bool, why string) {
	if s.inLong {
		return s.skipLong(final)
	}
	s.pos = jsontree.SkipSpace(s.buf, s.pos)
	if s.pos == len(s.buf) {
		return false, ""
	}
	if s.done {
		// One document after the other is what a watch gives.
		if s.buf[s.pos] != '{' {
			return false, "text after the value"
		}
		s.res, s.done, s.want = append(s.res, '\n'), false, wantValue
	}
	c := s.buf[s.pos]
	var top *jsonFrame
	if len(s.frames) > 0 {
		top = s.frames[len(s.frames)-1]
	}
	switch s.want {
	case wantComma:
		if c == ',' {
			s.pos++
			s.want = wantValue
			if top.kind == jsontree.Object {
				s.want = wantKey
			}
			return true, ""
		}
		return s.close(top, c)
	case wantKey:
		if c == '}' && !top.any {
			return s.close(top, c)
		}
		return s.key(top)
	case wantFirst:
		if c == ']' {
			return s.close(top, c)
		}
	}
	return s.value(top, final)
}

func (s *jsonStream) close(top *jsonFrame, c byte) (bool, string) {
	closing := byte('}')
	if top.kind == jsontree.Array {
		closing = ']'
	}
	if c != closing {
		return false, fmt.Sprintf("a comma or %q is missing", closing)
	}
	s.frames = s.frames[:len(s.frames)-1]
	if top.any {
		s.res = jsontree.Newline(s.res, 2, len(s.frames))
	}
	s.res = append(s.res, closing)
	s.pos++
	s.want, s.done = wantComma, len(s.frames) == 0
	return true, ""
}

func (s *jsonStream) key(top *jsonFrame) (bool, string) {
	if s.buf[s.pos] != '"' {
		return false, "a key is missing"
	}
	end, complete := stringEnd(s.buf, s.pos)
	colon := jsontree.SkipSpace(s.buf, end)
	switch {
	case end-s.pos > min(s.unit, longString):
		return false, "a key without an end"
	case !complete || colon == len(s.buf):
		return false, ""
	}
	key, _, err := jsontree.ReadString(s.buf, s.pos)
	if err != nil || s.buf[colon] != ':' {
		return false, "a key is broken"
	}
	top.at = key
	s.pos, s.want = colon+1, wantValue
	s.span = valueSpan{}
	return true, ""
}

func (s *jsonStream) value(top *jsonFrame, final bool) (bool, string) {
	c := s.buf[s.pos]
	if top == nil && c != '{' {
		return false, "it begins in the middle of something"
	}
	container := c == '{' || c == '['
	end, complete := s.valueEnd(final)
	over := end-s.pos > s.unit // told alike however the input came in
	if complete || over || final {
		// A container that is opened is looked at again, one level further down. Honest documents have few levels of that size.
		if s.work += int64(min(end-s.pos, s.unit+1)); s.work > max(levelsMost*int64(s.unit), 1<<20)+levelsMost*(s.base+int64(s.pos)) {
			return false, "too much is open"
		}
	}
	switch {
	case complete && !over:
		v, err := jsontree.Parse(s.buf[s.pos:end], jsontree.LooseKeys)
		if err == nil && top == nil && !isRoot(v) {
			return false, "it begins in the middle of something"
		}
		if err == nil {
			s.put(top, v)
			s.pos, s.want, s.done = end, wantComma, top == nil
			return true, ""
		}
		if !container {
			return false, "a value is broken"
		}
	case !over && !final:
		return false, ""
	case over && c == '"':
		// No honest document has a string of this size; it is one secret.
		s.lead(top)
		s.res = append(s.r.token(append(s.res, '"'), "withheld", s.buf[s.pos:s.pos+s.unit]), '"')
		s.n.add("withheld")
		s.pos += s.unit
		s.inLong, s.span = true, valueSpan{}
		if slashes := len(s.buf[:s.pos]) - len(bytes.TrimRight(s.buf[:s.pos], `\`)); slashes%2 == 1 {
			s.pos++ // not between a backslash and what it escapes
		}
		return true, ""
	case !container:
		return false, "a value has no end"
	}
	s.broken = s.broken || !over || complete && end-s.pos <= s.unit
	s.open(top, c)
	return true, ""
}

// isRoot reports whether v says of itself what it is, as a state, a plan and an object of Kubernetes do. What does not may
// be a part whose mark was lost.
func isRoot(v *jsontree.Node) bool {
	return v.Get("version") != nil || v.Get("format_version") != nil || v.Get("kind") != nil && v.Get("apiVersion") != nil
}

func (s *jsonStream) skipLong(final bool) (bool, string) {
	for i := s.pos; i < len(s.buf); i++ {
		switch s.buf[i] {
		case '\\':
			if i+1 == len(s.buf) && !final {
				s.pos = i
				return false, ""
			}
			i++
		case '"':
			s.pos, s.inLong, s.want, s.done = i+1, false, wantComma, len(s.frames) == 0
			return true, ""
		}
	}
	s.pos = len(s.buf)
	return false, ""
}

// levelsMost is how often each byte may be looked at, one open container after the other.
const levelsMost = 16

// valueEnd looks for the end of the value at pos, from where it stopped before.
func (s *jsonStream) valueEnd(final bool) (int, bool) {
	sp := &s.span
	if sp.at <= s.pos {
		*sp = valueSpan{at: s.pos}
	}
	for ; sp.at < len(s.buf); sp.at++ {
		if sp.at-s.pos > s.unit {
			return sp.at, false // what is larger than a unit is opened, wherever it ends
		}
		c := s.buf[sp.at]
		switch {
		case sp.back:
			sp.back = false
		case sp.quoted:
			switch c {
			case '\\':
				sp.back = true
			case '"':
				if sp.quoted = false; sp.depth == 0 {
					return s.ended(sp.at + 1)
				}
			}
		case c == '"':
			sp.quoted = true
		case c == '{' || c == '[':
			sp.depth++
		case c == '}' || c == ']':
			if sp.depth == 0 {
				return s.ended(sp.at) // a number ends with its container
			}
			if sp.depth--; sp.depth == 0 {
				return s.ended(sp.at + 1)
			}
		case sp.depth == 0 && (c == ',' || c == ' ' || c == '\n' || c == '\r' || c == '\t'):
			return s.ended(sp.at)
		}
	}
	if final && !sp.quoted && sp.depth == 0 {
		return s.ended(len(s.buf))
	}
	return len(s.buf), false
}

func (s *jsonStream) ended(at int) (int, bool) {
	s.span = valueSpan{}
	return at, true
}

// lead writes what stands before a member.
func (s *jsonStream) lead(top *jsonFrame) {
	if top == nil {
		return
	}
	if top.any {
		s.res = append(s.res, ',')
	}
	top.any = true
	s.res = jsontree.Newline(s.res, 2, len(s.frames))
	if top.kind == jsontree.Object {
		s.res = append(jsontree.AppendString(s.res, s.r.KnownOnly(top.at, s.n)), ':', ' ')
	}
}

func (s *jsonStream) open(top *jsonFrame, c byte) {
	s.lead(top)
	f := &jsonFrame{kind: jsontree.Object}
	s.want = wantKey
	if c == '[' {
		f.kind, s.want = jsontree.Array, wantFirst
	}
	if top != nil {
		f.key, f.typ = top.at, top.typ
		if top.kind == jsontree.Array {
			f.key = top.key
		}
		f.hide = top.hide || top.kind == jsontree.Object && slices.Contains(markedBeside, top.at) || secretName([]byte(f.key))
	}
	s.frames = append(s.frames, f)
	s.res = append(s.res, c)
	s.pos++
	s.span = valueSpan{}
}

// put redacts a whole value in the light of where it stands, and writes it.
func (s *jsonStream) put(top *jsonFrame, v *jsontree.Node) {
	s.lead(top)
	if s.broken && top != nil {
		key := top.at
		if top.kind == jsontree.Array {
			key = top.key
		} else if fields := belongs(top.key, &jsontree.Node{}); fields != nil && !slices.Contains(fields, key) {
			s.r.hideAll(v, "withheld", s.n)
		}
		s.r.suspect(key, v, s.n)
	}
	switch {
	case top == nil:
		s.shape(s.r, v, s.n)
	case top.hide || top.kind == jsontree.Object && slices.Contains(markedBeside, top.at):
		s.r.hideAll(v, "withheld", s.n)
	default:
		v = s.inContext(top, v)
	}
	s.res = v.AppendTo(s.res, 2, len(s.frames))
}
