package runbooks

import (
	"cmp"
	"slices"
	"strings"
)

// MaxText is how much of a pasted text is looked at: its beginning and its end,
// since the error is at one of them.
const MaxText = 4 << 20

// Floor is the score below which a runbook claims nothing. A pattern earns a
// weight of Floor or more by occurring in no text of another kind; what occurs
// elsewhere too is a hint, and only several of them make a claim.
const Floor = 5

// Hit is a runbook whose patterns occur in a text.
type Hit struct {
	Runbook string
	Title   string
	Score   int
	Line    string            // the line of the text that matched the heaviest pattern
	Pattern string            // that pattern; "" for a text that is told in words
	Say     string            // what that match means
	Groups  map[string]string // named groups of all patterns that matched
}

// Match ranks the runbooks that claim an error text, best first. A text that no
// pattern claims may tell an incident in words: then the runbooks are ranked by
// their symptoms. Patterns are RE2, so no text makes them slow.
func Match(lib []*Runbook, text string) []Hit {
	hits := rank(lib, text)
	if i := slices.IndexFunc(hits, func(h Hit) bool { return h.Score < Floor }); i >= 0 {
		hits = hits[:i]
	}
	if len(hits) == 0 {
		return told(lib, text)
	}
	return hits
}

// Nearest names at most n runbooks of which something occurs in a text that none
// claims, best first.
func Nearest(lib []*Runbook, text string, n int) []Hit {
	hits := rank(lib, text)
	for _, h := range resembling(lib, text) {
		if !slices.ContainsFunc(hits, func(o Hit) bool { return o.Runbook == h.Runbook }) {
			hits = append(hits, h)
		}
	}
	return hits[:min(n, len(hits))]
}

// rank scores the runbooks, without those of which nothing speaks for the text.
func rank(lib []*Runbook, text string) []Hit {
	t := prepare(text)
	var hits []Hit
	for _, b := range lib {
		if h, ok := b.match(t); ok {
			hits = append(hits, h)
		}
	}
	slices.SortStableFunc(hits, func(a, b Hit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Runbook, b.Runbook))
	})
	return hits
}

// claims reports whether a text can be claimed by the patterns of a runbook, if it
// has any.
func (r *Runbook) claims() bool {
	most := 0
	for _, p := range r.Recognise {
		most += max(0, p.Weight)
	}
	return len(r.Recognise) == 0 || most >= Floor
}

// prepared is a text as the patterns see it: with its lines, and as one line in
// which wrapping does not matter, each also in small letters.
type prepared struct {
	plain, lower string
	source       []string
	one          collapsed
	oneLower     string
}

func prepare(text string) prepared {
	if len(text) > MaxText {
		text = text[:MaxText/4] + "\n" + text[len(text)-MaxText*3/4:]
	}
	plain := unframed(text)
	one := collapse(plain)
	return prepared{plain: plain, lower: strings.ToLower(plain), source: strings.Split(plain, "\n"), one: one, oneLower: strings.ToLower(one.text)}
}

func (r *Runbook) match(t prepared) (Hit, bool) {
	h := Hit{Runbook: r.ID, Title: r.Title, Groups: map[string]string{}}
	heaviest := 0
	for _, p := range r.Recognise {
		in, m := t.plain, p.find(t.plain, t.lower)
		line := 0
		if m != nil {
			line = strings.Count(t.plain[:m[0]], "\n")
		} else if p.lines {
			continue
		} else if m = p.find(t.one.text, t.oneLower); m != nil {
			in, line = t.one.text, t.one.line(m[0])
		} else {
			continue
		}
		h.Score += p.Weight
		if p.Weight > heaviest {
			heaviest = p.Weight
			h.Pattern, h.Say = p.Pattern, p.Say
			if line < len(t.source) {
				h.Line = strings.TrimSpace(t.source[line])
			}
		}
		for i, name := range p.re.SubexpNames() {
			if name != "" && m[2*i] >= 0 && h.Groups[name] == "" {
				h.Groups[name] = strings.TrimSpace(in[m[2*i]:m[2*i+1]])
			}
		}
	}
	return h, h.Score > 0
}
