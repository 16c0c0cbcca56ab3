package form

import (
	"slices"
	"strings"
	"unicode"

	tea "charm.land/bubbletea/v2"

	"handrail/tui/ink"
)

// Editor is a line of input. It is our own because it must say whether any of
// it was pasted, and because what it draws goes through shown.
type Editor struct {
	runes  []rune
	at     int
	Pasted bool
}

// Value is the text.
func (e *Editor) Value() string { return string(e.runes) }

// Set puts a text in place of what was typed; it does not count as pasted.
func (e *Editor) Set(s string) { e.runes, e.at, e.Pasted = []rune(s), len([]rune(s)), false }

// Key handles an editing key and says whether it was one.
func (e *Editor) Key(msg tea.KeyPressMsg) bool {
	switch msg.String() {
	case "left":
		e.at = max(0, e.at-1)
	case "right":
		e.at = min(len(e.runes), e.at+1)
	case "home", "ctrl+a":
		e.at = 0
	case "end", "ctrl+e":
		e.at = len(e.runes)
	case "backspace":
		if e.at > 0 {
			e.runes = slices.Delete(e.runes, e.at-1, e.at)
			e.at--
		}
	case "delete":
		if e.at < len(e.runes) {
			e.runes = slices.Delete(e.runes, e.at, e.at+1)
		}
	case "ctrl+u":
		e.runes, e.at = slices.Delete(e.runes, 0, e.at), 0
	case "ctrl+w":
		from := len(strings.TrimRightFunc(string(e.runes[:e.at]), unicode.IsSpace))
		from = strings.LastIndexFunc(string(e.runes[:e.at])[:from], unicode.IsSpace) + 1
		n := len([]rune(string(e.runes[:e.at])[:from]))
		e.runes, e.at = slices.Delete(e.runes, n, e.at), n
	default:
		if msg.Text == "" {
			return false
		}
		e.insert(msg.Text)
	}
	if len(e.runes) == 0 {
		e.Pasted = false // what was pasted is gone
	}
	return true
}

// Paste inserts what came from the clipboard, without the space that a copied
// line brings along.
func (e *Editor) Paste(s string) {
	e.insert(strings.TrimRightFunc(s, unicode.IsSpace))
	e.Pasted = len(e.runes) > 0
}

// insert puts a text where the cursor is.
func (e *Editor) insert(s string) {
	rs := []rune(s)
	e.runes = slices.Insert(e.runes, e.at, rs...)
	e.at += len(rs)
}

// Draw shows the part of the line around the cursor in w cells, and the column
// of the cursor.
func (e *Editor) Draw(i ink.Ink, w int) (ink.Drawn, int) {
	shown := []rune(ink.Covered(string(e.runes)))
	before, after := ink.Inline(string(shown[:e.at])), ink.Inline(string(shown[e.at:]))
	for ink.Cells(ink.Drawn(before)) > w-1 {
		_, cutTo, _ := strings.Cut(string(before), string([]rune(string(before))[0]))
		before = ink.Text(cutTo)
	}
	at := ink.Cells(ink.Drawn(before))
	return i.On(ink.Clip(before+after, w)), at
}

// Begins is how the line begins, in w cells: what is drawn of one that has no cursor.
func (e *Editor) Begins(i ink.Ink, w int) ink.Drawn {
	return i.On(ink.Clip(ink.Shown(ink.Covered(string(e.runes))), w))
}

// Search is the line in which something is searched for, "" where nothing is; it
// has a caret as long as it is typed.
func (e *Editor) Search(th *ink.Theme, w int, typing bool) ink.Drawn {
	if !typing && e.Value() == "" {
		return ""
	}
	row, _ := e.Draw(th.Strong, w)
	caret := ink.Drawn("")
	if typing {
		caret = th.Accent.On("▏")
	}
	return th.Accent.On("/ ") + row + caret
}
