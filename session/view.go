package session

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"handrail/runbooks"
	"handrail/session/journal"
	"handrail/steps"
	"handrail/triage"
)

// publish works out what may be done now and shows it.
func (s *Session) publish() {
	s.made = s.cfg.Now()
	s.offers = triage.Options(s.state, s.made, s.judge)
	s.redraw()
}

// redraw makes a snapshot of the present state and signals the drivers. A line of
// progress comes here alone: it changes nothing that the options depend on, and
// a plan prints thousands.
func (s *Session) redraw() {
	snap := &Snapshot{
		State: s.state, Made: s.made, Cards: s.cards, Header: s.header, Where: s.where(), Next: s.leads,
		Blobs: s.blobs, Bundle: s.path, Options: s.offers,
		Anchor: Anchor{Line: s.bundle.Checkpoint().Line(), Due: s.due}, Sealed: s.sealed,
	}
	for _, f := range s.flight {
		snap.Running = append(snap.Running, Running{Step: f.step, Kind: f.kind, Started: f.started, Until: f.until, Log: f.log, Lines: slices.Clone(f.lines), Act: f.act})
	}
	slices.SortFunc(snap.Running, func(a, b Running) int { return a.Started.Compare(b.Started) })
	if s.dead != nil {
		snap.Dead = s.dead.Error()
	}
	snap.Gate, snap.Lowers = s.gateView(), s.lowersView()
	s.show(snap)
}

// show gives a snapshot to the drivers.
func (s *Session) show(snap *Snapshot) {
	s.snap.Store(snap)
	select {
	case s.changed <- struct{}{}:
	default:
	}
}

// gateView is the gate in front of the call.
func (s *Session) gateView() *Gate {
	f := s.front
	if f == nil {
		return nil
	}
	g := s.state.Gates[f.step]
	step, _ := s.state.Step(f.step)
	v := &Gate{
		Step: f.step, Title: s.cards[f.step].Title, Phase: g.Phase, Class: step.Class, Preview: f.preview, Digest: f.digest,
		Verdicts: f.verdicts, Refusals: f.refusals, Wrong: f.wrong, WrongAt: f.wrongAt, Moved: f.moved,
		Response: g.Response, After: journal.LoadedLines(g.After),
	}
	switch g.Phase {
	case triage.GateArmed, triage.GateConfirmed:
		v.Until = g.Shown.Until
	case triage.GateIdle:
		if len(v.Refusals) == 0 && g.Why != "" {
			v.Refusals = []triage.Refusal{{Why: g.Why, Cure: "preview it again"}}
		}
	case triage.GateDone, triage.GateRefused, triage.GateFailed, triage.GateUnknown:
		v.Outcome = string(g.Phase)
	}
	if g.StartSeq > g.ShownSeq {
		v.Preview.Undo = undoOf(v.Preview.Undo, g.Kept)
	}
	v.Evidence = s.cited(f.verdicts, step)
	v.Second = s.secondView(g)
	return v
}

// secondView is what is known of the second person of a gate.
func (s *Session) secondView(g triage.GateState) *Second {
	second := g.Shown.Second
	if second == nil {
		return nil
	}
	out := &Second{Why: second.Why, May: second.May, By: g.Approvals}
	if g.Phase == triage.GateArmed || g.Phase == triage.GateConfirmed {
		out.Lacks = s.state.SecondLacks(g.Step, s.cfg.Now())
	}
	if r, ok := s.requests[g.Step]; ok && g.Phase == triage.GateArmed {
		out.Request = r.Text()
	}
	return out
}

// cited lists the evidence that the conditions of a gate stand on.
func (s *Session) cited(vs []triage.Verdict, gate triage.Step) []Cited {
	var out []Cited
	seen := map[string]bool{}
	add := func(id string) {
		st, ok := s.state.Step(id)
		if !ok || seen[id] || st.EndSeq == 0 {
			return
		}
		seen[id] = true
		text := st.Summary
		if st.Answer != "" {
			text = "answered " + st.Answer + ": " + st.How
		}
		out = append(out, Cited{Step: id, Text: text, At: st.Ended, Seq: st.EndSeq})
	}
	for _, v := range vs {
		for _, ref := range v.Refs {
			add(ref)
		}
	}
	for _, ref := range gate.Refs {
		add(ref)
	}
	return out
}

// refreshCards fills the texts of every step with the facts of now. It runs
// when facts, answers or the plan changed, not with every event.
func (s *Session) refreshCards() {
	cards := make(map[string]Card, len(s.state.Steps))
	for _, st := range s.state.Steps {
		rb := s.books[journal.BookOf(st.ID)]
		if rb == nil {
			continue
		}
		cards[st.ID] = s.card(st)
	}
	s.cards = cards
	s.leads = nil
	rb := s.books[s.state.Plan().Runbook]
	if rb == nil {
		return
	}
	for _, n := range rb.Next(s.vars(rb.ID, false)) {
		if _, err := s.cfg.Library(n.Runbook); err != nil {
			continue // a runbook that this handrail does not have is no way to go on
		}
		s.leads = append(s.leads, Lead{Runbook: n.Runbook, Why: n.Say, Params: n.With})
	}
}

func (s *Session) card(st triage.Step) Card {
	rb := s.books[journal.BookOf(st.ID)]
	v := s.vars(rb.ID, false)
	t := rb.Say(journal.Bare(st.ID), v)
	c := Card{Title: t.Title, Say: t.Say, Ask: t.Ask, Evidence: t.Evidence}
	c.Practice = s.cfg.Practice[journal.Bare(st.ID)]
	c.Aside = rb.Aside(journal.Bare(st.ID), v)
	c.Graph = s.graphOf(st)
	for _, w := range t.Show {
		if g := s.drawnFact(st, w.Expr); g != nil {
			c.Graph = g
			continue
		}
		value := w.Value
		switch {
		case !w.Known:
			value = "unknown: " + w.Why
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
	if k, ok := s.cfg.Catalog.Lookup(st.Uses); ok {
		c.Doc, c.Touches = k.Doc, k.Touches
	}
	if st.Kind == triage.ConcludeStep {
		c.Proposed, c.Grounds, c.Why = rb.Propose(triage.Topic(st.Uses), v)
		c.Values = topicValues(triage.Topic(st.Uses))
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

// topicValues lists what may be concluded of a topic; nil where it is free
// text.
func topicValues(t triage.Topic) []Choice {
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
		out = []Choice{{"no", "nobody undoes a fix"}, {"yes", "something undoes every fix"}}
	case triage.TopicOwner:
		return nil
	}
	return append(out, Choice{Value: triage.Unknown, Help: "nobody can tell yet"})
}
