package redact

import (
	"bytes"
	"cmp"
	"strings"
	"sync"
	"sync/atomic"

	"handrail/evidence/jsontree"
)

// Redactor replaces secrets by tokens. It is safe for concurrent use.
type Redactor struct {
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

// New makes a Redactor whose tokens are made with key and whose rules are the built-in ones and those of a team.
func New(key []byte, team []TeamRule) (*Redactor, error) {
	rules, err := newRuleset(team)
	if err != nil {
		return nil, err
	}
	r := &Redactor{rules: rules, raw: map[string]bool{}, heard: map[string]bool{}, known: &knownSet{}}
	r.Rekey(key)
	return r, nil
}

// Rekey makes the tokens that follow with another key.
func (r *Redactor) Rekey(key []byte) { r.keyed.Store(&keyed{key: key}) }

// PassForeign lets tokens of other keys pass by from now on. It is called before the redactor is used.
func (r *Redactor) PassForeign() { r.foreign = true }

// Digest is over all rules in force.
func (r *Redactor) Digest() string { return r.rules.digest }

// Key is what tokens are made with.
func (r *Redactor) Key() []byte { return r.keyed.Load().key }

// Text redacts a whole string.
func (r *Redactor) Text(s string) string {
	if len(s) < 4 {
		return s
	}
	return string(r.Bytes([]byte(s), nil))
}

// Bytes redacts a whole text, and counts what was found unless n is nil.
func (r *Redactor) Bytes(in []byte, n Counts) []byte {
	set := r.knownValues()
	mid, _ := set.replace(nil, in, true, r, n)
	return r.recalled(r.apply(nil, mid, n), false, n)
}

// KnownOnly replaces known values and nothing else: what identifies an object must survive the pattern rules.
func (r *Redactor) KnownOnly(s string, n Counts) string {
	out, _ := r.knownValues().replace(nil, []byte(s), true, r, n)
	return string(r.recalled(out, false, n))
}

// EventData redacts every string of an entry's data.
func (r *Redactor) EventData(n *jsontree.Node) { r.inEntryData(n, nil) }

// inEntryData redacts an entry's data: what only looks like a secret stays there where it is the whole of a fact.
func (r *Redactor) inEntryData(n *jsontree.Node, c Counts) { r.walk(n, "", true, c) }

// strings redacts all strings under n; name is the key that n stands at.
func (r *Redactor) strings(n *jsontree.Node, name string, c Counts) { r.walk(n, name, false, c) }

func (r *Redactor) walk(n *jsontree.Node, name string, facts bool, c Counts) {
	switch n.Kind {
	case jsontree.String:
		r.leaf(n, name, facts, c)
		return
	case jsontree.Literal:
		return
	}
	ident := n.Kind == jsontree.Object && n.Str("t") == "ident"
	of := pairName(n)
	pair := of != "" && nameTells([]byte(of)) != silent
	for i := range n.Members {
		m := &n.Members[i]
		key := name
		if n.Kind == jsontree.Array && i > 0 && m.Value.Kind == jsontree.String {
			// ["--password", "x"] is how containers write arguments.
			if flag := n.Members[i-1].Value; flag.Kind == jsontree.String && len(flag.Text) > 2 && flag.Text[0] == '-' && !strings.ContainsAny(flag.Text, "= ") && !strings.HasPrefix(m.Value.Text, "-") {
				key = strings.TrimLeft(flag.Text, "-")
			}
		}
		if n.Kind == jsontree.Object {
			key = m.Key
			m.Key = r.KnownOnly(m.Key, c)
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
		if ident && m.Key == "v" && m.Value.Kind == jsontree.String {
			m.Value.Text = r.KnownOnly(m.Value.Text, c)
			continue
		}
		r.walk(m.Value, key, facts, c)
	}
}

// pairName is the name in an object that holds a name and a value; "" where there is none.
func pairName(n *jsontree.Node) string {
	return cmp.Or(n.Str("name"), n.Str("Name"), n.Str("key"), n.Str("Key"), n.Str("ParameterKey"))
}

func (r *Redactor) leaf(n *jsontree.Node, name string, facts bool, c Counts) {
	v := []byte(n.Text)
	if t := nameTells([]byte(name)); t != silent && !harmlessValue(v, []byte(name), true) && !r.onlyTokens(v) && (t == tells || looksRandom(v)) {
		r.hide(n, "field", c)
		return
	}
	if len(v) < 4 {
		return
	}
	mid, _ := r.knownValues().replace(nil, v, true, r, c)
	w := applier{Redactor: r, in: mid, n: c, shy: identifies([]byte(name)) || facts && !bytes.ContainsAny(v, " \n")}
	w.seen.lineEnd = -1
	w.run(len(mid), true)
	n.Text = string(r.recalled(w.dst, false, c))
}

// hide replaces a scalar by its token. Empty and null say nothing and stay.
func (r *Redactor) hide(n *jsontree.Node, kind string, c Counts) {
	switch {
	case n.Kind == jsontree.Literal && n.Text == "null", n.Kind == jsontree.String && n.Text == "":
		return
	case n.Kind == jsontree.String && r.onlyTokens([]byte(n.Text)):
		return
	}
	n.Text = string(r.token(nil, kind, bytes.TrimSpace([]byte(n.Text))))
	n.Kind = jsontree.String
	c.add(kind)
}

// hideAll hides every scalar under n.
func (r *Redactor) hideAll(n *jsontree.Node, kind string, c Counts) {
	if n == nil {
		return
	}
	if n.Kind == jsontree.String || n.Kind == jsontree.Literal {
		r.hide(n, kind, c)
		return
	}
	for _, m := range n.Members {
		r.hideAll(m.Value, kind, c)
	}
}
