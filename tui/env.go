package tui

import (
	"handrail/tui/ink"
	"time"

	tea "charm.land/bubbletea/v2"
)

// screen is what fills the terminal.
type screenID int

const (
	atHome screenID = iota
	atMatch
	atWait
	atRun
	atEvidence
	atSeal
	atSymptoms
)

// The smallest terminal in which every screen is whole.
const minWidth, minHeight = 60, 18

// Env is what a screen is given with every key and every frame: what it may look
// at, and the few things that it may ask for.
type Env struct {
	c    Config
	crew *crew
	keys keyMap
	th   ink.Theme

	w, h int       // of the terminal
	now  time.Time // of the message being handled: drawing asks no clock
	wall time.Time // the same without the clock of a replay

	at   screenID // what fills the terminal
	inc  Incident // the one that is open, nil on the screens before
	tape Tape     // inc where it is a recorded one, nil where it is not
	*view

	seal  *sealState
	known Home // what the command centre knows

	// Ask hands a request to the program at once: what a screen wants of another
	// one goes through it, and through nothing else.
	Ask func(Request) tea.Cmd

	room   func() int // rows between header and foot, as they are now
	notice notice
	form   *form // the sheet in front
	busy   int   // intents under way
	serial int   // numbers what is opened, so that late answers find nothing
}

// notice is one line about what just happened. It stays until the next key.
type notice struct {
	level string // "", warning or critical
	text  ink.Text
	aside bool // from outside of the program; anything of ours replaces it
}

// show has another screen fill the terminal.
func (env *Env) show(id screenID) { env.at = id }

func (env *Env) warn(level string, t ink.Text) { env.notice = notice{level: level, text: t} }
