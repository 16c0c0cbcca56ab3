package tui

import (
	"handrail/tui/ink"
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"
)

func (h *homeScreen) press(env *Env, msg tea.KeyPressMsg) tea.Cmd {
	switch {
	case h.searching:
		return h.narrow(env, msg)
	case key.Matches(msg, env.keys.Search):
		h.searching = true
	case key.Matches(msg, env.keys.Esc):
		h.find = editor{}
	case key.Matches(msg, env.keys.Leave):
		return env.Ask(Quit{})
	case key.Matches(msg, env.keys.Help):
		return env.Ask(OpenHelp{})
	case key.Matches(msg, env.keys.Up):
		h.step(-1)
	case key.Matches(msg, env.keys.Down):
		h.step(1)
	case key.Matches(msg, env.keys.PageUp):
		h.steps(-10)
	case key.Matches(msg, env.keys.PageDown):
		h.steps(10)
	case key.Matches(msg, env.keys.First):
		h.steps(-len(h.rows))
	case key.Matches(msg, env.keys.Last):
		h.steps(len(h.rows))
	case key.Matches(msg, env.keys.Paste):
		env.show(atMatch)
	case key.Matches(msg, env.keys.Symptoms):
		return env.Ask(OpenSymptoms{})
	case key.Matches(msg, env.keys.Practise):
		h.jump(practice)
	case key.Matches(msg, env.keys.Library):
		h.jump(library)
	case key.Matches(msg, env.keys.Reload):
		h.loading = true
		return tea.Batch(h.load(env), h.ask(env))
	case key.Matches(msg, env.keys.Enter):
		return h.openRow(env)
	}
	return nil
}

// narrow takes what is typed after /: the rows that have all of its words stay.
func (h *homeScreen) narrow(env *Env, msg tea.KeyPressMsg) tea.Cmd {
	switch msg.String() {
	case "enter":
		h.searching = false
		if h.seen(h.at) {
			return h.openRow(env)
		}
		return nil
	case "esc":
		h.searching, h.find = false, editor{}
		return nil
	case "up":
		h.step(-1)
		return nil
	case "down":
		h.step(1)
		return nil
	}
	h.find.key(msg)
	if !h.seen(h.at) {
		h.at = 0
		if !h.seen(0) {
			h.step(1)
		}
	}
	return nil
}

// seen says whether a row has every word that narrows the list.
func (h *homeScreen) seen(i int) bool {
	if i >= len(h.rows) {
		return false
	}
	r := &h.rows[i]
	if narrowed := h.find.value() != ""; r.folded && !narrowed || r.fold && narrowed {
		return false
	}
	for w := range strings.FieldsSeq(strings.ToLower(h.find.value())) {
		if !strings.Contains(r.all, w) {
			return false
		}
	}
	return true
}

// step goes to the row before or after that is seen.
func (h *homeScreen) step(by int) {
	for i := h.at + by; i >= 0 && i < len(h.rows); i += by {
		if h.seen(i) {
			h.at, h.moved = i, true
			return
		}
	}
}

func (h *homeScreen) steps(n int) {
	by := 1
	if n < 0 {
		by, n = -1, -n
	}
	for range n {
		h.step(by)
	}
}

func (h *homeScreen) jump(s section) {
	h.find = editor{}
	for i, r := range h.rows {
		if r.section == s {
			h.at, h.moved = i, true
			return
		}
	}
}

func (h *homeScreen) openRow(env *Env) tea.Cmd {
	if len(h.rows) == 0 {
		env.show(atMatch)
		return nil
	}
	if !h.seen(h.at) {
		env.warn("", "Nothing here has these words. esc clears them.")
		return nil
	}
	r := h.rows[h.at]
	switch r.section {
	case incidents, debts:
		return env.Ask(Resume{ID: r.id})
	case rightNow:
		return h.openStanding(env, r)
	case practice:
		if len(r.variants) > 0 {
			env.form = h.variantForm(env, r)
			return nil
		}
		return env.Ask(Practise{Drill: r.id})
	}
	return env.Ask(Start{Runbook: r.id})
}

func (h *homeScreen) variantForm(env *Env, r homeRow) *form {
	cs := []choice{{value: "as it is", help: "the drill's own course"}}
	for _, v := range r.variants {
		cs = append(cs, choice{value: v, help: ""})
	}
	return &form{title: ink.Say("Practise %s", r.id), intro: []ink.Text{r.main}, fields: []field{oneOf("variant", "variant", cs)},
		submit: func(v map[string]string) tea.Cmd {
			if v["variant"] == cs[0].value {
				return env.Ask(Practise{Drill: r.id})
			}
			return env.Ask(Practise{Drill: r.id, Variant: v["variant"]})
		}}
}

func (h *homeScreen) paste(env *Env, s string) tea.Cmd { return env.Ask(Match{Text: s}) }

func (h *homeScreen) typing() bool { return h.searching }

func (h *homeScreen) hear(env *Env, msg tea.Msg) (tea.Cmd, bool) {
	switch msg := msg.(type) {
	case homeMsg:
		env.known = msg.data
		h.take(msg)
	case framedMsg:
		if env.inc == nil {
			return h.ask(env), true
		}
	case answerMsg:
		return h.answered(env, msg), true
	case askedMsg:
		h.centre.took(msg)
	default:
		return nil, false
	}
	return nil, true
}

func (h *homeScreen) hints(env *Env) hintLine {
	k := &env.keys
	out := hintLine{move: h.move(), always: hints(k.Help, k.Leave)}
	if h.searching {
		out.keys = []ink.Hint{{Key: "↑ ↓", Does: "choose"}, {Key: "esc", Does: "clear"}}
		return out
	}
	out.keys = append([]ink.Hint{{Key: "↑ ↓", Does: "choose"}}, hints(k.Paste, k.Symptoms, k.Search, k.Palette, k.Practise, k.Library)...)
	return out
}

// finds are the rows of the list.
func (h *homeScreen) finds(env *Env) []found {
	var out []found
	for i, r := range h.rows {
		if r.folded {
			continue
		}
		note := r.main
		if r.section == rightNow {
			note = r.left + " " + r.main
		}
		out = append(out, found{label: r.move, note: ink.Clip(note, 40), do: func() tea.Cmd {
			h.at, h.moved = i, true
			return h.openRow(env)
		}})
	}
	return out
}
