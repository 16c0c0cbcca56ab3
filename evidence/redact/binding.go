package redact

import "bytes"

// named is a name that tells of a secret, and where it stands.
type named struct {
	place
	l, j    int // the name
	lineEnd int
	name    []byte
	tells   telling
}

// lookBelow is how far a value may stand from its name, and how much of a structure below a name is looked at.
const lookBelow = 4 << 10

// mayBind reports whether what follows a name could bind a value to it. It is asked at each word that looks like the name of a
// secret, so it looks at a byte or two.
func mayBind(in []byte, l, j, lineEnd int) bool {
	k := j
	for k < lineEnd && (in[k] == '\\' || in[k] == '"' || in[k] == '\'' || in[k] == ']') {
		k++
	}
	if k == lineEnd {
		return true
	}
	switch in[k] {
	case '=', ':', '%', '>', ',', ';', '\t', '|', '\r', '&':
		return true
	case ')':
		return len(in)-k > 8 && bytes.EqualFold(bytes.TrimLeft(in[k+1:k+9], " ")[:min(6, len(bytes.TrimLeft(in[k+1:k+9], " ")))], []byte("values"))
	case '<':
		return false
	case ' ':
		if in[l] == '-' {
			return true
		}
		k = skipBlank(in[:lineEnd], k)
		if k == lineEnd {
			return true
		}
		switch c := in[k]; {
		case c == '=', c == ':', c == '|', c == '\\', c == '{', c == '\'', c == '"', c == '/':
			return true
		default:
			// A word follows: a column, a directive, or a sentence.
			return bytes.IndexByte(in[k:lineEnd], ' ') < 0 || k-j > 1 || bytes.HasPrefix(in[k:], []byte("is ")) || bytes.HasPrefix(in[k:], []byte("value="))
		}
	}
	return false
}

// withWordsBefore judges a key by the word before it, where the name is written as words.
func (n *named) withWordsBefore() telling {
	if len(n.name) > 4 {
		return silent // only key, pass and pw are too short to tell by themselves
	}
	if i := n.l - 1; i > n.floor && n.in[i] == ' ' && n.in[i-1] != ' ' {
		from := i
		for from > n.floor && i-from < 32 && isNameByte(n.in[from-1]) {
			from--
		}
		if from < i && (from == 0 || n.in[from-1] != '<') {
			return min(hints, nameTells(bytes.Join([][]byte{n.in[from:i], n.name}, []byte("_"))))
		}
	}
	return silent
}

// bind tries each way to bind a value to a name.
func (n *named) bind() (hit, bool) {
	line := n.in[:n.lineEnd]
	flag := n.in[n.l] == '-' && (n.l == 0 || bytes.IndexByte([]byte(" \t\r\n\"'[,=(\\"), n.in[n.l-1]) >= 0)
	k, space, ok := separator(line, n.j, flag)
	switch {
	case ok && (k == n.lineEnd || k == n.lineEnd-1 && n.in[k] == '\r'):
		if flag && bytes.IndexByte(n.in[n.j:k], ':') < 0 && bytes.IndexByte(n.in[n.j:k], '=') < 0 {
			return n.listed()
		}
		return n.below(k)
	case ok && flag && n.in[k] == '\\' && len(bytes.TrimSpace(n.in[k+1:n.lineEnd])) == 0:
		return n.nextLine(n.lineEnd) // the shell goes on in the next line
	case ok:
		if h, ok := n.pair(); ok {
			return h, true
		}
		return n.assigned(k, space)
	}
	if n.l > 0 && n.in[n.l-1] == '<' || bytes.HasSuffix(n.in[:n.l], []byte("&lt;")) {
		return n.element()
	}
	if flag {
		if h, ok := n.listed(); ok {
			return h, true
		}
	}
	if h, ok := n.pair(); ok {
		return h, true
	}
	if h, ok := n.column(); ok {
		return h, true
	}
	return n.directive()
}

