package tui

import (
	"context"
	"time"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"
)

// screen is what fills the terminal.
type screen int

const (
	atHome screen = iota
	atMatch
	atWait
	atRun
	atEvidence
)

// The smallest terminal in which every screen is whole.
const minWidth, minHeight = 60, 18

// model is the one tea.Model; the screens are plain structs inside it.
type model struct {
	c    Config
	crew *crew
	keys keyMap
	th   theme

	w, h int
	now  time.Time // of the message being handled: View asks no clock
	at   screen

	home     homeScreen
	match    matchScreen
	wait     waitScreen
	run      runScreen
	evidence evidenceScreen
	gate     *gateModal
	help     *pager
	form     *form
	leaving  *leaving
	replay   replay

	inc    Incident
	notice notice
	bye    []string // said on the terminal after the program gave it back
}

// notice is one line about what just happened. It stays until the next key.
type notice struct {
	level string // "", warning or critical
	text  text
	aside bool // from outside of the program; anything of ours replaces it
}

func newModel(ctx context.Context, c Config) *model {
	m := &model{c: c, crew: &crew{ctx: ctx}, keys: newKeys(), th: newTheme(true), now: c.Now()}
	m.home.loading = true
	if c.Replay != nil {
		m.replay.tape = c.Replay
		m.enterIncident(c.Replay)
		at, _ := c.Replay.Place()
		m.goTo(at)
		return m
	}
	if c.Open != nil {
		m.enterIncident(c.Open)
	}
	return m
}

// tickMsg comes once a second; elapsed times and countdowns are drawn from it.
type tickMsg struct{}

func tick() tea.Cmd { return tea.Tick(time.Second, func(time.Time) tea.Msg { return tickMsg{} }) }

// Init starts what is needed beside the first frame, which waits for none of it.
func (m *model) Init() tea.Cmd {
	if m.replaying() {
		return tea.Batch(tea.RequestBackgroundColor, m.hearAside())
	}
	cmds := []tea.Cmd{tea.RequestBackgroundColor, tick(), m.loadHome(), m.hearAside()}
	if m.inc != nil {
		cmds = append(cmds, m.listen())
	}
	return tea.Batch(cmds...)
}

// Update only routes.
func (m *model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	m.now = m.readClock()
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.w, m.h = msg.Width, msg.Height
		m.evidence.pager.wrap(m.w - 4)
	case tea.BackgroundColorMsg:
		m.th = newTheme(msg.IsDark())
	case tea.KeyPressMsg:
		return m, m.press(msg)
	case tea.PasteMsg:
		return m, m.paste(msg.Content)
	case tickMsg:
		return m, tea.Batch(tick(), m.sampleWhenDue())
	default:
		return m, m.result(msg)
	}
	return m, nil
}

// result takes what came back from beside the loop.
func (m *model) result(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case homeMsg:
		m.home.take(msg)
	case hitsMsg:
		m.match.take(msg)
	case progressMsg:
		return m.wait.take(msg)
	case openedMsg:
		return m.opened(msg)
	case changedMsg:
		return m.changed(msg)
	case didMsg:
		m.did(msg)
	case anchoredMsg:
		m.posted(msg)
	case playMsg:
		return m.played(msg)
	case artifactMsg:
		m.evidence.take(msg, m.w-4)
	case asideMsg:
		return m.aside(msg)
	case releasedMsg:
		return m.released(msg)
	case faultMsg:
		m.warn("critical", say("A part of handrail broke: %s. What was recorded is safe; press q and resume.", msg.what))
	}
	return nil
}

// press gives a key to what is in front. Whatever is in front, ctrl+c leaves.
func (m *model) press(msg tea.KeyPressMsg) tea.Cmd {
	if key.Matches(msg, m.keys.Abort) {
		return m.abort()
	}
	if m.small() {
		return nil // nobody should answer what cannot be read
	}
	if m.replaying() {
		return m.pressReplay(msg)
	}
	switch {
	case m.leaving != nil:
		return m.pressLeaving(msg)
	case m.help != nil:
		m.pressHelp(msg)
		return nil
	case m.form != nil:
		f := m.form
		cmd, over := f.press(msg)
		if over && m.form == f { // submit may have opened another one
			m.form = nil
		}
		return cmd
	case m.gate != nil:
		return m.pressGate(msg)
	}
	m.notice = notice{}
	switch m.at {
	case atMatch:
		return m.pressMatch(msg)
	case atWait:
		return m.pressWait(msg)
	case atRun:
		return m.pressRun(msg)
	case atEvidence:
		return m.pressEvidence(msg)
	}
	return m.pressHome(msg)
}

func (m *model) paste(s string) tea.Cmd {
	switch {
	case m.replaying() && !m.evidence.typing:
	case m.small() || m.leaving != nil || m.help != nil:
	case m.form != nil:
		m.form.paste(s)
	case m.gate != nil:
		m.gate.paste(s, m.now)
	case m.at == atEvidence:
		m.evidence.paste(s)
	case m.at == atHome, m.at == atMatch:
		m.at = atMatch
		return m.match.add(s, m)
	}
	return nil
}

func (m *model) small() bool { return m.w < minWidth || m.h < minHeight }

func (m *model) warn(level string, t text) { m.notice = notice{level: level, text: t} }
