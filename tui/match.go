package tui

import (
	"context"
	"handrail/tui/ink"
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

func (s *matchScreen) add(t string, env *Env) tea.Cmd {
	s.text += strings.ReplaceAll(t, "\r\n", "\n")
	s.text = strings.ReplaceAll(s.text, "\r", "\n")
	if over := len(s.text) - mostPasted; over > 0 {
		s.text = s.text[over:]
	}
	return s.rank(env)
}

func (s *matchScreen) rank(env *Env) tea.Cmd {
	s.seq++
	s.done, s.like = false, nil
	seq, txt := s.seq, s.text
	if strings.TrimSpace(txt) == "" || env.c.Match == nil {
		s.hits, s.done = nil, true
		return nil
	}
	return env.crew.start(func(context.Context) tea.Msg { return hitsMsg{seq, env.c.Match(txt)} })
}

func (s *matchScreen) take(msg hitsMsg) {
	if msg.seq == s.seq {
		s.hits, s.done, s.at = msg.hits, true, 0
	}
}

// alike looks for incidents with the error that is pasted, once its runbooks are
// ranked: then nobody types any more, or soon not.
func (s *matchScreen) alike(env *Env, msg hitsMsg) tea.Cmd {
	find, txt := env.c.Alike, s.text
	if find == nil || msg.seq != s.seq {
		return nil
	}
	return env.crew.start(func(context.Context) tea.Msg { return alikeMsg{msg.seq, find(txt)} })
}

func (s *matchScreen) press(env *Env, msg tea.KeyPressMsg) tea.Cmd {
	switch {
	case key.Matches(msg, env.keys.Esc):
		env.show(atHome)
		return nil
	case msg.String() == "tab":
		return env.Ask(OpenSymptoms{})
	case msg.String() == "up":
		s.at = max(0, s.at-1)
	case msg.String() == "down":
		s.at = max(0, min(len(s.hits)-1, s.at+1))
	case msg.String() == "ctrl+u":
		s.text = ""
		return s.rank(env)
	case msg.String() == "backspace":
		if rs := []rune(s.text); len(rs) > 0 {
			s.text = string(rs[:len(rs)-1])
		}
		return s.rank(env)
	case key.Matches(msg, env.keys.Enter):
		if len(s.hits) > 0 && s.done {
			// The parameters are looked at: the text says some of them, and a person knows
			// what it leaves out.
			return env.Ask(Start{Runbook: s.hits[s.at].Runbook, Given: s.hits[s.at].Params, Look: true})
		}
	case msg.Text != "":
		return s.add(msg.Text, env)
	}
	return nil
}

func (s *matchScreen) draw(env *Env, w, h int) []ink.Drawn {
	th := &env.th
	p := ink.Page{W: w, Theme: th}
	p.Add("")
	p.Add(th.Strong.On("What does the failure say?"))
	p.Add(th.Muted.On("Paste the error text, or type a few words of it. tab: pick what you see."))
	p.Gap()
	p.Rows = append(p.Rows, s.drawText(th, w, max(3, h/4))...)
	p.Gap()
	switch {
	case strings.TrimSpace(s.text) == "":
		p.Para(th.Muted, "Nothing pasted yet. In most terminals: ctrl+shift+v, or the middle mouse button.")
	case !s.done:
		p.Para(th.Muted, "looking …")
	case len(s.hits) == 0:
		p.Item(th.Warn.On("○ "), th.Plain, "No runbook recognises this text.")
		p.Para(th.Muted, "Paste more of it, the lines around the first \"Error\" above all. Or esc, and choose from the library.")
	default:
		p.Add(th.Title.On("RUNBOOKS THAT RECOGNISE IT") + "  " + th.Muted.On(ink.Say("%d", len(s.hits))))
		s.drawHits(&p)
	}
	if len(s.like) > 0 && s.done {
		s.drawAlike(&p, env.now)
	}
	return p.Rows
}

// drawText shows the end of what was pasted: that is where errors are.
func (s *matchScreen) drawText(th *ink.Theme, w, h int) []ink.Drawn {
	var out []ink.Drawn
	bar := th.Accent.On("│ ")
	lines := strings.Split(s.text, "\n")
	for len(lines) > 1 && strings.TrimSpace(lines[len(lines)-1]) == "" {
		lines = lines[:len(lines)-1]
	}
	if over := len(lines) - h; over > 0 {
		out = append(out, bar+th.Muted.On(ink.Say("… %d lines above", over+1)))
		lines = lines[over+1:]
	}
	for _, l := range lines {
		out = append(out, bar+th.Plain.On(ink.Clip(ink.Inline(l), w-2)))
	}
	return out
}

func (s *matchScreen) drawHits(p *ink.Page) {
	th := p.Theme
	for i, h := range s.hits {
		lead, pen := ink.Drawn("  "), th.Strong
		if i == s.at {
			lead, pen = th.Pick.On("▸ "), th.Pick
		}
		p.Add(lead + pen.On(ink.Shown(h.Runbook)) + "  " + th.Plain.On(ink.Shown(h.Title)))
		p.Add("    " + th.Muted.On("because of  ") + th.Plain.On(ink.Shown(h.Line)))
	}
}

// drawAlike names incidents with the same error, and how they ended.
func (s *matchScreen) drawAlike(p *ink.Page, now time.Time) {
	th := p.Theme
	p.Gap()
	p.Add(th.Title.On("RECENT INCIDENTS WITH THE SAME ERROR") + "  " + th.Muted.On(ink.Say("%d", len(s.like))))
	for _, a := range s.like {
		outcome := ink.Or(ink.Shown(a.Outcome), "ongoing")
		p.Add(ink.Spread("  "+th.Strong.On(ink.Shown(a.ID))+"  "+th.Plain.On(ink.Shown(a.Title))+" ", "  "+th.Muted.On(ink.Aged(now, a.Opened, outcome)), p.W))
	}
}

func (s *matchScreen) move() ink.Text {
	if len(s.hits) > 0 && s.done {
		return ink.Say("Start an incident with %s", s.hits[s.at].Runbook)
	}
	return ""
}

func (s *matchScreen) paste(env *Env, t string) tea.Cmd { return s.add(t, env) }

func (s *matchScreen) typing() bool { return true }

func (s *matchScreen) hear(env *Env, msg tea.Msg) (tea.Cmd, bool) {
	switch msg := msg.(type) {
	case hitsMsg:
		s.take(msg)
		return s.alike(env, msg), true
	case alikeMsg:
		if msg.seq == s.seq {
			s.like = msg.like
		}
		return nil, true
	}
	return nil, false
}

func (s *matchScreen) hints(*Env) hintLine {
	return hintLine{move: s.move(), keys: []ink.Hint{{Key: "↑ ↓", Does: "choose"}, {Key: "tab", Does: "no error text: pick symptoms"}, {Key: "ctrl+u", Does: "clear"}, {Key: "esc", Does: "home"}}}
}
