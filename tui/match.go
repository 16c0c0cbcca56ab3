package tui

import (
	"context"
	"strings"
	"time"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"
)

// matchScreen ranks the runbooks for a pasted error.
type matchScreen struct {
	text string
	seq  int // of the newest text; hits for an older one are dropped
	hits []Hit
	like []Alike
	done bool // the hits are those of the text
	at   int
}

// mostPasted bounds what is kept of a paste: the signature of a failure is in
// its last lines or its first, and matching is done on every change.
const mostPasted = 256 << 10

type hitsMsg struct {
	seq  int
	hits []Hit
}

// alikeMsg is what came of the search in the bundles, which takes longer.
type alikeMsg struct {
	seq  int
	like []Alike
}

func (s *matchScreen) add(t string, m *model) tea.Cmd {
	s.text += strings.ReplaceAll(t, "\r\n", "\n")
	s.text = strings.ReplaceAll(s.text, "\r", "\n")
	if over := len(s.text) - mostPasted; over > 0 {
		s.text = s.text[over:]
	}
	return s.rank(m)
}

func (s *matchScreen) rank(m *model) tea.Cmd {
	s.seq++
	s.done, s.like = false, nil
	seq, txt := s.seq, s.text
	if strings.TrimSpace(txt) == "" || m.c.Match == nil {
		s.hits, s.done = nil, true
		return nil
	}
	return m.crew.start(func(context.Context) tea.Msg { return hitsMsg{seq, m.c.Match(txt)} })
}

func (s *matchScreen) take(msg hitsMsg) {
	if msg.seq == s.seq {
		s.hits, s.done, s.at = msg.hits, true, 0
	}
}

// alike looks for incidents with the error that is pasted, once its runbooks are
// ranked: then nobody types any more, or soon not.
func (m *model) alike(msg hitsMsg) tea.Cmd {
	find, txt := m.c.Alike, m.match.text
	if find == nil || msg.seq != m.match.seq {
		return nil
	}
	return m.crew.start(func(context.Context) tea.Msg { return alikeMsg{msg.seq, find(txt)} })
}

func (m *model) pressMatch(msg tea.KeyPressMsg) tea.Cmd {
	s := &m.match
	switch {
	case key.Matches(msg, m.keys.Esc):
		m.at = atHome
		return nil
	case msg.String() == "tab":
		return m.openSymptoms()
	case msg.String() == "up":
		s.at = max(0, s.at-1)
	case msg.String() == "down":
		s.at = max(0, min(len(s.hits)-1, s.at+1))
	case msg.String() == "ctrl+u":
		s.text = ""
		return s.rank(m)
	case msg.String() == "backspace":
		if rs := []rune(s.text); len(rs) > 0 {
			s.text = string(rs[:len(rs)-1])
		}
		return s.rank(m)
	case key.Matches(msg, m.keys.Enter):
		if len(s.hits) > 0 && s.done {
			// The parameters are looked at: the text says some of them, and a person knows
			// what it leaves out.
			return m.startWith(s.hits[s.at].Runbook, s.hits[s.at].Params, true)
		}
	case msg.Text != "":
		return s.add(msg.Text, m)
	}
	return nil
}

func (s *matchScreen) draw(m *model, w, h int) []drawn {
	th := &m.th
	p := page{w: w, th: th}
	p.add("")
	p.add(th.strong.on("What does the failure say?"))
	p.add(th.muted.on("Paste the error text, or type a few words of it. tab: pick what you see."))
	p.gap()
	p.rows = append(p.rows, s.drawText(th, w, max(3, h/4))...)
	p.gap()
	switch {
	case strings.TrimSpace(s.text) == "":
		p.para(th.muted, "Nothing pasted yet. In most terminals: ctrl+shift+v, or the middle mouse button.")
	case !s.done:
		p.para(th.muted, "looking …")
	case len(s.hits) == 0:
		p.item(th.warn.on("○ "), th.plain, "No runbook recognises this text.")
		p.para(th.muted, "Paste more of it, the lines around the first \"Error\" above all. Or esc, and choose from the library.")
	default:
		p.add(th.title.on("RUNBOOKS THAT RECOGNISE IT") + "  " + th.muted.on(say("%d", len(s.hits))))
		s.drawHits(&p)
	}
	if len(s.like) > 0 && s.done {
		s.drawAlike(&p, m.now)
	}
	return p.rows
}

// drawText shows the end of what was pasted: that is where errors are.
func (s *matchScreen) drawText(th *theme, w, h int) []drawn {
	var out []drawn
	bar := th.accent.on("│ ")
	lines := strings.Split(s.text, "\n")
	for len(lines) > 1 && strings.TrimSpace(lines[len(lines)-1]) == "" {
		lines = lines[:len(lines)-1]
	}
	if over := len(lines) - h; over > 0 {
		out = append(out, bar+th.muted.on(say("… %d lines above", over+1)))
		lines = lines[over+1:]
	}
	for _, l := range lines {
		out = append(out, bar+th.plain.on(clip(inline(l), w-2)))
	}
	return out
}

func (s *matchScreen) drawHits(p *page) {
	th := p.th
	for i, h := range s.hits {
		lead, ink := drawn("  "), th.strong
		if i == s.at {
			lead, ink = th.pick.on("▸ "), th.pick
		}
		p.add(lead + ink.on(shown(h.Runbook)) + "  " + th.plain.on(shown(h.Title)))
		p.add("    " + th.muted.on("because of  ") + th.plain.on(shown(h.Line)))
	}
}

// drawAlike names incidents with the same error, and how they ended.
func (s *matchScreen) drawAlike(p *page, now time.Time) {
	th := p.th
	p.gap()
	p.add(th.title.on("RECENT INCIDENTS WITH THE SAME ERROR") + "  " + th.muted.on(say("%d", len(s.like))))
	for _, a := range s.like {
		outcome := or(shown(a.Outcome), "ongoing")
		p.add(spread("  "+th.strong.on(shown(a.ID))+"  "+th.plain.on(shown(a.Title))+" ", "  "+th.muted.on(aged(now, a.Opened, outcome)), p.w))
	}
}

func (s *matchScreen) move() text {
	if len(s.hits) > 0 && s.done {
		return say("Start an incident with %s", s.hits[s.at].Runbook)
	}
	return ""
}
