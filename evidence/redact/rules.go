package redact

import (
	"bytes"
	"regexp"
	"slices"
)

// ownToken passes tokens of this bundle by and marks text that only looks like one.
func ownToken(p place) (hit, bool) {
	n, cut := p.r.tokenAt(p.in[p.at:])
	switch {
	case n > 0:
		return hit{start: p.at, end: p.at + n, skip: true}, true
	case string(p.in[p.at:p.end]) != TokenOpen:
		return hit{}, false
	}
	return hit{start: p.at, end: p.end, forged: true, more: cut}, true
}

var (
	pemOpen  = regexp.MustCompile(`\A-----BEGIN (?:[A-Z0-9]+ ){0,4}PRIVATE KEY(?: BLOCK)?-----`)
	pemClose = regexp.MustCompile(`-----END (?:[A-Z0-9]+ ){0,4}PRIVATE KEY(?: BLOCK)?-----`)
)

// privateKey covers a whole PEM block, also with its newlines escaped. One without an end reaches to the end of the
// input or 64 KiB.
func privateKey(p place) (hit, bool) {
	open := pemOpen.FindIndex(p.in[p.at:min(len(p.in), p.at+96)])
	if open == nil {
		// The first line itself may be cut.
		return hit{start: p.at, end: p.at + 1, kind: "private-key", more: true}, false
	}
	rest := p.in[p.at:min(len(p.in), p.at+holdMost)]
	h := hit{start: p.at, kind: "private-key"}
	if loc := pemClose.FindIndex(rest); loc != nil {
		h.end = p.at + loc[1]
	} else {
		h.end, h.more = p.at+len(rest), true
	}
	h.value = pemBody(p.in[h.start:h.end])
	return h, true
}

// terraformCloud tokens have their literal in the middle.
func terraformCloud(p place) (hit, bool) {
	start, end := p.at, p.end
	for start > p.floor && isWord(p.in[start-1]) {
		start--
	}
	for end < len(p.in) && (isWord(p.in[end]) || p.in[end] == '-') {
		end++
	}
	if p.at-start < 10 || end-p.end < 40 {
		return hit{}, false
	}
	return hit{start: start, end: end, kind: "terraform-cloud", value: p.in[start:end], more: end == len(p.in)}, true
}

func newBearer() func(place) (hit, bool) {
	re := regexp.MustCompile(`\A(?i:bearer)[ \t]+([A-Za-z0-9._~+/-]{8,}=*)`)
	return func(p place) (hit, bool) {
		loc := re.FindSubmatchIndex(p.line(p.at))
		if loc == nil {
			return hit{}, false
		}
		v := p.in[p.at+loc[2] : p.at+loc[3]]
		// "bearer authentication" is prose.
		if len(v) < 24 && !bytes.ContainsAny(v, "0123456789") {
			return hit{}, false
		}
		end := p.at + loc[3]
		return hit{start: p.at + loc[2], end: end, kind: "bearer", value: v, more: end == len(p.in) || end >= p.at+holdMost}, true
	}
}

// newAuthorization covers the header with its scheme kept, in HTTP, JSON and curl -H shape, and cookies.
func newAuthorization() func(place) (hit, bool) {
	re := regexp.MustCompile(`\A(?i:authorization|cookie)\\*["']?(?:[ \t]*[:=][ \t]*\[?\\*["']?|[ \t]+["']|\\*["'],[ \t]*\\*["'](?i:value)\\*["'][ \t]*:[ \t]*\\*["'])` +
		`([A-Za-z][A-Za-z0-9-]{2,31}[ \t]+)?([^\\"'\r\n<>]+)`)
	return func(p place) (hit, bool) {
		loc := re.FindSubmatchIndex(p.line(p.at))
		if loc == nil {
			return hit{}, false
		}
		p.seen.work += loc[1] // it may be all of a long line
		line, known := p.line(p.at), false
		if loc[2] >= 0 {
			scheme := string(bytes.ToLower(bytes.TrimSpace(line[loc[2]:loc[3]])))
			known = slices.Contains(schemes[:], scheme)
			if scheme == "digest" || scheme == "aws4-hmac-sha256" {
				// Lists of fields, some of them in quotes.
				loc[5] = loc[4] + fieldsEnd(line[loc[4]:], bytes.IndexByte(p.in[bytes.LastIndexByte(p.in[:p.at], '\n')+1:p.at], '"') >= 0)
			}
		}
		v := bytes.TrimRight(line[loc[4]:loc[5]], " \t,;)}]")
		isCookie := p.in[p.at]|0x20 == 'c'
		word := v
		if i := bytes.IndexAny(v, " ,]"); i >= 0 {
			word = v[:i]
		}
		switch {
		case len(v) == 0, harmlessValue(v, nil, false), bytes.HasPrefix(v, []byte(TokenOpen)):
			return hit{}, false
		case isCookie && !bytes.Contains(v, []byte("=")):
			return hit{}, false
		case isCookie || known:
		case loc[2] >= 0:
			// An unknown scheme is followed by something that no sentence has.
			if !looksRandom(word) && bytes.IndexByte(word, '=') < 0 {
				return hit{}, false
			}
			v = word
		case len(word) < 16:
			return hit{}, false
		default:
			v = word
		}
		start := p.at + loc[4]
		end := start + len(v)
		return hit{start: start, end: end, kind: "authorization", value: v, more: end == len(p.in) || end >= p.at+holdMost}, true
	}
}

