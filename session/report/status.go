package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"handrail/evidence/visible"
	"handrail/steps"
	"handrail/triage"
)

// Update is the short update of an incident, for a channel or another program.
type Update struct {
	Incident visible.Text `json:"incident"`
	Outcome  visible.Text `json:"outcome"` // "" while the incident goes on
	Entry    int64        `json:"entry"`
	At       time.Time    `json:"at"` // of the newest entry: the update is as old as that
	Lines    []Line       `json:"lines"`
}

// Status is the short update for the channel: where it is, what is known, what was changed, what is next, who holds what and since
// when, in five to nine lines of plain text with a newline after each. It reads no clock, so the same state gives the
// same text; its last line says how old it is. Text from outside can neither steer a terminal nor call people in a chat.
func Status(st triage.State) string {
	return StatusOf(st, "").Text()
}

// StatusOf is the same update as data. context is that of the incident, "" where it
// is not known.
func StatusOf(st triage.State, context string) Update {
	return Update{Incident: line(st.Incident), Outcome: line(st.Outcome), Entry: st.Seq, At: st.Updated.UTC(), Lines: brief(st, place(st, context))}
}

// Text is the update as a channel shows it.
func (u Update) Text() string {
	var b strings.Builder
	for _, l := range u.Lines {
		if l.Label != "" {
			b.WriteString(l.Label + ": ")
		}
		b.WriteString(string(l.Text) + "\n")
	}
	return b.String()
}

// wide is how long a line of the update may be, in runes.
const wide = 240

func brief(st triage.State, at Place) []Line {
	var out []Line
	add := func(label, text string) {
		if text != "" {
			out = append(out, Line{Label: label, Text: chat(text)})
		}
	}
	add("", heading(st))
	if st.Incident == "" {
		return out
	}
	add("Where", at.words())
	add("Known", known(st))
	add("Seen", seen(st))
	add("Changed", changed(st))
	if st.Outcome == "" {
		add("Next", next(st))
	}
	add("Holds", holds(st))
	add("Owed", owed(st))
	add("As of", fmt.Sprintf("%s, entry %d", stamp(st.Updated), st.Seq))
	return out
}

// chat makes a line harmless for a terminal, and for a chat that calls people or makes links of what stands in <>.
func chat(s string) visible.Text {
	s = string(visible.Line(s))
	if r := []rune(s); len(r) > wide {
		s = string(r[:wide-1]) + "…"
	}
	s = strings.NewReplacer("<", "‹", ">", "›").Replace(s)
	var b strings.Builder
	before := ' '
	for _, r := range s {
		inWord := before == '.' || before == '-' || before == '_' || before >= '0' && before <= '9' || before|0x20 >= 'a' && before|0x20 <= 'z'
		if r == '@' && !inWord {
			b.WriteString("(at)")
		} else {
			b.WriteRune(r)
		}
		before = r
	}
	return visible.Line(b.String())
}

func heading(st triage.State) string {
	what := fmt.Sprintf("[%s] %s (%s)", st.Severity, st.Title, st.Incident)
	if st.Drill != "" {
		what = "DRILL " + what
	}
	switch {
	case st.Outcome != "":
		return fmt.Sprintf("%s: %s after %s, closed %s", what, outcomes(st.Outcome), span(st.Opened, st.Closed), stamp(st.Closed))
	case st.Incident == "":
		return "nothing is recorded yet"
	}
	out := fmt.Sprintf("%s: open since %s, in %s", what, stamp(st.Opened), st.Phase)
	if here := st.Here(); here.Back {
		out += " again since " + clock(here.From)
	} else if len(st.Walk) > 1 {
		out += " since " + clock(here.From)
	}
	return out
}

// outcomes words an outcome so that "open" is not read as going on.
func outcomes(o string) string {
	if o == "open" {
		return "ended open, not recovered"
	}
	return o
}

func known(st triage.State) string {
	var out []string
	for _, t := range []struct {
		topic triage.Topic
		say   string
	}{
		{triage.TopicDomain, "what failed: "}, {triage.TopicMutation, ""},
		{triage.TopicConsistent, "recorded and actual agree: "}, {triage.TopicClass, "class "}, {triage.TopicReverts, "something would undo a repair: "},
	} {
		c, ok := st.Topics[t.topic]
		if !ok {
			continue
		}
		say := t.say + c.Value
		if t.topic == triage.TopicMutation {
			say = began(c.Value)
		}
		if c.Provisional {
			say += " (provisional)"
		}
		out = append(out, say)
	}
	return cmp.Or(strings.Join(out, "; "), "nothing is concluded yet")
}

// began says of the change that failed whether it began: what was changed since, to
// repair it, is another matter.
func began(value string) string {
	switch value {
	case "yes":
		return "the failed change had begun"
	case "no":
		return "the failed change had not begun"
	}
	return "whether the failed change had begun is unknown"
}

