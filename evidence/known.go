package evidence

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
)

// minKnown is the shortest known value; it is also how much of one the automaton looks for.
const minKnown = 8

// knownSet holds the values a session knows to be secret, in every form in which they may turn up. It is immutable.
type knownSet struct {
	auto    *automaton
	forms   [][]knownForm // by literal of the automaton, longest first
	longest int
}

type knownForm struct {
	form  string
	value string // what the token stands for
}

func (r *redactor) secret(value string) {
	if len(value) < minKnown {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.raw[value] {
		return
	}
	r.raw[value] = true
	// A stream sees one line at a time, so the lines of a longer value count on their own as well.
	for line := range strings.Lines(value) {
		if line = strings.TrimRight(line, "\r\n"); len(line) >= 2*minKnown {
			r.raw[line] = true
		}
	}
	r.known = nil
}

func (r *redactor) knownValues() *knownSet {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.known == nil {
		r.known = newKnownSet(r.raw)
	}
	return r.known
}

func newKnownSet(values map[string]bool) *knownSet {
	forms := map[string]string{}
	for v := range values {
		for _, f := range knownForms(v) {
			if old, ok := forms[f]; len(f) >= minKnown && (!ok || v < old) {
				forms[f] = v
			}
		}
	}
	set := &knownSet{}
	index := map[string]int{}
	var literals []string
	for f, v := range forms {
		head := f[:minKnown]
		at, ok := index[head]
		if !ok {
			at = len(literals)
			index[head] = at
			literals = append(literals, head)
			set.forms = append(set.forms, nil)
		}
		set.forms[at] = append(set.forms[at], knownForm{f, v})
		set.longest = max(set.longest, len(f))
	}
	for _, list := range set.forms {
		slices.SortFunc(list, func(a, b knownForm) int { return len(b.form) - len(a.form) })
	}
	set.auto = newAutomaton(literals, false)
	return set
}

// knownForms returns the value raw, JSON-escaped, URL-escaped and in base64 at each of the three alignments.
func knownForms(v string) []string {
	out := []string{v, strings.TrimSpace(v), url.QueryEscape(v), url.PathEscape(v)}
	if esc, err := json.Marshal(v); err == nil {
		out = append(out, string(esc[1:len(esc)-1]))
	}
	own := appendString(nil, v)
	out = append(out, string(own[1:len(own)-1]))
	for _, enc := range [...]*base64.Encoding{base64.StdEncoding, base64.URLEncoding} {
		out = append(out, enc.EncodeToString([]byte(v)), enc.EncodeToString([]byte(v+"\n")))
		for shift := range 3 {
			out = append(out, base64Core(enc, v, shift))
		}
	}
	return out
}

// base64Core returns the characters that v always yields when it stands shift bytes (modulo 3) into what is encoded.
func base64Core(enc *base64.Encoding, v string, shift int) string {
	all := enc.WithPadding(base64.NoPadding).EncodeToString([]byte(strings.Repeat("\x00", shift) + v))
	return all[(shift*8+5)/6 : (shift+len(v))*8/6]
}

// replace writes in to dst with known values as tokens. Unless final, it stops where a value could go on beyond in.
func (k *knownSet) replace(dst, in []byte, final bool, r *redactor, n counts) ([]byte, int) {
	if k.auto == nil {
		return append(dst, in...), len(in)
	}
	stop := len(in)
	if !final {
		stop = max(0, len(in)-k.longest+1)
	}
	done, state := 0, uint16(0)
	for i := 0; i < len(in); i++ {
		state = k.auto.next[state][in[i]]
		outs := k.auto.out[state]
		if len(outs) == 0 {
			continue
		}
		start := i + 1 - minKnown
		if start >= stop {
			break
		}
		for _, f := range k.forms[outs[0]] {
			if bytes.HasPrefix(in[start:], []byte(f.form)) {
				dst = append(dst, in[done:start]...)
				dst = r.token(dst, "known", bytes.TrimSpace([]byte(f.value)))
				n.add("known")
				done = start + len(f.form)
				i, state = done-1, 0
				break
			}
		}
	}
	if done < stop {
		dst = append(dst, in[done:stop]...)
		done = stop
	}
	return dst, done
}
