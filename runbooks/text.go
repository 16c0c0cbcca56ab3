package runbooks

import (
	"errors"
	"regexp"
	"regexp/syntax"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"
)

// text is a text with `${expression}` in it. `$${` stands for `${`.
type text struct {
	parts []part
	node  *yaml.Node
}

type part struct {
	literal string
	expr    *expr // nil for a literal
}

// whole returns the expression of a text that is nothing but one.
func (t *text) whole() *expr {
	if t != nil && len(t.parts) == 1 {
		return t.parts[0].expr
	}
	return nil
}

// constant reports whether t has no expression, and its text.
func (t *text) constant() (string, bool) {
	var out strings.Builder
	for _, p := range t.parts {
		if p.expr != nil {
			return "", false
		}
		out.WriteString(p.literal)
	}
	return out.String(), true
}

// written is t as in the document.
func (t *text) written() string {
	if t == nil {
		return ""
	}
	var out strings.Builder
	for _, p := range t.parts {
		if p.expr != nil {
			out.WriteString("${" + p.expr.src + "}")
		} else {
			out.WriteString(p.literal)
		}
	}
	return strings.TrimSpace(out.String())
}

// exprs returns the expressions of t.
func (t *text) exprs() []*expr {
	if t == nil {
		return nil
	}
	var out []*expr
	for _, p := range t.parts {
		if p.expr != nil {
			out = append(out, p.expr)
		}
	}
	return out
}

// text reads a scalar as a text with expressions; nil when n is nil or wrong.
func (r *reader) text(n *yaml.Node, what string) *text {
	raw := r.Text(n, what)
	if raw == "" {
		return nil
	}
	return r.split(n, raw)
}

func (r *reader) split(n *yaml.Node, raw string) *text {
	out := &text{node: n}
	var lit strings.Builder
	for i := 0; i < len(raw); {
		switch {
		case strings.HasPrefix(raw[i:], "$${"):
			lit.WriteString("${")
			i += len("$${")
		case strings.HasPrefix(raw[i:], "${"):
			end := closing(raw, i+2)
			if end < 0 {
				line, col := r.locate(n, utf8.RuneCountInString(raw[:i]))
				r.FailAt(line, col, "write $${ for a plain ${", "a ${ without its }")
				return nil
			}
			if lit.Len() > 0 {
				out.parts = append(out.parts, part{literal: lit.String()})
				lit.Reset()
			}
			e := r.exprAt(n, raw[i+2:end], utf8.RuneCountInString(raw[:i+2]), wantValue)
			if e == nil {
				return nil
			}
			out.parts = append(out.parts, part{expr: e})
			i = end + 1
		default:
			lit.WriteByte(raw[i])
			i++
		}
	}
	if lit.Len() > 0 || len(out.parts) == 0 {
		out.parts = append(out.parts, part{literal: lit.String()})
	}
	return out
}

// closing returns the index of the brace that ends the expression at from, -1
// for none. Braces in quotes and pairs of braces belong to the expression.
func closing(s string, from int) int {
	depth, quote := 0, byte(0)
	for i := from; i < len(s); i++ {
		switch c := s[i]; {
		case quote != 0:
			if c == '\\' {
				i++
			} else if c == quote {
				quote = 0
			}
		case c == '\'' || c == '"':
			quote = c
		case c == '{':
			depth++
		case c == '}':
			if depth == 0 {
				return i
			}
			depth--
		}
	}
	return -1
}

// literal reads a text that is shown before anything is known.
func (r *reader) literal(n *yaml.Node, what string) string {
	s := r.Text(n, what)
	if i := strings.Index(s, "${"); i >= 0 {
		line, col := r.locate(n, len([]rune(s[:i])))
		r.FailAt(line, col, "it is shown before anything is known: say it in say:", "%s cannot have a ${ in it", what)
	}
	return s
}

func (r *reader) regexp(n *yaml.Node, src string) *regexp.Regexp {
	if src == "" {
		return nil
	}
	re, err := regexp.Compile(src)
	if err != nil {
		msg := err.Error()
		var se *syntax.Error
		if errors.As(err, &se) {
			msg = se.Code.String() + ": " + se.Expr
		}
		r.Fail(n, "see pkg.go.dev/regexp/syntax for the language", "pattern %q is not a regular expression: %s", src, msg)
		return nil
	}
	return re
}
