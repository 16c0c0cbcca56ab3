package tui

import (
	"handrail/tui/ink"
	"strconv"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"
)

// pressText gives a key to the artifact that is open. Not taken means that it is
// for whoever shows the artifact.
func (e *evidenceScreen) pressText(env *Env, msg tea.KeyPressMsg) (cmd tea.Cmd, taken bool) {
	v, k := e.view, &env.keys
	if v.find.typing {
		return e.pressFind(env, msg), true
	}
	if s := msg.String(); len(s) == 1 && s[0] >= '0' && s[0] <= '9' {
		if len(v.number) < 15 {
			v.number, v.asking = append(v.number, rune(s[0])), true
		}
		return nil, true
	}
	if v.asking {
		if cmd, taken := e.pressNumber(env, msg); taken {
			return cmd, true
		}
	}
	page := max(1, v.look.h-1)
	switch {
	case key.Matches(msg, k.Esc) && (v.find.typed != "" || v.goal > 0):
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
func (e *evidenceScreen) pressTextMore(env *Env, msg tea.KeyPressMsg) (cmd tea.Cmd, taken bool) {
	v, k := e.view, &env.keys
	switch {
	case key.Matches(msg, k.Search):
		v.follow = false
		v.find = finding{typing: true, origin: v.look.at, hit: -1, n: v.find.n, hunt: v.find.hunt}
		e.stopHunt(env)
		return e.goText(env, motion{}), true
	case key.Matches(msg, k.Again):
		return e.again(env, false), true
	case key.Matches(msg, k.Against):
		return e.again(env, true), true
	case key.Matches(msg, k.Line):
		v.asking, v.number = true, nil
	case key.Matches(msg, k.Wrap):
		v.look.wrap = !v.look.wrap
		v.look.right, v.look.at.row = 0, 0
		e.wrap = v.look.wrap
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
func (e *evidenceScreen) pressNumber(env *Env, msg tea.KeyPressMsg) (cmd tea.Cmd, taken bool) {
	v := e.view
	typed := string(v.number)
	v.asking, v.number = false, nil
	switch s := msg.String(); {
	case s == "backspace" && typed != "":
		v.number, v.asking = []rune(typed[:len(typed)-1]), true
		return nil, true
	case key.Matches(msg, env.keys.Esc):
		return nil, true
	case key.Matches(msg, env.keys.Enter):
		if n, err := strconv.ParseInt(typed, 10, 64); err == nil && n > 0 {
			return e.goLine(env, n), true
		}
		return nil, true
	}
	return nil, false
}

func (e *evidenceScreen) scroll(env *Env, mo motion) tea.Cmd {
	v := e.view
	v.goal = 0
	v.follow = v.live != nil && (mo.to == toLast || v.follow && mo.to == toHere && mo.by > 0)
	if v.follow {
		v.look.right = 0 // what comes begins at the left
	}
	if v.file == nil {
		return nil
	}
	return e.goText(env, mo)
}

// pan moves sideways by half a page, where lines are cut. It does not go further
// than a line that is still seen.
func (e *evidenceScreen) pan(env *Env, by int) tea.Cmd {
	v := e.view
	if v.look.wrap {
		env.warn("", ink.Say("Lines are wrapped here: %s cuts them.", env.keys.Wrap.Help().Key))
		return nil
	}
	more := by < 0
	for _, r := range v.page.rows {
		more = more || r.more && r.body != ""
	}
	if !more || v.busy {
		return nil
	}
	v.look.right = max(0, v.look.right+by*max(1, v.look.w/2))
	return e.goText(env, motion{})
}
