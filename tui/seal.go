package tui

import (
	"context"
	"handrail/tui/ink"
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"
)

// sealScreen says what a seal is, asks for it, and shows what came of it.
type sealScreen struct {
	*sealState
	means *Sealing // nil while it is looked for
	err   ink.Text
	off   int
	feed  *feed
	steps []ink.Text
	back  screenID
}

type (
	sealingMsg struct {
		means Sealing
		err   error
	}
	sealedMsg struct {
		inc      Incident
		incident string
		result   Sealed
		err      error
	}
	sealStepMsg struct{ feed *feed }
)

// open shows the seal of the incident, or says why it cannot be sealed now.
func (s *sealScreen) open(env *Env) tea.Cmd {
	back := env.at
	switch {
	case !env.closed():
		env.warn("warning", ink.Say("Not now: this incident is open, and a seal is the end of it. %s on its run screen closes it; then it can be sealed.", env.keys.Close.Help().Key))
		return nil
	case env.c.Seal == nil || env.c.Sealing == nil:
		env.warn("", ink.Say("It cannot be sealed here: handrail bundle seal %s", env.snap.State.Incident))
		return nil
	}
	env.show(atSeal)
	if s.result != nil || s.order != nil {
		s.back = back
		return nil
	}
	*s = sealScreen{sealState: env.seal, back: back}
	look := env.c.Sealing
	return env.crew.start(func(ctx context.Context) tea.Msg {
		means, err := look(ctx)
		return sealingMsg{means, err}
	})
}

func (s *sealScreen) sealLooked(env *Env, msg sealingMsg) {
	s.means, s.err = &msg.means, ""
	if msg.err != nil {
		s.means, s.err = nil, ink.Shown(msg.err.Error())
	}
}

func (s *sealScreen) press(env *Env, msg tea.KeyPressMsg) tea.Cmd {
	k := &env.keys
	switch {
	case key.Matches(msg, k.Help):
		return env.Ask(OpenHelp{})
	case key.Matches(msg, k.Anchor) && s.result != nil:
		env.warn("", "Handed to the clipboard: the line to post.")
		return tea.SetClipboard(s.result.Anchor)
	case key.Matches(msg, k.Report) && s.order == nil:
		return env.Ask(OpenReport{})
	case key.Matches(msg, k.Esc, k.Leave), key.Matches(msg, k.Enter) && s.result != nil:
		env.show(s.back)
	case key.Matches(msg, k.Up):
		s.off = max(0, s.off-1)
	case key.Matches(msg, k.Down):
		s.off++
	case key.Matches(msg, k.PageUp):
		s.off = max(0, s.off-10)
	case key.Matches(msg, k.PageDown):
		s.off += 10
	case key.Matches(msg, k.Enter) && s.means != nil && s.order == nil:
		env.form = s.sealForm(env)
	}
	return nil
}

// nobody is the choice not to sign.
const nobody = "nobody"

// sealForm asks who signs, and for the word.
func (s *sealScreen) sealForm(env *Env) *form {
	var cs []choice
	ids := map[string]string{nobody: ""}
	for _, k := range s.means.Signers {
		name := k.Name
		if _, taken := ids[name]; taken || name == "" {
			name = k.ID
		}
		ids[name] = k.ID
		cs = append(cs, choice{value: name, help: ink.Shown(k.ID)})
	}
	cs = append(cs, choice{value: nobody, help: "until somebody signs, whoever can write the bundle could make another seal"})
	word := named("word", "word", "seal", true)
	word.check = func(s string) ink.Text {
		if strings.TrimSpace(s) != "seal" {
			return "Type the word seal to go on, or press esc."
		}
		return ""
	}
	return &form{title: ink.Say("Seal %s", env.snap.State.Incident), intro: []ink.Text{"After it, nothing can be added that the seal covers. Type the word seal."},
		fields: []field{oneOf("signer", "signs", cs), word},
		submit: func(v map[string]string) tea.Cmd {
			return s.seal(env, ids[v["signer"]])
		}}
}

// seal lets go of the incident, so that nothing can be recorded between the last
// entry and the seal, and seals its bundle. It goes to its end whatever is pressed.
func (s *sealScreen) seal(env *Env, signer string) tea.Cmd {
	inc, run, id := env.inc, env.c.Seal, env.snap.State.Incident
	done := make(chan struct{})
	s.gone = true
	s.order, s.feed, s.steps, s.err = &SealOrder{env.snap.Bundle, signer}, newFeed(done), nil, ""
	order, f := *s.order, s.feed
	return tea.Batch(f.next(sealStepMsg{f}), env.crew.start(func(ctx context.Context) tea.Msg {
		defer close(done)
		f.line("letting go of the bundle")
		if err := env.crew.release(inc); err != nil {
			return sealedMsg{inc: inc, incident: id, err: err}
		}
		result, err := run(context.WithoutCancel(ctx), order, f.line)
		return sealedMsg{inc, id, result, err}
	}))
}

func (s *sealScreen) sealStep(env *Env, msg sealStepMsg) tea.Cmd {
	if msg.feed != s.feed {
		return nil
	}
	for _, l := range msg.feed.drain() {
		s.steps = append(s.steps, ink.Shown(l))
	}
	return msg.feed.next(msg)
}

func (s *sealScreen) sealDone(env *Env, msg sealedMsg) {
	if env.at != atSeal || msg.inc != env.inc {
		switch {
		case msg.err != nil:
			env.warn("critical", ink.Say("%s was not sealed: %s", msg.incident, msg.err.Error()))
		default:
			env.warn("", ink.Say("✓ %s is sealed: %s", msg.incident, msg.result.Seal))
		}
	}
	if msg.inc != env.inc {
		return // it was left
	}

	s.order, s.feed, s.off = nil, nil, 0
	if msg.err != nil {
		s.err = ink.Shown(msg.err.Error())
		return
	}
	s.result = &msg.result
}

func (s *sealScreen) paste(*Env, string) tea.Cmd { return nil }

func (s *sealScreen) typing() bool { return false }

func (s *sealScreen) hear(env *Env, msg tea.Msg) (tea.Cmd, bool) {
	switch msg := msg.(type) {
	case sealingMsg:
		s.sealLooked(env, msg)
	case sealStepMsg:
		return s.sealStep(env, msg), true
	case sealedMsg:
		s.sealDone(env, msg)
	default:
		return nil, false
	}
	return nil, true
}
