package redact

import (
	"bytes"
	"regexp"
)

// columns is a table whose header names a secret: the rows that follow it have one in the same place.
type columns struct {
	sep   byte // ' ' stands for two blanks or more
	cells int
	at    []int // the cells that hold secrets
	names [][]byte
}

var headerCell = regexp.MustCompile(`\A[A-Za-z_][\w.() -]{0,40}\z`)

// column takes the name for the header of a column, and lets the applier go on with the rows.
func (n *named) column() (hit, bool) {
	k := n.j
	for k < n.lineEnd && (n.in[k] == '"' || n.in[k] == '\'') {
		k++
	}
	if k < n.lineEnd && bytes.IndexByte([]byte(",;\t|) \r"), n.in[k]) < 0 {
		return hit{}, false
	}
	from := bytes.LastIndexByte(n.in[max(0, n.l-1024):n.l], '\n') + 1 + max(0, n.l-1024)
	if from < n.floor || n.lineEnd-from > 1024 {
		return hit{}, false
	}
	// Names of columns have no marks.
	if bytes.ContainsAny(n.in[from:n.lineEnd], "=:{}[]<>\\/") {
		return n.tuple()
	}
	c := columnsOf(bytes.TrimRight(n.in[from:n.lineEnd], "\r"))
	if c == nil {
		return n.tuple()
	}
	// The rows are looked at by the applier, one by one and however many there are.
	body := min(n.lineEnd+1, len(n.in))
	row := n.in[body:min(len(n.in), body+lookBelow)]
	first := -1
	for at := 0; at < len(row); {
		nl := bytes.IndexByte(row[at:], '\n')
		if nl < 0 && !n.final && len(row) < lookBelow {
			return n.waits()
		}
		if nl < 0 {
			nl = len(row) - at
		}
		if rule(row[at : at+nl]) {
			at += nl + 1
			continue
		}
		if cells := c.split(bytes.TrimRight(row[at:at+nl], "\r")); len(cells) == c.cells && (c.cells > 1 || at > 0) {
			first = at
		}
		break
	}
	if first < 0 {
		if !n.final && len(row) < lookBelow && len(bytes.TrimSpace(row)) == 0 {
			return n.waits()
		}
		return hit{}, false
	}
	n.seen.columns = c
	return hit{start: n.at, end: body, skip: true}, true
}

// columnsOf reads a header; nil when the line is none, or names nothing secret.
func columnsOf(line []byte) *columns {
	for _, sep := range [...]byte{',', ';', '\t', '|', ' '} {
		c := &columns{sep: sep}
		cells := c.split(line)
		if len(cells) < 2 && !(sep == ' ' && len(cells) == 1) {
			continue
		}
		for i, at := range cells {
			cell := bytes.Trim(line[at[0]:at[1]], `"'`)
			if !headerCell.Match(cell) || sep != '|' && sep != ' ' && bytes.IndexByte(cell, ' ') >= 0 && len(cells) < 3 {
				c.at = nil
				break
			}
			if nameTells(cell) != silent {
				c.at, c.names = append(c.at, i), append(c.names, bytes.Clone(cell))
			}
		}
		c.cells = len(cells)
		if len(c.at) > 0 {
			return c
		}
	}
	return nil
}

// split returns where the cells of a line are.
func (c *columns) split(line []byte) [][2]int {
	var out [][2]int
	from, end := 0, len(line)
	if c.sep == '|' || c.sep == ' ' {
		for from < end && (line[from] == ' ' || line[from] == c.sep) {
			from++
		}
		for end > from && (line[end-1] == ' ' || line[end-1] == c.sep) {
			end--
		}
	}
	cell := func(a, b int) {
		for a < b && line[a] == ' ' {
			a++
		}
		for b > a && line[b-1] == ' ' {
			b--
		}
		out = append(out, [2]int{a, b})
	}
	start, quote := from, byte(0)
	for i := from; i < end; i++ {
		switch ch := line[i]; {
		case quote != 0:
			if ch == quote {
				quote = 0
			}
		case ch == '"' && i == start && c.sep != ' ':
			quote = ch
		case c.sep == ' ' && ch == ' ' && i+1 < end && line[i+1] == ' ':
			cell(start, i)
			for i+1 < end && line[i+1] == ' ' {
				i++
			}
			start = i + 1
		case c.sep != ' ' && ch == c.sep:
			cell(start, i)
			start = i + 1
		}
	}
	if start < end {
		cell(start, end)
	} else if len(out) > 0 && c.sep != ' ' && c.sep != '|' {
		cell(end, end)
	}
	return out
}

