package seal

import (
	"context"
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"handrail/tui/form"
	"handrail/tui/ink"
	"handrail/tui/screen"
)

// Screen says what a seal is, asks for it, and shows what came of it.
type Screen struct {
	*screen.SealState
	means *screen.SealOptions // nil while it is looked for
	err   ink.Text
	off   int
	feed  *screen.Feed
	steps []ink.Text
	back  screen.ID
}

type (
	sealingMsg struct {
		means screen.SealOptions
		err   error
	}
	sealedMsg struct {
		inc      screen.Incident
		incident string
		result   screen.SealResult
		err      error
	}
	sealStepMsg struct{ feed *screen.Feed }
)

// Open shows the seal of the incident, or says why it cannot be sealed now.
func (s *Screen) Open(env *screen.Env) tea.Cmd {
	back := env.At
	switch {
	case !env.Closed():
		env.Warn("warning", ink.Say("Not now: this incident is open, and only a closed one can be sealed. %s on its run screen closes it.", env.Keys.Close.Help().Key))
		return nil
	case env.Config.Seal == nil || env.Config.SealOptions == nil:
		env.Warn("", ink.Say("It cannot be sealed here: handrail bundle seal %s", env.Snap.State.Incident))
		return nil
	}
	env.Show(screen.AtSeal)
	if s.Result != nil || s.Order != nil {
		s.back = back
		return nil
	}
	*s = Screen{SealState: env.Seal, back: back}
	look := env.Config.SealOptions
	return env.Tasks.Start(func(ctx context.Context) tea.Msg {
		means, err := look(ctx)
		return sealingMsg{means, err}
	})
}

func (s *Screen) sealLooked(msg sealingMsg) {
	s.means, s.err = &msg.means, ""
	if msg.err != nil {
		s.means, s.err = nil, ink.Shown(msg.err.Error())
	}
}

// Press implements [screen.Screen].
func (s *Screen) Press(env *screen.Env, msg tea.KeyPressMsg) tea.Cmd {
	k := &env.Keys
	switch {
	case key.Matches(msg, k.Help):
		return env.Ask(screen.OpenHelp{})
	case key.Matches(msg, k.Anchor) && s.Result != nil:
		env.Warn("", "Sent to the terminal's clipboard: the line to post. "+screen.Unconfirmed)
		return tea.SetClipboard(s.Result.Anchor)
	case key.Matches(msg, k.Report) && s.Order == nil:
		return env.Ask(screen.OpenReport{})
	case key.Matches(msg, k.Esc, k.Leave), key.Matches(msg, k.Enter) && s.Result != nil:
		env.Show(s.back)
	case key.Matches(msg, k.Up):
		s.off = max(0, s.off-1)
	case key.Matches(msg, k.Down):
		s.off++
	case key.Matches(msg, k.PageUp):
		s.off = max(0, s.off-10)
	case key.Matches(msg, k.PageDown):
		s.off += 10
	case key.Matches(msg, k.Enter) && s.means != nil && s.Order == nil:
		env.Sheet = s.sealForm(env)
	}
	return nil
}

// unsigned is the choice not to sign.
const unsigned = "no signature"

// sealForm asks who signs, and for the word.
func (s *Screen) sealForm(env *screen.Env) *form.Form {
	var cs []form.Choice
	ids := map[string]string{unsigned: ""}
	for _, k := range s.means.Signers {
		name := k.Name
		if _, taken := ids[name]; taken || name == "" {
			name = k.ID
		}
		ids[name] = k.ID
		cs = append(cs, form.Choice{Value: name, Help: ink.Shown(k.ID)})
	}
	cs = append(cs, form.Choice{Value: unsigned, Help: "until it is signed, anyone who can write the bundle could make another seal"})
	word := form.Named("word", "word", "seal", true)
	word.Check = func(s string) ink.Text {
		if strings.TrimSpace(s) != "seal" {
			return "Type the word seal to go on, or press esc."
		}
		return ""
	}
	return &form.Form{Title: ink.Say("Seal %s", env.Snap.State.Incident), Intro: []ink.Text{"Entries added later are outside the seal. Type the word seal."},
		Fields: []form.Field{form.OneOf("signer", "signs", cs), word},
		Submit: func(v map[string]string) tea.Cmd {
			return s.seal(env, ids[v["signer"]])
		}}
}

// seal lets go of the incident, so that nothing can be recorded between the last
// entry and the seal, and seals its bundle. It goes to its end whatever is pressed.
func (s *Screen) seal(env *screen.Env, signer string) tea.Cmd {
	inc, run, id := env.Incident, env.Config.Seal, env.Snap.State.Incident
	done := make(chan struct{})
	s.Gone = true
	s.Order, s.feed, s.steps, s.err = &screen.SealOrder{Bundle: env.Snap.Bundle, Signer: signer}, screen.NewFeed(done), nil, ""
	order, f := *s.Order, s.feed
	return tea.Batch(f.Next(sealStepMsg{f}), env.Tasks.Start(func(ctx context.Context) tea.Msg {
		defer close(done)
		f.Line("releasing the bundle")
		if err := env.Tasks.Release(inc); err != nil {
			return sealedMsg{inc: inc, incident: id, err: err}
		}
		result, err := run(context.WithoutCancel(ctx), order, f.Line)
		return sealedMsg{inc, id, result, err}
	}))
}

func (s *Screen) sealStep(msg sealStepMsg) tea.Cmd {
	if msg.feed != s.feed {
		return nil
	}
	for _, l := range msg.feed.Drain() {
		s.steps = append(s.steps, ink.Shown(l))
	}
	return msg.feed.Next(msg)
}

func (s *Screen) sealDone(env *screen.Env, msg sealedMsg) {
	if env.At != screen.AtSeal || msg.inc != env.Incident {
		switch {
		case msg.err != nil:
			env.Warn("critical", ink.Say("%s was not sealed: %s", msg.incident, msg.err.Error()))
		default:
			env.Warn("", ink.Say("✓ %s is sealed: %s", msg.incident, msg.result.Seal))
		}
	}
	if msg.inc != env.Incident {
		return // it was left
	}

	s.Order, s.feed, s.off = nil, nil, 0
	if msg.err != nil {
		s.err = ink.Shown(msg.err.Error())
		return
	}
	s.Result = &msg.result
}

// Paste implements [screen.Screen].
func (s *Screen) Paste(*screen.Env, string) tea.Cmd { return nil }

// Typing implements [screen.Screen].
func (s *Screen) Typing() bool { return false }

// Hear implements [screen.Screen].
func (s *Screen) Hear(env *screen.Env, msg tea.Msg) (tea.Cmd, bool) {
	switch msg := msg.(type) {
	case screen.Another:
		*s = Screen{SealState: env.Seal}
	case sealingMsg:
		s.sealLooked(msg)
	case sealStepMsg:
		return s.sealStep(msg), true
	case sealedMsg:
		s.sealDone(env, msg)
	default:
		return nil, false
	}
	return nil, true
}
