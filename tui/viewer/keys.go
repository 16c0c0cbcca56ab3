package viewer

import (
	"strconv"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"handrail/tui/ink"
	"handrail/tui/screen"
)

// pressText gives a key to the artifact that is open. Not taken means that it is
// for the screen that shows the artifact.
func (e *Screen) pressText(env *screen.Env, msg tea.KeyPressMsg) (cmd tea.Cmd, taken bool) {
	v, k := e.View, &env.Keys
	if v.Find.typing {
		return e.pressFind(env, msg), true
	}
	if s := msg.String(); len(s) == 1 && s[0] >= '0' && s[0] <= '9' {
		if len(v.number) < 15 {
			v.number, v.Asking = append(v.number, rune(s[0])), true
		}
		return nil, true
	}
	if v.Asking {
		if cmd, taken := e.pressNumber(env, msg); taken {
			return cmd, true
		}
	}
	page := max(1, v.Look.h-1)
	switch {
	case key.Matches(msg, k.Esc) && (v.Find.typed != "" || v.goal > 0):
		v.goal = 0
		return e.forget(env), true
	case key.Matches(msg, k.Up):
		return e.scroll(env, motion{by: -1}), true
	case key.Matches(msg, k.Down):
		return e.scroll(env, motion{by: 1}), true
	case key.Matches(msg, k.PageUp):
		return e.scroll(env, motion{by: -page}), true
	case key.Matches(msg, k.PageDown):
		return e.scroll(env, motion{by: page}), true
	case key.Matches(msg, k.First):
		return e.scroll(env, motion{to: toFirst}), true
	case key.Matches(msg, k.Last):
		return e.scroll(env, motion{to: toLast}), true
	}
	return e.pressTextMore(env, msg)
}

// pressTextMore are the keys that do more than scroll.
func (e *Screen) pressTextMore(env *screen.Env, msg tea.KeyPressMsg) (cmd tea.Cmd, taken bool) {
	v, k := e.View, &env.Keys
	switch {
	case key.Matches(msg, k.Search):
		v.follow = false
		v.Find = textMatch{typing: true, origin: v.Look.At, hit: -1, n: v.Find.n, hunt: v.Find.hunt}
		e.stopHunt()
		return e.goText(env, motion{}), true
	case key.Matches(msg, k.Again):
		return e.again(env, false), true
	case key.Matches(msg, k.Against):
		return e.again(env, true), true
	case key.Matches(msg, k.Line):
		v.Asking, v.number = true, nil
	case key.Matches(msg, k.Wrap):
		v.Look.wrap = !v.Look.wrap
		v.Look.right, v.Look.At.row = 0, 0
		e.wrap = v.Look.wrap
		return e.goText(env, motion{}), true
	case key.Matches(msg, k.Left):
		return e.pan(env, -1), true
	case key.Matches(msg, k.Right):
		return e.pan(env, 1), true
	case key.Matches(msg, k.Copy):
		return e.copyText(env, false), true
	case key.Matches(msg, k.CopyLine):
		return e.copyText(env, true), true
	case key.Matches(msg, k.Save):
		e.saveText(env)
	case key.Matches(msg, k.BlobAfter):
		return e.nextBlob(env, 1), true
	case key.Matches(msg, k.BlobBefore):
		return e.nextBlob(env, -1), true
	default:
		return nil, false
	}
	return nil, true
}

// pressNumber takes the keys that end the number of a line; any other key drops it
// and counts as itself.
func (e *Screen) pressNumber(env *screen.Env, msg tea.KeyPressMsg) (cmd tea.Cmd, taken bool) {
	v := e.View
	typed := string(v.number)
	v.Asking, v.number = false, nil
	switch s := msg.String(); {
	case s == "backspace" && typed != "":
		v.number, v.Asking = []rune(typed[:len(typed)-1]), true
		return nil, true
	case key.Matches(msg, env.Keys.Esc):
		return nil, true
	case key.Matches(msg, env.Keys.Enter):
		if n, err := strconv.ParseInt(typed, 10, 64); err == nil && n > 0 {
			return e.goLine(env, n), true
		}
		return nil, true
	}
	return nil, false
}

func (e *Screen) scroll(env *screen.Env, mo motion) tea.Cmd {
	v := e.View
	v.goal = 0
	v.follow = v.live != nil && (mo.to == toLast || v.follow && mo.to == toHere && mo.by > 0)
	if v.follow {
		v.Look.right = 0 // what comes begins at the left
	}
	if v.File == nil {
		return nil
	}
	return e.goText(env, mo)
}

// pan moves sideways by half a page, where lines are cut. It does not go further
// than a line that is still seen.
func (e *Screen) pan(env *screen.Env, by int) tea.Cmd {
	v := e.View
	if v.Look.wrap {
		env.Warn("", ink.Say("Lines are wrapped here: %s cuts them.", env.Keys.Wrap.Help().Key))
		return nil
	}
	more := by < 0
	for _, r := range v.Page.Rows {
		more = more || r.more && r.body != ""
	}
	if !more || v.busy {
		return nil
	}
	v.Look.right = max(0, v.Look.right+by*max(1, v.Look.w/2))
	return e.goText(env, motion{})
}
