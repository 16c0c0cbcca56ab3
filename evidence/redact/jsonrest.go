package redact

import (
	"bytes"

	"handrail/evidence/jsontree"
)

// jsonRest reads what is not JSON, or no longer: it keeps brackets, commas, blanks, keys, true, false and null.
type jsonRest struct {
	r    *Redactor
	n    Counts
	out  []byte
	key  string // the last key
	prev byte   // the last bracket, comma or colon, or a newline
	head bool   // among the fields that name a resource
}

// longString is where a string without an end is given up.
const longString = 64 << 10

// read consumes what can be judged.
func (j *jsonRest) read(in []byte, final bool) int {
	i := 0
	for i < len(in) {
		switch c := in[i]; {
		case c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '{' || c == '}' || c == '[' || c == ']' || c == ',' || c == ':':
			if c == '\n' || c > ' ' {
				j.prev = c
			}
			if c == '{' || c == '}' {
				j.head = false
			}
			j.out = append(j.out, c)
			i++
		case c == '"':
			end, whole := lineString(in, i)
			if end-i > longString {
				end, whole = i+longString, false
			}
			next := jsontree.SkipSpace(in, end)
			if (!whole && end == len(in) || next == len(in)) && !final && len(in)-i < longString {
				return i
			}
			j.text(in[i:end], whole && next < len(in) && in[next] == ':')
			i = end
		default:
			end := i
			for end < len(in) && bytes.IndexByte([]byte(" \t\r\n{}[],:\""), in[end]) < 0 {
				end++
			}
			if end = min(end, i+longString); end == len(in) && !final && end-i < longString {
				return i
			}
			j.word(in[i:end])
			i = end
		}
	}
	return i
}

// lineString is stringEnd for broken text: a string ends with its line at the latest.
func lineString(in []byte, i int) (end int, whole bool) {
	line := in[i:]
	if nl := bytes.IndexByte(line, '\n'); nl >= 0 {
		line = line[:nl]
	}
	end, whole = stringEnd(line, 0)
	return i + min(end, len(line)), whole
}

func (j *jsonRest) text(raw []byte, key bool) {
	text, _, err := jsontree.ReadString(raw, 0)
	if err != nil {
		text = string(raw)
	}
	switch {
	case key && (j.prev == '{' || j.prev == ',' || j.prev == '\n') && plainKey(text):
		j.key = text
		j.out = jsontree.AppendString(j.out, j.r.Text(text))
		return
	case j.prev == ':' && j.key == "mode" && (text == "managed" || text == "data"):
		j.head = true
		j.out = jsontree.AppendString(j.out, text)
		return
	case j.prev == ':' && j.key == "lineage" && isUUID(text), j.prev == ':' && j.key == "terraform_version" && len(text) < 16 && text != "" && text[0] <= '9':
		j.out = jsontree.AppendString(j.out, text)
		return
	case j.prev == ':' && j.head && (j.key == "type" || j.key == "name" || j.key == "provider") && len(text) < 256:
		j.out = jsontree.AppendString(j.out, j.r.Text(text))
		return
	}
	n := jsontree.Node{Kind: jsontree.String, Text: text}
	j.r.hide(&n, "withheld", j.n)
	j.out = jsontree.AppendString(j.out, n.Text)
}

func (j *jsonRest) word(raw []byte) {
	switch string(raw) {
	case "true", "false", "null":
		j.out = append(j.out, raw...)
		return
	}
	switch j.key {
	case "version", "serial", "schema_version", "format_version":
		if end := jsontree.LiteralEnd(raw, 0); j.prev == ':' && end == len(raw) && end < 12 {
			j.out = append(j.out, raw...)
			return
		}
	}
	if j.r.onlyTokens(raw) {
		j.out = append(j.out, raw...)
		return
	}
	j.out = j.r.token(j.out, "withheld", raw)
	j.n.add("withheld")
}

// plainKey reports whether a text is what keys look like.
func plainKey(s string) bool {
	if s == "" || len(s) > 128 {
		return false
	}
	for i := range len(s) {
		if c := s[i]; !isWord(c) && c != '-' && c != '.' && c != '/' {
			return false
		}
	}
	return true
}
