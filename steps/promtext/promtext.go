// Package promtext reads metrics in the text format of Prometheus, version 0.0.4, as a program
// answers them or as a person saved them: one sample a line, a name, labels, a value and perhaps a
// time. Comments, HELP and TYPE among them, are passed over.
//
// The text comes from others. It is read line by line, and a sample is made of a wanted metric alone,
// so that what is kept follows from what is wanted and not from how much there is. A line that is none
// of the format is an error: half of a page that asks to sign in must not read as no metrics.
package promtext

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Bounds of a text.
const (
	MostLines = 1_000_000
	mostLine  = 1 << 20
)

// ErrForm says that a text is not in the format.
var ErrForm = errors.New("not in the text format of Prometheus")

// Sample is one line.
type Sample struct {
	Name   string
	Labels map[string]string
	Value  float64
	Line   []byte // as it stands, without its end; it is gone when the next one is read
}

// Seen is what a text is, whatever of it was wanted.
type Seen struct {
	Samples int
	// Cut says that the last line does not end, as the format wants it. It was not read: half of a value reads as another
	// one. The text may be a part.
	Cut bool
}

// Each gives every sample of a wanted metric to take, in order, until that returns an error.
func Each(raw []byte, wanted func(name string) bool, take func(Sample) error) (Seen, error) {
	seen := Seen{Cut: len(raw) > 0 && raw[len(raw)-1] != '\n'}
	n := 0
	for line := range bytes.Lines(raw) {
		if line[len(line)-1] != '\n' {
			break
		}
		n++
		switch {
		case n > MostLines:
			return seen, fmt.Errorf("it has more than the %d lines that are read", MostLines)
		case len(line) > mostLine:
			return seen, fmt.Errorf("line %d has more than the %d bytes that are read of one", n, mostLine)
		}
		s, of, err := parse(line, wanted)
		if err != nil {
			return seen, fmt.Errorf("line %d: %w: %w", n, ErrForm, err)
		}
		if of {
			seen.Samples++
		}
		if s == nil {
			continue
		}
		if err := take(*s); err != nil {
			return seen, fmt.Errorf("line %d: %w", n, err)
		}
	}
	return seen, nil
}

// parse reads a line. The sample is nil where it is not wanted, and of false where the line holds none.
func parse(line []byte, wanted func(string) bool) (s *Sample, of bool, err error) {
	line = bytes.TrimRight(line, "\r\n")
	rest := blanks(line)
	if len(rest) == 0 || rest[0] == '#' {
		return nil, false, nil
	}
	name, rest := word(rest, true)
	if len(name) == 0 {
		return nil, false, errors.New("it begins with no name of a metric")
	}
	want := wanted(string(name))
	var labels map[string]string
	if rest = blanks(rest); len(rest) > 0 && rest[0] == '{' {
		if labels, rest, err = labelsOf(rest[1:], want); err != nil {
			return nil, false, err
		}
	}
	v, err := valueOf(bytes.Fields(rest))
	if err != nil {
		return nil, false, err
	}
	if !want {
		return nil, true, nil
	}
	return &Sample{Name: string(name), Labels: labels, Value: v, Line: line}, true, nil
}

// valueOf reads what follows name and labels: a value, and perhaps when that was.
func valueOf(fields [][]byte) (float64, error) {
	if len(fields) != 1 && len(fields) != 2 {
		return 0, errors.New("it has no value, or more than a value and a time")
	}
	text := string(fields[0])
	if strings.ContainsAny(text, "pPxX_") { // numbers of Go, and none of the format
		return 0, fmt.Errorf("%q is no number", text)
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return 0, fmt.Errorf("%q is no number", text)
	}
	if len(fields) == 2 {
		if _, err := strconv.ParseInt(string(fields[1]), 10, 64); err != nil {
			return 0, fmt.Errorf("%q is no time", fields[1])
		}
	}
	return v, nil
}

// labelsOf reads labels up to the brace that ends them. Unwanted ones are passed over.
func labelsOf(rest []byte, want bool) (map[string]string, []byte, error) {
	var labels map[string]string
	if want {
		labels = map[string]string{}
	}
	for {
		if rest = blanks(rest); len(rest) > 0 && rest[0] == '}' {
			return labels, rest[1:], nil
		}
		var name []byte
		if name, rest = word(rest, false); len(name) == 0 {
			return nil, nil, errors.New("its labels have no name, or no end")
		}
		if rest = blanks(rest); len(rest) == 0 || rest[0] != '=' {
			return nil, nil, fmt.Errorf("the label %s has no value", name)
		}
		if rest = blanks(rest[1:]); len(rest) == 0 || rest[0] != '"' {
			return nil, nil, fmt.Errorf("the value of label %s is in no quotes", name)
		}
		value, after, err := quoted(rest[1:], want)
		if err != nil {
			return nil, nil, fmt.Errorf("label %s: %w", name, err)
		}
		if want {
			if _, twice := labels[string(name)]; twice {
				return nil, nil, fmt.Errorf("the label %s stands there twice", name)
			}
			labels[string(name)] = value
		}
		rest = blanks(after)
		switch {
		case len(rest) > 0 && rest[0] == ',':
			rest = rest[1:]
		case len(rest) == 0 || rest[0] != '}':
			return nil, nil, fmt.Errorf("after the label %s stands neither a comma nor the end", name)
		}
	}
}

// quoted reads a value of a label after the quote that begins it.
func quoted(rest []byte, want bool) (string, []byte, error) {
	var b strings.Builder
	for i := 0; i < len(rest); i++ {
		c := rest[i]
		switch {
		case c == '"':
			return b.String(), rest[i+1:], nil
		case c == '\\' && i+1 < len(rest):
			i++
			unescaped := map[byte]byte{'\\': '\\', '"': '"', 'n': '\n'}[rest[i]]
			if unescaped == 0 {
				return "", nil, fmt.Errorf("%q is no escape", rest[i-1:i+1])
			}
			c = unescaped
		}
		if want {
			b.WriteByte(c)
		}
	}
	return "", nil, errors.New("its value does not end")
}

// word takes a name from the beginning: that of a metric may have colons.
func word(rest []byte, colons bool) (name, after []byte) {
	i := 0
	for ; i < len(rest); i++ {
		c := rest[i]
		if c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || colons && c == ':' || i > 0 && c >= '0' && c <= '9' {
			continue
		}
		break
	}
	return rest[:i], rest[i:]
}

func blanks(rest []byte) []byte { return bytes.TrimLeft(rest, " \t") }
