package redact

import (
	"bytes"
	"regexp"
)

var (
	// pairAfter is what stands between a name that is the value of one field and its own value in the next one.
	pairAfter    = regexp.MustCompile(`\A[\\"'\]]{0,5}[ \t]*[,;]?(?:\\[nrt]|[ \t\r\n])*(?:(?i:type|id|class)=["'][^"'<>\n]{0,32}["'][ \t]+)?(?:- )?[\\"']{0,4}(?i:(?:[a-z]{0,16}value)|val|content|statement)[\\"']{0,4}[ \t]*[:=][ \t]*`)
	pairElement  = regexp.MustCompile(`\A["'][^<>\n]{0,100}>`)
	pairDefault  = regexp.MustCompile(`\A\\?["'][ \t]*\{[^{}]*?\bdefault[ \t]*=[ \t]*`)
	pairFormData = regexp.MustCompile(`\A\\?"(?:(?:\\r)?\\n|\r?\n){2}`)
)

// mayPair reports whether the first word of in is one that pairAfter wants.
func mayPair(in []byte) bool {
	i := 0
	for i < len(in) && bytes.IndexByte([]byte("\\\"'], ;-\t\r\n"), in[i]) >= 0 {
		if in[i] == '\\' && i+1 < len(in) && (in[i+1] == 'n' || in[i+1] == 'r' || in[i+1] == 't') {
			i++
		}
		i++
	}
	word := in[i:]
	for end, c := range word {
		if c|0x20 < 'a' || c|0x20 > 'z' {
			word = word[:end]
			break
		}
	}
	for _, w := range [...]string{"value", "val", "content", "statement", "type", "id", "class"} {
		if endsFold(word, w) {
			return true
		}
	}
	return false
}

// variable is what fieldOf calls the declaration of one.
const variable = "variable "

// fieldOf is the field whose value begins where before ends, when it is one that holds names: name, key, type and the like.
func fieldOf(before []byte) (string, bool) {
	i := len(before)
	quotes := func() int {
		from := i
		for i > 0 && from-i < 5 && bytes.IndexByte([]byte(`\"'`), before[i-1]) >= 0 {
			i--
		}
		return from - i
	}
	blanks := func() {
		for i > 0 && (before[i-1] == ' ' || before[i-1] == '\t') {
			i--
		}
	}
	quoted := quotes() > 0
	blanks()
	if i == 0 {
		return "", false
	}
	if quoted && bytes.HasSuffix(before[:i], []byte("variable")) {
		return variable, true
	}
	if before[i-1] != ':' && before[i-1] != '=' {
		return "", false
	}
	i--
	blanks()
	quotes()
	end := i
	for i > 0 && end-i < 24 && (isWord(before[i-1])) {
		i--
	}
	word := string(bytes.ToLower(before[i:end]))
	return word, hasSuffix(word, "name", "key", "variable", "id", "type", "field", "header", "traversal")
}

// pair is a value in a field beside the one that holds its name: {"name": "DB_PASSWORD", "value": …}, in JSON, YAML, HCL and XML
// alike, and the default of a variable.
func (n *named) pair() (hit, bool) {
	if n.l == 0 || n.l <= n.floor {
		return hit{}, false
	}
	before := n.in[max(n.floor, n.l-80):n.l]
	of, ok := fieldOf(before)
	if !ok {
		return hit{}, false
	}
	rest := n.in[n.j:min(len(n.in), n.j+1200)]
	var k int
	switch {
	case of == variable:
		loc := pairDefault.FindIndex(rest)
		if loc == nil {
			if !n.final && len(rest) < 1200 && bytes.IndexByte(rest, '}') < 0 {
				return n.waits()
			}
			return hit{}, false
		}
		k = n.j + loc[1]
	default:
		short := rest[:min(len(rest), 200)]
		if bytes.Contains(before, []byte("form-data")) {
			if loc := pairFormData.FindIndex(short); loc != nil {
				k = n.j + loc[1]
				break
			}
		}
		var loc []int
		if mayPair(short) {
			loc = pairAfter.FindIndex(short)
		}
		if loc == nil {
			if bytes.LastIndexByte(before, '<') >= 0 {
				if loc := pairElement.FindIndex(short); loc != nil && rest[loc[1]-2] != '/' {
					return n.content(n.j+loc[1], []byte("</"))
				}
			}
			if !n.final && len(short) < 200 && len(bytes.Trim(short, " \t\r\n\"',;")) < 16 {
				return n.waits()
			}
			return hit{}, false
		}
		k = n.j + loc[1]
	}
	nl := bytes.IndexByte(n.in[k:min(len(n.in), k+lookBelow)], '\n')
	lineEnd := k + nl
	if nl < 0 {
		if lineEnd = min(len(n.in), k+lookBelow); !n.final && lineEnd == len(n.in) {
			return n.waits()
		}
	}
	if k >= lineEnd {
		return hit{}, false
	}
	if bytes.HasPrefix(n.in[k:lineEnd], []byte("<<")) {
		at := *n
		at.lineEnd = lineEnd
		return at.heredoc(k)
	}
	start, end, quoted := valueAt(n.in[:lineEnd], k)
	if of == "traversal" && !bytes.HasPrefix(n.in[start:end], []byte(`is \`)) {
		return hit{}, false // its type, or that it is not known
	}
	if !quoted && n.lineEnd < k {
		end = start + len(bytes.TrimRight(n.in[start:lineEnd], " \t\r")) // YAML
	}
	return n.value(start, end, quoted)
}
