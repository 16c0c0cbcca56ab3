package tui

import (
	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"
)

const helpHead text = "handrail walks a call through one loop: evidence first, then \"did it change anything?\", then the smallest safe step. Everything only reads until you open a gate and type its phrase. Unknown is an answer, and never taken for a no."

// helpKey is one line of the help.
type helpKey struct{ key, does text }

func helpSections() []struct {
	title text
	keys  []helpKey
} {
	type sec = struct {
		title text
		keys  []helpKey
	}
	return []sec{
		{"EVERYWHERE", []helpKey{
			{"enter", "do what stands beside ▸, the safest next thing"},
			{"esc", "back, put a sheet away, disarm a gate"},
			{"?", "this help"},
			{"q", "leave; the incident stays open and acts go on"},
			{"ctrl+c", "leave the program at once; it never stops an act"}}},
		{"HOME", []helpKey{
			{"p", "paste an error, or just paste it"},
			{"d  l", "to the drills, to the library"},
			{"r", "look again"}}},
		{"A STEP", []helpKey{
			{"1-9", "answer, then say how it was confirmed"},
			{"u", "I do not know, on every question"},
			{"r", "read again"},
			{"x", "stop the probe that is running"},
			{"a  o", "accept what the facts propose, decide otherwise"},
			{"w", "waive with a name and a reason"},
			{"s", "skip with a reason"},
			{"n", "to the next required thing that is open"},
			{"[  ]", "to the step before, after"}}},
		{"THE INCIDENT", []helpKey{
			{"g", "look at the gate; looking changes nothing"},
			{"e", "all evidence, with its raw artifacts"},
			{"f tab", "what is known"},
			{"t", "note for the timeline"},
			{"A", "copy the line that proves the journal, and say where it was posted"},
			{"S", "severity"},
			{"d", "settle a debt: paid, carried or waived"},
			{"i", "interrupt a running act, asked for once more"},
			{"b", "go on with another runbook; what is known stays known"},
			{"c", "close the incident"}}},
		{"SYMBOLS", []helpKey{
			{"✓ ● ○", "done, now, open"},
			{"!", "unknown or stale: look again"},
			{"–", "skipped or waived, with a reason"},
			{"✗ ! ·", "findings: critical, warning, info"}}},
	}
}

func (m *model) openHelp() { m.help = &pager{} }

func (m *model) pressHelp(msg tea.KeyPressMsg) {
	switch {
	case key.Matches(msg, m.keys.Esc, m.keys.Leave, m.keys.Help, m.keys.Enter):
		m.help = nil
	case key.Matches(msg, m.keys.Down):
		m.help.off++
	case key.Matches(msg, m.keys.PageDown):
		m.help.off += 10
	case key.Matches(msg, m.keys.Up):
		m.help.off = max(0, m.help.off-1)
	case key.Matches(msg, m.keys.PageUp):
		m.help.off = max(0, m.help.off-10)
	}
}

func (m *model) drawHelp(w, h int) []drawn {
	th := &m.th
	p := page{w: w, th: th}
	p.add("")
	p.para(th.plain, helpHead)
	for _, s := range helpSections() {
		p.gap()
		p.add(th.title.on(s.title))
		for _, k := range s.keys {
			p.item("  "+fit(th.key.on(k.key), 8)+"  ", th.plain, k.does)
		}
	}
	var rows []drawn
	all := len(p.rows)
	rows, m.help.off = window(p.rows, m.help.off, h)
	if more := all - m.help.off - h; more > 0 {
		rows[h-1] = th.muted.on(say("↓ %d more lines", more+1))
	}
	return rows
}