// rule reports whether a line of a table is drawn.
func rule(line []byte) bool {
	t := bytes.TrimSpace(line)
	return len(t) > 2 && len(bytes.Trim(t, "-+|=: ")) == 0
}

// row redacts one line of a table; ok is false where the table has ended.
func (w *applier) row(line []byte) (out []byte, ok bool) {
	c := w.seen.columns
	if rule(line) {
		return line, true
	}
	cells := c.split(line)
	if len(cells) != c.cells {
		return nil, false
	}
	done := 0
	for i, col := range c.at {
		at := cells[col]
		v := line[at[0]:at[1]]
		if len(v) > 1 && (v[0] == '"' || v[0] == '\'') && v[len(v)-1] == v[0] {
			at[0], at[1], v = at[0]+1, at[1]-1, v[1:len(v)-1]
		}
		pass := bytes.Contains(bytes.ToLower(c.names[i]), []byte("pass"))
		if len(v) == 0 || harmlessValue(v, c.names[i], true) || w.onlyTokens(v) || !looksRandom(v) && !(pass && nameTells(c.names[i]) == tells) {
			continue
		}
		out = append(out, w.apply(nil, line[done:at[0]], w.n)...)
		out = w.token(out, "field", normalValue(v))
		w.n.add("field")
		if w.first.kind == "" {
			w.first = hit{kind: "field", value: bytes.Clone(v)}
		}
		done = at[1]
	}
	return append(out, w.apply(nil, line[done:], w.n)...), true
}

// rows redacts lines of a table from w.done on, as far as whole lines are there.
func (w *applier) rows(final bool) {
	for w.seen.columns != nil && w.done < len(w.in) {
		line := w.in[w.done:]
		nl := bytes.IndexByte(line, '\n')
		if nl < 0 && !final || nl > 16<<10 {
			if nl > 16<<10 || len(line) > 16<<10 {
				w.seen.columns = nil
			}
			return
		}
		if nl >= 0 {
			line = line[:nl]
		}
		body := bytes.TrimRight(line, "\r")
		out, ok := w.row(body)
		if !ok {
			w.seen.columns = nil
			return
		}
		if w.found != nil && !bytes.Equal(out, body) {
			w.found(hit{start: w.done, end: w.done + len(body), kind: "field"})
		}
		w.dst = append(append(w.dst, out...), line[len(body):]...)
		w.done += len(line)
		if nl >= 0 {
			w.dst = append(w.dst, '\n')
			w.done++
		}
		w.lineOut = len(w.dst)
	}
}

// tuple is a statement that names its columns and values on one line: INSERT INTO t (name, password) VALUES ('bob', '…').
func (n *named) tuple() (hit, bool) {
	back := max(n.floor, n.l-512)
	from := bytes.LastIndexByte(n.in[back:n.l], '(')
	if from < 0 {
		return hit{}, false
	}
	from += back
	rest := n.in[n.j:n.lineEnd]
	end := bytes.IndexByte(rest, ')')
	if end < 0 {
		return hit{}, false
	}
	values := tupleValues.FindIndex(rest[end:min(len(rest), end+64)])
	if values == nil {
		return hit{}, false
	}
	k := n.j + end + values[1]
	for range bytes.Count(n.in[from:n.l], []byte(",")) {
		_, to, quoted := valueAt(n.in[:n.lineEnd], skipBlank(n.in[:n.lineEnd], k))
		if quoted {
			to = min(to+1, n.lineEnd) // the line may end before the quote
		}
		comma := bytes.IndexByte(n.in[to:n.lineEnd], ',')
		if !quoted {
			comma = bytes.IndexByte(n.in[k:n.lineEnd], ',')
			to = k
		}
		if comma < 0 {
			return hit{}, false
		}
		k = to + comma + 1
	}
	a, b, quoted := valueAt(n.in[:n.lineEnd], skipBlank(n.in[:n.lineEnd], k))
	return n.value(a, b, quoted)
}

var tupleValues = regexp.MustCompile(`\A\)[ \t]*(?i:values)[ \t]*\(`)
