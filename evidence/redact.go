package evidence

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// redactor replaces secrets by tokens. It is safe for concurrent use.
type redactor struct {
	keyed atomic.Pointer[keyed]
	rules *ruleset
	// foreign says that tokens of other keys pass by, too.
	foreign bool

	mu    sync.Mutex
	heard map[string]bool // tokens that entries hold, perhaps made with an earlier key
	known *knownSet
	raw   map[string]bool
	fresh []string            // values that a source marks as secret, to be learned
	size  int                 // bytes of values that were learned so
	told  map[string][]string // by type of resource, what a provider's schema calls sensitive
	news  map[string][]string // of told, what the journal does not say yet

	doubts map[string]bool // once known values were lost: the digits of tokens that entries hold
}

func newRedactor(key []byte, team []TeamRule) (*redactor, error) {
	rules, err := newRuleset(team)
	if err != nil {
		return nil, err
	}
	r := &redactor{rules: rules, raw: map[string]bool{}, heard: map[string]bool{}, known: &knownSet{}}
	r.rekey(key)
	return r, nil
}

// rekey makes the tokens that follow with another key.
func (r *redactor) rekey(key []byte) { r.keyed.Store(&keyed{key: key}) }

// passForeign lets tokens of other keys pass by from now on. It is called before the redactor is used.
func (r *redactor) passForeign() { r.foreign = true }

// digest is over all rules in force.
func (r *redactor) digest() string { return r.rules.digest }

// key is what tokens are made with.
func (r *redactor) key() []byte { return r.keyed.Load().key }

// counts says how often each kind of secret was found.
type counts map[string]int

func (c counts) add(kind string) {
	if c != nil {
		c[kind]++
	}
}

func (c counts) list() []string {
	out := make([]string, 0, len(c))
	for kind, n := range c {
		if kind == unparsed {
			out = append(out, unparsed)
			continue
		}
		out = append(out, fmt.Sprintf("%s=%d", kind, n))
	}
	slices.Sort(out)
	return out
}

// text redacts a whole string.
func (r *redactor) text(s string) string {
	if len(s) < 4 {
		return s
	}
	return string(r.bytes([]byte(s), nil))
}

func (r *redactor) bytes(in []byte, n counts) []byte {
	set := r.knownValues()
	mid, _ := set.replace(nil, in, true, r, n)
	return r.recalled(r.apply(nil, mid, n), false, n)
}

// knownOnly replaces known values and nothing else: what identifies an object must survive the pattern rules.
func (r *redactor) knownOnly(s string, n counts) string {
	out, _ := r.knownValues().replace(nil, []byte(s), true, r, n)
	return string(r.recalled(out, false, n))
}

// eventData redacts every string of an entry's data.
func (r *redactor) eventData(n *node) { r.inEntryData(n, nil) }

// inEntryData redacts an entry's data: what only looks like a secret stays there where it is the whole of a fact.
func (r *redactor) inEntryData(n *node, c counts) { r.walk(n, "", true, c) }

// strings redacts all strings under n; name is the key that n stands at.
func (r *redactor) strings(n *node, name string, c counts) { r.walk(n, name, false, c) }

func (r *redactor) walk(n *node, name string, facts bool, c counts) {
	switch n.kind {
	case stringNode:
		r.leaf(n, name, facts, c)
		return
	case literalNode:
		return
	}
	ident := n.kind == objectNode && n.str("t") == "ident"
	of := pairName(n)
	pair := of != "" && nameTells([]byte(of)) != silent
	for i := range n.members {
		m := &n.members[i]
		key := name
		if n.kind == arrayNode && i > 0 && m.value.kind == stringNode {
			// ["--password", "x"] is how containers write arguments.
			if flag := n.members[i-1].value; flag.kind == stringNode && len(flag.text) > 2 && flag.text[0] == '-' && !strings.ContainsAny(flag.text, "= ") && !strings.HasPrefix(m.value.text, "-") {
				key = strings.TrimLeft(flag.text, "-")
			}
		}
		if n.kind == objectNode {
			key = m.key
			m.key = r.knownOnly(m.key, c)
			// {"name": "DB_PASSWORD", "value": …} is how containers and CI jobs write an assignment, and
			// {"password": {"value": …}} how plans and typed facts do.
			switch key {
			case "value", "Value", "ParameterValue":
				if pair {
					key = of
					break
				}
				fallthrough
			default:
				if isValueName(key) && nameTells([]byte(name)) != silent {
					key = name
				}
			}
		}
		if ident && m.key == "v" && m.value.kind == stringNode {
			m.value.text = r.knownOnly(m.value.text, c)
			continue
		}
		r.walk(m.value, key, facts, c)
	}
}

// pairName is the name in an object that holds a name and a value; "" where there is none.
func pairName(n *node) string {
	return cmp.Or(n.str("name"), n.str("Name"), n.str("key"), n.str("Key"), n.str("ParameterKey"))
}

func (r *redactor) leaf(n *node, name string, facts bool, c counts) {
	v := []byte(n.text)
	if t := nameTells([]byte(name)); t != silent && !harmlessValue(v, []byte(name), true) && !r.onlyTokens(v) && (t == tells || looksRandom(v) && !bytes.HasPrefix(v, []byte("AAAA"))) {
		r.hide(n, "field", c)
		return
	}
	if len(v) < 4 {
		return
	}
	mid, _ := r.knownValues().replace(nil, v, true, r, c)
	w := applier{redactor: r, in: mid, n: c, shy: identifies([]byte(name)) || facts && !bytes.ContainsAny(v, " \n")}
	w.seen.lineEnd = -1
	w.run(len(mid), true)
	n.text = string(r.recalled(w.dst, false, c))
}

// hide replaces a scalar by its token. Empty and null say nothing and stay.
func (r *redactor) hide(n *node, kind string, c counts) {
	switch {
	case n.kind == literalNode && n.text == "null", n.kind == stringNode && n.text == "":
		return
	case n.kind == stringNode && r.onlyTokens([]byte(n.text)):
		return
	}
	n.text = string(r.token(nil, kind, bytes.TrimSpace([]byte(n.text))))
	n.kind = stringNode
	c.add(kind)
}

// hideAll hides every scalar under n.
func (r *redactor) hideAll(n *node, kind string, c counts) {
	if n == nil {
		return
	}
	if n.kind == stringNode || n.kind == literalNode {
		r.hide(n, kind, c)
		return
	}
	for _, m := range n.members {
		r.hideAll(m.value, kind, c)
	}
}
