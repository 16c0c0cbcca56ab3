package redact

import (
	"bytes"
	"regexp"
	"strconv"
)

func shortName(name []byte) bool {
	return len(name) <= 4 && (bytes.EqualFold(name, []byte("pass")) || bytes.EqualFold(name, []byte("pw")) || bytes.EqualFold(name, []byte("pwd")))
}

// separator finds where the value begins after a name that ends at j. space says that the separator is a colon and
// blanks, as in YAML and prose.
func separator(in []byte, j int, flag bool) (k int, space, ok bool) {
	k = j
	for k < len(in) && (in[k] == '\\' || in[k] == '"' || in[k] == '\'' || in[k] == ']') {
		k++
	}
	quote := k > j
	k = skipBlank(in, k)
	switch rest := in[k:]; {
	case bytes.HasPrefix(rest, []byte("==")), bytes.HasPrefix(rest, []byte("=~")) && len(rest) > 2 && bytes.IndexByte([]byte(` "'/|\\`), rest[2]) >= 0:
		return 0, false, false
	case bytes.HasPrefix(rest, []byte("=>")), bytes.HasPrefix(rest, []byte(":=")):
		k += 2
	case bytes.HasPrefix(rest, []byte("%3D")), bytes.HasPrefix(rest, []byte("%3d")):
		k += 3
	case len(rest) > 0 && (rest[0] == '=' || rest[0] == ':'):
		k++
		space = rest[0] == ':' && !quote && k < len(in) && (in[k] == ' ' || in[k] == '\t')
	case flag && !quote && k > j:
	default:
		return 0, false, false
	}
	k = skipBlank(in, k)
	return k, space, true
}

func skipBlank(in []byte, i int) int {
	for i < len(in) && (in[i] == ' ' || in[i] == '\t') {
		i++
	}
	return i
}

// valueAt returns the bounds of the value at k. A quote may itself be escaped, once or more; it ends with its like.
func valueAt(in []byte, k int) (start, end int, quoted bool) {
	q := k
	for q < len(in) && in[q] == '\\' {
		q++
	}
	if q < len(in) && (in[q] == '"' || in[q] == '\'') {
		slashes, quote := q-k, in[q]
		run := 0
		for i := q + 1; i < len(in); i++ {
			switch {
			case in[i] == '\\':
				run++
				continue
			case in[i] == quote && (run == slashes || run < slashes):
				return q + 1, i - run, true
			}
			run = 0
		}
		return q + 1, len(in), true
	}
	end = k
	for end < len(in) && !endsValue[in[end]] {
		if in[end] == '\\' && escapeIn(in[end:]) == 0 {
			break
		}
		end++
	}
	for end > k && bytes.ContainsRune([]byte(",;)]}"), rune(in[end-1])) {
		end--
	}
	return k, end, false
}

var endsValue = [256]bool{' ': true, '\t': true, '\r': true, '\n': true, '"': true, '\'': true, '&': true, '`': true}

