package home

import (
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"handrail/tui/form"
	"handrail/tui/ink"
	"handrail/tui/keymap"
	"handrail/tui/screen"
)

// Press implements [screen.Screen].
func (h *Screen) Press(env *screen.Env, msg tea.KeyPressMsg) tea.Cmd {
	switch {
	case h.searching:
		return h.narrow(env, msg)
	case key.Matches(msg, env.Keys.Search):
		h.searching = true
	case key.Matches(msg, env.Keys.Esc):
		h.clear()
	case key.Matches(msg, env.Keys.Leave):
		return env.Ask(screen.Quit{})
	case key.Matches(msg, env.Keys.Help):
		return env.Ask(screen.OpenHelp{})
	case key.Matches(msg, env.Keys.Copy):
		return h.copy(env)
	case key.Matches(msg, env.Keys.Up):
		h.step(-1)
	case key.Matches(msg, env.Keys.Down):
		h.step(1)
	case key.Matches(msg, env.Keys.PageUp):
		h.steps(-10)
	case key.Matches(msg, env.Keys.PageDown):
		h.steps(10)
	case key.Matches(msg, env.Keys.First):
		h.steps(-len(h.Rows))
	case key.Matches(msg, env.Keys.Last):
		h.steps(len(h.Rows))
	case key.Matches(msg, env.Keys.Paste):
		env.Show(screen.AtMatch)
	case key.Matches(msg, env.Keys.Symptoms):
		return env.Ask(screen.Open{Screen: screen.AtSymptoms})
	case key.Matches(msg, env.Keys.Practise):
		h.drills = true
		h.jump(Practice)
	case key.Matches(msg, env.Keys.Library):
		h.drills = false
		h.jump(library)
	case key.Matches(msg, env.Keys.Reload):
		h.Loading = true
		return tea.Batch(h.Load(env), h.Ask(env))
	case key.Matches(msg, env.Keys.Enter):
		return h.openRow(env)
	}
	return nil
}

// narrow takes what is typed after /: the rows that have all of its words stay.
func (h *Screen) narrow(env *screen.Env, msg tea.KeyPressMsg) tea.Cmd {
	switch msg.String() {
	case "enter":
		h.searching = false
		if h.seen(h.At) {
			return h.openRow(env)
		}
		return nil
	case "esc":
		h.searching = false
		h.clear()
		return nil
	case "up":
		h.step(-1)
		return nil
	case "down":
		h.step(1)
		return nil
	}
	h.find.Key(msg)
	h.Moved = true
	if !h.seen(h.At) {
		h.At = 0
		if !h.seen(0) {
			h.step(1)
		}
	}
	return nil
}

// clear shows everything again but the drills, with the cursor where it was if it can
// be seen there.
func (h *Screen) clear() {
	h.drills, h.find = false, form.Editor{}
	if !h.seen(h.At) {
		h.At = -1
		h.step(1)
	}
}

// seen says whether a row has every word that narrows the list. Drills are a screen
// of their own until something is looked for.
func (h *Screen) seen(i int) bool {
	if i < 0 || i >= len(h.Rows) {
		return false
	}
	r := &h.Rows[i]
	narrowed := h.find.Value() != ""
	if r.folded && !narrowed || r.Fold && narrowed || !narrowed && h.drills != (r.Section == Practice) {
		return false
	}
	for w := range strings.FieldsSeq(strings.ToLower(h.find.Value())) {
		if !strings.Contains(r.all, w) {
			return false
		}
	}
	return true
}

// step goes to the row before or after that is seen.
func (h *Screen) step(by int) {
	from := h.At
	if !h.Moved && from != 0 { // rows came before the first one: begin above them all
		from, by = -1, 1
	}
	for i := from + by; i >= 0 && i < len(h.Rows); i += by {
		if h.seen(i) {
			h.At, h.Moved = i, true
			return
		}
	}
}

func (h *Screen) steps(n int) {
	by := 1
	if n < 0 {
		by, n = -1, -n
	}
	for range n {
		h.step(by)
	}
}

func (h *Screen) jump(s section) {
	h.find = form.Editor{}
	for i, r := range h.Rows {
		if r.Section == s {
			h.At, h.Moved = i, true
			return
		}
	}
}

