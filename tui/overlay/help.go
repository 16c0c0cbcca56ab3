package overlay

import (
	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"handrail/tui/ink"
	"handrail/tui/keymap"
	"handrail/tui/screen"
)

const helpHead ink.Text = "handrail walks a call through one loop: evidence first, then \"did it change anything?\", then the smallest safe step. Everything only reads until you open a gate and type its phrase. Unknown is an answer, and never taken for a no."

// helpTitles are the areas that the help lists, in its order.
var helpTitles = []struct {
	at    keymap.Area
	title ink.Text
}{{keymap.Everywhere, "EVERYWHERE"}, {keymap.AtLists, "LISTS AND LONG TEXT"}, {keymap.OnHome, "HOME"}, {keymap.OnStep, "A STEP"}, {keymap.OnIncident, "THE INCIDENT"}, {keymap.InIncident, "ON ALL SCREENS OF AN INCIDENT"}, {keymap.OnEvidence, "THE EVIDENCE"}, {keymap.OnText, "AN ARTIFACT"}}

// Help is how far the help is scrolled.
type Help struct{ off int }

// Press scrolls, and says whether the help was put away.
func (h *Help) Press(env *screen.Env, msg tea.KeyPressMsg) (over bool) {
	switch {
	case key.Matches(msg, env.Keys.Esc, env.Keys.Leave, env.Keys.Help, env.Keys.Enter):
		return true
	case key.Matches(msg, env.Keys.Down):
		h.off++
	case key.Matches(msg, env.Keys.PageDown):
		h.off += 10
	case key.Matches(msg, env.Keys.Up):
		h.off = max(0, h.off-1)
	case key.Matches(msg, env.Keys.PageUp):
		h.off = max(0, h.off-10)
	}
	return false
}

// Draw fills w by height cells.
func (h *Help) Draw(env *screen.Env, w, height int) []ink.Drawn {
	th := &env.Theme
	p := ink.Page{W: w, Theme: th}
	p.Add("")
	p.Para(th.Plain, helpHead)
	for _, s := range helpTitles {
		p.Gap()
		p.Add(th.Title.On(s.title))
		for _, c := range env.Keys.Commands() {
			if c.At == s.at {
				p.Item("  "+ink.Fit(th.Key.On(keymap.KeysOf(*c.Binding)), 13)+"  ", th.Plain, ink.Shown(c.Does))
			}
		}
		if s.at == keymap.OnText {
			p.Item("  "+ink.Fit(th.Key.On("0-9  enter"), 13)+"  ", th.Plain, "to the line of that number")
		}
		if s.at == keymap.OnStep {
			p.Item("  "+ink.Fit(th.Key.On("1-9"), 13)+"  ", th.Plain, "answer, then say how it was confirmed")
		}
	}
	p.Gap()
	p.Add(th.Title.On("SYMBOLS"))
	for _, s := range []struct{ sign, means ink.Text }{
		{"✓ ● ○", "done, now, open"},
		{"×", "cannot be done now: the step says why, and what would meet it"},
		{"←1 ←2 ←3", "where you were, the newest first"},
		{"!", "unknown or stale: look again"},
		{"–", "skipped or waived, with a reason"},
		{"✗ ! ·", "findings: critical, warning, info"},
	} {
		p.Item("  "+ink.Fit(th.Strong.On(s.sign), 13)+"  ", th.Plain, s.means)
	}
	var rows []ink.Drawn
	all := len(p.Rows)
	rows, h.off = ink.Window(p.Rows, h.off, height)
	if more := all - h.off - height; more > 0 {
		rows[height-1] = th.Muted.On(ink.Say("↓ %d more lines", more+1))
	}
	return rows
}

// Hints are the keys of the help.
func (h *Help) Hints() screen.Hints {
	return screen.Hints{Keys: []ink.Hint{{Key: "↑ ↓", Does: "scroll"}, {Key: "esc", Does: "back"}}}
}
