package joblog

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"regexp"
	"strconv"
	"strings"
)

// MaxLine bounds the part of a line that is looked at.
const MaxLine = 1 << 20

// End is how a line ends.
type End int

// A line ends with its line break. The last one may be open, and a long one goes
// on beyond MaxLine.
const (
	Broken End = iota
	Open
	Long
)

// Each calls do with each line, plain and out of its envelope.
func Each(r io.Reader, do func(line string, how End)) error {
	var e envelopes
	err := eachRaw(r, func(raw []byte, how End) { e.open(raw, how, do) })
	e.flush(do)
	return err
}

// lastByte remembers what was read last.
type lastByte struct {
	r io.Reader
	b byte
}

func (l *lastByte) Read(p []byte) (int, error) {
	n, err := l.r.Read(p)
	if n > 0 {
		l.b = p[n-1]
	}
	return n, err
}

func eachRaw(r io.Reader, do func(raw []byte, how End)) error {
	end := &lastByte{r: r}
	br := bufio.NewReaderSize(end, 64<<10)
	var line []byte
	cut := false
	for {
		part, more, err := br.ReadLine()
		room := min(len(part), MaxLine-len(line))
		line = append(line, part[:room]...)
		cut = cut || room < len(part)
		if err != nil || !more {
			how := Broken
			if cut {
				how = Long
			} else if end.b != '\n' && err == nil {
				if _, last := br.Peek(1); last != nil && end.b != '\n' {
					how = Open
				}
			}
			if err == nil || len(line) > 0 {
				do(line, how)
			}
			line, cut = line[:0], false
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// envelopes opens the objects that a shipper makes of lines, and joins the parts
// of a line that it broke.
type envelopes struct {
	part map[string]string // by stream
	held int
}

func (e *envelopes) open(raw []byte, how End, do func(string, End)) {
	text, stream, whole, ok := unpack(raw)
	if !ok && how != Long {
		text, ok = unquote(raw)
		whole = ok
	}
	if !ok {
		do(Plain(string(raw)), how)
		return
	}
	text = e.part[stream] + text
	e.held -= len(e.part[stream])
	delete(e.part, stream)
	if !whole && e.held+len(text) <= MaxLine && len(e.part) < maxShapes {
		if e.part == nil {
			e.part = map[string]string{}
		}
		e.part[stream] = text
		e.held += len(text)
		return
	}
	joined := Broken
	if !whole {
		joined = Long
	}
	for line := range strings.Lines(text + "\n") {
		line = strings.TrimSuffix(line, "\n")
		if line != "" || text == "" || text == "\n" {
			do(Plain(line), joined)
		}
	}
}

func (e *envelopes) flush(do func(string, End)) {
	for _, text := range e.part {
		do(Plain(text), Open)
	}
}

// unpack takes the line out of a JSON object that a shipper made of it: docker,
// journald, CloudWatch and their like each keep it in one text of another name.
func unpack(raw []byte) (text, stream string, whole, ok bool) {
	b := bytes.TrimSpace(raw)
	if len(b) == 0 || b[0] != '{' || b[len(b)-1] != '}' || bytes.Contains(b[:min(len(b), 200)], []byte(`"@level"`)) {
		return "", "", false, false
	}
	var o struct { // names match in any case
		Log, Message, Msg, Line, TextPayload json.RawMessage
		Stream                               string
		Own                                  json.RawMessage `json:"@message"`
	}
	if json.Unmarshal(b, &o) != nil || o.Own != nil {
		return "", "", false, false
	}
	for i, v := range []json.RawMessage{o.Log, o.Message, o.Msg, o.Line, o.TextPayload} {
		if s, is := textOf(v); is {
			return s, o.Stream, i > 0 || strings.HasSuffix(s, "\n"), true // docker breaks long lines
		}
	}
	return "", "", false, false
}

// quotedValue is a line of names and values of which one is the message.
var quotedValue = regexp.MustCompile(`^((?:[A-Za-z_][\w.-]*=(?:"(?:[^"\\]|\\.)*"|[^\s"]*) )+(?:msg|message)=)("(?:[^"\\]|\\.)*")`)

// unquote leaves the message of such a line behind its names.
func unquote(raw []byte) (string, bool) {
	if i := bytes.IndexByte(raw, '='); i <= 0 || i > 40 || !bytes.Contains(raw, []byte(`="`)) {
		return "", false
	}
	m := quotedValue.FindSubmatch(raw)
	if m == nil {
		return "", false
	}
	text, err := strconv.Unquote(string(m[2]))
	return string(m[1]) + text, err == nil
}

// textOf reads a text, or the bytes that journald writes for one with controls.
func textOf(v json.RawMessage) (string, bool) {
	var s string
	if json.Unmarshal(v, &s) == nil {
		return s, v[0] == '"'
	}
	var codes []uint16
	if json.Unmarshal(v, &codes) != nil {
		return "", false
	}
	b := make([]byte, len(codes))
	for i, c := range codes {
		b[i] = byte(c)
	}
	return string(b), true
}
