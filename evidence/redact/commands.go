package redact

import (
	"bytes"
	"regexp"
)

// commands are secrets whose place in a command line or a small file gives them away. The last group of an expression is
// the secret; gap is what may part two words, also inside a string of JSON.
var commands = [...]struct{ literal, needs, expr string }{
	{"machine ", "", `(?i:machine)` + gap + `[^\s"\\]{1,256}` + gap + `(?:(?i:account)` + gap + `[^\s"\\]{1,256}` + gap + `)?(?i:login)` + gap + `[^\s"\\]{1,256}` + gap + `(?i:password)` + gap + `([^\s"\\]{3,})`},
	{":5432:", "", pgpass}, {":6432:", "", pgpass}, {":5433:", "", pgpass}, {":*:", "", pgpass},
	{"-u ", "curl", `-u ["']?[^:\s"'\\]{1,128}:([^\s"'\\]{3,})`},
	{"--user ", "curl", `(?i:--user) ["']?[^:\s"'\\]{1,128}:([^\s"'\\]{3,})`},
	{"sshpass -p", "", `(?i:sshpass) -p ?["']?([^\s"'\\]{3,})`},
	{"-passin ", "", `-passin ["']?pass:([^\s"'\\]{3,})`},
	{"-passout ", "", `-passout ["']?pass:([^\s"'\\]{3,})`},
	{"auth plain ", "", `(?i:auth plain) ([A-Za-z0-9+/]{8,}=*)`},
	{"auth ", "", `(?-i:AUTH)(?: [a-z][a-z0-9_-]{0,31})? ([^\s"\\:=]{12,})(?:\s|\\[nr]|["']|\z)`},
	{"convertto-securestring ", "", `(?i:convertto-securestring)(?: (?i:-string))? ["']([^"']{3,})`},
	{"net user ", "", `(?i:net user) [^\s/]{1,64} ([^\s/*][^\s]{2,})`},
	{" -a ", "redis-cli", `(?i: -a) ["']?([^\s"'\\]{3,})`},
	{" -p ", "login", ` -p ["']?([^\s"'\\]{3,})`},
	{" -w ", "ldap", ` -w ["']?([^\s"'\\]{3,})`},
	{" -p", "mysql", ` -p([^\s"'\\-][^\s"'\\]{2,})`},
	{"identified by ", "", `(?i:identified by) (?:(?i:password) )?\\*["']([^"'\\]{3,})`},
}

// pgpass is what follows the host: a port, a database, a user and the password.
const pgpass = `:(?:[0-9]{4,5}|\*):[^:\s"\\<]{1,64}:[^:\s"\\*<]{1,64}:([^\s"\\]{3,})`

const gap = `(?:\s|\\[nrt]){1,8}`

func command(p place, re *regexp.Regexp, needs string) (hit, bool) {
	if needs != "" {
		line := lineBefore(p.in, p.at, 256)
		if !bytes.Contains(line, []byte(needs)) {
			return hit{}, false
		}
	}
	// A .netrc goes over several lines.
	rest := p.in[p.at:min(len(p.in), p.at+2048)]
	loc := re.FindSubmatchIndex(rest)
	if loc == nil {
		return hit{}, false
	}
	start, end := p.at+loc[2], p.at+loc[3]
	v := p.in[start:end]
	if harmlessValue(v, nil, true) || p.r.onlyTokens(v) || bytes.HasPrefix(v, []byte(TokenOpen)) {
		return hit{}, false
	}
	return hit{start: start, end: end, kind: "field", value: v, more: end == len(p.in) || loc[3] == 2048}, true
}

// telegram tokens are a number, the literal ":AA" and 33 letters.
func telegram(p place) (hit, bool) {
	if string(p.in[p.at:p.end]) != ":AA" {
		return hit{}, false
	}
	start, end := p.at, p.end
	for start > p.floor && p.in[start-1] >= '0' && p.in[start-1] <= '9' && p.at-start < 12 {
		start--
	}
	for end < len(p.in) && (isWord(p.in[end]) || p.in[end] == '-') && end-p.end < holdMost {
		end++
	}
	if p.at-start < 8 || end-p.end < 30 {
		return hit{}, false
	}
	return hit{start: start, end: end, kind: "telegram", value: p.in[start:end], more: end == len(p.in)}, true
}

// azureSecret is the form of secrets of applications in Entra ID: three letters, a digit, "Q~" and 31 more.
func azureSecret(p place) (hit, bool) {
	start, end := p.at, p.end
	word := func(c byte) bool { return isWord(c) || c == '~' || c == '.' || c == '-' }
	for start > p.floor && p.at-start < 64 && word(p.in[start-1]) {
		start--
	}
	for end < len(p.in) && end-p.end < holdMost && word(p.in[end]) {
		end++
	}
	if p.in[p.at] != 'Q' || p.at-start < 4 || end-p.end < 30 || p.in[p.at-1] < '0' || p.in[p.at-1] > '9' {
		return hit{}, false
	}
	return hit{start: start, end: end, kind: "azure", value: p.in[start:end], more: end == len(p.in)}, true
}

// puttyKey covers the private lines of a PuTTY key file.
func puttyKey(p place) (hit, bool) {
	head := regexpPutty.FindSubmatchIndex(p.in[p.at:min(len(p.in), p.at+256)])
	if head == nil {
		return hit{}, false
	}
	start, end := p.at+head[3], p.at+head[3]
	for end < len(p.in) && end-start < holdMost && (isBase64(p.in[end]) || bytes.IndexByte([]byte(" \t\r\n\\"), p.in[end]) >= 0) {
		if p.in[end] == 'P' && bytes.HasPrefix(p.in[end:], []byte("Private-MAC")) {
			break
		}
		end++
	}
	more := end == len(p.in)
	for end > start && bytes.IndexByte([]byte(" \t\r\n"), p.in[end-1]) >= 0 {
		end--
	}
	v := pemBody(p.in[start:end])
	if len(v) == 0 {
		return hit{}, false
	}
	return hit{start: start, end: end, kind: "private-key", value: v, more: more, wait: more}, true
}

var regexpPutty = regexp.MustCompile(`\A(?i:private-lines): *[0-9]{1,4}((?:\s|\\[nrt])+)`)
