package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"handrail/triage"
)

type builder struct {
	st triage.State
	d  *Document
	at map[int64]time.Time // when an entry was written
	by map[int64]string    // and by whom
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
		if slices.Contains(drawn, name) && v.Known() && len(v.Strings()) > 0 {
			continue
		}
		out = append(out, Fact{Name: line(name), Type: line(string(v.Type())), Value: line(shownValue(v)), Known: v.Known()})
	}
	return out
}
