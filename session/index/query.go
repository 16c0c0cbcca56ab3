package index

import (
	"slices"
	"strings"
	"time"
)

// Query says what is looked for. What is empty asks nothing; of several values
// of one field one must fit, and all fields must. An incident must hold every
// key somewhere; all of Text, and one of Fingerprints, must be on one line.
type Query struct {
	Keys         map[Key][]string // equal but for case, * stands for any text
	Since, Until time.Time        // of the entries
	Severity     []string
	Runbook      []string
	Failure      []string // failure states
	Outcome      []string // recovered, open, aborted, or Ongoing
	Kind         []string // of the entries: a type, what a type begins with before its dot, Artifacts or Acts
	Text         []string // parts of one line, in any order, but for case
	Fingerprints []Fingerprint
	Limit        int // of hits, 0 for all
	Lines        int // hits of one incident, 0 for all; what is beyond is counted
}

// Ongoing is the outcome of an incident that has none yet.
const Ongoing = "ongoing"

// Kinds that are no type of an entry.
const (
	Artifacts = "artifact" // lines of artifacts
	Acts      = "act"      // acts, one line each: who did what to which target, on what evidence
)

// Hit is one line that fits.
type Hit struct {
	Incident    string
	Path        string
	Title       string
	Runbook     string
	Severity    string
	Outcome     string
	Seq         int64
	At          time.Time
	Type        string // of the entry; "artifact" where the line is in one
	Step        string
	Who         string // of the entry; for an act also as which user of the system
	Artifact    string // digest of the artifact that has the line, "" for the journal
	Role        string // of the artifact
	Line        string // around what fits, where it is long
	Fingerprint Fingerprint
	Evidence    []Ground // what an act stood on
}

// Problem is a bundle that could not be searched, or not whole.
type Problem struct {
	Path string
	Why  string
}

// Found says how much of one incident fits.
type Found struct {
	Incident string
	Path     string
	Lines    int // that fit
	Shown    int // of these, in Hits
}

// Answer is what a Query found, the newest incident first.
type Answer struct {
	Hits      []Hit
	Incidents []Found // in the order of Hits
	More      bool    // there are more hits than Limit, and who has them was not looked at
	AtMost    int     // so many incidents can fit; without More it is those that do
	Bundles   int     // that were looked at, in whatever way
	Problems  []Problem
}

// wants is a Query made ready.
type wants struct {
	Query
	keys   map[Key][]pattern
	folded []string // the longest first
	pieces []piece
}

func (q Query) ready() wants {
	w := wants{Query: q, keys: map[Key][]pattern{}}
	for _, part := range q.Text {
		if part != "" {
			w.folded = append(w.folded, fold(part))
		}
	}
	slices.SortStableFunc(w.folded, func(a, b string) int { return len(b) - len(a) })
	for k, values := range q.Keys {
		for _, v := range values {
			w.keys[k] = append(w.keys[k], parsePattern(v))
		}
	}
	if w.acts() {
		return w // the line of an act is made of several entries
	}
	for _, part := range w.folded {
		w.pieces = append(w.pieces, pieces(part)...)
	}
	slices.SortStableFunc(w.pieces, func(a, b piece) int { return b.rank() - a.rank() })
	return w
}

// byLine reports whether hits are lines with a text, a fingerprint or of a kind.
func (w *wants) byLine() bool {
	return len(w.folded) > 0 || len(w.Fingerprints) > 0 || len(w.Kind) > 0
}

// byRow reports whether what is kept of each incident as a row answers.
func (w *wants) byRow() bool { return len(w.keys) == 0 && (w.acts() || !w.byLine()) }

// acts reports whether hits are acts.
func (w *wants) acts() bool { return slices.Equal(w.Kind, []string{Acts}) }

// kind reports whether an entry of a type is asked for.
func (w *wants) kind(typ string) bool {
	return len(w.Kind) == 0 || slices.ContainsFunc(w.Kind, func(k string) bool { return typ == k || strings.HasPrefix(typ, k+".") })
}

// text reports whether a folded line has every part.
func (w *wants) text(folded string) bool {
	for _, part := range w.folded {
		if !strings.Contains(folded, part) {
			return false
		}
	}
	return true
}

// row reports whether an incident can fit by what its row says.
func (w *wants) row(r *Row) bool {
	outcome := r.Outcome
	if outcome == "" {
		outcome = Ongoing
	}
	if !among(w.Severity, string(r.Severity)) || !among(w.Failure, r.Failure) || !among(w.Outcome, outcome) {
		return false
	}
	if len(w.Runbook) > 0 && !slices.ContainsFunc(r.Runbooks, func(b string) bool { return among(w.Runbook, b) }) {
		return false
	}
	if !w.Since.IsZero() && !r.Updated.IsZero() && r.Updated.Before(w.Since) {
		return false
	}
	return w.Until.IsZero() || !r.Opened.After(w.Until)
}

func among(list []string, v string) bool {
	return len(list) == 0 || slices.ContainsFunc(list, func(s string) bool { return strings.EqualFold(s, v) })
}

func (w *wants) when(at time.Time) bool {
	return (w.Since.IsZero() || !at.Before(w.Since)) && (w.Until.IsZero() || !at.After(w.Until))
}

// line reports whether a line, given also folded, fits Text and Fingerprints,
// which are those of the value.
func (w *wants) line(folded, value string) bool {
	if !w.text(folded) {
		return false
	}
	return len(w.Fingerprints) == 0 || slices.Contains(w.Fingerprints, FingerprintOf(value))
}

// holds reports whether a page has a value for every key.
func (w *wants) holds(p *page) bool {
	for k, ps := range w.keys {
		if !slices.ContainsFunc(p.entries, func(e entry) bool { _, ok := e.keyLine(k, ps); return ok }) {
			return false
		}
	}
	return true
}

// keyLine is the first line of an entry with a value of the key that fits.
func (e *entry) keyLine(k Key, ps []pattern) (string, bool) {
	if k == Actor && fitsAny(ps, fold(e.actor)) {
		return "actor: " + e.actor, true
	}
	for _, l := range e.lines {
		if l.key == k && fitsAny(ps, fold(l.val())) {
			return l.text, true
		}
	}
	return "", false
}
