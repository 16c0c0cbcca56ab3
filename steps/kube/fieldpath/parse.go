package fieldpath

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Pattern is the grammar of a path as a parameter of a step; [Parse] reads it.
const Pattern = `[^\x00-\x1f]{0,1000}`

// longest bounds what a person types; deepest how far objects nest.
const (
	longest = 2000
	deepest = 100
)

// Path names one field. The empty path is the object itself.
type Path []Step

// Step is one part of a path. Exactly one of its forms is meant.
type Step struct {
	Name  string // a field or the key of a map
	Loose bool   // Name stood in brackets or in a pointer: it may be an item of a list too
	Keys  []Pair // an item of a list, by its fields
	Item  *string
}

// Pair is one field by which an item of a list is known.
type Pair struct{ Name, Value string }

var errPath = errors.New("not a field: write it as spec.replicas, metadata.labels[app.kubernetes.io/name] or spec.template.spec.containers[name=app].image")

// Parse reads the grammar of this package.
func Parse(text string) (Path, error) {
	bad := func(why string) (Path, error) {
		return nil, fmt.Errorf("field %q: %w: %s", shorten(text), errPath, why)
	}
	if len(text) > longest {
		return bad("it is too long")
	}
	if i := strings.IndexFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f || r == '\uFFFD' }); i >= 0 {
		return bad("it holds what cannot be printed")
	}
	var p Path
	rest := strings.TrimPrefix(text, ".")
	for first := true; rest != ""; first = false {
		if len(p) == deepest {
			return bad("it is too deep")
		}
		var s Step
		var err error
		switch {
		case rest[0] == '[':
			s, rest, err = bracket(rest[1:])
		case !first && rest[0] != '.':
			return bad("a dot is missing before " + strconv.Quote(shorten(rest)))
		default:
			if !first {
				rest = rest[1:]
			}
			s, rest, err = plainName(rest)
		}
		if err != nil {
			return bad(err.Error())
		}
		p = append(p, s)
	}
	if len(p) == 0 && text != "" {
		return bad("it names nothing")
	}
	return p, nil
}

// plainName reads a name up to the next dot or bracket.
func plainName(s string) (Step, string, error) {
	var b strings.Builder
	i := 0
	for ; i < len(s) && s[i] != '.' && s[i] != '['; i++ {
		switch {
		case s[i] == '\\' && i+1 < len(s):
			i++
		case s[i] == '\\', s[i] == ']', s[i] == '"':
			return Step{}, "", fmt.Errorf("%q stands where a name ends", s[i:i+1])
		}
		b.WriteByte(s[i])
	}
	if b.Len() == 0 {
		return Step{}, "", errors.New("a name is empty")
	}
	return Step{Name: b.String()}, s[i:], nil
}

// bracket reads what stands after a bracket, and the bracket that ends it.
func bracket(s string) (Step, string, error) {
	if strings.HasPrefix(s, `"`) {
		name, rest, err := quoted(s)
		if err != nil {
			return Step{}, "", err
		}
		if name == "" {
			return Step{}, "", errors.New("a name is empty")
		}
		if rest, ok := strings.CutPrefix(rest, "]"); ok {
			return Step{Name: name}, rest, nil
		}
	}
	if v, ok := strings.CutPrefix(s, "="); ok {
		item, rest, err := word(v, "]")
		return Step{Item: &item}, strings.TrimPrefix(rest, "]"), err
	}
	name, rest, err := word(s, "]=")
	switch {
	case err != nil:
		return Step{}, "", err
	case name == "":
		return Step{}, "", errors.New("a bracket is empty")
	case rest[0] == ']':
		return Step{Name: name, Loose: true}, rest[1:], nil
	}
	var pairs []Pair
	for {
		var value string
		if value, rest, err = word(rest[1:], "],"); err != nil {
			return Step{}, "", err
		}
		pairs = append(pairs, Pair{name, value})
		if rest[0] == ']' {
			return Step{Keys: pairs}, rest[1:], nil
		}
		if name, rest, err = word(rest[1:], "="); err != nil {
			return Step{}, "", err
		}
		if name == "" {
			return Step{}, "", errors.New("a name before = is empty")
		}
	}
}

// word reads up to one of ends, which stays in rest. A text in double quotes may
// hold them.
func word(s, ends string) (text, rest string, err error) {
	if strings.HasPrefix(s, `"`) {
		if text, rest, err = quoted(s); err != nil {
			return "", "", err
		}
		if rest == "" || !strings.Contains(ends, rest[:1]) {
			return "", "", fmt.Errorf("after %q one of %q is missing", shorten(text), ends)
		}
		return text, rest, nil
	}
	i := strings.IndexAny(s, ends)
	if i < 0 {
		return "", "", errors.New("a bracket is not closed")
	}
	return s[:i], s[i:], nil
}

func quoted(s string) (text, rest string, err error) {
	q, err := strconv.QuotedPrefix(s)
	if err != nil {
		return "", "", errors.New("a quote is not closed")
	}
	text, err = strconv.Unquote(q)
	return text, s[len(q):], err
}

// Pointer reads a JSON pointer (RFC 6901), as JSON patches name fields.
func Pointer(text string) (Path, error) {
	if text == "" {
		return nil, nil
	}
	if text[0] != '/' || len(text) > longest || strings.Count(text, "/") > deepest {
		return nil, fmt.Errorf("pointer %q: it must begin with / and be of a sensible length", shorten(text))
	}
	var p Path
	for part := range strings.SplitSeq(text[1:], "/") {
		if part == "" {
			return nil, fmt.Errorf("pointer %q: a name is empty", shorten(text))
		}
		p = append(p, Step{Name: strings.NewReplacer("~1", "/", "~0", "~").Replace(part), Loose: true})
	}
	return p, nil
}

// String writes the path in the grammar that Parse reads.
func (p Path) String() string {
	var b strings.Builder
	for i, s := range p {
		s.write(&b, i == 0)
	}
	return b.String()
}

func (s Step) write(b *strings.Builder, first bool) {
	switch {
	case s.Item != nil:
		b.WriteString("[=" + enclosed(*s.Item, "]") + "]")
	case len(s.Keys) > 0:
		for i, k := range s.Keys {
			b.WriteString([]string{"[", ","}[min(i, 1)] + enclosed(k.Name, "=]") + "=" + enclosed(k.Value, ",]"))
		}
		b.WriteByte(']')
	case simple(s.Name) && !s.Loose:
		if !first {
			b.WriteByte('.')
		}
		b.WriteString(s.Name)
	case s.Loose && s.Name != "" && !strings.HasPrefix(s.Name, "=") && enclosed(s.Name, "=]") == s.Name:
		b.WriteString("[" + s.Name + "]")
	default:
		b.WriteString("[" + strconv.Quote(s.Name) + "]")
	}
}

// simple reports whether a name needs no brackets.
func simple(name string) bool {
	return name != "" && !strings.ContainsFunc(name, func(r rune) bool {
		return !(r == '-' || r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z')
	})
}

// enclosed quotes a text that could not be read back as it is.
func enclosed(s, ends string) string {
	if strings.ContainsAny(s, ends) || strings.HasPrefix(s, `"`) || strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f || r == '\uFFFD' }) {
		return strconv.Quote(s)
	}
	return s
}

func shorten(s string) string {
	if len(s) <= 100 {
		return s
	}
	return strings.ToValidUTF8(s[:100], "") + "..."
}
