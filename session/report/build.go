package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"handrail/evidence/visible"
	"handrail/triage"
)

// Option adds to a document what a folded state does not hold.
type Option func(*Document)

// Verified adds the verdict of a verification.
func Verified(v Verification) Option { return func(d *Document) { d.Verification = &v } }

// With adds the artifacts of the journal, as Artifacts reads them.
func With(list []Artifact) Option { return func(d *Document) { d.Artifacts = list } }

// WithHandling adds what was done with the bundle since, as the log beside it says; say is what is wrong with that log.
func WithHandling(list []Handling, say visible.Text) Option {
	return func(d *Document) { d.Handled, d.HandledSay = list, say }
}

// New builds the document of a folded state.
func New(st triage.State, options ...Option) Document {
	d := Document{
		Format: Format, Incident: line(st.Incident), Title: line(st.Title), Drill: line(st.Drill),
		Severity: line(string(st.Severity)), Outcome: line(st.Outcome), Phase: line(string(st.Phase)),
		Opened: st.Opened.UTC(), Closed: st.Closed.UTC(), Updated: st.Updated.UTC(), Entry: st.Seq,
		Took: span(st.Opened, st.Updated),
	}
	if !st.Closed.IsZero() {
		d.Took = span(st.Opened, st.Closed)
	}
	for _, o := range options {
		o(&d)
	}
	d.Place = place(st, string(d.Place.Cluster))
	b := builder{st: st, d: &d, at: map[int64]time.Time{}, by: map[int64]string{}}
	for _, m := range st.Timeline {
		b.at[m.Seq], b.by[m.Seq] = m.At.UTC(), m.Actor
		d.Timeline = append(d.Timeline, Moment{
			Entry: m.Seq, At: m.At.UTC(), Actor: line(m.Actor), Type: line(m.Type), Step: line(m.Step),
			Level: line(m.Level), Text: line(m.Text),
		})
	}
	b.runbooks()
	b.people()
	b.legs()
	b.conclusions()
	b.steps()
	b.findings()
	b.ruledOut()
	b.unchecked()
	b.gates()
	b.byHand()
	b.answered()
	b.debts()
	b.followUps()
	b.coverage()
	b.doctrine()
	b.review()
	d.Brief = brief(st, d.Place)
	return d
}

type builder struct {
	st triage.State
	d  *Document
	at map[int64]time.Time // when an entry was written
	by map[int64]string    // and by whom
}

// line makes outside text harmless, on one line.
func line(s string) visible.Text { return visible.Line(s) }

// block makes outside text harmless and keeps its lines.
func block(s string) visible.Text { return visible.String(strings.Trim(s, "\n")) }

func texts(list []string) []visible.Text {
	var out []visible.Text
	for _, s := range list {
		out = append(out, line(s))
	}
	return out
}

// span is the time between two moments, "" where one is not known.
func span(from, to time.Time) string {
	if from.IsZero() || to.IsZero() {
		return ""
	}
	d := to.Sub(from)
	if d < time.Second {
		return d.Round(time.Millisecond).String()
	}
	return d.Round(time.Second).String()
}

func (b *builder) runbooks() {
	for _, p := range b.st.Plans {
		r := Runbook{ID: line(p.Runbook), Title: line(p.Title), Digest: line(p.Digest), From: line(p.From)}
		r.Params = factsOf(p.Params)
		b.d.Runbooks = append(b.d.Runbooks, r)
	}
}

func (b *builder) people() {
	for _, x := range b.st.People {
		b.d.People = append(b.d.People, Person{
			Name: line(cmp.Or(x.Name, x.ID)), Subject: line(cmp.Or(x.Subject, x.ID)), Proof: line(x.Proof),
			Roles: line(strings.Join(x.Roles, ", ")), Since: since(b.st, x),
		})
	}
}

// since is when a person came to the call: the first entry that tells of it.
func since(st triage.State, x triage.Person) time.Time {
	for _, m := range st.Timeline {
		if m.Type == (triage.Person{}).Type() && strings.HasPrefix(m.Text, x.Name+" is on the call") {
			return m.At.UTC()
		}
	}
	return time.Time{}
}

// legs are the phases in the order they were taken, those gone back to included.
func (b *builder) legs() {
	end := b.st.Updated
	if !b.st.Closed.IsZero() {
		end = b.st.Closed
	}
	for i, s := range b.st.Walk {
		until := end
		if i+1 < len(b.st.Walk) {
			until = b.st.Walk[i+1].From
		}
		b.d.Legs = append(b.d.Legs, Leg{Phase: line(string(s.Phase)), Why: line(s.Why), Entry: s.Seq, From: s.From.UTC(), Took: span(s.From, until), Back: s.Back})
	}
}

// questions are the topics in plain words.
var questions = map[triage.Topic]string{
	triage.TopicDomain: "What failed", triage.TopicMutation: "Did the failed change begin", triage.TopicConsistent: "Do recorded and actual state agree",
	triage.TopicClass: "Class of the failure", triage.TopicOwner: "Who owns the next move", triage.TopicReverts: "Would something undo a repair",
}

func (b *builder) conclusions() {
	order := []triage.Topic{triage.TopicDomain, triage.TopicOwner, triage.TopicMutation, triage.TopicConsistent, triage.TopicClass, triage.TopicReverts}
	for _, t := range slices.Sorted(maps.Keys(b.st.Topics)) {
		if !slices.Contains(order, t) {
			order = append(order, t)
		}
	}
	for _, t := range order {
		c, ok := b.st.Topics[t]
		if !ok {
			continue
		}
		b.d.Conclusions = append(b.d.Conclusions, Conclusion{
			Topic: line(string(t)), Question: questions[t], Value: line(c.Value), Proposed: line(c.Proposed), Provisional: c.Provisional,
			Person: line(c.Person), Actor: line(b.by[c.Seq]), Why: line(c.Why), Grounds: texts(c.Grounds), Contradicts: line(c.Contradicts),
			Entry: c.Seq, At: c.At.UTC(),
		})
	}
}

// cut is how much of one value a report shows; the whole is in the bundle.
const cut = 600

// ValueText is the text of a stored value, cut where it is long; of an unknown one
// it is why.
func ValueText(v triage.Value) string { return shownValue(v) }

// shownValue is the text of a stored value; of an unknown one it is why.
func shownValue(v triage.Value) string {
	if !v.Known() {
		return v.Why()
	}
	text := plainValue(v)
	if r := []rune(text); len(r) > cut {
		text = fmt.Sprintf("%s… (%d more characters in the bundle)", string(r[:cut]), len(r)-cut)
	}
	return text
}

func plainValue(v triage.Value) string {
	if list := v.Strings(); list != nil {
		if len(list) == 0 {
			return "none"
		}
		return strings.Join(list, ", ")
	}
	if table := v.Table(); table != nil {
		var out []string
		for _, k := range slices.Sorted(maps.Keys(table)) {
			out = append(out, k+" = "+table[k])
		}
		return cmp.Or(strings.Join(out, ", "), "none")
	}
	return v.Text()
}

func factsOf(m map[string]triage.Value) []Fact {
	var out []Fact
	for _, name := range slices.Sorted(maps.Keys(m)) {
		v := m[name]
		if name == drawn && drawingOf(m) != "" {
			continue
		}
		out = append(out, Fact{Name: line(name), Type: line(string(v.Type())), Value: line(shownValue(v)), Known: v.Known()})
	}
	return out
}
