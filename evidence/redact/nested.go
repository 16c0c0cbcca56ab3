package redact

import (
	"bytes"
	"regexp"
	"strings"
)

// inside hides the values of a flow structure that opens at k: {…} or […].
func (n *named) inside(k int) (hit, bool) {
	rest := n.in[k:min(len(n.in), k+lookBelow)]
	end := closing(rest)
	if end < 0 {
		if !n.final && len(rest) < lookBelow {
			return n.waits()
		}
		if n.final && len(rest) < lookBelow {
			end = len(rest)
		} else {
			return hit{}, false
		}
	}
	return n.nested(k, k+end)
}

// closing returns the length of the structure that opens at the start of in, or -1.
func closing(in []byte) int {
	depth := 0
	for i, c := range in {
		if depth += int(nesting[c]); depth == 0 {
			return i + 1
		}
	}
	return -1
}

var nesting = [256]int8{'{': 1, '[': 1, '}': -1, ']': -1}

// field reports whether a line assigns something to a name of its own.
var field = regexp.MustCompile(`\A(?:- +)?["']?[A-Za-z_$][\w./-]*["']?[ \t]*(?::(?:[ \t\r\n]|\z)|=>|=[ \t"'{\[]|= *\z)`)

// below is the value of a name whose separator, at k, ends its line.
func (n *named) below(k int) (hit, bool) {
	indent := indentOf(n.in, n.l)
	from := min(n.lineEnd+1, len(n.in))
	rest := n.in[from:min(len(n.in), from+lookBelow)]
	end, first, firstIndent, list := 0, []byte(nil), 0, false
	ended := false
	for line := range bytes.Lines(rest) {
		body := bytes.TrimSpace(line)
		if len(body) > 0 {
			in := indentOf(line, len(line)-len(bytes.TrimLeft(line, " \t+-~")))
			dash := bytes.HasPrefix(body, []byte("- "))
			if first == nil {
				first, firstIndent, list = body, in, dash
			}
			if in <= indent && !(list && dash && indentOf(line, len(line)-len(bytes.TrimLeft(line, " \t"))) >= indent) {
				ended = true
				break
			}
		}
		if line[len(line)-1] != '\n' && !n.final {
			break
		}
		end += len(line)
	}
	if !ended && !n.final && len(rest) < lookBelow {
		return n.waits()
	}
	switch {
	case first != nil && (first[0] == '/' || bytes.HasPrefix(first, []byte("--")) || bytes.HasPrefix(first, []byte("#")) || publicStart(first)):
		return hit{}, false
	case first == nil || bytes.HasPrefix(first, []byte(TokenOpen)) && n.r.onlyTokens(first):
		return hit{}, false
	case end == 0 || firstIndent <= indent && !list:
		// On the next line, but no deeper: it is taken for the value when it looks like one.
		if field.Match(first) || bytes.HasSuffix(first, []byte(":")) {
			return hit{}, false
		}
		h, ok := n.nextLine(n.lineEnd)
		if ok && !h.skip && (!looksRandom(n.in[h.start:h.end]) || h.end-h.start < len(bytes.Trim(first, `"',;`))) {
			return hit{}, false
		}
		return h, ok
	case list || field.Match(bytes.TrimLeft(first, "+-~ ")) || first[0] == '{' || first[0] == '[':
		return n.nested(from, from+end)
	case first[0] != '"' && first[0] != '\'' && (bytes.Contains(first, []byte(": ")) || bytes.Contains(first, []byte(" = "))):
		return hit{}, false
	}
	body := bytes.TrimSpace(rest[:end])
	start := from + bytes.Index(rest, body)
	if first[0] == '"' || first[0] == '\'' {
		a, b, quoted := valueAt(n.in[:from+end], start)
		return n.value(a, b, quoted)
	}
	if bytes.IndexByte(first, ' ') >= 0 && !looksRandom(bytes.Fields(first)[0]) && n.in[k-1] != ':' && n.in[k-1] != '=' {
		return hit{}, false
	}
	if bytes.HasSuffix(body, []byte(",")) {
		body = body[:len(body)-1]
	}
	return n.value(start, start+len(body), true)
}