func (h *Screen) openRow(env *screen.Env) tea.Cmd {
	if h.At < 0 || len(h.Rows) == 0 {
		env.Show(screen.AtMatch)
		return nil
	}
	if !h.seen(h.At) {
		env.Warn("", "No match. Press esc to clear the search.")
		return nil
	}
	r := h.Rows[h.At]
	switch r.Section {
	case incidents, debts:
		return env.Ask(screen.Resume{ID: r.ID})
	case rightNow:
		return h.openStanding(env, r)
	case Practice:
		if r.resumes {
			return env.Ask(screen.Resume{ID: r.ID})
		}
		if len(r.variants) > 0 {
			env.Sheet = h.variantForm(env, r)
			return nil
		}
		return env.Ask(screen.Practise{Drill: r.ID})
	}
	return env.Ask(screen.Start{Runbook: r.ID})
}

// copy hands the row that the cursor is on to the clipboard: of a finding all that is
// known of it.
func (h *Screen) copy(env *screen.Env) tea.Cmd {
	r, ok := h.chosen()
	if !ok || !h.seen(h.At) {
		env.Warn("", "Choose a row first: ↑ ↓.")
		return nil
	}
	if s := r.standing; s != nil {
		lines := []string{s.Where + ": " + s.What}
		for _, t := range []string{s.Detail, s.Command} {
			if t != "" {
				lines = append(lines, t)
			}
		}
		return env.Copy("the finding", strings.Join(lines, "\n"))
	}
	if r.Section == rightNow {
		return env.Copy("the line", string(r.main))
	}
	return env.Copy("the id", r.ID)
}

func (h *Screen) variantForm(env *screen.Env, r HomeRow) *form.Form {
	cs := []form.Choice{{Value: "as it is", Help: "the standard drill"}}
	for _, v := range r.variants {
		cs = append(cs, form.Choice{Value: v, Help: ""})
	}
	intro := []ink.Text{r.main}
	if r.goal != "" {
		intro = append(intro, "To win: "+r.goal)
	}
	if r.needs != "" {
		intro = append(intro, r.needs)
	}
	return &form.Form{Title: ink.Say("Practise %s", r.ID), Intro: intro, Fields: []form.Field{form.OneOf("variant", "variant", cs)},
		Submit: func(v map[string]string) tea.Cmd {
			if v["variant"] == cs[0].Value {
				return env.Ask(screen.Practise{Drill: r.ID})
			}
			return env.Ask(screen.Practise{Drill: r.ID, Variant: v["variant"]})
		}}
}

// Paste implements [screen.Screen].
func (h *Screen) Paste(env *screen.Env, s string) tea.Cmd { return env.Ask(screen.Match{Text: s}) }

// Typing implements [screen.Screen].
func (h *Screen) Typing() bool { return h.searching }

// Hear implements [screen.Screen].
func (h *Screen) Hear(env *screen.Env, msg tea.Msg) (tea.Cmd, bool) {
	switch msg := msg.(type) {
	case HomeMsg:
		env.Known = msg.Data
		h.take(msg)
	case FramedMsg:
		if env.Incident == nil {
			return h.Ask(env), true
		}
	case AnswerMsg:
		return h.answered(msg), true
	case askedMsg:
		h.Centre.took(msg)
	default:
		return nil, false
	}
	return nil, true
}

// Hints implements [screen.Screen].
func (h *Screen) Hints(env *screen.Env) screen.Hints {
	k := &env.Keys
	out := screen.Hints{Move: h.move(), Always: keymap.Hints(k.Help, k.Leave)}
	if h.searching {
		out.Keys = []ink.Hint{{Key: "↑ ↓", Does: "choose"}, {Key: "esc", Does: "clear"}}
		return out
	}
	out.Keys = append([]ink.Hint{{Key: "↑ ↓", Does: "choose"}}, keymap.Hints(k.Paste, k.Symptoms, k.Search, k.Palette, k.Practise, k.Library, k.Copy)...)
	if h.drills {
		out.Keys = append([]ink.Hint{{Key: "↑ ↓", Does: "choose"}}, keymap.Hints(k.Search, k.Esc)...)
	}
	return out
}

// Finds are the rows of the list.
func (h *Screen) Finds(env *screen.Env) []screen.PaletteItem {
	var out []screen.PaletteItem
	for i, r := range h.Rows {
		if r.folded {
			continue
		}
		note := r.main
		if r.Section == rightNow {
			note = r.left + " " + r.main
		}
		out = append(out, screen.PaletteItem{Label: r.move, Note: ink.Clip(note, 40), Do: func() tea.Cmd {
			h.At, h.Moved = i, true
			return h.openRow(env)
		}})
	}
	return out
}
