package screen

import (
	"context"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"handrail/steps"
	"handrail/triage"
	"handrail/tui/form"
	"handrail/tui/incident"
	"handrail/tui/ink"
	"handrail/tui/keymap"
)

// ID names a screen.
type ID string

// The screens that others lead to.
const (
	AtHome     ID = "home"
	AtMatch    ID = "match"
	AtSymptoms ID = "symptoms"
	AtWait     ID = "wait"
	AtRun      ID = "run"
	AtEvidence ID = "evidence"
	AtSeal     ID = "seal"
)

// The smallest terminal in which every screen is whole.
const MinWidth, MinHeight = 60, 18

// Inset is the margin of the screens that are not divided into panes.
const Inset = 2

// Env is what a screen is given with every key and every frame: what it may look
// at, and the few things that it may ask for.
type Env struct {
	Config Config
	Tasks  *Tasks
	Keys   keymap.Map
	Theme  ink.Theme

	W, H int       // of the terminal
	Now  time.Time // of the message being handled: drawing asks no clock
	Wall time.Time // the same without the clock of a replay

	At             ID       // what fills the terminal
	Incident       Incident // the one that is open, nil on the screens before
	Tape           Tape     // the same one where it is recorded, nil where it is not
	*incident.Case          // what is known of it, shared by all screens

	Seal  *SealState // shared with the screen of the seal
	Known Home       // what the command centre knows

	// Ask hands a request to the program at once: what a screen wants of another
	// one goes through it, and through nothing else.
	Ask func(Request) tea.Cmd

	Room   func() int // rows between header and foot, as they are now
	Notice Notice
	Beside ink.Text   // the newest line from outside of the program, until the next key
	Sheet  *form.Form // the sheet in front
	Sender *form.Form // the sheet that the key in hand sends, nil for none
	Serial int        // numbers what is opened, so that late answers find nothing

	Underway []triage.Intent // asked for and not answered yet
	Quiet    time.Time       // until then no key decides: what it would decide has just come to the front
}

// Notice is one line about what just happened. It stays until the next key.
type Notice struct {
	Level string // "", warning or critical
	Text  ink.Text
}

// Show has another screen fill the terminal.
func (env *Env) Show(id ID) { env.At = id }

// Warn says something in the line above the keys.
func (env *Env) Warn(level string, t ink.Text) { env.Notice = Notice{Level: level, Text: t} }

// Send asks the incident for an intent. Leaving the program must not undo what
// was asked: only the incident itself decides when an act ends.
func (env *Env) Send(in triage.Intent) tea.Cmd {
	inc, from := env.Incident, env.Sender
	in.Seen = env.Snap.State.Seq
	env.Underway = append(env.Underway, in)
	return env.Tasks.Start(func(ctx context.Context) tea.Msg {
		return Answer{In: in, Err: inc.Do(context.WithoutCancel(ctx), in), From: from}
	})
}

// Landed takes an intent that was answered off those under way.
func (env *Env) Landed(in triage.Intent) {
	same := func(o triage.Intent) bool { return o.Kind == in.Kind && o.Step == in.Step && o.Value == in.Value }
	if i := slices.IndexFunc(env.Underway, same); i >= 0 {
		env.Underway = slices.Delete(env.Underway, i, i+1)
	}
}

// Recording says that a word of a person is on its way into the journal, or came to
// its end a moment ago, so that what comes next was not seen yet. Looking, and an act, are none.
func (env *Env) Recording() bool {
	return env.Now.Before(env.Quiet) || slices.ContainsFunc(env.Underway, func(in triage.Intent) bool {
		switch in.Kind {
		case triage.DoProbe, triage.DoCancel, triage.DoPreview, triage.DoConfirm, triage.DoInterrupt, triage.DoNote:
			return false
		}
		return true
	})
}

// PlaceOf returns the label of the first place that something of the header
// belongs to. Practice has its own word and is never production.
func (env *Env) PlaceOf(header []steps.KV) ink.Text {
	places := env.Config.Places
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

// Place is where the incident that is shown goes on, or would be opened, as a
// label to draw; "" where that is nothing special.
func (env *Env) Place() ink.Text {
	if env.Incident == nil {
		return env.PlaceOf([]steps.KV{{Key: "cluster", Value: env.Known.Cluster}})
	}
	if env.Snap.State.Drill != "" {
		return ""
	}
	return env.PlaceOf(append(slices.Clone(env.Snap.Header), env.Snap.Where...))
}

// together is an incident that takes the words of a sheet at once.
type together interface {
	DoAll(ctx context.Context, ins []triage.Intent) []error
}

// SendAll asks for several intents, one after the other.
func (env *Env) SendAll(ins []triage.Intent) tea.Cmd {
	inc, from := env.Incident, env.Sender
	for i := range ins {
		ins[i].Seen = env.Snap.State.Seq
	}
	env.Underway = append(env.Underway, ins...)
	return env.Tasks.Start(func(ctx context.Context) tea.Msg {
		ctx = context.WithoutCancel(ctx)
		out := make(Answers, len(ins))
		for i, in := range ins {
			out[i] = Answer{In: in, From: from}
		}
		if all, ok := inc.(together); ok {
			for i, err := range all.DoAll(ctx, ins) {
				out[i].Err = err
			}
			return out
		}
		for i, in := range ins {
			out[i].Err = inc.Do(ctx, in)
		}
		return out
	})
}

// Replaying says that a recorded incident is shown, in which nothing can be done.
func (env *Env) Replaying() bool { return env.Tape != nil }

// SealState is how far the seal of the incident is.
type SealState struct {
	Order  *SealOrder // under way
	Result *SealResult
	Gone   bool // the bundle was let go: the incident takes no more entries here
}
