package redact

import (
	"bytes"
	"io"
	"regexp"
	"strings"

	"handrail/evidence/jsontree"
)

// What a state, a plan, an apply or an object marks as secret turns up elsewhere without the mark: in hooks, outputs, diffs and logs.
// So it is a known value from there on, as far as hiding it hides nothing that must be read.

// markedMost bounds the bytes of all values that are learned so.
const markedMost = 2 << 20

// hideMarked hides every scalar under n, which stands at key, and remembers what it was.
func (r *Redactor) hideMarked(n *jsontree.Node, key, kind string, c Counts) {
	if n == nil {
		return
	}
	if n.Kind == jsontree.String {
		r.mark(key, n.Text)
	}
	if n.Kind == jsontree.String || n.Kind == jsontree.Literal {
		r.hide(n, kind, c)
		return
	}
	for _, m := range n.Members {
		if n.Kind == jsontree.Object && !isValueName(m.Key) {
			r.hideMarked(m.Value, m.Key, kind, c)
		} else {
			r.hideMarked(m.Value, key, kind, c)
		}
	}
}

// mark remembers a value until learnMarked.
func (r *Redactor) mark(key, value string) {
	value = strings.TrimSpace(value)
	if r.onlyTokens([]byte(value)) || strings.Contains(value, TokenOpen) {
		return
	}
	for _, v := range worthKnowing(key, value, 0) {
		r.mu.Lock()
		if !r.raw[v] && r.size+len(v) <= markedMost {
			r.fresh = append(r.fresh, v)
			r.size += len(v)
		}
		r.mu.Unlock()
	}
}

// learnMarked makes known values of what was marked.
func (r *Redactor) learnMarked() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.fresh) == 0 {
		return
	}
	for _, v := range r.fresh {
		r.raw[v] = true
	}
	r.fresh, r.known = nil, nil
}

// worthKnowing are the parts of a marked value that are hidden wherever they stand. Words, names and identifiers are marked as well,
// and would be missed everywhere else.
func worthKnowing(key, value string, depth int) []string {
	if len(value) < minKnown || len(value) > 64<<10 || depth > 3 {
		return nil
	}
	if value[0] == '{' || value[0] == '[' {
		if n, err := jsontree.Parse([]byte(value), jsontree.LooseKeys); err == nil {
			var out []string
			n.Each(key, func(k, v string) { out = append(out, worthKnowing(k, v, depth+1)...) })
			return append(out, value)
		}
	}
	if strings.ContainsRune(value, '\n') {
		out := []string{value}
		for line := range strings.Lines(value) {
			line = strings.TrimSpace(line)
			k, v, ok := strings.Cut(line, ":")
			if !ok {
				k, v, ok = strings.Cut(line, "=")
			}
			switch {
			case ok && strings.HasPrefix(value, "-----BEGIN"), strings.HasPrefix(line, "-----"):
			case ok && plainKey(strings.TrimSpace(k)):
				out = append(out, worthKnowing(strings.TrimSpace(k), strings.Trim(strings.TrimSpace(v), `"'`), depth+1)...)
			case len(line) >= 2*minKnown && looksRandom([]byte(line)):
				out = append(out, line)
			}
		}
		if strings.Contains(value, "BEGIN CERTIFICATE") {
			return nil
		}
		return out
	}
	if ordinary(key, value) {
		return nil
	}
	return []string{value}
}

// ordinaryWord are values that other things are called.
var ordinaryWord = regexp.MustCompile(`\A(?:[A-Z]?[a-z]+(?:[A-Z][a-z]{2,})*[0-9]{0,2}|[A-Z]+|[a-z0-9]+(?:[-._/:@][a-z0-9]+)+|[A-Z]?[a-z]+(?:[-_./ ][A-Z]?[a-z]+){1,2}|[-+0-9.:TZ/]+|arn:.*|[a-z][a-z0-9+]*://[^@\s]*|/[\w./-]*|v?[0-9]+(?:\.[0-9]+)+.*)\z`)

// ordinary reports whether a value that was marked is of a kind that must stay readable elsewhere.
func ordinary(key, value string) bool {
	told := nameTells([]byte(key)) == tells
	if harmlessValue([]byte(value), []byte(key), true) {
		return true
	}
	lower := strings.ToLower(value)
	if isUUID(lower) || len(value) >= 32 && hexOnly(lower) {
		return !told && identifies([]byte(key))
	}
	if told && len(value) >= 12 && !strings.ContainsAny(value, "-./ ") || told && strings.Count(value, " ") > 1 {
		return false
	}
	if !told && identifies([]byte(key)) {
		return true
	}
	return ordinaryWord.MatchString(value) && !hexPart([]byte(value))
}

