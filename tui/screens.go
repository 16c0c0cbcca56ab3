package tui

import (
	tea "charm.land/bubbletea/v2"

	"handrail/tui/ink"
)

// screen fills the terminal between the header and the keys. It owns what it
// shows, is given an [Env] with every call, and hands back what is to be done
// beside the loop. What it wants of the program or of another screen it asks of
// the Env.
type screen interface {
	// press takes a key.
	press(env *Env, msg tea.KeyPressMsg) tea.Cmd
	// paste takes what comes from a clipboard.
	paste(env *Env, s string) tea.Cmd
	// hear takes what came back from beside the loop, and says whether it was for
	// this screen, shown or not.
	hear(env *Env, msg tea.Msg) (cmd tea.Cmd, mine bool)
	// draw fills w by h cells.
	draw(env *Env, w, h int) []ink.Drawn
	// hints says what enter would do, and the keys that do something.
	hints(env *Env) hintLine
	// typing says that letters are text at the moment.
	typing() bool
}

// hintLine is the end of a screen: the move, the keys as far as they fit, and
// those that always show.
type hintLine struct {
	move         ink.Text
	keys, always []ink.Hint
}

// finder is a screen in which the palette finds more than its keys.
type finder interface{ finds(env *Env) []found }

// found is one thing to find: what it is called, and what choosing it does.
type found struct {
	label, note ink.Text
	do          func() tea.Cmd
}
