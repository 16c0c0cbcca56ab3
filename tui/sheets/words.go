package sheets

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"handrail/session/view"
	"handrail/triage"
	"handrail/tui/form"
	"handrail/tui/incident"
	"handrail/tui/ink"
	"handrail/tui/screen"
)

// later is what a line says that is left open although something is proposed for it.
const later = "-"

// again divides who was asked from when it is asked again.
const again = "again:"

// WordsForm asks for all that a person can say before something is to be read again: one
// line for each question, proof and conclusion, with what is proposed for it. Each is sent
// as an intent of its own.
func WordsForm(env *screen.Env, os []triage.Option) *form.Form {
	f := &form.Form{Does: "send", Heads: heads}
	lines := map[string]words{}
	for _, o := range os {
		w := wordsOf(env, o)
		lines[o.Step] = w
		f.Fields = append(f.Fields, form.Asked(o.Step, incident.Short(o.Step), w.row, w.check))
	}
	heads(f)
	f.AtOpen()
	f.Submit = func(v map[string]string) tea.Cmd {
		var ins []triage.Intent
		for _, fl := range os {
			if in, ok := lines[fl.Step].intent(v[fl.Step]); ok {
				ins = append(ins, in)
			}
		}
		return env.SendAll(ins)
	}
	f.Lacks = func(v map[string]string) (string, ink.Text) {
		for _, o := range os {
			if _, ok := lines[o.Step].intent(v[o.Step]); ok {
				return "", ""
			}
		}
		return os[0].Step, "Say at least one of these, or press esc."
	}
	return f
}

// heads says how many lines there are, and what enter does with them.
func heads(f *form.Form) {
	f.Title, f.Intro = "Say this", nil
	if n := len(f.Fields); n > 1 {
		f.Title = ink.Say("Say these %d, nothing is read between them", n)
		f.Intro = []ink.Text{`Enter takes what is proposed; empty is asked again; "-" leaves it open.`}
	}
}

// words is a line of the sheet.
type words struct {
	o        triage.Option
	row      form.Row
	proposed string
	agrees   string // recorded with a proposed answer
}

func wordsOf(env *screen.Env, o triage.Option) words {
	st, _ := env.Snap.State.Step(o.Step)
	card := env.Snap.Cards[o.Step]
	w := words{o: o, row: form.Row{Ask: ink.Or(ink.Shown(card.Ask), env.Title(o.Step))}}
	if card.Say != "" {
		w.row.Says = append(w.row.Says, ink.Shown(card.Say))
	}
	for _, kv := range card.Show {
		w.row.Shows = append(w.row.Shows, ink.Pair{Key: ink.Shown(kv.Key), Value: ink.Or(ink.Shown(kv.Value), "unknown"), Ink: env.Theme.Plain})
	}
	w.row.Needs = ink.Shown(card.Evidence)
	switch o.Kind {
	case triage.DoAnswer:
		w.row.Values = answersOf(st, card)
		w.proposed, w.agrees = card.Proposed, card.Agrees()
	case triage.DoConclude:
		w.proposed = env.Proposed(o)
		for _, v := range card.Values {
			w.row.Values = append(w.row.Values, form.Choice{Value: v.Value, Help: ink.Shown(v.Help)})
		}
	case triage.DoManual:
		w.manual(env, st, card)
	}
	if w.proposed == triage.Unknown || st.Answer != "" { // what it was before is to be said anew
		w.proposed = ""
	}
	if w.proposed != "" {
		w.row.Stands = ink.Shown(w.proposed)
		w.row.Why = append(w.row.Why, ink.Shown(card.Why))
		for _, g := range card.Grounds {
			w.row.On = append(w.row.On, ink.Shown(strings.TrimPrefix(g, "facts.")))
		}
	}
	return w
}

// answersOf is what may be said to a question, and that it is not known.
func answersOf(st triage.Step, card view.Card) []form.Choice {
	var out []form.Choice
	for _, a := range card.Answers {
		out = append(out, form.Choice{Value: a.Value, Help: namingAfter(ink.Shown(a.Help), card.Naming(a.Value))})
	}
	if out == nil {
		for _, a := range st.Answers {
			out = append(out, form.Choice{Value: a})
		}
	}
	out = slices.DeleteFunc(out, func(c form.Choice) bool { return c.Value == triage.Unknown })
	return append(out, form.Choice{Value: triage.Unknown, Help: `never a no; who was asked, "again: when"`})
}

// manual says of a step by hand which items its proof gives.
func (w *words) manual(env *screen.Env, st triage.Step, card view.Card) {
	var items []string
	for _, item := range env.Snap.State.Wanted(st.ID) {
		items = append(items, item.Code+" "+item.Means)
	}
	w.row.Needs = ink.Or(w.row.Needs, "a link, an id, a log line")
	if len(st.Covers) > 1 && len(items) > 0 {
		w.row.Says = append(w.row.Says, ink.Say("Each counts by its own value, or by the word none: %s.", strings.Join(items, ", ")))
	}
	if line := card.Naming(""); line != "" {
		w.row.Says = append(w.row.Says, ink.Shown(line))
	}
	if card.Practice != "" {
		w.row.Says = append(w.row.Says, "In this drill: "+ink.Shown(card.Practice))
	}
}

// namingAfter adds to the help of an answer what its words must name.
func namingAfter(help ink.Text, line string) ink.Text {
	if line == "" {
		return help
	}
	return help + ". " + ink.Shown(line)
}

// check says what a line lacks.
func (w words) check(s string) ink.Text {
	if w.o.Kind == triage.DoManual || s == later {
		return ""
	}
	value, how, ok := form.Begun(w.row.Values, s)
	who, _ := askedOf(how)
	switch {
	case w.row.Values == nil:
	case !ok:
		var all []string
		for _, c := range w.row.Values {
			all = append(all, c.Value)
		}
		return ink.Say("Begin with %s or its number, then say how it is known.", strings.Join(all, ", "))
	case value == triage.Unknown && who == "":
		return "Say who was asked, or where it was looked for."
	case how == "":
		return ink.Say("Say after %s how it is known.", value)
	}
	return ""
}

// intent is what a line says; false where it says nothing.
func (w words) intent(s string) (triage.Intent, bool) {
	in := triage.Intent{Kind: w.o.Kind, Step: w.o.Step, Topic: w.o.Topic}
	switch {
	case s == later || s == "" && w.proposed == "":
		return in, false
	case s == "":
		if in.Value = w.proposed; in.Kind == triage.DoAnswer {
			in.Text = w.agrees
		}
		return in, true
	case in.Kind == triage.DoManual:
		in.Text = s
		return in, true
	}
	value, how, ok := form.Begun(w.row.Values, s)
	who, when := askedOf(how)
	switch {
	case !ok: // a topic in any words
		in.Value = s
	case value == triage.Unknown:
		in.Value, in.Text = value, unknownBecause(who, when)
	case in.Kind == triage.DoConclude && strings.HasPrefix(how, "@"):
		person, why, _ := strings.Cut(how[1:], " ")
		in.Value, in.Person, in.Text = value, strings.TrimRight(person, ":,"), strings.TrimSpace(why)
	default:
		in.Value, in.Text = value, how
	}
	return in, true
}

// askedOf reads who was asked, and when it is asked again.
func askedOf(words string) (who, when string) {
	who, when, _ = strings.Cut(words, again)
	return strings.TrimRight(strings.TrimSpace(who), ";, "), strings.TrimSpace(when)
}
