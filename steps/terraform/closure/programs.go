package closure

import (
	"bytes"
	"regexp"
	"strings"
)

// startKey is what names a program in a configuration, up to its value: an external
// data source, a provisioner, a plugin for credentials.
var startKey = regexp.MustCompile(`(?m)(?:^|[{,])\s*"?(program|command|interpreter|credentials_helper|dev_overrides)"?\s*[=:{]?\s*`)

// mostProgram bounds what is said of one.
const mostProgram = 160

// programs are what a file of a configuration says that it starts, as it writes it.
func programs(path string, text []byte) []string {
	if !decides(path) {
		return nil
	}
	var out []string
	for _, m := range startKey.FindAllSubmatchIndex(text, -1) {
		value := written(text[m[1]:])
		if value == "" {
			continue
		}
		line := strings.Join(strings.Fields(string(text[m[2]:m[3]])+" "+value), " ")
		if len(line) > mostProgram {
			line = strings.ToValidUTF8(line[:mostProgram], "") + "…"
		}
		out = append(out, line)
	}
	return out
}

// written is the value at the beginning of a text, as far as its line goes: what closes
// a block or an object around it, and what stands beside it there, is none of it.
func written(text []byte) string {
	if end := bytes.IndexAny(text, "\r\n"); end >= 0 {
		text = text[:end]
	}
	depth, quoted := 0, []int(nil) // the depths at which strings are open: a template in one may hold others
	for i := 0; i < len(text); i++ {
		inside := len(quoted) > 0 && quoted[len(quoted)-1] == depth
		switch c := text[i]; {
		case inside && c == '\\':
			i++
		case inside && c == '"':
			quoted = quoted[:len(quoted)-1]
		case inside && (c == '$' || c == '%') && i+1 < len(text) && text[i+1] == '{':
			i++
			depth++
		case inside:
		case c == '"':
			quoted = append(quoted, depth)
		case c == '{' || c == '[' || c == '(':
			depth++
		case (c == '}' || c == ']' || c == ')') && depth > 0:
			depth--
		case c == '}' || c == ']' || c == ')' || c == ',' && depth == 0:
			return strings.TrimSpace(string(text[:i]))
		}
	}
	return strings.TrimRight(string(text), " \t,")
}

// address is what a configuration may have spoken to.
var address = regexp.MustCompile(`\bhttps?://[A-Za-z0-9.\-_\[\]:]+`)

// addresses are the servers that a file of a configuration writes out.
func addresses(path string, text []byte) []string {
	if !decides(path) {
		return nil
	}
	var out []string
	for _, a := range address.FindAll(text, -1) {
		out = append(out, string(a))
	}
	return out
}
