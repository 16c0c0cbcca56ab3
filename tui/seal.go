package tui

import (
	"context"
	"handrail/tui/ink"
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"
)

// Sealing is what is known before a seal: who could sign, and what becomes of the
// key that made the tokens of hidden values.
type Sealing struct {
	Signers    []Signer
	NoSigner   string   // why nobody could sign, and how to get a key
	Recipients []string // who that key is encrypted to; nobody, and it is destroyed
	NameOne    string   // how to name a recipient
}

// Signer is a key that could sign.
type Signer struct{ ID, Name string }

// SealOrder says what to seal, and who signs: the ID of a signer, "" for nobody.
type SealOrder struct{ Bundle, Signer string }

// Sealed is what came of a seal. Where something went wrong after it, Wrong says
// what, and the next safe move.
type Sealed struct {
	Seal      string // the file of its checkpoint
	Entries   int64
	Anchor    string // what to post
	Signature string // "" when nobody signed
	Key       string // destroyed, escrowed or left
	Escrow    string // where an escrowed one is
	Verified  bool
	Failed    []string // properties that do not hold
	Unproven  []string // properties that nothing proves yet
	Wrong     string
}

// sealScreen says what a seal is, asks for it, and shows what came of it.
type sealScreen struct {
	means  *Sealing // nil while it is looked for
	err    ink.Text
	off    int
	order  *SealOrder // under way
	feed   *feed
	steps  []ink.Text
	result *Sealed
	gone   bool // the bundle was let go: the incident takes no more entries here
	back   screenID
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

// openSeal shows the seal of the incident, or says why it cannot be sealed now.
func (m *model) openSeal() tea.Cmd {
	back := m.at
	switch r := &m.run; {
	case m.replaying():
		m.warn("", m.onlyLooking())
		return nil
	case !r.closed():
		m.warn("warning", ink.Say("Not now: this incident is open, and a seal is the end of it. %s on its run screen closes it; then it can be sealed.", m.keys.Close.Help().Key))
		return nil
	case m.c.Seal == nil || m.c.Sealing == nil:
		m.warn("", ink.Say("It cannot be sealed here: handrail bundle seal %s", r.snap.State.Incident))
		return nil
	}
	m.at = atSeal
	s := &m.sealing
	if s.result != nil || s.order != nil {
		s.back = back
		return nil
	}
	*s = sealScreen{back: back, gone: s.gone}
	look := m.c.Sealing
	return m.crew.start(func(ctx context.Context) tea.Msg {
		means, err := look(ctx)
		return sealingMsg{means, err}
	})
}

func (m *model) sealLooked(msg sealingMsg) {
	m.sealing.means, m.sealing.err = &msg.means, ""
	if msg.err != nil {
		m.sealing.means, m.sealing.err = nil, ink.Shown(msg.err.Error())
	}
}

func (m *model) pressSeal(msg tea.KeyPressMsg) tea.Cmd {
	s, k := &m.sealing, &m.keys
	switch {
	case key.Matches(msg, k.Help):
		m.openHelp()
	case key.Matches(msg, k.Anchor) && s.result != nil:
		m.warn("", "Handed to the clipboard: the line to post.")
		return tea.SetClipboard(s.result.Anchor)
	case key.Matches(msg, k.Report) && s.order == nil:
		return m.openReport(m.at)
	case key.Matches(msg, k.Esc, k.Leave), key.Matches(msg, k.Enter) && s.result != nil:
		m.at = s.back
	case key.Matches(msg, k.Up):
		s.off = max(0, s.off-1)
	case key.Matches(msg, k.Down):
		s.off++
	case key.Matches(msg, k.PageUp):
		s.off = max(0, s.off-10)
	case key.Matches(msg, k.PageDown):
		s.off += 10
	case key.Matches(msg, k.Enter) && s.means != nil && s.order == nil:
		m.form = m.sealForm()
	}
	return nil
}

// nobody is the choice not to sign.
const nobody = "nobody"

// sealForm asks who signs, and for the word.
func (m *model) sealForm() *form {
	var cs []choice
	ids := map[string]string{nobody: ""}
	for _, k := range m.sealing.means.Signers {
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
	return &form{title: ink.Say("Seal %s", m.run.snap.State.Incident), intro: []ink.Text{"After it, nothing can be added that the seal covers. Type the word seal."},
		fields: []field{oneOf("signer", "signs", cs), word},
		submit: func(v map[string]string) tea.Cmd {
			return m.seal(ids[v["signer"]])
		}}
}

// seal lets go of the incident, so that nothing can be recorded between the last
// entry and the seal, and seals its bundle. It goes to its end whatever is pressed.
func (m *model) seal(signer string) tea.Cmd {
	s, inc, run, id := &m.sealing, m.inc, m.c.Seal, m.run.snap.State.Incident
	done := make(chan struct{})
	s.gone = true
	s.order, s.feed, s.steps, s.err = &SealOrder{m.run.snap.Bundle, signer}, &feed{news: make(chan struct{}, 1), done: done}, nil, ""
	order, f := *s.order, s.feed
	return tea.Batch(f.stepped(), m.crew.start(func(ctx context.Context) tea.Msg {
		defer close(done)
		f.line("letting go of the bundle")
		if err := m.crew.release(inc); err != nil {
			return sealedMsg{inc: inc, incident: id, err: err}
		}
		result, err := run(context.WithoutCancel(ctx), order, f.line)
		return sealedMsg{inc, id, result, err}
	}))
}

func (f *feed) stepped() tea.Cmd {
	return func() tea.Msg {
		select {
		case <-f.news:
			return sealStepMsg{f}
		case <-f.done:
			return nil
		}
	}
}

func (m *model) sealStep(msg sealStepMsg) tea.Cmd {
	if msg.feed != m.sealing.feed {
		return nil
	}
	for _, l := range msg.feed.drain() {
		m.sealing.steps = append(m.sealing.steps, ink.Shown(l))
	}
	return msg.feed.stepped()
}

func (m *model) sealDone(msg sealedMsg) {
	if m.at != atSeal || msg.inc != m.inc {
		switch {
		case msg.err != nil:
			m.warn("critical", ink.Say("%s was not sealed: %s", msg.incident, msg.err.Error()))
		default:
			m.warn("", ink.Say("✓ %s is sealed: %s", msg.incident, msg.result.Seal))
		}
	}
	if msg.inc != m.inc {
		return // it was left
	}
	s := &m.sealing
	s.order, s.feed, s.off = nil, nil, 0
	if msg.err != nil {
		s.err = ink.Shown(msg.err.Error())
		return
	}
	s.result = &msg.result
}