// escapeIn returns where an escape of JSON begins that ends an unquoted value, or -1.
func escapeIn(in []byte) int {
	for i := 0; i+1 < len(in); i++ {
		if in[i] == '\\' && (bytes.ContainsRune([]byte(`nrt"\`), rune(in[i+1])) || in[i+1] == 'u' && endsAsWritten(in[i+2:])) {
			return i
		}
	}
	return -1
}

// endsAsWritten reports whether the character of an escape, whose digits these are, ends a
// value. Encoders of JSON escape <, > and & as well, which end none, unless << begins a
// heredoc: its lines are the value.
func endsAsWritten(digits []byte) bool {
	if bytes.HasPrefix(bytes.ToLower(digits[:min(10, len(digits))]), []byte(`003c\u003c`)) {
		return true
	}
	c, err := strconv.ParseUint(string(digits[:min(4, len(digits))]), 16, 16)
	return err != nil || c < ' ' || c < uint64(len(endsValue)) && endsValue[c]
}

// startsLine reports whether only blanks and a list dash stand before l on its line.
func startsLine(in []byte, l int) bool {
	for l > 0 && bytes.IndexByte([]byte(" \t-+~<>|"), in[l-1]) >= 0 {
		l--
	}
	return l == 0 || in[l-1] == '\n' || in[l-1] == '"' || l > 1 && in[l-1] == 'n' && in[l-2] == '\\'
}

// inJSONString reports whether the line that before ends in began with a quote or an escaped newline.
func inJSONString(before []byte) bool {
	before = bytes.TrimRight(before, " \t-")
	return bytes.HasSuffix(before, []byte(`"`)) || bytes.HasSuffix(before, []byte(`\n`))
}

// isProse tells "invalid token: unexpected end" from an assignment.
func isProse(value, rest []byte) bool {
	for _, c := range value {
		if c < 'a' || c > 'z' {
			return false
		}
	}
	word := bytes.TrimLeft(rest, " \t")
	if len(word) == len(rest) {
		return false
	}
	if sp := bytes.IndexAny(word, " \t"); sp >= 0 {
		word = word[:sp]
	}
	return len(word) > 0 && !bytes.ContainsAny(word, "=:")
}

// wordsAfter is how much of what follows an unquoted word goes on as a passphrase: words of letters and numbers, three of them or
// more, none of which makes a sentence.
func wordsAfter(first, rest []byte) int {
	n, words := 0, 1
	for _, c := range first {
		if c|0x20 < 'a' || c|0x20 > 'z' {
			return 0
		}
	}
	for n < len(rest) && rest[n] == ' ' {
		end := n + 1
		for end < len(rest) && isWord(rest[end]) {
			end++
		}
		w := rest[n+1 : end]
		if len(w) < 2 || end < len(rest) && rest[end] != ' ' && rest[end] != '\r' || sentenceWord.Match(w) {
			break
		}
		n, words = end, words+1
	}
	if words < 3 {
		return 0
	}
	return n
}

// sentenceWord are words that make a sentence and no passphrase.
var sentenceWord = regexp.MustCompile(`\A(?i:is|was|are|be|been|for|the|an?|to|of|in|on|by|not|no|and|or|with|from|has|have|must|may|will|failed|failure|invalid|required|expired|missing|authentication|field|user|error|set|reset|changed|rotated|than|at|as|it|if|this|that)\z`)

// blockScalar covers a YAML block under a secret name: all following lines that are indented deeper than the name.
func blockScalar(p place, nameAt, k, lineEnd int) (hit, bool) {
	if len(bytes.Trim(p.in[k+1:lineEnd], "+-0123456789 \t\r")) > 0 {
		return hit{}, false
	}
	indent := nameAt - (bytes.LastIndexByte(p.in[:nameAt], '\n') + 1)
	start, end := -1, min(lineEnd+1, len(p.in))
	for end < len(p.in) && end-k < holdMost {
		line := p.in[end:]
		nl := bytes.IndexByte(line, '\n')
		if nl >= 0 {
			line = line[:nl]
		}
		body := bytes.TrimLeft(line, " ")
		if len(body) > 0 && len(line)-len(body) <= indent {
			break
		}
		if start < 0 && len(body) > 0 {
			start = end + len(line) - len(body)
		}
		end += len(line)
		if nl < 0 {
			break
		}
		end++
	}
	h := hit{start: start, end: end, kind: "field", more: end >= len(p.in)}
	if start < 0 {
		// Nothing under it yet: wait, or let the name be.
		h.start, h.skip = p.at, true
		return h, h.more
	}
	for h.end > start && (p.in[h.end-1] == '\n' || p.in[h.end-1] == '\r') {
		h.end--
	}
	h.value = normalValue(p.in[start:h.end])
	if p.r.onlyTokens(h.value) {
		h.skip = true
	}
	return h, true
}

// normalValue drops what differs between two ways to write the same value.
func normalValue(v []byte) []byte {
	v = bytes.TrimSpace(v)
	if bytes.Contains(v, []byte("PRIVATE KEY-----")) {
		return pemBody(v)
	}
	return v
}