// indentOf is the column of i on its line, without marks of lists and diffs.
func indentOf(in []byte, i int) int {
	from := bytes.LastIndexByte(in[:i], '\n') + 1
	n := 0
	for from+n < i && (in[from+n] == ' ' || in[from+n] == '\t' || in[from+n] == '-' || in[from+n] == '+' || in[from+n] == '~') {
		n++
	}
	return n
}

// nested hides the values in [from, to) that belong to the name: those of fields that only say which value it is, items of lists, and
// whatever looks random. Other fields say how long it is, where it comes from or whether there is one.
func (n *named) nested(from, to int) (hit, bool) {
	in := n.in[:to]
	n.seen.work += to - from
	var out []byte
	done, key, flow := from, "", 0
	last, changed := 0, false
	for i := from; i < to; {
		switch c := in[i]; {
		case c == '\n':
			if flow == 0 {
				key = ""
			}
			i++
			continue
		case bytes.HasPrefix(in[i:], []byte("{{")) || bytes.HasPrefix(in[i:], []byte("${")):
			if end := bytes.IndexByte(in[i:], '}'); end >= 0 {
				i += end
			}
			i++
			continue
		case c == '{' || c == '[':
			flow++
			i++
			continue
		case c == '}' || c == ']':
			flow--
			i++
			continue
		case c == ',':
			key = ""
			i++
			continue
		case c == ' ' || c == '\t' || c == '\r' || bytes.IndexByte([]byte("-+~"), c) >= 0 && i+1 < to && in[i+1] == ' ':
			i++
			continue
		case c == '#' || c == '-' && i+1 < to && in[i+1] == '-':
			for i < to && in[i] != '\n' {
				i++
			}
			continue
		}
		start, end, next, quoted := nestedWord(in, i, flow > 0)
		i = max(next, i+1)
		after := skipBlank(in, next)
		if after < to && (in[after] == ':' || in[after] == '=') && end-start <= 64 && plainKey(string(in[start:end])) {
			key = string(in[start:end])
			for i = after + 1; i < to && in[i] == '>'; i++ { // =>
			}
			continue
		}
		v := in[start:end]
		named := isValueName(key) || secretName([]byte(key))
		if strings.HasPrefix(key, "checksum/") || key == "" && !quoted && (bytes.Contains(v, []byte(": ")) || bytes.Contains(v, []byte(" = "))) {
			continue
		}
		if !named && !standsOut(v) && !(nameTells([]byte(key)) == hints && looksRandom(v)) || publicStart(v) || !looksRandom(v) && (!named || key == "" && (len(v) < 8 && !quoted || dnsName(v) && !bytes.Contains(bytes.ToLower(n.name), []byte("pass")))) || identifies([]byte(key)) && key != "" && !named || !n.secret(v, quoted) {
			continue
		}
		out = append(append(out, in[done:start]...), n.r.token(nil, "field", normalValue(v))...)
		done, last, changed = end, end, true
	}
	if !changed {
		return hit{}, false
	}
	return hit{start: from, end: last, kind: "field", value: in[from:last], repl: out}, true
}

// nestedWord returns the bounds of the string or the bare words at i, and what comes next.
func nestedWord(in []byte, i int, flow bool) (start, end, next int, quoted bool) {
	if start, end, quoted = valueAt(in, i); quoted {
		next = end
		for next < len(in) && in[next] == '\\' {
			next++
		}
		return start, end, min(next+1, len(in)), true
	}
	start, end = i, i
	for end < len(in) && in[end] != '\n' && in[end] != '\r' {
		c := in[end]
		if c == '#' && end > start && in[end-1] == ' ' {
			next = end
			for next < len(in) && in[next] != '\n' {
				next++
			}
			return start, start + len(bytes.TrimRight(in[start:end], " \t")), next, false
		}
		if flow && (c == ',' || c == '}' || c == ']') || (c == ':' && (flow || end+1 == len(in) || in[end+1] == ' ' || in[end+1] == '\n') || c == '=' && end+1 < len(in) && (in[end+1] == ' ' || flow && in[end+1] != '=' && in[end+1] != '}' && in[end+1] != ',' && in[end+1] != ']')) && plainKey(string(bytes.TrimSpace(in[start:end]))) {
			break
		}
		end++
	}
	next = end
	for end > start && (in[end-1] == ' ' || in[end-1] == '\t') {
		end--
	}
	return start, end, next, false
}
