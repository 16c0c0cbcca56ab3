package tui

import (
	"context"

	tea "charm.land/bubbletea/v2"

	"handrail/tui/ink"
	"handrail/tui/longtext"
)

// finding is a search in a text, and what it found.
type finding struct {
	edit    editor
	typing  bool
	pattern longtext.Pattern
	typed   string
	origin  place // where the page was before the search
	hit     int64 // -1 for none
	line    int64 // of the hit, 0 where it is not counted yet
	none    bool  // all of it was looked through
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

type huntMsg struct {
	id, n   int
	hit, on int64
	line    int64
	err     error
}

// startHunt looks for the pattern from a byte on, around the end of the text.
func (e *evidenceScreen) startHunt(env *Env, from int64, back bool) tea.Cmd {
	v := e.view
	f := &v.find
	e.stopHunt(env)
	f.none, f.round = false, false
	if f.pattern.Empty() || v.file == nil {
		return nil
	}
	f.n++
	h := &hunt{n: f.n, find: f.pattern, back: back, at: from, left: v.file.Size()}
	h.ctx, h.stop = context.WithCancel(v.ctx)
	f.hunt = h
	return e.viewNext(env)
}

func (e *evidenceScreen) stopHunt(env *Env) {
	if f := &e.view.find; f.hunt != nil {
		f.hunt.stop()
		f.hunt = nil
	}
}

// hunt looks through a slice.
func (e *evidenceScreen) hunt(env *Env, h hunt) tea.Cmd {
	v := e.view
	file, id, ix := v.file, v.id, v.look.index
	return env.crew.start(func(context.Context) tea.Msg {
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

func (e *evidenceScreen) hunted(env *Env, msg huntMsg) tea.Cmd {
	v := e.viewing(env, msg.id)
	if v == nil {
		return nil
	}
	v.work = false
	f := &v.find
	h := f.hunt
	if h == nil || h.n != msg.n {
		return e.viewNext(env) // of a search that was given up
	}
	switch {
	case msg.err != nil:
		v.err = ink.Shown(msg.err.Error())
		e.stopHunt(env)
	case msg.hit >= 0:
		f.hit, f.line, f.round = msg.hit, msg.line, h.round
		v.follow = false
		e.stopHunt(env)
		return e.goText(env, motion{to: toByte, n: msg.hit})
	default:
		h.left -= max(msg.on-h.at, h.at-msg.on)
		h.at = msg.on
		switch {
		case h.left <= 0:
			f.none, f.hit = true, -1
			e.stopHunt(env)
			return e.goText(env, motion{})
		case h.back && h.at <= 0:
			h.at, h.round = v.file.Size(), true
		case !h.back && h.at >= v.file.Size():
			h.at, h.round = 0, true
		}
	}
	return e.viewNext(env)
}

// pressFind takes a key of the line that is searched for; the search follows.
func (e *evidenceScreen) pressFind(env *Env, msg tea.KeyPressMsg) tea.Cmd {
	v := e.view
	f := &v.find
	switch msg.String() {
	case "enter":
		f.typing = false
		if f.typed == "" {
			return e.forget(env)
		}
		return nil
	case "esc":
		v.look.at = f.origin
		return e.forget(env)
	}
	f.edit.key(msg)
	return e.findTyped(env)
}

func (e *evidenceScreen) findTyped(env *Env) tea.Cmd {
	v := e.view
	f := &v.find
	if f.edit.value() == f.typed {
		return nil
	}
	f.typed = f.edit.value()
	f.pattern = longtext.Plain(f.typed)
	f.hit, f.line = -1, 0
	if f.pattern.Empty() {
		e.stopHunt(env)
		f.none = false
		return e.goText(env, motion{})
	}
	return e.startHunt(env, f.origin.off, false)
}

// forget ends a search, and what it found is drawn as all else.
func (e *evidenceScreen) forget(env *Env) tea.Cmd {
	v := e.view
	e.stopHunt(env)
	v.find = finding{hit: -1, n: v.find.n}
	return e.goText(env, motion{})
}

// again goes to the next match, or to the one before.
func (e *evidenceScreen) again(env *Env, back bool) tea.Cmd {
	v := e.view
	f := &v.find
	if f.pattern.Empty() {
		env.warn("", ink.Say("Search first: %s, then what to look for.", env.keys.Search.Help().Key))
		return nil
	}
	from := f.hit
	switch {
	case f.hit < 0:
		from = v.look.at.off
	case !back:
		from++
	}
	return e.startHunt(env, from, back)
}
