package redact

import (
	"bytes"
	"io"

	"handrail/evidence/jsontree"
)

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
