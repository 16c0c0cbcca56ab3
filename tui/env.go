package tui

import (
	"context"
	"handrail/steps"
	"handrail/triage"
	"handrail/tui/ink"
	"slices"
	"strings"
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

// send asks the incident for an intent. Leaving the program must not undo what
// was asked: only the incident itself decides when an act ends.
func (env *Env) send(in triage.Intent) tea.Cmd {
	inc := env.inc
	in.Seen = env.snap.State.Seq
	env.busy++
	return env.crew.start(func(ctx context.Context) tea.Msg {
		return didMsg{in, inc.Do(context.WithoutCancel(ctx), in)}
	})
}

// placeOf returns the label of the first place that something of the header
// belongs to. Practice has its own word and is never production.
func (env *Env) placeOf(header []steps.KV) ink.Text {
	places := env.c.Places
	if places == nil {
		places = UsualPlaces()
	}
	for _, p := range places {
		if p.Holds(header) {
			return ink.Shown(strings.ToUpper(p.Label))
		}
	}
	return ""
}

// place is where the incident that is shown goes on, or would be opened, as a
// label to draw; "" where that is nothing special.
func (env *Env) place() ink.Text {
	if env.inc == nil {
		return env.placeOf([]steps.KV{{Key: "cluster", Value: env.known.Cluster}})
	}
	if env.snap.State.Drill != "" {
		return ""
	}
	return env.placeOf(append(slices.Clone(env.snap.Header), env.snap.Where...))
}

// sendAll asks for several intents, one after the other.
func (env *Env) sendAll(ins []triage.Intent) tea.Cmd {
	inc := env.inc
	for i := range ins {
		ins[i].Seen = env.snap.State.Seq
	}
	env.busy += len(ins)
	return env.crew.start(func(ctx context.Context) tea.Msg {
		var out didAllMsg
		for _, in := range ins {
			out = append(out, didMsg{in, inc.Do(context.WithoutCancel(ctx), in)})
		}
		return out
	})
}

func (env *Env) replaying() bool { return env.tape != nil }

// sealState is how far the seal of the incident is.
type sealState struct {
	order  *SealOrder // under way
	result *Sealed
	gone   bool // the bundle was let go: the incident takes no more entries here
}