// seen is the newest of the worst findings of steps in force, and how many others are as bad.
func seen(st triage.State) string {
	for _, level := range []steps.Level{steps.Critical, steps.Warning} {
		newest, say, n := int64(-1), "", 0
		for _, s := range st.Steps {
			for _, f := range s.Findings {
				if f.Level != level || s.Retired {
					continue
				}
				if n++; s.EndSeq >= newest {
					newest, say = s.EndSeq, f.Say
				}
			}
		}
		switch {
		case n == 1:
			return say
		case n > 1:
			return fmt.Sprintf("(1 of %d %s) %s", n, level, say)
		}
	}
	return ""
}

func changed(st triage.State) string {
	var out []string
	for _, id := range slices.Sorted(maps.Keys(st.Gates)) {
		for _, g := range st.Acts(id) {
			if g.StartSeq > 0 {
				out = append(out, fmt.Sprintf("%s %s %s: %s", id, doing(g.Phase), stamp(at(st, max(g.StartSeq, g.EndSeq))), short(g.Shown.Effect)))
			}
		}
	}
	for _, h := range st.Hands {
		out = append(out, fmt.Sprintf("%s by hand by %s, %s: %s", h.Object, h.Person, stamp(at(st, h.Seq)), short(h.What)))
	}
	return cmp.Or(strings.Join(out, "; "), "nothing, through handrail")
}

// short keeps what an act does to its first sentence, so that several acts fit in one line.
func short(effect string) string {
	if i := strings.Index(effect, ". "); i > 0 {
		effect = effect[:i+1]
	}
	if r := []rune(effect); len(r) > 110 {
		return string(r[:109]) + "…"
	}
	return effect
}

func doing(p triage.GatePhase) string {
	switch p {
	case triage.GateActing:
		return "is acting since"
	case triage.GateUnknown:
		return "acted, its outcome is NOT KNOWN, since"
	case triage.GateArmed, triage.GateConfirmed, triage.GateIdle:
		return "acted before, at"
	}
	return string(p) + " at"
}

func at(st triage.State, seq int64) time.Time {
	for _, m := range st.Timeline {
		if m.Seq == seq {
			return m.At
		}
	}
	return time.Time{}
}

// next is what the loop would do next. The conditions of a gate are not judged here, and the text says so.
func next(st triage.State) string {
	if st.Acting != "" {
		return "wait for " + st.Acting + ", which is acting"
	}
	holding := func(string) []triage.Verdict { return []triage.Verdict{{Result: "true"}} }
	for _, o := range triage.Options(st, st.Updated, holding) {
		if o.Recommended {
			return wanted(st, o)
		}
	}
	if st.Return != "" {
		return fmt.Sprintf("go back to %s: %s", st.Return, st.ReturnWhy)
	}
	return "nothing is recommended"
}

func wanted(st triage.State, o triage.Option) string {
	name := o.Step
	if s, ok := st.Step(o.Step); ok && s.Title != "" {
		name = fmt.Sprintf("%s (%s)", s.Title, o.Step)
	}
	switch o.Kind {
	case triage.DoProbe:
		return "read " + name
	case triage.DoAnswer:
		return "answer " + name
	case triage.DoManual:
		return "do and prove " + name
	case triage.DoConclude:
		return "conclude the " + string(o.Topic)
	case triage.DoPreview:
		return "preview the gate " + name + ", if its conditions hold"
	case triage.DoConfirm:
		return fmt.Sprintf("decide on the gate %s, armed until %s", name, stamp(st.Gates[o.Step].Shown.Until))
	case triage.DoApprove:
		return fmt.Sprintf("a second person approves the gate %s with handrail approve, until %s", name, stamp(st.Gates[o.Step].Shown.Until))
	case triage.DoWaive:
		return "read " + name + ", or waive it by name"
	case triage.DoSettle:
		return "settle the debt " + o.Subject
	case triage.DoClose:
		return "close as " + o.Value
	}
	return string(o.Kind) + " " + name
}

// holds says who owns the next move, and who is on the call since when.
func holds(st triage.State) string {
	var out []string
	if c, ok := st.Topics[triage.TopicOwner]; ok {
		out = append(out, fmt.Sprintf("next move: %s (since %s)", c.Value, clock(c.At)))
	}
	for i, p := range st.People {
		if i == 4 {
			out = append(out, fmt.Sprintf("and %d more", len(st.People)-i))
			break
		}
		who := cmp.Or(p.Name, p.ID)
		if len(p.Roles) > 0 {
			who += " as " + strings.Join(p.Roles, ", ")
		}
		if t := since(st, p); !t.IsZero() {
			who += " (since " + clock(t) + ")"
		}
		out = append(out, who)
	}
	return strings.Join(out, "; ")
}

func owed(st triage.State) string {
	var out []string
	for _, d := range st.Debts {
		switch d.Settled.How {
		case "":
			say := d.Text
			if d.Due != nil {
				say += " (due " + stamp(*d.Due) + ")"
			}
			out = append(out, say)
		case "carried":
			out = append(out, fmt.Sprintf("%s (carried by %s until %s)", d.Text, d.Settled.Owner, d.Settled.Until))
		}
	}
	return strings.Join(out, "; ")
}

func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02 15:04:05Z")
}

func clock(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("15:04Z")
}
