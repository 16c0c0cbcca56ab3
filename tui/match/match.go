package match

import (
	"context"
	"strings"
	"time"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"handrail/tui/ink"
	"handrail/tui/screen"
)

// Screen ranks the runbooks for a pasted error.
type Screen struct {
	Text string
	Seq  int // of the newest text; hits for an older one are dropped
	hits []screen.Hit
	Like []screen.Alike
	done bool // the hits are those of the text
	at   int
}

// mostPasted bounds what is kept of a paste: the signature of a failure is in
// its last lines or its first, and matching is done on every change.
const mostPasted = 256 << 10

// HitsMsg is what matching came to.
type HitsMsg struct {
	Seq  int
	Hits []screen.Hit
}

// AlikeMsg is what came of the search in the bundles, which takes longer.
type AlikeMsg struct {
	Seq  int
	Like []screen.Alike
}

// Add puts a text behind what was pasted before, and ranks again.
func (s *Screen) Add(t string, env *screen.Env) tea.Cmd {
	s.Text += strings.ReplaceAll(t, "\r\n", "\n")
	s.Text = strings.ReplaceAll(s.Text, "\r", "\n")
	if over := len(s.Text) - mostPasted; over > 0 {
		s.Text = s.Text[over:]
	}
	return s.rank(env)
}

func (s *Screen) rank(env *screen.Env) tea.Cmd {
	s.Seq++
	s.done, s.Like = false, nil
	seq, txt := s.Seq, s.Text
	if strings.TrimSpace(txt) == "" || env.Config.Match == nil {
		s.hits, s.done = nil, true
		return nil
	}
	return env.Crew.Start(func(context.Context) tea.Msg { return HitsMsg{seq, env.Config.Match(txt)} })
}

func (s *Screen) take(msg HitsMsg) {
	if msg.Seq == s.Seq {
		s.hits, s.done, s.at = msg.Hits, true, 0
	}
}

// alike looks for incidents with the error that is pasted, once its runbooks are
// ranked: then nobody types any more, or soon not.
func (s *Screen) alike(env *screen.Env, msg HitsMsg) tea.Cmd {
	find, txt := env.Config.Alike, s.Text
	if find == nil || msg.Seq != s.Seq {
		return nil
	}
	return env.Crew.Start(func(context.Context) tea.Msg { return AlikeMsg{msg.Seq, find(txt)} })
}

// Press implements [screen.Screen].
func (s *Screen) Press(env *screen.Env, msg tea.KeyPressMsg) tea.Cmd {
	switch {
	case key.Matches(msg, env.Keys.Esc):
		env.Show(screen.AtHome)
		return nil
	case msg.String() == "tab":
		return env.Ask(screen.Open{Screen: screen.AtSymptoms})
	case msg.String() == "up":
		s.at = max(0, s.at-1)
	case msg.String() == "down":
		s.at = max(0, min(len(s.hits)-1, s.at+1))
	case msg.String() == "ctrl+u":
		s.Text = ""
		return s.rank(env)
	case msg.String() == "backspace":
		if rs := []rune(s.Text); len(rs) > 0 {
			s.Text = string(rs[:len(rs)-1])
		}
		return s.rank(env)
	case key.Matches(msg, env.Keys.Enter):
		if len(s.hits) > 0 && s.done {
			// The parameters are looked at: the text says some of them, and a person knows
			// what it leaves out.
			return env.Ask(screen.Start{Runbook: s.hits[s.at].Runbook, Given: s.hits[s.at].Params, Look: true})
		}
	case msg.Text != "":
		return s.Add(msg.Text, env)
	}
	return nil
}

// Draw implements [screen.Screen].
func (s *Screen) Draw(env *screen.Env, w, h int) []ink.Drawn {
	th := &env.Theme
	p := ink.Page{W: w, Theme: th}
	p.Add("")
	p.Add(th.Strong.On("What does the failure say?"))
	p.Add(th.Muted.On("Paste the error text, or type a few words of it. tab: pick what you see."))
	p.Gap()
	p.Rows = append(p.Rows, s.drawText(th, w, max(3, h/4))...)
	p.Gap()
	switch {
	case strings.TrimSpace(s.Text) == "":
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
	if len(s.Like) > 0 && s.done {
		s.drawAlike(&p, env.Now)
	}
	return p.Rows
}

// drawText shows the end of what was pasted: that is where errors are.
func (s *Screen) drawText(th *ink.Theme, w, h int) []ink.Drawn {
	var out []ink.Drawn
	bar := th.Accent.On("│ ")
	lines := strings.Split(s.Text, "\n")
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

func (s *Screen) drawHits(p *ink.Page) {
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
func (s *Screen) drawAlike(p *ink.Page, now time.Time) {
	th := p.Theme
	p.Gap()
	p.Add(th.Title.On("RECENT INCIDENTS WITH THE SAME ERROR") + "  " + th.Muted.On(ink.Say("%d", len(s.Like))))
	for _, a := range s.Like {
		outcome := ink.Or(ink.Shown(a.Outcome), "ongoing")
		p.Add(ink.Spread("  "+th.Strong.On(ink.Shown(a.ID))+"  "+th.Plain.On(ink.Shown(a.Title))+" ", "  "+th.Muted.On(ink.Aged(now, a.Opened, outcome)), p.W))
	}
}

func (s *Screen) move() ink.Text {
	if len(s.hits) > 0 && s.done {
		return ink.Say("Start an incident with %s", s.hits[s.at].Runbook)
	}
	return ""
}

// Paste implements [screen.Screen].
func (s *Screen) Paste(env *screen.Env, t string) tea.Cmd { return s.Add(t, env) }

// Typing implements [screen.Screen].
func (s *Screen) Typing() bool { return true }

// Hear implements [screen.Screen].
func (s *Screen) Hear(env *screen.Env, msg tea.Msg) (tea.Cmd, bool) {
	switch msg := msg.(type) {
	case HitsMsg:
		s.take(msg)
		return s.alike(env, msg), true
	case AlikeMsg:
		if msg.Seq == s.Seq {
			s.Like = msg.Like
		}
		return nil, true
	}
	return nil, false
}

// Hints implements [screen.Screen].
func (s *Screen) Hints(*screen.Env) screen.Hints {
	return screen.Hints{Move: s.move(), Keys: []ink.Hint{{Key: "↑ ↓", Does: "choose"}, {Key: "tab", Does: "no error text: pick symptoms"}, {Key: "ctrl+u", Does: "clear"}, {Key: "esc", Does: "home"}}}
}
