package redact

import (
	"bytes"
	"regexp"
)

// harmlessValue reports whether a value under a secret name is none.
func harmlessValue(v, name []byte, quoted bool) bool {
	if len(v) < 3 || (len(v) < 32 || bytes.IndexByte([]byte("-*xX."), v[0]) >= 0) && harmlessWord(v) || isReference(v) {
		return true
	}
	if bytes.IndexByte([]byte("/.~"), v[0]) >= 0 && pathValue.Match(v) && (wordPart(v) || bytes.Equal(v, bytes.ToLower(v))) {
		return true
	}
	if c := bytes.IndexByte(v, ','); c > 0 && !quoted && harmlessWord(v[:c]) {
		return true
	}
	if endsFold(name, "secret") && namespaced(v) {
		return true // controllers log secret="namespace/name"
	}
	if (v[0] == '{' || v[0] == '[' || v[0] == '(') && !quoted && len(v) < 64 && bytes.IndexByte([]byte("}])"), v[len(v)-1]) >= 0 {
		return true
	}
	for _, c := range v {
		if (c < '0' || c > '9') && c != '.' {
			return false
		}
	}
	return len(v) < 10 && !bytes.Contains(bytes.ToLower(name), []byte("pass")) // token: 512 is a count
}

// endsFold reports whether b ends in suffix, which is lower case, in any case.
func endsFold(b []byte, suffix string) bool {
	return len(b) >= len(suffix) && bytes.EqualFold(b[len(b)-len(suffix):], []byte(suffix))
}

// harmlessWords are values that say there is no secret here, or that another hand has hidden it.
var harmlessWords = map[string]bool{"true": true, "false": true, "yes": true, "no": true, "on": true, "off": true, "null": true, "nil": true, "none": true,
	"undefined": true, "unknown": true, "unset": true, "empty": true, "n/a": true, "~": true, "sensitive": true, "(sensitive": true, "sensitive)": true, "(sensitive)": true,
	"sensitive value": true, "(sensitive value": true, "sensitive value)": true, "(sensitive value)": true, "(known": true, "(known after apply)": true,
	"redacted": true, "[redacted": true, "redacted]": true, "[redacted]": true, "opaque": true, "required": true, "optional": true, "string": true, "byte": true, "bytes": true}

// harmlessWord reports whether a value, which is not empty, is one of harmlessWords in any case, words in angle brackets, or a row of one mark.
func harmlessWord(v []byte) bool {
	switch c := v[0]; c {
	case '-', '*':
		return bytes.Count(v, v[:1]) == len(v)
	case '.':
		return len(v) > 2 && bytes.Count(v, v[:1]) == len(v)
	case 'x', 'X':
		return len(v) > 2 && bytes.Count(v, []byte("x"))+bytes.Count(v, []byte("X")) == len(v)
	case '<':
		return v[len(v)-1] == '>' && isWords(v[1:len(v)-1])
	case '\\':
		const open, end = `\u003c`, `\u003e`
		return len(v) > len(open)+len(end) && bytes.EqualFold(v[:len(open)], []byte(open)) && endsFold(v, end) && isWords(v[len(open):len(v)-len(end)])
	}
	var low [20]byte // the longest has 19
	if len(v) >= len(low) {
		return false
	}
	for i, c := range v {
		if c >= 'A' && c <= 'Z' {
			c |= 0x20
		}
		low[i] = c
	}
	return harmlessWords[string(low[:len(v)])]
}

func isWords(b []byte) bool {
	for _, c := range b {
		if (c|0x20 < 'a' || c|0x20 > 'z') && c != '_' && c != ' ' && c != '-' {
			return false
		}
	}
	return len(b) > 0
}

