package tui

import (
	"context"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"handrail/tui/gate"
	"handrail/tui/header"
	"handrail/tui/home"
	"handrail/tui/incident"
	"handrail/tui/ink"
	"handrail/tui/keymap"
	"handrail/tui/match"
	"handrail/tui/overlay"
	"handrail/tui/run"
	"handrail/tui/screen"
	"handrail/tui/seal"
	"handrail/tui/viewer"
	"handrail/tui/wait"
)

// model is the one tea.Model; the screens are plain structs inside it.
type model struct {
	*screen.Env
	ground ink.Ground // the terminal's background, as far as it said
	asked  groundAsked
	away   bool // the terminal said that it lost the focus

	ticker  ticker
	screens []entry

	home     home.Screen
	match    match.Screen
	wait     wait.Screen
	run      run.Screen
	evidence viewer.Screen
	sealing  seal.Screen
	symptoms match.Symptoms
	gate     *gate.Modal
	help     *overlay.Help
	palette  *overlay.Palette
	leaving  *departure
	replay   playback
	hist     history

	bye []string // said on the terminal after the program gave it back
}

func newModel(ctx context.Context, c screen.Config) *model {
	m := &model{Env: &screen.Env{At: screen.AtHome, Config: c, Tasks: &screen.Tasks{Ctx: ctx, Scrub: c.Scrubbed}, Theme: c.Inks(c.Ground), Now: c.Now(), Wall: c.Now(), Case: &incident.Case{}, Seal: &screen.SealState{}}}
	m.ground, m.screens = c.Ground, m.table()
	m.Keys = keymap.New(c.Keys, openers(m.screens)...)
	m.Ask = m.obey
	m.Room = func() int { return m.H - len(header.Draw(m.Env, m.front().name)) - len(m.foot()) }
	m.run.Case, m.sealing.SealState = m.Case, m.Seal
	m.run.Unconfined = c.Unconfined
	m.home.Loading, m.home.Centre.Asking = true, c.Centre != nil
	if c.Replay != nil {
		m.enterIncident(c.Replay)
		return m
	}
	if c.Open != nil {
		m.enterIncident(c.Open)
	} else if c.Match != nil && c.Matching {
		m.At = screen.AtMatch
	}
	return m
}

// Init starts what is needed beside the first frame, which waits for none of it.
func (m *model) Init() tea.Cmd {
	if m.Replaying() {
		return tea.Batch(m.asked.ask(), m.hearAside(), m.lookAgain(), home.Framed())
	}
	cmds := []tea.Cmd{m.asked.ask(), m.beat(), m.home.Load(m.Env), m.hearAside(), home.Framed()}
	if m.Incident != nil {
		cmds = append(cmds, m.listen())
	} else if m.Config.Text != "" {
		cmds = append(cmds, m.match.Add(m.Config.Text, m.Env))
	} else if m.Config.Begin != nil {
		cmds = append(cmds, m.wait.StartWith(m.Env, *m.Config.Begin))
	}
	return tea.Batch(cmds...)
}

// Update routes, and keeps the clock going.
func (m *model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	next, cmd := m.update(msg)
	return next, m.hurry(cmd)
}

