package run

import (
	"maps"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"handrail/steps"
	"handrail/triage"
	"handrail/tui/form"
	"handrail/tui/incident"
	"handrail/tui/ink"
	"handrail/tui/screen"
)

// What y copies: the cell that is picked, else one of the things that the step in
// front shows. Where there are several it asks which.

// excerpt is one thing that can be copied: what it is, and its text.
type excerpt struct {
	what ink.Text
	text string
}

// Copy hands what the cursor is on to the clipboard, or asks what is meant.
func (r *Screen) Copy(env *screen.Env) tea.Cmd {
	all := r.excerpts(env)
	switch len(all) {
	case 0:
		env.Warn("", "There is nothing to copy here.")
		return nil
	case 1:
		return env.Copy(all[0].what, all[0].text)
	}
	var cs []form.Choice
	for _, x := range all {
		cs = append(cs, form.Choice{Value: string(x.what), Help: ink.Clip(ink.Shown(x.text), 200)})
	}
	field := form.OneOf("what", "copy", cs)
	env.Sheet = &form.Form{Title: "Copy to the terminal's clipboard", Fields: []form.Field{field}, Does: "copy"}
	sheet := env.Sheet
	sheet.Submit = func(map[string]string) tea.Cmd {
		x := all[sheet.Fields[0].Pick]
		return env.Copy(x.what, x.text)
	}
	return nil
}

// excerpts are the things to copy, what people paste most first.
func (r *Screen) excerpts(env *screen.Env) []excerpt {
	st, card := r.step()
	if g := r.compared(env); g != nil && r.Row >= 0 && r.Row < len(g.rows) {
		c := g.rows[r.Row].cells[min(r.col, len(g.rows[r.Row].cells)-1)]
		return []excerpt{{ink.Say("%s of %s", g.rows[r.Row].field, c.source), string(c.value)}}
	}
	var out []excerpt
	add := func(what ink.Text, text string) {
		if strings.TrimSpace(text) != "" {
			out = append(out, excerpt{what, text})
		}
	}
	if r.Facts {
		for _, f := range r.factSteps(false) {
			r.factsOf(env, f, true, add)
		}
		return out
	}
	add("command", st.Command)
	g := r.Snap.State.Gates[st.ID]
	if st.Kind == triage.GateStep && g.ShownSeq > 0 {
		add("command of the gate", g.Shown.Command)
		add("result of the gate", g.Response)
	}
	for _, f := range sortedFindings(st.Findings) {
		add(ink.Say("%s finding", ink.Or(ink.Shown(string(f.Level)), "info")), f.Say)
	}
	add("result", st.Summary)
	add("question", card.Ask)
	for _, gap := range st.Gaps {
		add("not checked", gap)
	}
	r.factsOf(env, st, false, add)
	add("step id", st.ID)
	add("incident id", r.Snap.State.Incident)
	return out
}

// factsOf adds the facts of a step that are shown.
func (r *Screen) factsOf(env *screen.Env, st triage.Step, named bool, add func(ink.Text, string)) {
	find := r.find.words()
	for _, name := range slices.Sorted(maps.Keys(st.Facts)) {
		v := st.Facts[name]
		shown, known := valueText(env, v)
		if !known || !form.HasWords(find, st.ID, name, string(shown)) {
			continue
		}
		what := ink.Say("fact %s", name)
		if named {
			what = ink.Say("fact %s.%s", incident.Short(st.ID), name)
		}
		text := v.Text()
		if v.Type() == steps.Strings {
			text = strings.Join(v.Strings(), "\n")
		}
		add(what, text)
	}
}