var reference = regexp.MustCompile(`\A(?:\$(?:[{(\[]|env:|[A-Z][A-Z0-9_]*(?:\z|[/:."'&, \[\])])|[a-z_]+(?:\z|[/:."'&, \[\])])|[A-Z][a-z]+(?:[A-Z][a-z]+)*\z|\z|[0-9@#?*]\z)|\{\{|%\{|(?:var|local|data|module|each|self|path|env|secrets)\.|[a-z][a-z0-9]*(?:_[a-z0-9]+)+\.[a-z_][a-z0-9_]*\.|` +
	`[A-Za-z_][\w.]*\((?:var|local|data|module|each|self|path|env)\b|(?:lookup|getenv|os\.getenv|os\.environ|System\.getenv|process\.env|env|ENV|config\.get)[(\[.]|` +
	`op://|vault:|arn:|projects/|file\(|sensitive\()`)

// isReference reports whether a value is an expression that names a secret instead of being one. Such an expression begins with a mark,
// or with a word and a mark behind it, which most values do not.
func isReference(v []byte) bool {
	if len(v) == 0 {
		return false
	}
	if c := v[0]; c != '$' && c != '{' && c != '%' {
		i := 0
		for i < len(v) && isWord(v[i]) {
			i++
		}
		if i == 0 || i == len(v) {
			return false
		}
		switch word := string(v[:i]); v[i] {
		case ':':
			return word == "arn" || word == "vault" || word == "op" && bytes.HasPrefix(v[i:], []byte("://"))
		case '/':
			return word == "projects"
		case '.', '(', '[':
		default:
			return false
		}
	}
	return reference.Match(v)
}

// namespaced reports whether a value is the name of an object behind its namespace.
func namespaced(v []byte) bool {
	i := bytes.IndexByte(v, '/')
	return i > 0 && dnsName(v[:i]) && dnsName(v[i+1:])
}

// dnsName reports whether a value is as objects are named.
func dnsName(v []byte) bool {
	for _, c := range v {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '.' && c != '-' {
			return false
		}
	}
	return len(v) > 0 && v[0] > '.' && v[len(v)-1] > '.'
}

// pathValue is where a secret is kept.
var pathValue = regexp.MustCompile(`\A(?:~|\.{1,2})?(?:/[A-Za-z0-9._-]+)+\z`)

// progress are the words with which tofu begins what it says of a resource, whose name may look like that of a secret.
var progress = [...]string{"Refreshing", "Creating", "Creation", "Still ", "Destroying", "Destruction", "Modifying", "Modifications", "Reading", "Import", "Provision", "Drift",
	"Plan to", "Opening", "Closing"}

func isProgress(v []byte) bool {
	for _, w := range progress {
		if v[0] == w[0] && bytes.HasPrefix(v, []byte(w)) {
			return true
		}
	}
	return bytes.HasPrefix(v, []byte("Read")) && (len(v) == 4 || !isWord(v[4]))
}

// namesOnly tells by what stands around an assignment that its value is the name of a secret, its digest, or talk of it.
func namesOnly(in []byte, l, j int, v, name []byte) bool {
	before := lineBefore(in, l, 96)
	switch {
	case bytes.HasPrefix(v, []byte("<set to the key '")): // kubectl describe
		return true
	case bytes.HasSuffix(before, []byte("checksum/")):
		return len(v) >= 64 && hexOnly(string(v[:64]))
	case bytes.IndexByte(name, '.') > 0 && isProgress(v):
		return true
	case bytes.HasSuffix(before, []byte(":")) && in[j] == ':':
		word := before[bytes.LastIndexAny(before, " \t\"'=,")+1:]
		return bytes.Contains(word, []byte("arn:"))
	case bytes.EqualFold(name, []byte("secret")) && len(v) <= 63 && dnsName(v):
		// Metrics and logs name a Secret beside its namespace.
		return bytes.Contains(before, []byte("namespace"))
	}
	return false
}

// lineBefore is what stands before at on its line, at most most bytes of it: a line
// may be as long as what is read.
func lineBefore(in []byte, at, most int) []byte {
	before := in[max(0, at-most):at]
	return before[bytes.LastIndexByte(before, '\n')+1:]
}
