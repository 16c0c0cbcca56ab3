package runbooks

import (
	"cmp"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// maxSymptom keeps a symptom to a line of a list.
const maxSymptom = 120

// Symptom is what a person sees without an error text, and the runbooks that know
// it.
type Symptom struct {
	Text     string
	Runbooks []string
}

// Symptoms lists what the runbooks of a library know people by: their own lists in
// their own order, and the title of a runbook that has none.
func Symptoms(lib []*Runbook) []Symptom {
	var out []Symptom
	at := map[string]int{}
	for _, b := range lib {
		for _, text := range b.symptoms() {
			key := strings.ToLower(text)
			i, known := at[key]
			if !known {
				i = len(out)
				at[key], out = i, append(out, Symptom{Text: text})
			}
			if !slices.Contains(out[i].Runbooks, b.ID) {
				out[i].Runbooks = append(out[i].Runbooks, b.ID)
			}
		}
	}
	return out
}

func (r *Runbook) symptoms() []string {
	if len(r.Symptoms) == 0 {
		return []string{r.Title}
	}
	return r.Symptoms
}

// MatchSymptoms ranks the runbooks for the symptoms that a person sees: the one
// that knows most of them first, and of two, the one that knows less else.
func MatchSymptoms(lib []*Runbook, seen []string) []Hit {
	var hits []Hit
	others := map[string]int{}
	for _, b := range lib {
		var known []string
		for _, text := range b.symptoms() {
			if slices.ContainsFunc(seen, func(s string) bool { return strings.EqualFold(s, text) }) {
				known = append(known, text)
			}
		}
		if len(known) == 0 {
			continue
		}
		others[b.ID] = len(b.symptoms()) - len(known)
		hits = append(hits, Hit{Runbook: b.ID, Title: b.Title, Score: len(known), Line: strings.Join(known, "; ")})
	}
	slices.SortStableFunc(hits, func(a, b Hit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(others[a.Runbook], others[b.Runbook]), cmp.Compare(a.Runbook, b.Runbook))
	})
	return hits
}

// symptom reads one item of the list.
func (r *reader) symptom(n *yaml.Node) {
	s := r.literal(n, "a symptom")
	switch {
	case s == "":
	case len([]rune(s)) > maxSymptom || strings.ContainsAny(s, "\n"):
		r.Fail(n, "say in a few words what people see", "a symptom is one line of up to %d letters", maxSymptom)
	case slices.ContainsFunc(r.book.Symptoms, func(o string) bool { return strings.EqualFold(o, s) }):
		r.Fail(n, "drop one of the two", "the symptom %q stands here twice", s)
	default:
		r.book.Symptoms = append(r.book.Symptoms, s)
	}
}