func (n *named) waits() (hit, bool) {
	return hit{start: n.at, end: n.end, skip: true, wait: true}, true
}

// nextLine takes the word on the line after end as the value.
func (n *named) nextLine(end int) (hit, bool) {
	from := min(end+1, len(n.in))
	rest := n.in[from:min(len(n.in), from+lookBelow)]
	nl := bytes.IndexByte(rest, '\n')
	if nl < 0 {
		if !n.final && len(rest) < lookBelow {
			return n.waits()
		}
		nl = len(rest)
	}
	k := from + len(rest[:nl]) - len(bytes.TrimLeft(rest[:nl], " \t"))
	if bytes.HasPrefix(n.in[k:], []byte("- ")) {
		k = skipBlank(n.in, k+1)
	}
	if k >= from+nl {
		return hit{}, false
	}
	start, stop, quoted := valueAt(n.in[:from+nl], k)
	return n.value(start, stop, quoted)
}

// listed is the argument that follows a flag in a list, on the same line or the next one.
func (n *named) listed() (hit, bool) {
	k := n.j
	for k < n.lineEnd && bytes.IndexByte([]byte(`\"'`), n.in[k]) >= 0 {
		k++
	}
	quoted := k > n.j
	k = skipBlank(n.in[:n.lineEnd], k)
	switch {
	case k == n.lineEnd || n.in[k] == '\r':
		return n.nextLine(n.lineEnd)
	case n.in[k] != ',' || !quoted:
		return hit{}, false
	}
	k = skipBlank(n.in[:n.lineEnd], k+1)
	if k == n.lineEnd {
		return n.nextLine(n.lineEnd)
	}
	if bytes.HasPrefix(n.in[k:], []byte(`\n`)) {
		k += 2
	}
	start, end, quoted := valueAt(n.in[:n.lineEnd], skipBlank(n.in[:n.lineEnd], k))
	return n.value(start, end, quoted)
}

// element is the content of <name>…</name>.
func (n *named) element() (hit, bool) {
	rest := n.in[n.j:min(len(n.in), n.j+lookBelow)]
	open, closing := []byte(">"), []byte("</")
	if n.in[n.l-1] == ';' {
		open, closing = []byte("&gt;"), []byte("&lt;/")
	}
	i := bytes.Index(rest[:min(len(rest), 256)], open)
	if i < 0 || i > 0 && (rest[0] != ' ' || rest[i-1] == '/' || bytes.IndexByte(rest[:i], '<') >= 0) {
		return hit{}, false
	}
	return n.content(n.j+i+len(open), closing)
}

// content is the text of an element from i on.
func (n *named) content(i int, closing []byte) (hit, bool) {
	rest := n.in[i:min(len(n.in), i+lookBelow)]
	if bytes.HasPrefix(rest, []byte("<![CDATA[")) {
		i, closing = i+len("<![CDATA["), []byte("]]>")
		rest = rest[len("<![CDATA["):]
	}
	end := bytes.Index(rest, closing)
	if end < 0 {
		if !n.final && i+len(rest) == len(n.in) && len(rest) < lookBelow && bytes.IndexByte(rest, '<') < 0 {
			return n.waits()
		}
		return hit{}, false
	}
	v := bytes.TrimSpace(rest[:end])
	if len(v) == 0 || bytes.IndexByte(v, '<') >= 0 {
		return hit{}, false
	}
	start := i + bytes.Index(rest, v)
	return n.value(start, start+len(v), true)
}

