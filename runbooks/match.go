package runbooks

import (
	"cmp"
	"slices"
	"strings"
)

// MaxText is how much of a pasted text is looked at: its beginning and its end,
// since the error is at one of them.
const MaxText = 4 << 20

// Hit is a runbook whose patterns occur in a text.
type Hit struct {
	Runbook string
	Title   string
	Score   int
	Line    string // the line of the text that matched the heaviest pattern
	Pattern string
	Say     string            // what that match means
	Groups  map[string]string // named groups of all patterns that matched
}

// Match ranks the runbooks for an error text, best first; those without a match
// are not in it. Patterns are RE2, so no text makes them slow.
func Match(lib []*Runbook, text string) []Hit {
	if len(text) > MaxText {
		text = text[:MaxText/4] + "\n" + text[len(text)-MaxText*3/4:]
	}
	plain := unframed(text)
	source := strings.Split(plain, "\n")
	one := collapse(plain)
	lower := [2]string{strings.ToLower(plain), strings.ToLower(one.text)}
	var hits []Hit
	for _, b := range lib {
		if h, ok := b.match(plain, source, one, lower); ok {
			hits = append(hits, h)
		}
	}
	slices.SortStableFunc(hits, func(a, b Hit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Runbook, b.Runbook))
	})
	return hits
}

func (r *Runbook) match(plain string, source []string, one collapsed, lower [2]string) (Hit, bool) {
	h := Hit{Runbook: r.ID, Title: r.Title, Groups: map[string]string{}}
	heaviest := 0
	for _, p := range r.Recognise {
		in, m := plain, p.find(plain, lower[0])
		line := 0
		if m != nil {
			line = strings.Count(plain[:m[0]], "\n")
		} else if m = p.find(one.text, lower[1]); m != nil {
			in, line = one.text, one.line(m[0])
		} else {
			continue
		}
		h.Score += p.Weight
		if p.Weight > heaviest {
			heaviest = p.Weight
			h.Pattern, h.Say = p.Pattern, p.Say
			if line < len(source) {
				h.Line = strings.TrimSpace(source[line])
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
