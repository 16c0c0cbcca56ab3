package redact

import (
	"bytes"
	"encoding/base64"
	"strings"

	"handrail/evidence/jsontree"
)

// manifestMost is how far a Secret in plain text is looked at from its data.
const manifestMost = 32 << 10

// secretness is what the siblings of a data field say about the object it belongs to.
type secretness int

const (
	notSecret secretness = iota // it is of another kind
	noKind                      // nothing there says
	isSecret
	cannotTell // the input ends before the kind
)

// yamlSecret hides the values of a Secret that stands in text as YAML. kubectl writes data before kind, so the rule looks
// at what follows, too.
func yamlSecret(p place) (hit, bool) {
	if escapedNewline(p.in[p.end:]) {
		return p.inString(yamlSecret)
	}
	start := p.at
	for start > p.floor && isWord(p.in[start-1]) {
		start--
	}
	name := string(p.in[start : p.end-1])
	line := p.line(p.end)
	if name != "data" && name != "stringData" || len(bytes.TrimRight(line, " \t\r")) > 0 {
		return hit{}, false
	}
	from := bytes.LastIndexByte(p.in[:start], '\n') + 1
	col := start - from
	if len(bytes.Trim(p.in[from:start], " -")) > 0 {
		return hit{}, false
	}
	body := p.end + len(line) + 1
	if body >= len(p.in) {
		return hit{start: start, end: len(p.in), skip: true, wait: true}, true
	}
	rest := p.in[body:min(len(p.in), body+manifestMost)]
	block := yamlBlock(rest, col)
	what, read := yamlKindAfter(rest[block:], col, body+len(rest) == len(p.in))
	p.seen.work += block + read
	if what == noKind || what == cannotTell {
		switch before, core := yamlKindBefore(p.in[max(0, from-4096):from], p.in[from:start], col); {
		case before == "Secret":
			what = isSecret
		case before != "" || what == noKind || what == cannotTell && !core && p.final:
			p.seen.work += 512
			what = notSecret
		}
	}
	if what == notSecret || block == 0 {
		return hit{}, false
	}
	p.seen.work += block
	out, changed := p.r.yamlValues(rest[:block], name == "data")
	h := hit{start: body, end: body + block, kind: "k8s-secret", value: rest[:block], repl: out, wait: what == cannotTell || body+block == len(p.in)}
	if !changed {
		return hit{start: start, end: p.end, skip: true, wait: h.wait}, h.wait
	}
	return h, true
}

// yamlBlock returns the length of the lines at the start of in that are indented deeper than col.
func yamlBlock(in []byte, col int) int {
	n, end := 0, 0
	for line := range bytes.Lines(in) {
		body := bytes.TrimLeft(line, " ")
		blank := len(bytes.TrimSpace(body)) == 0
		if !blank && len(line)-len(body) <= col {
			break
		}
		if n += len(line); !blank {
			end = n
		}
	}
	return end
}

func yamlKindAfter(in []byte, col int, atEnd bool) (what secretness, read int) {
	for line := range bytes.Lines(in) {
		read += len(line)
		body := bytes.TrimLeft(line, " ")
		indent := len(line) - len(body)
		body = bytes.TrimSpace(body)
		switch {
		case len(body) == 0 || indent > col:
		case indent < col || body[0] == '-' || bytes.HasPrefix(body, []byte("...")):
			return noKind, read
		case yamlKind(body) == "Secret":
			return isSecret, read
		case yamlKind(body) != "":
			return notSecret, read
		}
	}
	if atEnd {
		return cannotTell, read
	}
	return noKind, read
}

// yamlKindBefore looks upwards, and also says whether the object is of the core group, as Secrets are.
func yamlKindBefore(in, lead []byte, col int) (kind string, core bool) {
	if bytes.IndexByte(lead, '-') >= 0 {
		return "", false // data is the first field
	}
	for len(in) > 0 {
		cut := bytes.LastIndexByte(in[:len(in)-1], '\n') + 1
		line := bytes.TrimRight(in[cut:], " \t\r\n")
		in = in[:cut]
		body := bytes.TrimLeft(line, " -")
		indent := len(line) - len(body)
		if len(body) == 0 || indent > col {
			continue
		}
		if indent < col || len(body) == 0 {
			break
		}
		if k := yamlKind(body); k != "" {
			return k, core
		}
		core = core || string(body) == "apiVersion: v1"
		if bytes.IndexByte(line[:indent], '-') >= 0 {
			break
		}
	}
	return "", core
}

func yamlKind(body []byte) string {
	k, ok := bytes.CutPrefix(body, []byte("kind:"))
	if !ok {
		return ""
	}
	return strings.Trim(string(k), " \t\r\"'")
}

