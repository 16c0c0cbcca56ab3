package tui

import (
	"handrail/tui/ink"
	"strconv"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"
)

// pressText gives a key to the artifact that is open. Not taken means that it is
// for whoever shows the artifact.
func (m *model) pressText(msg tea.KeyPressMsg) (cmd tea.Cmd, taken bool) {
	v, k := m.evidence.view, &m.keys
	if v.find.typing {
		return m.pressFind(msg), true
	}
	if s := msg.String(); len(s) == 1 && s[0] >= '0' && s[0] <= '9' {
		if len(v.number) < 15 {
			v.number, v.asking = append(v.number, rune(s[0])), true
		}
		return nil, true
	}
	if v.asking {
		if cmd, taken := m.pressNumber(msg); taken {
			return cmd, true
		}
	}
	page := max(1, v.look.h-1)
	switch {
	case key.Matches(msg, k.Esc) && (v.find.typed != "" || v.goal > 0):
		v.goal = 0
		return m.forget(), true
	case key.Matches(msg, k.Up):
		return m.scroll(motion{by: -1}), true
	case key.Matches(msg, k.Down):
		return m.scroll(motion{by: 1}), true
	case key.Matches(msg, k.PageUp):
		return m.scroll(motion{by: -page}), true
	case key.Matches(msg, k.PageDown):
		return m.scroll(motion{by: page}), true
	case key.Matches(msg, k.First):
		return m.scroll(motion{to: toFirst}), true
	case key.Matches(msg, k.Last):
		return m.scroll(motion{to: toLast}), true
	}
	return m.pressTextMore(msg)
}

// pressTextMore are the keys that do more than scroll.
func (m *model) pressTextMore(msg tea.KeyPressMsg) (cmd tea.Cmd, taken bool) {
	v, k := m.evidence.view, &m.keys
	switch {
	case key.Matches(msg, k.Search):
		v.follow = false
		v.find = finding{typing: true, origin: v.look.at, hit: -1, n: v.find.n, hunt: v.find.hunt}
		m.stopHunt()
		return m.goText(motion{}), true
	case key.Matches(msg, k.Again):
		return m.again(false), true
	case key.Matches(msg, k.Against):
		return m.again(true), true
	case key.Matches(msg, k.Line):
		v.asking, v.number = true, nil
	case key.Matches(msg, k.Wrap):
		v.look.wrap = !v.look.wrap
		v.look.right, v.look.at.row = 0, 0
		m.evidence.wrap = v.look.wrap
		return m.goText(motion{}), true
	case key.Matches(msg, k.Left):
		return m.pan(-1), true
	case key.Matches(msg, k.Right):
		return m.pan(1), true
	case key.Matches(msg, k.Copy):
		return m.copyText(false), true
	case key.Matches(msg, k.CopyLine):
		return m.copyText(true), true
	case key.Matches(msg, k.Save):
		m.saveText()
	case key.Matches(msg, k.BlobAfter):
		return m.nextBlob(1), true
	case key.Matches(msg, k.BlobBefore):
		return m.nextBlob(-1), true
	default:
		return nil, false
	}
	return nil, true
}

// pressNumber takes the keys that end the number of a line; any other key drops it
// and counts as itself.
func (m *model) pressNumber(msg tea.KeyPressMsg) (cmd tea.Cmd, taken bool) {
	v := m.evidence.view
	typed := string(v.number)
	v.asking, v.number = false, nil
	switch s := msg.String(); {
	case s == "backspace" && typed != "":
		v.number, v.asking = []rune(typed[:len(typed)-1]), true
		return nil, true
	case key.Matches(msg, m.keys.Esc):
		return nil, true
	case key.Matches(msg, m.keys.Enter):
		if n, err := strconv.ParseInt(typed, 10, 64); err == nil && n > 0 {
			return m.goLine(n), true
		}
		return nil, true
	}
	return nil, false
}

func (m *model) scroll(mo motion) tea.Cmd {
	v := m.evidence.view
	v.goal = 0
	v.follow = v.live != nil && (mo.to == toLast || v.follow && mo.to == toHere && mo.by > 0)
	if v.follow {
		v.look.right = 0 // what comes begins at the left
	}
	if v.file == nil {
		return nil
	}
	return m.goText(mo)
}

// pan moves sideways by half a page, where lines are cut. It does not go further
// than a line that is still seen.
func (m *model) pan(by int) tea.Cmd {
	v := m.evidence.view
	if v.look.wrap {
		m.warn("", ink.Say("Lines are wrapped here: %s cuts them.", m.keys.Wrap.Help().Key))
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
	return m.goText(motion{})
}
