package tui

import (
	"handrail/tui/ink"
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"
)

func (m *model) pressHome(msg tea.KeyPressMsg) tea.Cmd {
	h := &m.home
	switch {
	case h.typing:
		return m.narrow(msg)
	case key.Matches(msg, m.keys.Search):
		h.typing = true
	case key.Matches(msg, m.keys.Esc):
		h.find = editor{}
	case key.Matches(msg, m.keys.Leave):
		return m.quit()
	case key.Matches(msg, m.keys.Help):
		m.openHelp()
	case key.Matches(msg, m.keys.Up):
		h.step(-1)
	case key.Matches(msg, m.keys.Down):
		h.step(1)
	case key.Matches(msg, m.keys.PageUp):
		h.steps(-10)
	case key.Matches(msg, m.keys.PageDown):
		h.steps(10)
	case key.Matches(msg, m.keys.First):
		h.steps(-len(h.rows))
	case key.Matches(msg, m.keys.Last):
		h.steps(len(h.rows))
	case key.Matches(msg, m.keys.Paste):
		m.at = atMatch
	case key.Matches(msg, m.keys.Symptoms):
		return m.openSymptoms()
	case key.Matches(msg, m.keys.Practise):
		h.jump(practice)
	case key.Matches(msg, m.keys.Library):
		h.jump(library)
	case key.Matches(msg, m.keys.Reload):
		h.loading = true
		return tea.Batch(m.loadHome(), m.ask())
	case key.Matches(msg, m.keys.Enter):
		return m.openRow()
	}
	return nil
}

// narrow takes what is typed after /: the rows that have all of its words stay.
func (m *model) narrow(msg tea.KeyPressMsg) tea.Cmd {
	h := &m.home
	switch msg.String() {
	case "enter":
		h.typing = false
		if h.seen(h.at) {
			return m.openRow()
		}
		return nil
	case "esc":
		h.typing, h.find = false, editor{}
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

// hasWords says whether every word, in small letters, stands in one of the texts.
func hasWords(words []string, in ...string) bool {
	all := strings.ToLower(strings.Join(in, " "))
	for _, w := range words {
		if !strings.Contains(all, w) {
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

func (m *model) openRow() tea.Cmd {
	if len(m.home.rows) == 0 {
		m.at = atMatch
		return nil
	}
	if !m.home.seen(m.home.at) {
		m.warn("", "Nothing here has these words. esc clears them.")
		return nil
	}
	r := m.home.rows[m.home.at]
	switch r.section {
	case incidents, debts:
		return m.resume(r.id)
	case rightNow:
		return m.openStanding(r)
	case practice:
		if len(r.variants) > 0 {
			m.form = m.variantForm(r)
			return nil
		}
		return m.drill(r.id, "")
	}
	return m.startRunbook(r.id)
}

func (m *model) variantForm(r homeRow) *form {
	cs := []choice{{value: "as it is", help: "the drill's own course"}}
	for _, v := range r.variants {
		cs = append(cs, choice{value: v, help: ""})
	}
	return &form{title: ink.Say("Practise %s", r.id), intro: []ink.Text{r.main}, fields: []field{oneOf("variant", "variant", cs)},
		submit: func(v map[string]string) tea.Cmd {
			if v["variant"] == cs[0].value {
				return m.drill(r.id, "")
			}
			return m.drill(r.id, v["variant"])
		}}
}
