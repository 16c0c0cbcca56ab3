package match

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"handrail/tui/form"
	"handrail/tui/ink"
	"handrail/tui/screen"
)

// Screen ranks the runbooks for a pasted error.
type Screen struct {
	Said form.Paste
	Seq  int // of the newest text; hits for an older one are dropped
	hits []screen.Hit
	near []screen.Hit // where no runbook claims the text
	like []screen.Alike
	done bool // the hits are those of the text
	at   int  // in offered; -1 where nothing is proposed and a person has chosen nothing
	turn *turn
}

// turn lets one text be ranked at a time, and of those that wait the newest alone: a
// person types faster than a loaded machine ranks.
type turn struct {
	mu     sync.Mutex
	newest atomic.Int64
}

// HitsMsg is what matching came to.
type HitsMsg struct {
	Seq  int
	Hits []screen.Hit
	near []screen.Hit
}

// AlikeMsg is what came of the search in the bundles, which takes longer.
type AlikeMsg struct {
	Seq  int
	Like []screen.Alike
}

// Add puts a text behind what was pasted before, and ranks again.
func (s *Screen) Add(t string, env *screen.Env) tea.Cmd {
	s.Said.Add(t)
	return s.rank(env)
}

func (s *Screen) rank(env *screen.Env) tea.Cmd {
	s.Seq++
	s.done, s.near, s.like = false, nil, nil
	if s.turn == nil {
		s.turn = &turn{}
	}
	seq, txt, turn := s.Seq, s.Said.Text, s.turn
	turn.newest.Store(int64(seq))
	if strings.TrimSpace(txt) == "" || env.Config.Match == nil {
		s.hits, s.done = nil, true
		return nil
	}
	return env.Tasks.Start(func(context.Context) tea.Msg {
		turn.mu.Lock()
		defer turn.mu.Unlock()
		if turn.newest.Load() != int64(seq) {
			return HitsMsg{Seq: seq} // of an older text, which are dropped
		}
		msg := HitsMsg{Seq: seq, Hits: env.Config.Match(txt)}
		if near := env.Config.Nearest; len(msg.Hits) == 0 && near != nil {
			msg.near = near(txt)
		}
		return msg
	})
}

func (s *Screen) take(msg HitsMsg) {
	if msg.Seq == s.Seq {
		s.hits, s.near, s.done, s.at = msg.Hits, msg.near, true, 0
		if len(s.hits) == 0 {
			s.at = -1
		}
	}
}

// offered is what can be started: the hits, or what the text only comes near to.
func (s *Screen) offered() []screen.Hit {
	switch {
	case !s.done:
		return nil
	case len(s.hits) > 0:
		return s.hits
	}
	return s.near
}

// chosen is the one that enter starts.
func (s *Screen) chosen() (screen.Hit, bool) {
	list := s.offered()
	if s.at < 0 || s.at >= len(list) {
		return screen.Hit{}, false
	}
	return list[s.at], true
}

