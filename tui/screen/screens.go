package screen

import (
	tea "charm.land/bubbletea/v2"

	"handrail/tui/ink"
)

// Screen fills the terminal between the header and the keys. It owns what it
// shows, is given an [Env] with every call, and hands back what is to be done
// beside the loop. What it wants of the program or of another screen it asks of
// the Env.
type Screen interface {
	// Press takes a key.
	Press(env *Env, msg tea.KeyPressMsg) tea.Cmd
	// Paste takes what comes from a clipboard.
	Paste(env *Env, s string) tea.Cmd
	// Hear takes what came back from beside the loop, and says whether it was for
	// this screen, shown or not.
	Hear(env *Env, msg tea.Msg) (cmd tea.Cmd, mine bool)
	// Draw fills w by h cells.
	Draw(env *Env, w, h int) []ink.Drawn
	// Hints says what enter would do, and the keys that do something.
	Hints(env *Env) Hints
	// Typing says that letters are text at the moment.
	Typing() bool
}

// Hints is the end of a screen: the move, the keys as far as they fit, and
// those that always show.
type Hints struct {
	Move         ink.Text
	Keys, Always []ink.Hint
}

// Opener is a screen that begins something as it comes to the front. It shows
// itself.
type Opener interface{ Open(env *Env) tea.Cmd }

// Finder is a screen in which the palette finds more than its keys.
type Finder interface{ Finds(env *Env) []PaletteItem }

// PaletteItem is one thing to find: what it is called, and what choosing it does.
type PaletteItem struct {
	Label, Note ink.Text
	Do          func() tea.Cmd
}
