package adopt

import (
	"bytes"
	"errors"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"
)

// source is a file with the beginnings of its lines.
type source struct {
	src    []byte
	starts []int
	eol    string
}

var errForm = errors.New("it stands there in a form that is not edited here")

// sourceOf refuses what the library counts otherwise than this does: YAML 1.1 knows more ends of lines
// (section 5.4), and columns are characters.
func sourceOf(src []byte) (source, error) {
	s := source{src: src, starts: []int{0}, eol: "\n"}
	if !utf8.Valid(src) {
		return s, errUnread
	}
	if bytes.HasPrefix(src, []byte("\ufeff")) {
		s.starts[0] = len("\ufeff")
	}
	for i, c := range string(src) {
		switch c {
		case '\u0085', '\u2028', '\u2029':
			return s, errForm
		case '\r':
			if i+1 >= len(src) || src[i+1] != '\n' {
				return s, errForm
			}
			s.eol = "\r\n"
		case '\n':
			s.starts = append(s.starts, i+1)
		}
	}
	return s, nil
}

// begin is where a node stands.
func (s source) begin(n *yaml.Node) (int, error) {
	if n.Line < 1 || n.Line > len(s.starts) || n.Column < 1 {
		return 0, errForm
	}
	at := s.starts[n.Line-1]
	for range n.Column - 1 {
		_, size := utf8.DecodeRune(s.src[at:])
		if size == 0 {
			return 0, errForm
		}
		at += size
	}
	return at, nil
}

// lineStart is where the line of a place begins, lineEnd where it ends, its break left out.
func (s source) lineStart(at int) int {
	return bytes.LastIndexByte(s.src[:at], '\n') + 1
}

func (s source) lineEnd(at int) int {
	end := len(s.src)
	if i := bytes.IndexByte(s.src[at:], '\n'); i >= 0 {
		end = at + i
	}
	if end > at && s.src[end-1] == '\r' {
		end--
	}
	return end
}

// nextLine is where the next line begins.
func (s source) nextLine(at int) int {
	if i := bytes.IndexByte(s.src[at:], '\n'); i >= 0 {
		return at + i + 1
	}
	return len(s.src)
}

// end is where a node ends.
func (s source) end(n *yaml.Node) (int, error) {
	at, err := s.begin(n)
	if err != nil || n.Anchor != "" || n.Style&yaml.TaggedStyle != 0 {
		return 0, errForm
	}
	switch n.Kind {
	case yaml.ScalarNode:
		return s.scalarEnd(n, at)
	case yaml.AliasNode:
		if name := "*" + n.Value; strings.HasPrefix(string(s.src[at:]), name) {
			return at + len(name), nil
		}
		return 0, errForm
	}
	last := at + 1 // within the bracket
	if k := len(n.Content); k > 0 && n.Kind == yaml.MappingNode {
		last, err = s.entryEnd(n.Content[k-2], n.Content[k-1])
	} else if k > 0 {
		last, err = s.end(n.Content[k-1])
	}
	switch {
	case err != nil:
		return 0, err
	case n.Style&yaml.FlowStyle == 0 && len(n.Content) > 0:
		return last, nil
	case at >= len(s.src) || s.src[at] != '{' && s.src[at] != '[':
		return 0, errForm
	}
	last = s.blank(last, ",")
	if last < len(s.src) && s.src[last] == s.src[at]+2 { // } and ] stand two behind { and [
		return last + 1, nil
	}
	return 0, errForm
}

// blank goes over white space, comments and the characters of more.
func (s source) blank(at int, more string) int {
	for at < len(s.src) {
		switch c := s.src[at]; {
		case c == '#' && at > 0 && strings.IndexByte(" \t\n", s.src[at-1]) >= 0:
			at = s.lineEnd(at)
		case strings.IndexByte(" \t\r\n"+more, c) >= 0:
			at++
		default:
			return at
		}
	}
	return at
}

// entryEnd is where an entry of a mapping ends. An empty value ends with its colon.
func (s source) entryEnd(key, v *yaml.Node) (int, error) {
	if !empty(v) {
		return s.end(v)
	}
	return s.colon(key)
}

// empty reports whether nothing stands where the value would.
func empty(n *yaml.Node) bool {
	return n.Kind == yaml.ScalarNode && n.Value == "" && n.Style == 0 && n.Anchor == ""
}

// colon is the place behind that of a key.
func (s source) colon(key *yaml.Node) (int, error) {
	at, err := s.end(key)
	if err != nil {
		return 0, err
	}
	for at < len(s.src) && s.src[at] == ' ' {
		at++
	}
	if at < len(s.src) && s.src[at] == ':' {
		return at + 1, nil
	}
	return 0, errForm
}

func (s source) scalarEnd(n *yaml.Node, at int) (int, error) {
	rest := s.src[at:]
	switch {
	case n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0:
		b, err := s.block(n, at)
		return b.end, err
	case n.Style&yaml.DoubleQuotedStyle != 0:
		for i := 1; i < len(rest); i++ {
			switch rest[i] {
			case '\\':
				i++
			case '"':
				return at + i + 1, nil
			}
		}
	case n.Style&yaml.SingleQuotedStyle != 0:
		for i := 1; i < len(rest); i++ {
			switch {
			case rest[i] != '\'':
			case i+1 < len(rest) && rest[i+1] == '\'':
				i++
			default:
				return at + i + 1, nil
			}
		}
	case n.Value != "" && strings.HasPrefix(string(rest), n.Value):
		return at + len(n.Value), nil
	case n.Value != "":
		return 0, errors.New("it is plain text over several lines there")
	}
	return 0, errForm
}

// block is a literal or folded text: its head, and its lines.
type block struct {
	head, headEnd int // the indicators
	body, end     int // the first line, and where the last ends without its break
	indent        string
}

// block finds the text that a head introduces (YAML 1.2, section 8.1). One that gives its own indentation is not edited.
func (s source) block(n *yaml.Node, at int) (block, error) {
	b := block{head: at, headEnd: at + 1}
	if at >= len(s.src) || s.src[at] != '|' && s.src[at] != '>' || strings.TrimRight(n.Value, "\n") == "" {
		return b, errForm
	}
	keep := false
	if b.headEnd < len(s.src) && (s.src[b.headEnd] == '-' || s.src[b.headEnd] == '+') {
		keep = s.src[b.headEnd] == '+'
		b.headEnd++
	}
	if s.lineEnd(at) > b.headEnd && s.src[b.headEnd] != ' ' {
		return b, errForm
	}
	b.body = s.nextLine(at)
	found := false
	for from := b.body; from < len(s.src); from = s.nextLine(from) {
		line := s.src[from:s.lineEnd(from)]
		indent := len(line) - len(bytes.TrimLeft(line, " "))
		switch {
		case len(bytes.TrimSpace(line)) == 0 && (!found || indent <= len(b.indent)):
			if keep && found {
				b.end = from + len(line)
			}
			continue
		case !found:
			found, b.indent = true, string(line[:indent])
		case indent < len(b.indent):
			return b, nil
		}
		b.end = from + len(line)
	}
	if !found || b.indent == "" {
		return b, errForm
	}
	return b, nil
}