// alike looks for incidents with the error that is pasted, once its runbooks are
// ranked: then typing has paused.
func (s *Screen) alike(env *screen.Env, msg HitsMsg) tea.Cmd {
	find, txt := env.Config.Alike, s.Said.Text
	if find == nil || msg.Seq != s.Seq {
		return nil
	}
	return env.Tasks.Start(func(context.Context) tea.Msg { return AlikeMsg{msg.Seq, find(txt)} })
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
		s.at = max(min(0, s.at), s.at-1)
	case msg.String() == "down":
		s.at = min(len(s.offered())-1, s.at+1)
	case msg.String() == "ctrl+u":
		s.Said = form.Paste{}
		return s.rank(env)
	case msg.String() == "backspace":
		s.Said.Back()
		return s.rank(env)
	case key.Matches(msg, env.Keys.Enter):
		if hit, ok := s.chosen(); ok {
			return env.Ask(screen.Start{Runbook: hit.Runbook, Given: hit.Params, Look: true, Text: s.Said.Whole()})
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
	p.Add(th.Strong.On("What is the error?"))
	p.Add(th.Muted.On("Paste the error text, or type a few words of it. tab: pick what you see."))
	p.Gap()
	p.Rows = append(p.Rows, s.drawText(th, w, max(3, h/4))...)
	if s.Said.Cut > 0 {
		p.Item(th.Warn.On("! "), th.Plain, s.Said.Shortened())
	}
	p.Gap()
	switch {
	case strings.TrimSpace(s.Said.Text) == "":
		p.Para(th.Muted, "Nothing pasted yet. In most terminals: ctrl+shift+v, or the middle mouse button.")
	case !s.done:
		p.Para(th.Muted, "loading …")
	case len(s.hits) == 0:
		p.Item(th.Warn.On("○ "), th.Plain, "No runbook claims this text.")
		p.Para(th.Muted, "Paste more of it, above all the lines around the first \"Error\", or choose what comes nearest with ↓. All runbooks are on the home screen: esc.")
		s.drawNear(&p)
	default:
		p.Add(th.Title.On("MATCHING RUNBOOKS") + "  " + th.Muted.On(ink.Say("%d", len(s.hits))))
		s.drawHits(&p)
	}
	if len(s.like) > 0 && s.done {
		s.drawAlike(&p, env.Now)
	}
	return p.Rows
}

// drawText shows the end of what was pasted: that is where errors are.
func (s *Screen) drawText(th *ink.Theme, w, h int) []ink.Drawn {
	var out []ink.Drawn
	bar := th.Accent.On("│ ")
	lines := strings.Split(s.Said.Text, "\n")
	for len(lines) > 1 && strings.TrimSpace(lines[len(lines)-1]) == "" {
		lines = lines[:len(lines)-1]
	}
	if over := len(lines) - h; over > 0 {
		out = append(out, bar+th.Muted.On(ink.Say("… %d lines above", over+1)))
		lines = lines[over+1:]
	}
	for _, l := range lines {
		out = append(out, bar+th.Plain.On(ink.Clip(ink.Inline(ink.Covered(l)), w-2)))
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
		p.Add("    " + th.Muted.On("because of  ") + th.Plain.On(ink.Shown(ink.Covered(h.Line))))
	}
}

// drawNear names what the text comes near to. It is no proposal: enter starts nothing of
// it until a person has chosen one.
func (s *Screen) drawNear(p *ink.Page) {
	if len(s.near) == 0 {
		return
	}
	th := p.Theme
	p.Gap()
	p.Add(th.Title.On("NEAREST"))
	for i, h := range s.near {
		lead, pen := ink.Drawn("  "), th.Plain
		if i == s.at {
			lead, pen = th.Pick.On("▸ "), th.Pick
		}
		p.Add(lead + pen.On(ink.Shown(h.Runbook)) + "  " + th.Muted.On(ink.Shown(h.Title)))
		p.Add("    " + th.Muted.On("because of  ") + th.Muted.On(ink.Shown(ink.Covered(h.Line))))
	}
}

// drawAlike names incidents with the same error, and how they ended.
func (s *Screen) drawAlike(p *ink.Page, now time.Time) {
	th := p.Theme
	p.Gap()
	p.Add(th.Title.On("RECENT INCIDENTS WITH THE SAME ERROR") + "  " + th.Muted.On(ink.Say("%d", len(s.like))))
	for _, a := range s.like {
		outcome := ink.Or(ink.Shown(a.Outcome), "ongoing")
		p.Add(ink.Spread("  "+th.Strong.On(ink.Shown(a.ID))+"  "+th.Plain.On(ink.Shown(a.Title))+" ", "  "+th.Muted.On(ink.Aged(now, a.Opened, outcome)), p.W))
	}
}

func (s *Screen) move() ink.Text {
	if hit, ok := s.chosen(); ok {
		return ink.Say("Start an incident with %s", hit.Runbook)
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
			s.like = msg.Like
		}
		return nil, true
	}
	return nil, false
}

// Hints implements [screen.Screen].
func (s *Screen) Hints(*screen.Env) screen.Hints {
	return screen.Hints{Move: s.move(), Keys: []ink.Hint{{Key: "↑ ↓", Does: "choose"}, {Key: "tab", Does: "no error text: pick symptoms"}, {Key: "ctrl+u", Does: "clear"}, {Key: "esc", Does: "home"}}}
}
