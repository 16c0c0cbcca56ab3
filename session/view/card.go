package view

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"handrail/runbooks"
	"handrail/session/journal"
	"handrail/steps"
	"handrail/triage"
)

func (s *Scene) card(st triage.Step) Card {
	rb := s.Books[journal.BookOf(st.ID)]
	v := s.vars(rb.ID, false)
	t := rb.Say(journal.Bare(st.ID), v)
	c := Card{Title: t.Title, Say: t.Say, Ask: t.Ask, Evidence: t.Evidence}
	c.Names = rb.Names(journal.Bare(st.ID), v)
	c.Practice = s.Practice[journal.Bare(st.ID)]
	c.Aside = rb.Aside(journal.Bare(st.ID), v)
	c.Graph = s.graphOf(st)
	for _, w := range t.Show {
		if g := s.drawnFact(st, w.Expr); g != nil {
			c.Graph = g
			continue
		}
		if !w.Known && asideFact(rb, w.Expr, v) {
			continue
		}
		value := w.Value
		switch {
		case !w.Known:
			value = "unknown: " + strings.TrimPrefix(w.Why, w.Expr+" is unknown: ")
		case value == "":
			value = "none" // that there is nothing is knowledge, the opposite of unknown
		}
		c.Show = append(c.Show, shownRows(strings.TrimPrefix(w.Name, "facts."), value, w)...)
	}
	for _, row := range rb.Rows(journal.Bare(st.ID), v) {
		var sides []string
		for _, cell := range row.Cells {
			sides = append(sides, cell.Source+" "+strings.TrimPrefix(cell.Expr, "facts."))
		}
		c.Rows = append(c.Rows, steps.KV{Key: row.Field, Value: strings.Join(sides, " · ")})
	}
	for _, a := range t.Answers {
		c.Answers = append(c.Answers, Choice{Value: a.Value, Help: a.Help})
	}
	if k, ok := s.Catalog.Lookup(st.Uses); ok {
		c.Doc, c.Touches = k.Doc, rb.Tells(journal.Bare(st.ID), s.Catalog)
	}
	switch st.Kind {
	case triage.AskStep:
		c.Proposed, c.Grounds, c.Why = rb.ProposeAnswer(journal.Bare(st.ID), v)
	case triage.ConcludeStep:
		c.Proposed, c.Grounds, c.Why = s.propose(rb, triage.Topic(st.Uses))
		c.Values = TopicValues(triage.Topic(st.Uses))
	}
	for i, g := range c.Grounds {
		c.Grounds[i] = kept.ReplaceAllString(g, " = "+triage.Pasted)
	}
	params, err := rb.With(journal.Bare(st.ID), v)
	c.Shut = s.barred(st, err)
	if err == nil {
		for _, name := range slices.Sorted(maps.Keys(params)) {
			c.With = append(c.With, steps.KV{Key: name, Value: params[name].Text()})
		}
	} else {
		c.Missing = append(c.Missing, err.Error())
	}
	return c
}

// kept ends a ground on a text that was pasted: where the evidence keeps it says nothing to a
// person.
var kept = regexp.MustCompile(` = \S*\.hrb[/\\]blobs[/\\]sha256[/\\][0-9a-f]{2}[/\\][0-9a-f]{64}$`)

// asideFact reports whether a fact is of a step that does not apply: that it is not known
// says nothing.
func asideFact(rb *runbooks.Runbook, expr string, v runbooks.Vars) bool {
	of, ok := strings.CutPrefix(expr, "facts.")
	step, _, dotted := strings.Cut(of, ".")
	return ok && dotted && rb.Aside(step, v) != ""
}

// Agrees is what is recorded with an answer that agrees with the proposal: why it
// is proposed, and on what.
func (c Card) Agrees() string {
	if len(c.Grounds) == 0 {
		return c.Why
	}
	return c.Why + " (" + strings.Join(c.Grounds, "; ") + ")"
}

// mostShown is how many entries of a list a question shows.
const mostShown = 12

// shownRows are the lines of one value: each entry of a list has its own, the
// first beside the name.
func shownRows(name, value string, w runbooks.Shown) []steps.KV {
	if !w.Known || len(w.Each) == 0 {
		return []steps.KV{{Key: name, Value: value}}
	}
	var out []steps.KV
	for i, one := range w.Each {
		if i == mostShown {
			out = append(out, steps.KV{Value: fmt.Sprintf("and %d more, among the facts", len(w.Each)-i)})
			break
		}
		out = append(out, steps.KV{Key: name, Value: one})
		name = ""
	}
	return out
}

// TopicValues lists what may be concluded of a topic; nil where it is free
// text.
func TopicValues(t triage.Topic) []Choice {
	var out []Choice
	switch t {
	case triage.TopicClass:
		for _, f := range triage.FailureStates() {
			out = append(out, Choice{Value: f.Name, Help: f.Means})
		}
	case triage.TopicDomain:
		for _, d := range triage.Domains() {
			out = append(out, Choice{Value: d.Slug, Help: d.Title + ": " + d.Fails})
		}
	case triage.TopicMutation:
		out = []Choice{{"no", "nothing was written"}, {"yes", "something was written"}}
	case triage.TopicConsistent:
		out = []Choice{{"yes", "desired, recorded and actual agree"}, {"no", "they differ"}}
	case triage.TopicReverts:
		out = []Choice{{"no", "nothing undoes a fix"}, {"yes", "every fix is reverted"}}
	case triage.TopicOwner:
		return nil
	}
	return append(out, Choice{Value: triage.Unknown, Help: "not known yet"})
}