func (m *model) update(msg tea.Msg) (tea.Model, tea.Cmd) {
	m.Now, m.Wall = m.readClock(), m.Config.Now()
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		first := m.W == 0
		m.W, m.H = msg.Width, msg.Height
		if first {
			return m, m.evidence.RefitText(m.Env)
		}
		return m, tea.Batch(m.evidence.RefitText(m.Env), resized())
	case tea.ResumeMsg:
		return m, sized()
	case tea.BackgroundColorMsg:
		m.asked.end()
		m.ground = ink.LightGround
		if msg.IsDark() {
			m.ground = ink.DarkGround
		}
		m.Theme = m.Config.Inks(m.ground)
	case tea.KeyPressMsg:
		return m, m.press(msg)
	case tea.PasteMsg:
		return m, m.paste(msg.Content)
	case tea.FocusMsg:
		m.away = false
		return m, m.asked.ask() // a desktop turns light or dark meanwhile
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
	case screen.Answer:
		m.did(msg)
		cmd := tea.Batch(m.run.Judge(m.Env), m.handed(msg), m.run.ReadOn(m.Env), m.calm())
		return tea.Batch(cmd, comes(m, msg.In))
	case screen.Answers:
		m.didAll(msg)
		cmd := tea.Batch(m.run.ReadOn(m.Env), m.calm())
		return tea.Batch(cmd, comes(m, msg[len(msg)-1].In))
	case calmMsg:
	case playMsg:
		return m.played(msg)
	case lookMsg:
		return m.look(msg)
	case grownMsg:
		return m.grown(msg)
	case asideMsg:
		return m.aside(msg)
	case screen.ReleaseMsg:
		return m.released(msg)
	case screen.Fault:
		m.Warn("critical", ink.Say("handrail hit an internal error (%s). What was recorded is safe; press q and resume.", msg.What))
	default:
		for _, e := range m.screens {
			if cmd, mine := e.Hear(m.Env, msg); mine {
				return cmd
			}
		}
	}
	return nil
}

// route gives a key to what is in front. Whatever is in front, ctrl+c leaves.
func (m *model) route(msg tea.KeyPressMsg) tea.Cmd {
	// Over a slow line esc and the key after it arrive as one.
	if bare := without(msg, tea.ModAlt); bare.Code == tea.KeyEscape || key.Matches(bare, m.Keys.Abort) {
		msg = bare
	}
	if key.Matches(msg, m.Keys.Abort) {
		return m.abort()
	}
	if m.small() {
		return nil // a question that cannot be read must not be answered
	}
	if m.Replaying() {
		return m.pressReplay(msg)
	}
	if m.noteNow(msg) {
		return nil
	}
	switch {
	case m.leaving != nil:
		return m.pressLeaving(msg)
	case m.Sheet != nil:
		f := m.Sheet
		if f.Came && m.Recording() && key.Matches(msg, m.Keys.Enter) {
			return nil
		}
		m.Sender = f
		cmd, over := f.Press(msg)
		m.Sender = nil
		if over && cmd == nil {
			m.run.Alone() // put away: what is asked comes one by one
		}
		switch {
		case over && f.Over:
			m.noted(f)
		case over && m.Sheet == f: // submit may have opened another one
			m.Sheet = nil
		}
		return cmd
	case m.help != nil:
		if m.help.Press(m.Env, msg) {
			m.help = nil
		}
		return nil
	case m.palette != nil:
		do, over := m.palette.Press(m.Env, msg)
		if over {
			m.palette = nil
		}
		if do != nil {
			return do()
		}
		return nil
	case m.gate != nil:
		return m.gate.Press(m.Env, msg)
	}
	m.Notice, m.Beside = screen.Notice{}, ""
	if !m.typing() {
		to, opens := m.opens(msg)
		switch {
		case m.Incident != nil && key.Matches(msg, m.Keys.Back) && m.free(msg):
			return m.goBack()
		case m.Incident != nil && key.Matches(msg, m.Keys.On) && m.free(msg):
			return m.goOn()
		case opens:
			return m.open(to)
		case key.Matches(msg, m.Keys.Palette):
			m.palette = overlay.NewPalette(m.paletteItems())
			return nil
		case key.Matches(msg, m.Keys.Suspend):
			return m.suspend()
		}
	}
	return m.front().Press(m.Env, msg)
}

// without is a key less one modifier.
func without(msg tea.KeyPressMsg, mod tea.KeyMod) tea.KeyPressMsg {
	msg.Mod &^= mod
	return msg
}

// suspend gives the terminal back until fg. A stopped program would stop an act
// half way, so that one which runs is not suspended.
func (m *model) suspend() tea.Cmd {
	if m.run.Acting() && !m.Replaying() {
		m.Warn("warning", "An act is running; stopping handrail now would stop it halfway. Press q to leave; the act continues.")
		return nil
	}
	return m.asked.before(toShell())
}