var schemes = [...]string{"basic", "bearer", "token", "digest", "negotiate", "ntlm", "aws4-hmac-sha256", "apikey", "sso-key", "splunk", "sharedkey", "sharedaccesssignature"}

// fieldsEnd is where a list of fields ends: with its line, or with the string that it stands in.
func fieldsEnd(line []byte, quoted bool) int {
	if i := bytes.Index(line, []byte(TokenOpen)); i >= 0 {
		line = line[:i]
	}
	for i := 0; quoted && i < len(line); i++ {
		switch line[i] {
		case '\\':
			i++
		case '"':
			return i
		}
	}
	return len(line)
}

// userinfo keeps the user of a URL and hides the password, or a long user that is a token itself.
func userinfo(p place) (hit, bool) {
	line := p.line(p.end)
	line = line[:min(len(line), 4096)]
	colon, at, i := -1, -1, 0
loop:
	for ; i < len(line); i++ {
		switch line[i] {
		case ' ', '\t', '\r', '\n', '\f', '/', '?', '#', '"', '\'', '<', '>', '\\':
			break loop
		case '@':
			if at = i; colon < 0 {
				break loop
			}
		case ':':
			if colon < 0 {
				colon = i
			}
		}
	}
	from := colon + 1
	if at <= from || colon < 0 && at < 16 {
		return hit{}, false
	}
	v := line[from:at]
	if harmlessValue(v, nil, true) {
		return hit{}, false
	}
	return hit{start: p.end + from, end: p.end + at, kind: "url-userinfo", value: v}, true
}

// dsn is user:password@tcp(host) of database drivers.
func dsn(p place) (hit, bool) {
	start := p.at
	for start > p.floor && p.at-start < 256 && !bytes.ContainsRune([]byte(" \t\r\n\"'<>:"), rune(p.in[start-1])) {
		start--
	}
	if start == p.floor || start == p.at || p.in[start-1] != ':' {
		return hit{}, false
	}
	return hit{start: start, end: p.at, kind: "url-userinfo", value: p.in[start:p.at]}, true
}

// query hides the value of a query parameter that carries a secret.
func query(p place) (hit, bool) {
	if p.at == 0 || !bytes.ContainsRune([]byte("?&;"), rune(p.in[p.at-1])) && !bytes.HasSuffix(p.in[:p.at], []byte(`u0026`)) {
		return hit{}, false
	}
	line := p.line(p.at)
	eq := bytes.IndexByte(line, '=')
	// A name has letters, digits and little else; anything more could be a secret of another kind, which must be looked at by itself.
	if eq < 0 || eq > 64 || bytes.ContainsFunc(line[:eq], func(r rune) bool { return r > 0x7e || !isNameByte(byte(r)) && r != '%' && r != '[' && r != ']' }) {
		return hit{}, false
	}
	v := line[eq+1:]
	if end := bytes.IndexAny(v, "&;# \t\r\"'<>\\)`"); end >= 0 {
		v = v[:end]
	}
	if len(v) < 4 || isProse(v, []byte(" x")) && len(v) < 12 {
		return hit{}, false
	}
	start := p.at + eq + 1
	return hit{start: start, end: start + len(v), kind: "query", value: v, more: start+len(v) == len(p.in) || start+len(v) >= p.at+holdMost}, true
}