// directive is a name and a value with nothing but a blank between them, at the end of a line, or with "is". Sentences look like that,
// so that the value must look random.
func (n *named) directive() (hit, bool) {
	k := skipBlank(n.in[:n.lineEnd], n.j)
	if k == n.j || k == n.lineEnd {
		return hit{}, false
	}
	is := bytes.HasPrefix(n.in[k:n.lineEnd], []byte("is "))
	if is {
		k = skipBlank(n.in[:n.lineEnd], k+3)
	}
	if k == n.lineEnd {
		return hit{}, false
	}
	start, end, quoted := valueAt(n.in[:n.lineEnd], k)
	last := len(bytes.Trim(n.in[end:n.lineEnd], " \t\r\"'.;\\,})]")) == 0 || !quoted && (n.in[end] == '"' || n.in[end] == '\\')
	if !is && !last && !quoted {
		return hit{}, false
	}
	if v := n.in[start:end]; !looksRandom(v) && !(last && !quoted && !is && n.sureDirective(v) && !isProse(v, []byte(" x"))) || !is && len(v) == 36 && isUUID(string(bytes.ToLower(v))) && !bytes.ContainsAny(n.name, "_-") {
		return hit{}, false
	}
	return n.value(start, end, quoted)
}

// sureDirective reports whether a name and a value without anything between them are a setting: one that no sentence has, or ENV
// NAME value of a Dockerfile.
func (n *named) sureDirective(v []byte) bool {
	if len(v) == 0 || bytes.IndexByte([]byte("{}[]()<>|&;"), v[0]) >= 0 {
		return false
	}
	for _, s := range [...]string{"requirepass", "masterauth", "bindpw", "rootpw"} {
		if bytes.EqualFold(n.name, []byte(s)) {
			return true
		}
	}
	return bytes.IndexByte(n.name, '_') > 0 && (startsLine(n.in, n.l) || bytes.HasSuffix(n.in[:n.l], []byte("ENV ")))
}

// changed adds the new value of `old -> new`, as plans write it.
func (n *named) changed(h hit, ok bool, start, end int) (hit, bool) {
	k := end
	for k < n.lineEnd && bytes.IndexByte([]byte(`\"'`), n.in[k]) >= 0 {
		k++
	}
	k = skipBlank(n.in[:n.lineEnd], k)
	arrow := 2
	if bytes.HasPrefix(n.in[k:n.lineEnd], []byte(`-\u003e `)) {
		arrow = len(`-\u003e`)
	} else if !bytes.HasPrefix(n.in[k:n.lineEnd], []byte("-> ")) {
		return h, ok
	}
	from, to, quoted := valueAt(n.in[:n.lineEnd], skipBlank(n.in[:n.lineEnd], k+arrow))
	next, also := n.value(from, to, quoted)
	switch {
	case !also:
		return h, ok
	case !ok:
		return next, true
	}
	next.repl = append(n.r.token(nil, "field", h.value), n.in[end:from]...)
	next.repl = n.r.token(next.repl, "field", next.value)
	next.start = start
	return next, true
}

// heredoc is a value between a marker that begins at k and the line that repeats it.
func (n *named) heredoc(k int) (hit, bool) {
	marker := bytes.Trim(n.in[k:n.lineEnd], "<-~ \t\r\"'\\")
	if len(marker) == 0 || len(marker) > 64 || bytes.ContainsAny(marker, " \t;|&") {
		return hit{}, false
	}
	start := min(n.lineEnd+1, len(n.in))
	rest := n.in[start:min(len(n.in), start+holdMost)]
	at := 0
	for line := range bytes.Lines(rest) {
		if bytes.Equal(bytes.Trim(line, " \t\r\n+-~"), marker) && (line[len(line)-1] == '\n' || n.final) {
			v := bytes.TrimSpace(rest[:at])
			if len(v) == 0 {
				return hit{}, false
			}
			from := start + bytes.Index(rest, v)
			return n.value(from, from+len(v), true)
		}
		at += len(line)
	}
	if !n.final && len(rest) < holdMost {
		return n.waits()
	}
	// Its end was lost: all that is there belongs to it.
	v := bytes.TrimSpace(rest)
	if len(v) == 0 {
		return hit{}, false
	}
	from := start + bytes.Index(rest, v)
	h, ok := n.value(from, start+len(rest), true)
	return h, ok
}
