package tui

import (
	"context"
	"handrail/tui/ink"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"
)

// model is the one tea.Model; the screens are plain structs inside it.
type model struct {
	*Env
	dark bool // the terminal's background
	away bool // the terminal said that it lost the focus

	heart   heart
	screens []entry

	home     homeScreen
	match    matchScreen
	wait     waitScreen
	run      runScreen
	evidence evidenceScreen
	sealing  sealScreen
	symptoms symptomScreen
	gate     *gateModal
	help     *helpPage
	palette  *commandPalette
	leaving  *leaving
	replay   replay
	hist     history

	bye []string // said on the terminal after the program gave it back
}

func newModel(ctx context.Context, c Config) *model {
	m := &model{Env: &Env{c: c, crew: &crew{ctx: ctx, scrub: c.scrub}, keys: newKeys(c.Keys), th: c.theme(true), now: c.Now(), wall: c.Now(), view: &view{}, seal: &sealState{}}, dark: true}
	m.Ask = m.obey
	m.room = func() int { return m.h - len(drawHeader(m.Env, m.front().name)) - len(m.foot()) }
	m.run.view, m.sealing.sealState = m.view, m.seal
	m.screens = m.table()
	m.home.loading, m.home.centre.asking = true, c.Centre != nil
	if c.Replay != nil {
		m.enterIncident(c.Replay)
		return m
	}
	if c.Open != nil {
		m.enterIncident(c.Open)
	} else if c.Match != nil && c.Matching {
		m.at = atMatch
	}
	return m
}

// Init starts what is needed beside the first frame, which waits for none of it.
func (m *model) Init() tea.Cmd {
	if m.replaying() {
		return tea.Batch(tea.RequestBackgroundColor, m.hearAside(), m.lookAgain(), framed())
	}
	cmds := []tea.Cmd{tea.RequestBackgroundColor, m.beat(), m.home.load(m.Env), m.hearAside(), framed()}
	if m.inc != nil {
		cmds = append(cmds, m.listen())
	} else if m.c.Text != "" {
		cmds = append(cmds, m.match.add(m.c.Text, m.Env))
	}
	return tea.Batch(cmds...)
}

// Update routes, and keeps the clock going.
func (m *model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	next, cmd := m.update(msg)
	return next, m.hurry(cmd)
}

func (m *model) update(msg tea.Msg) (tea.Model, tea.Cmd) {
	m.now, m.wall = m.readClock(), m.c.Now()
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		first := m.w == 0
		m.w, m.h = msg.Width, msg.Height
		if first {
			return m, m.evidence.refitText(m.Env)
		}
		return m, tea.Batch(m.evidence.refitText(m.Env), resized())
	case tea.BackgroundColorMsg:
		m.dark = msg.IsDark()
		m.th = m.c.theme(m.dark)
	case tea.KeyPressMsg:
		return m, m.press(msg)
	case tea.PasteMsg:
		return m, m.paste(msg.Content)
	case tea.FocusMsg:
		m.away = false
		return m, tea.RequestBackgroundColor // a desktop turns light or dark meanwhile
	case tea.BlurMsg:
		m.away = true
	case tickMsg:
		return m, m.ticked(msg)
	default:
		return m, m.result(msg)
	}
	return m, nil
}

// result takes what came back from beside the loop.
func (m *model) result(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case changedMsg:
		return m.changed(msg)
	case didMsg:
		m.did(msg)
		return tea.Batch(m.run.judge(m.Env), m.handed(msg))
	case didAllMsg:
		m.didAll(msg)
	case playMsg:
		return m.played(msg)
	case lookMsg:
		return m.look(msg)
	case grownMsg:
		return m.grown(msg)
	case asideMsg:
		return m.aside(msg)
	case releasedMsg:
		return m.released(msg)
	case faultMsg:
		m.warn("critical", ink.Say("A part of handrail broke (%s). What was recorded is safe; press q and resume.", msg.what))
	default:
		for _, e := range m.screens {
			if cmd, mine := e.hear(m.Env, msg); mine {
				return cmd
			}
		}
	}
	return nil
}

// route gives a key to what is in front. Whatever is in front, ctrl+c leaves.
func (m *model) route(msg tea.KeyPressMsg) tea.Cmd {
	// Over a slow line esc and the key after it arrive as one.
	if bare := without(msg, tea.ModAlt); bare.Code == tea.KeyEscape || key.Matches(bare, m.keys.Abort) {
		msg = bare
	}
	if key.Matches(msg, m.keys.Abort) {
		return m.abort()
	}
	if m.small() {
		return nil // nobody should answer what cannot be read
	}
	if m.replaying() {
		return m.pressReplay(msg)
	}
	if m.noteNow(msg) {
		return nil
	}
	switch {
	case m.leaving != nil:
		return m.pressLeaving(msg)
	case m.form != nil:
		f := m.form
		cmd, over := f.press(msg)
		switch {
		case over && f.over:
			m.noted(f)
		case over && m.form == f: // submit may have opened another one
			m.form = nil
		}
		return cmd
	case m.help != nil:
		if m.help.press(m.Env, msg) {
			m.help = nil
		}
		return nil
	case m.palette != nil:
		do, over := m.palette.press(m.Env, msg)
		if over {
			m.palette = nil
		}
		if do != nil {
			return do()
		}
		return nil
	case m.gate != nil:
		return m.gate.press(m.Env, msg)
	}
	m.notice = notice{}
	if !m.typing() {
		switch {
		case m.inc != nil && key.Matches(msg, m.keys.Back) && m.free(msg):
			return m.goBack()
		case m.inc != nil && key.Matches(msg, m.keys.On) && m.free(msg):
			return m.goOn()
		case key.Matches(msg, m.keys.Palette):
			m.openPalette()
			return nil
		case key.Matches(msg, m.keys.Suspend):
			return m.suspend()
		}
	}
	return m.front().press(m.Env, msg)
}

// without is a key less one modifier.
func without(msg tea.KeyPressMsg, mod tea.KeyMod) tea.KeyPressMsg {
	msg.Mod &^= mod
	return msg
}

// suspend gives the terminal back until fg. A stopped program would stop an act
// half way, so that one which runs is not suspended.
func (m *model) suspend() tea.Cmd {
	if m.run.acting() && !m.replaying() {
		m.warn("warning", "An act is running; stopping handrail now would stop it half way. q leaves, and it goes on.")
		return nil
	}
	return toShell()
}

func (m *model) small() bool { return m.w < minWidth || m.h < minHeight }
