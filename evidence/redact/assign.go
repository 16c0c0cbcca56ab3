package redact

import "bytes"

// assignment hides what belongs to a name that tells of a secret, or hints at one, in whatever syntax the two stand together: the
// shapes of logs, env files, HCL, YAML, JSON, XML and command lines, also when the whole is a string inside JSON.
func assignment(p place) (hit, bool) {
	l, j := p.at, p.end
	for l > p.floor && p.at-l < 64 && isNameByte(p.in[l-1]) {
		l--
	}
	for j < len(p.in) && j-p.end < 64 && isNameByte(p.in[j]) {
		j++
	}
	if p.seen.named == j && j > 0 {
		return hit{}, false // several literals stand in one name
	}
	p.seen.named = j
	if j == len(p.in) {
		return hit{}, false
	}
	// Most of what looks like the name of a secret is not followed by a value, which is the cheaper thing to tell.
	lineEnd := j + len(p.line(j))
	if !mayBind(p.in, l, j, lineEnd) {
		return hit{}, false
	}
	n := named{place: p, l: l, j: j, lineEnd: lineEnd, name: bytes.Trim(p.in[l:j], `"\-.`)}
	if n.tells = p.seen.nameTells(n.name); n.tells == silent && (p.in[l] == '-' || l > 0 && p.in[l-1] == '/') && shortName(n.name) {
		n.tells = tells // -pass and /pass: are options
	} else if n.tells == silent {
		if n.tells = n.withWordsBefore(); n.tells == silent {
			return hit{}, false
		}
	}
	return n.bind()
}

// nameTells is nameTells of a name that may have been asked about before: the names of one text are few.
func (s *looked) nameTells(name []byte) telling {
	t, ok := s.names[string(name)]
	if !ok {
		t = nameTells(name)
		if s.names != nil && len(s.names) < 1024 {
			s.names[string(name)] = t
		}
	}
	return t
}

// value judges one value at [start, end) and makes a hit of it.
func (n *named) value(start, end int, quoted bool) (hit, bool) {
	if start >= end || !n.secret(n.in[start:end], quoted) {
		return hit{}, false
	}
	return hit{start: start, end: end, kind: "field", value: normalValue(n.in[start:end]), more: end == len(n.in) || end >= n.j+holdMost}, true
}

// secret reports whether a value under the name is one.
func (n *named) secret(v []byte, quoted bool) bool {
	if harmlessValue(v, n.name, quoted) || n.r.onlyTokens(v) || namesOnly(n.in, n.l, n.j, v, n.name) {
		return false
	}
	return n.tells == tells || looksRandom(v)
}

// assigned is the value behind a separator on the same line, which begins at k.
func (n *named) assigned(k int, space bool) (hit, bool) {
	p, l, lineEnd := n.place, n.l, n.lineEnd
	switch {
	case p.in[k] == '|' || p.in[k] == '>':
		if escapedNewline(bytes.TrimLeft(p.in[k+1:lineEnd], "+-0123456789")) {
			return p.inString(assignment)
		}
		if h, ok := blockScalar(p, l, k, lineEnd); ok {
			return h, h.skip || n.secret(h.value, true)
		}
	case escapedNewline(p.in[k:lineEnd]) && (p.layer > 0 || p.in[k+1] == '\\'):
		return p.inString(assignment) // what stands below the name in a string in a string; in one string escaped looks
	case bytes.HasPrefix(p.in[k:], []byte("<<")):
		return n.heredoc(k)
	case p.in[k] == '{' && !bytes.HasPrefix(p.in[k:], []byte("{{")), p.in[k] == '[':
		return n.inside(k)
	}
	start, end, quoted := valueAt(p.in[:lineEnd], k)
	// "token: Bearer abc" hides abc.
	blank := end < lineEnd && (p.in[end] == ' ' || p.in[end] == '\t')
	if w := p.in[start:end]; !quoted && blank && (bytes.EqualFold(w, []byte("bearer")) || bytes.EqualFold(w, []byte("basic")) || bytes.EqualFold(w, []byte("token"))) {
		start, end, quoted = valueAt(p.in[:lineEnd], skipBlank(p.in[:lineEnd], end))
	}
	if !quoted && end < lineEnd && (p.in[end] == '\'' || p.in[end] == '"') && end > start && (end-start == 1 || p.in[end-1] == '(') {
		// N'…' of SQL, b'…' of Python, and SecretStr('…'), in which the argument is the value.
		if f := bytes.ToLower(p.in[start:end]); end-start == 1 || bytes.Contains(f, []byte("secret")) || bytes.Contains(f, []byte("pass")) || bytes.Contains(f, []byte("sensitive")) || bytes.Contains(f, []byte("secure")) {
			start, end, quoted = valueAt(p.in[:lineEnd], end)
		}
	}
	if n.tells == tells && !quoted && !(isReference(p.in[start:end]) && !bytes.HasPrefix(p.in[start:end], []byte("$"))) {
		switch {
		case space || p.in[k-1] == ' ' && p.in[n.j] == ' ':
			if !startsLine(p.in, l) {
				if more := wordsAfter(p.in[start:end], p.in[end:lineEnd]); more > 0 && endsFold(n.name, "phrase") {
					end += more
					break
				}
				if isProse(p.in[start:end], p.in[end:lineEnd]) {
					return hit{}, false
				}
				break
			}
			// In YAML and INI the value is all that follows; shortening it at a blank would leave half a passphrase.
			rest := p.in[start:lineEnd]
			if c := bytes.Index(rest, []byte(" #")); c >= 0 {
				rest = rest[:c]
			}
			if c := bytes.IndexByte(rest, '"'); c >= 0 && inJSONString(p.in[:l]) {
				rest = rest[:c] // the whole assignment is in a string of JSON
			}
			if esc := escapeIn(rest); esc >= 0 {
				rest = rest[:esc]
			}
			end = max(end, start+len(bytes.TrimRight(rest, " \t\r")))
		case n.l > 0 && (n.in[n.l-1] == '"' || n.in[n.l-1] == '\''):
			// The whole assignment is quoted, as in Environment="NAME=a b c".
			if q := bytes.IndexByte(n.in[end:lineEnd], n.in[n.l-1]); q > 0 && !bytes.ContainsAny(n.in[end:end+q], "=:\\") {
				end += q
			}
		case endsFold(n.name, "passphrase"), endsFold(n.name, "password"):
			end += wordsAfter(p.in[start:end], p.in[end:lineEnd])
		}
	}
	v := p.in[start:end]
	unquoted := bytes.TrimPrefix(bytes.TrimPrefix(v, []byte("%27")), []byte("%22"))
	if t, _ := p.r.tokenAt(unquoted); t > 0 && p.in[k-1]|0x20 == 'd' {
		return hit{}, false // in a URL, what follows the value is not part of it
	}
	h, ok := n.value(start, end, quoted)
	if quoted {
		return n.changed(h, ok, start, end)
	}
	return h, ok
}