// markedLines redacts lines of text that are whole documents with marks of their own, as `apply -json` writes them, by their structure,
// and learns what they mark.
type markedLines struct {
	r    *Redactor
	out  io.Writer
	n    Counts
	rest []byte // a line that has not ended
	over bool   // and is too long to be held
}

// lineMost is the longest line that is read as a document.
const lineMost = 1 << 20

// markIn finds where text may mark something: "sensitive", "after_sensitive", "sensitive_values", "sensitive_attributes".
func markIn(text []byte) int {
	const mark, rare = "ensitive", 6 // its v is the rarest of its letters
	for at := rare; at < len(text); at++ {
		i := bytes.IndexByte(text[at:], mark[rare])
		if i < 0 {
			return -1
		}
		at += i
		if end := at - rare + len(mark); end < len(text) && (text[end] == '"' || text[end] == '_') && string(text[at-rare:end]) == mark {
			return at - rare
		}
	}
	return -1
}

func (m *markedLines) Write(p []byte) (int, error) {
	all := len(p)
	for len(p) > 0 {
		nl := bytes.IndexByte(p, '\n') + 1
		if len(m.rest) == 0 && !m.over && nl > 0 {
			// Whole lines without a mark go through at once.
			last := bytes.LastIndexByte(p, '\n') + 1
			if i := markIn(p[:last]); i < 0 {
				nl = last
			} else if before := bytes.LastIndexByte(p[:i], '\n') + 1; before > 0 {
				nl = before
			}
			if err := m.lines(p[:nl]); err != nil {
				return 0, err
			}
			p = p[nl:]
			continue
		}
		part := p
		if nl > 0 {
			part = p[:nl]
		}
		p = p[len(part):]
		if m.over {
			m.over = nl == 0
			if _, err := m.out.Write(part); err != nil {
				return 0, err
			}
			continue
		}
		m.rest = append(m.rest, part...)
		if nl > 0 || len(m.rest) > lineMost {
			m.over = nl == 0
			line := m.rest
			m.rest = m.rest[:0]
			if err := m.lines(line); err != nil {
				return 0, err
			}
		}
	}
	return all, nil
}

func (m *markedLines) finish() error { return m.lines(m.rest) }

// lines passes on one line with a mark, or many without.
func (m *markedLines) lines(p []byte) error {
	if out, ok := m.r.markedLine(p, m.n); ok {
		p = out
	}
	_, err := m.out.Write(p)
	return err
}

func (r *Redactor) markedLine(line []byte, n Counts) ([]byte, bool) {
	if len(line) > lineMost || markIn(line) < 0 {
		return nil, false
	}
	open := bytes.IndexByte(line, '{')
	if open < 0 || bytes.IndexByte(line[:open], '"') >= 0 {
		return nil, false
	}
	doc, end, err := jsontree.ReadValue(line, open, jsontree.LooseKeys)
	if err != nil || len(bytes.TrimSpace(line[end:])) > 0 {
		return nil, false
	}
	return r.markedDoc(line, doc, n), true
}

// markedDoc hides in text what a document in it marks. All else stays as it is written.
func (r *Redactor) markedDoc(text []byte, doc *jsontree.Node, n Counts) []byte {
	type scalar struct {
		*jsontree.Node
		was string
	}
	var all []scalar
	var walk func(*jsontree.Node)
	walk = func(n *jsontree.Node) {
		if n.End > 0 {
			all = append(all, scalar{n, n.Text})
		}
		for _, m := range n.Members {
			walk(m.Value)
		}
	}
	walk(doc)
	r.kubernetes(doc, false, n)
	r.planVariables(doc, n)
	r.terraform(doc, n)
	r.learnMarked()
	var out []byte
	done := 0
	for _, s := range all {
		if s.Text != s.was {
			out = jsontree.AppendString(append(out, text[done:s.At]...), s.Text)
			done = s.End
		}
	}
	return append(out, text[done:]...)
}

// learnText learns what is marked in text that is held whole, so that it is hidden before its mark as well.
func (r *Redactor) learnText(text []byte) {
	if markIn(text) < 0 {
		return
	}
	if t := bytes.TrimSpace(text); len(t) > 0 && t[0] == '{' {
		if doc, err := jsontree.Parse(t, jsontree.LooseKeys); err == nil {
			r.markedDoc(t, doc, Counts{})
			return
		}
	}
	for i := markIn(text); i >= 0; i = markIn(text) {
		from := bytes.LastIndexByte(text[:i], '\n') + 1
		to := len(text)
		if nl := bytes.IndexByte(text[i:], '\n'); nl >= 0 {
			to = i + nl
		}
		r.markedLine(text[from:to], Counts{})
		text = text[to:]
	}
}