// yamlValues replaces the values of a block of `key: value` by tokens, in data those of what they decode to.
func (r *Redactor) yamlValues(block []byte, encoded bool) (out []byte, changed bool) {
	lines := bytes.SplitAfter(block, []byte("\n"))
	for i := 0; i < len(lines); i++ {
		line := bytes.TrimRight(lines[i], " \t\r\n")
		body := bytes.TrimLeft(line, " ")
		indent := len(line) - len(body)
		if len(body) == 0 {
			out = append(out, lines[i]...)
			continue
		}
		colon := bytes.IndexByte(body, ':')
		var value []byte
		if colon >= 0 {
			value = bytes.TrimSpace(body[colon+1:])
		}
		if bytes.HasPrefix(value, []byte("|")) || bytes.HasPrefix(value, []byte(">")) {
			value = nil
		}
		first, more := i, i+1
		for more < len(lines) {
			l := bytes.TrimRight(lines[more], "\r\n")
			if b := bytes.TrimLeft(l, " "); len(b) > 0 && len(l)-len(b) <= indent {
				break
			}
			value = append(value[:len(value):len(value)], bytes.TrimSpace(l)...)
			more++
		}
		i = more - 1
		switch plain := bytes.Trim(value, `"'`); {
		case len(plain) == 0 || r.onlyTokens(plain) || string(plain) == "null" || string(plain) == "{}":
			out = append(out, bytes.Join(lines[first:more], nil)...)
			continue
		default:
			changed = true
			out = append(out, line[:indent]...)
			if colon >= 0 && body[0] != '#' {
				out = append(append(out, body[:colon]...), ": "...)
			}
			if raw, err := base64.StdEncoding.DecodeString(string(plain)); encoded && err == nil {
				plain = raw
			}
			out = append(r.token(out, "k8s-secret", normalValue(plain)), '\n')
		}
	}
	return out, changed
}

// jsonSecret hides the values of a Secret that stands in text as JSON.
func jsonSecret(p place) (hit, bool) {
	start := p.at
	for start > p.floor && isWord(p.in[start-1]) {
		start--
	}
	name := string(p.in[start : p.at+len("data")])
	if name != "data" && name != "stringData" || start == 0 || p.in[start-1] != '"' {
		return hit{}, false
	}
	in := p.in[:min(len(p.in), p.end+manifestMost)]
	open := jsontree.SkipSpace(in, p.end)
	cut := len(in) == len(p.in)
	if open == len(in) {
		return hit{start: p.at, end: p.end, skip: true, wait: cut}, cut
	}
	if in[open] != '{' {
		return hit{}, false
	}
	before := p.in[max(0, start-4096):start]
	kind := lastKind(before)
	data, end, err := jsontree.ReadValue(in, open, jsontree.LooseKeys)
	p.seen.work += end - open
	if err != nil {
		if !cut || end < len(in) && !jsonCut(in[open:]) || kind != "Secret" && (kind != "" || !bytes.Contains(before, []byte(`"v1"`))) {
			return hit{}, false
		}
		if p.r.onlyTokens(in[open+1:]) {
			return hit{start: start, end: len(in), skip: true, wait: true}, true
		}
		// Cut off within the data of what is or may be a Secret: nothing of it is kept.
		return hit{start: open + 1, end: len(in), kind: "k8s-secret", value: in[open+1:], wait: true}, open+1 < len(in)
	}
	what, read := jsonKindAfter(in, end, cut)
	p.seen.work += read
	switch {
	case what == isSecret || what == notSecret:
	case kind == "Secret":
		what = isSecret
	case kind != "" || what == noKind:
		what = notSecret
	}
	if what == notSecret {
		return hit{}, false
	}
	n := Counts{}
	if name == "data" {
		p.r.secretData(data, n)
	} else {
		p.r.hideAll(data, "k8s-secret", n)
	}
	if len(n) == 0 {
		return hit{start: start, end: end, skip: true, wait: what == cannotTell}, true
	}
	return hit{start: open, end: end, kind: "k8s-secret", value: in[open:end], repl: data.AppendTo(nil, -1, 0), wait: what == cannotTell}, true
}

// jsonCut reports whether in ends within an object that began well.
func jsonCut(in []byte) bool {
	depth, quoted := 0, false
	for i := 0; i < len(in); i++ {
		switch c := in[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			if depth--; depth == 0 {
				return false
			}
		}
	}
	return true
}

