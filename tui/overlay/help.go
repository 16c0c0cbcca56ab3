package overlay

import (
	"slices"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"handrail/tui/ink"
	"handrail/tui/keymap"
	"handrail/tui/screen"
)

const helpHead ink.Text = "handrail walks a call through one loop: evidence first, then \"did it change anything?\", then the smallest safe step. handrail only reads until you open a gate and type its phrase. Unknown is an answer, and never counts as a no."

// helpTitle is an area of keys and what it is called.
type helpTitle struct {
	at    keymap.Area
	title ink.Text
}

// later is 0 for an area of the screen in front, and 1 for others.
func later(here []keymap.Area, t helpTitle) int {
	if slices.Contains(here, t.at) {
		return 0
	}
	return 1
}

// helpTitles are the areas that the help lists, in its order.
var helpTitles = []helpTitle{{keymap.Everywhere, "EVERYWHERE"}, {keymap.AtLists, "LISTS AND LONG TEXT"}, {keymap.OnHome, "HOME"}, {keymap.OnStep, "A STEP"}, {keymap.OnIncident, "THE INCIDENT"}, {keymap.InIncident, "ALL SCREENS OF AN INCIDENT"}, {keymap.OnEvidence, "THE EVIDENCE"}, {keymap.OnText, "AN ARTIFACT"}}

// allLines is further than the help is long.
const allLines = 1 << 20

// first are the areas of the screen that the help was opened on, whose keys come
// before all others.
func first(env *screen.Env) []keymap.Area {
	switch env.At {
	case screen.AtHome:
		return []keymap.Area{keymap.OnHome}
	case screen.AtRun:
		return []keymap.Area{keymap.OnStep, keymap.OnIncident}
	case screen.AtEvidence:
		return []keymap.Area{keymap.OnEvidence, keymap.OnText}
	}
	return nil
}

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
	case key.Matches(msg, env.Keys.First):
		h.off = 0
	case key.Matches(msg, env.Keys.Last):
		h.off = allLines
	}
	return false
}

// Draw fills w by height cells.
func (h *Help) Draw(env *screen.Env, w, height int) []ink.Drawn {
	th := &env.Theme
	p := ink.Page{W: w, Theme: th}
	p.Add("")
	p.Para(th.Plain, helpHead)
	here := first(env)
	titles := slices.Clone(helpTitles)
	slices.SortStableFunc(titles, func(a, b helpTitle) int { return later(here, a) - later(here, b) })
	for _, s := range titles {
		p.Gap()
		p.Add(th.Title.On(s.title))
		for _, c := range env.Keys.Commands() {
			if c.At == s.at {
				p.Item("  "+ink.Fit(th.Key.On(keymap.KeysOf(*c.Binding)), 13)+"  ", th.Plain, ink.Shown(c.Does))
			}
		}
		if s.at == keymap.OnText {
			p.Item("  "+ink.Fit(th.Key.On("0-9  enter"), 13)+"  ", th.Plain, "go to the line of that number")
		}
		if s.at == keymap.OnStep {
			p.Item("  "+ink.Fit(th.Key.On("1-9"), 13)+"  ", th.Plain, "answer, then say how it was confirmed")
		}
	}
	p.Gap()
	p.Add(th.Title.On("SYMBOLS"))
	for _, s := range []struct{ sign, means ink.Text }{
		{"✓ ● ○", "done, now, open"},
		{"×", "cannot be done now: the step says why, and what to do"},
		{"←1 ←2 ←3", "where you were, newest first"},
		{"!", "unknown or stale: read again"},
		{"–", "skipped, waived or not needed, with a reason"},
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
