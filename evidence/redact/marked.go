package redact

import (
	"regexp"
	"strings"

	"handrail/evidence/jsontree"
)

// What a state, a plan, an apply or an object marks as secret turns up elsewhere without the mark: in hooks, outputs, diffs and logs.
// So it is a known value from there on, as far as hiding it hides nothing that must be read.

// markedMost bounds the bytes of all values that are learned so.
const markedMost = 2 << 20

// hideMarked hides every scalar under n, which stands at key, and remembers what it was.
func (r *Redactor) hideMarked(n *jsontree.Node, key, kind string, c Counts) {
	if n == nil {
		return
	}
	if n.Kind == jsontree.String {
		r.mark(key, n.Text)
	}
	if n.Kind == jsontree.String || n.Kind == jsontree.Literal {
		r.hide(n, kind, c)
		return
	}
	for _, m := range n.Members {
		if n.Kind == jsontree.Object && !isValueName(m.Key) {
			r.hideMarked(m.Value, m.Key, kind, c)
		} else {
			r.hideMarked(m.Value, key, kind, c)
		}
	}
}

// mark remembers a value until learnMarked.
func (r *Redactor) mark(key, value string) {
	value = strings.TrimSpace(value)
	if r.onlyTokens([]byte(value)) || strings.Contains(value, TokenOpen) {
		return
	}
	for _, v := range worthKnowing(key, value, 0) {
		r.mu.Lock()
		if !r.raw[v] && r.size+len(v) <= markedMost {
			r.fresh = append(r.fresh, v)
			r.size += len(v)
		}
		r.mu.Unlock()
	}
}

// learnMarked makes known values of what was marked.
func (r *Redactor) learnMarked() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.fresh) == 0 {
		return
	}
	for _, v := range r.fresh {
		r.raw[v] = true
	}
	r.fresh, r.known = nil, nil
}

// worthKnowing are the parts of a marked value that are hidden wherever they stand. Words, names and identifiers are marked as well,
// and would be missed everywhere else.
func worthKnowing(key, value string, depth int) []string {
	if len(value) < minKnown || len(value) > 64<<10 || depth > 3 {
		return nil
	}
	if value[0] == '{' || value[0] == '[' {
		if n, err := jsontree.Parse([]byte(value), jsontree.LooseKeys); err == nil {
			var out []string
			n.Each(key, func(k, v string) { out = append(out, worthKnowing(k, v, depth+1)...) })
			return append(out, value)
		}
	}
	if strings.ContainsRune(value, '\n') {
		out := []string{value}
		for line := range strings.Lines(value) {
			line = strings.TrimSpace(line)
			k, v, ok := strings.Cut(line, ":")
			if !ok {
				k, v, ok = strings.Cut(line, "=")
			}
			switch {
			case ok && strings.HasPrefix(value, "-----BEGIN"), strings.HasPrefix(line, "-----"):
			case ok && plainKey(strings.TrimSpace(k)):
				out = append(out, worthKnowing(strings.TrimSpace(k), strings.Trim(strings.TrimSpace(v), `"'`), depth+1)...)
			case len(line) >= 2*minKnown && looksRandom([]byte(line)):
				out = append(out, line)
			}
		}
		if strings.Contains(value, "BEGIN CERTIFICATE") {
			return nil
		}
		return out
	}
	if ordinary(key, value) {
		return nil
	}
	return []string{value}
}

// ordinaryWord are values that other things are called.
var ordinaryWord = regexp.MustCompile(`\A(?:[A-Z]?[a-z]+(?:[A-Z][a-z]{2,})*[0-9]{0,2}|[A-Z]+|[a-z0-9]+(?:[-._/:@][a-z0-9]+)+|[A-Z]?[a-z]+(?:[-_./ ][A-Z]?[a-z]+){1,2}|[-+0-9.:TZ/]+|arn:.*|[a-z][a-z0-9+]*://[^@\s]*|/[\w./-]*|v?[0-9]+(?:\.[0-9]+)+.*)\z`)

// ordinary reports whether a value that was marked is of a kind that must stay readable elsewhere.
func ordinary(key, value string) bool {
	told := nameTells([]byte(key)) == tells
	if harmlessValue([]byte(value), []byte(key), true) {
		return true
	}
	lower := strings.ToLower(value)
	if isUUID(lower) || len(value) >= 32 && hexOnly(lower) {
		return !told && identifies([]byte(key))
	}
	if told && len(value) >= 12 && !strings.ContainsAny(value, "-./ ") || told && strings.Count(value, " ") > 1 {
		return false
	}
	if !told && identifies([]byte(key)) {
		return true
	}
	return ordinaryWord.MatchString(value) && !hexPart([]byte(value))
}
