package viewer

import (
	"context"

	tea "charm.land/bubbletea/v2"

	"handrail/tui/form"
	"handrail/tui/ink"
	"handrail/tui/longtext"
	"handrail/tui/screen"
)

// textMatch is a search in a text, and what it found.
type textMatch struct {
	edit    form.Editor
	typing  bool
	pattern longtext.Pattern
	typed   string
	origin  place // where the page was before the search
	hit     int64 // -1 for none
	line    int64 // of the hit, 0 where it is not counted yet
	None    bool  // all of it was looked through
	round   bool  // the hit was found beyond the end
	n       int   // numbers the hunts
	hunt    *hunt
}

// hunt is a search that goes on: from where, how much is left to look through.
type hunt struct {
	n     int
	ctx   context.Context
	stop  context.CancelFunc
	find  longtext.Pattern
	back  bool
	at    int64
	left  int64
	round bool
}

// huntMsg is what a slice of a search came to.
type huntMsg struct {
	id, n   int
	hit, on int64
	line    int64
	err     error
}

// startHunt looks for the pattern from a byte on, around the end of the text.
func (e *Screen) startHunt(env *screen.Env, from int64, back bool) tea.Cmd {
	v := e.View
	f := &v.Find
	e.stopHunt()
	f.None, f.round = false, false
	if f.pattern.Empty() || v.File == nil {
		return nil
	}
	f.n++
	h := &hunt{n: f.n, find: f.pattern, back: back, at: from, left: v.File.Size()}
	h.ctx, h.stop = context.WithCancel(v.ctx)
	f.hunt = h
	return e.viewNext(env)
}

func (e *Screen) stopHunt() {
	if f := &e.View.Find; f.hunt != nil {
		f.hunt.stop()
		f.hunt = nil
	}
}

// hunt looks through a slice.
func (e *Screen) hunt(env *screen.Env, h hunt) tea.Cmd {
	v := e.View
	file, id, ix := v.File, v.id, v.Look.Index
	return env.Tasks.Start(func(context.Context) tea.Msg {
		msg := huntMsg{id: id, n: h.n}
		if h.back {
			msg.hit, msg.on, msg.err = file.SearchBack(h.ctx, h.find, h.at, min(slice, h.left))
		} else {
			msg.hit, msg.on, msg.err = file.Search(h.ctx, h.find, h.at, min(slice, h.left))
		}
		if msg.err == nil && msg.hit >= 0 {
			msg.line, msg.err = file.Number(ix, msg.hit)
		}
		return msg
	})
}

func (e *Screen) hunted(env *screen.Env, msg huntMsg) tea.Cmd {
	v := e.viewing(msg.id)
	if v == nil {
		return nil
	}
	v.work = false
	f := &v.Find
	h := f.hunt
	if h == nil || h.n != msg.n {
		return e.viewNext(env) // of a search that was given up
	}
	switch {
	case msg.err != nil:
		v.Err = ink.Shown(msg.err.Error())
		e.stopHunt()
	case msg.hit >= 0:
		f.hit, f.line, f.round = msg.hit, msg.line, h.round
		v.follow = false
		e.stopHunt()
		return e.goText(env, motion{to: toByte, n: msg.hit})
	default:
		h.left -= max(msg.on-h.at, h.at-msg.on)
		h.at = msg.on
		switch {
		case h.left <= 0:
			f.None, f.hit = true, -1
			e.stopHunt()
			return e.goText(env, motion{})
		case h.back && h.at <= 0:
			h.at, h.round = v.File.Size(), true
		case !h.back && h.at >= v.File.Size():
			h.at, h.round = 0, true
		}
	}
	return e.viewNext(env)
}

// pressFind takes a key of the line that is searched for; the search follows.
func (e *Screen) pressFind(env *screen.Env, msg tea.KeyPressMsg) tea.Cmd {
	v := e.View
	f := &v.Find
	switch msg.String() {
	case "enter":
		f.typing = false
		if f.typed == "" {
			return e.forget(env)
		}
		return nil
	case "esc":
		v.Look.At = f.origin
		return e.forget(env)
	}
	f.edit.Key(msg)
	return e.findTyped(env)
}

// findTyped searches for what is typed by now.
func (e *Screen) findTyped(env *screen.Env) tea.Cmd {
	v := e.View
	f := &v.Find
	if f.edit.Value() == f.typed {
		return nil
	}
	f.typed = f.edit.Value()
	f.pattern = longtext.Plain(f.typed)
	f.hit, f.line = -1, 0
	if f.pattern.Empty() {
		e.stopHunt()
		f.None = false
		return e.goText(env, motion{})
	}
	return e.startHunt(env, f.origin.Off, false)
}

// forget ends a search, and what it found is drawn as all else.
func (e *Screen) forget(env *screen.Env) tea.Cmd {
	v := e.View
	e.stopHunt()
	v.Find = textMatch{hit: -1, n: v.Find.n}
	return e.goText(env, motion{})
}

// again goes to the next match, or to the one before.
func (e *Screen) again(env *screen.Env, back bool) tea.Cmd {
	v := e.View
	f := &v.Find
	if f.pattern.Empty() {
		env.Warn("", ink.Say("Search first: %s, then type a text.", env.Keys.Search.Help().Key))
		return nil
	}
	from := f.hit
	switch {
	case f.hit < 0:
		from = v.Look.At.Off
	case !back:
		from++
	}
	return e.startHunt(env, from, back)
}