// lastKind is the kind that was named last before a place, or "".
func lastKind(in []byte) string {
	i := bytes.LastIndex(in, []byte(`"kind"`))
	if i < 0 {
		return ""
	}
	i = jsontree.SkipSpace(in, i+len(`"kind"`))
	if i >= len(in) || in[i] != ':' {
		return ""
	}
	kind, _, err := jsontree.ReadString(in, jsontree.SkipSpace(in, i+1))
	if err != nil {
		return ""
	}
	return kind
}

// jsonKindAfter reads the fields that follow a value in its object.
func jsonKindAfter(in []byte, i int, cut bool) (what secretness, read int) {
	from := i
	for {
		if i = jsontree.SkipSpace(in, i); i >= len(in) {
			break
		}
		if in[i] != ',' {
			return noKind, i - from
		}
		key, next, err := jsontree.ReadString(in, jsontree.SkipSpace(in, i+1))
		if err != nil {
			break
		}
		if next = jsontree.SkipSpace(in, next); next >= len(in) || in[next] != ':' {
			break
		}
		v, end, err := jsontree.ReadValue(in, jsontree.SkipSpace(in, next+1), jsontree.LooseKeys)
		if err != nil {
			break
		}
		if key == "kind" {
			if v.Kind == jsontree.String && v.Text == "Secret" {
				return isSecret, end - from
			}
			return notSecret, end - from
		}
		i = end
	}
	if cut {
		return cannotTell, len(in) - from
	}
	return noKind, i - from
}

// escapedSecret is jsonSecret where the object itself is a string of JSON, perhaps in another one.
func escapedSecret(p place) (hit, bool) {
	if bytes.HasSuffix(p.in[:p.end], []byte(`\":`)) {
		return p.inString(escapedSecret)
	}
	return jsonSecret(p)
}

// escapedNewline reports whether in begins with a newline as a string of JSON has it, perhaps in another one.
func escapedNewline(in []byte) bool {
	rest := bytes.TrimLeft(in, `\`)
	return len(rest) < len(in) && bytes.HasPrefix(rest, []byte("n"))
}

// layersMost is how many strings of JSON, one in the other, are undone: a log in JSON has an object with an annotation that is JSON.
const layersMost = 3

// inString lets a rule look at the string of JSON that p stands in, with its escapes undone.
func (p place) inString(rule func(place) (hit, bool)) (hit, bool) {
	if p.deep && (p.layer == 0 || p.layer == layersMost) {
		return hit{}, false
	}
	start := p.at
	for start > p.floor && p.at-start < manifestMost && (p.in[start-1] != '"' || start > 1 && p.in[start-2] == '\\') && p.in[start-1] != '\n' {
		start--
	}
	if start < p.at && p.in[start] == '"' {
		start++ // the escape that it belongs to was cut off
	}
	sub := place{r: p.r, seen: &looked{lineEnd: -1}, deep: true, layer: p.layer + 1, final: p.final, at: -1, end: -1}
	var from []int
	i := start
	for ; i < len(p.in) && i < p.at+manifestMost && p.in[i] != '"' && p.in[i] != '\n'; i++ {
		from = append(from, i)
		c := p.in[i]
		if c == '\\' && i+1 < len(p.in) {
			i++
			switch c = p.in[i]; c {
			case 'n':
				c = '\n'
			case 't':
				c = '\t'
			case 'r':
				c = '\r'
			}
		}
		sub.in = append(sub.in, c)
		if i < p.at {
			sub.at = len(sub.in)
		}
		if i < p.end && c != '\n' {
			sub.end = len(sub.in)
		}
	}
	from = append(from, i)
	p.seen.work += len(sub.in)
	sub.at = max(sub.at, 0)
	if sub.end <= sub.at {
		return hit{}, false
	}
	atEnd := i == len(p.in)
	sub.final = p.final || !atEnd
	h, ok := rule(sub)
	p.seen.work += sub.seen.work
	if !ok {
		return hit{}, false
	}
	h.start, h.end, h.wait = from[h.start], from[h.end], h.wait && atEnd
	if h.repl != nil {
		quoted := jsontree.AppendString(nil, string(h.repl))
		h.repl = quoted[1 : len(quoted)-1]
	}
	return h, true
}

// secretData hides values by what they decode to, so that the same password in a log gets the same token.
func (r *Redactor) secretData(n *jsontree.Node, c Counts) {
	for _, m := range n.Members {
		if raw, err := base64.StdEncoding.DecodeString(m.Value.Text); err == nil && m.Value.Kind == jsontree.String && len(raw) > 0 {
			r.mark(m.Key, string(raw))
			m.Value.Text = string(r.token(nil, "k8s-secret", normalValue(raw)))
			c.add("k8s-secret")
			continue
		}
		r.hideAll(m.Value, "k8s-secret", c)
	}
	if n.Kind == jsontree.String {
		r.hide(n, "k8s-secret", c)
	}
}
