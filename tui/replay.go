package tui

import (
	"cmp"
	"fmt"
	"strconv"
	"time"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"handrail/triage"
	"handrail/tui/gate"
	"handrail/tui/header"
	"handrail/tui/incident"
	"handrail/tui/ink"
	"handrail/tui/keymap"
	"handrail/tui/run"
	"handrail/tui/screen"
)

// The pace of a replay that plays: as it went, but without long waits, and
// what was recorded at once can be followed.
const (
	slowest = 2 * time.Second
	fastest = 150 * time.Millisecond
)

// playback is where a person is in a recorded incident.
type playback struct {
	playing bool     // entries come by themselves; in a live one, the newest is shown
	turn    int      // numbers the ticks, so that one of an earlier play does nothing
	trouble ink.Text // with a pushed copy, as far as it was told
	typed   string   // digits of the entry to go to
}

// playMsg says that the next entry is due.
type playMsg struct{ turn int }

// readClock is the time that elapsed times are counted to: that of the entry in a
// replay, and the present at the open end of a live one.
func (m *model) readClock() time.Time {
	if m.Replaying() {
		if at, last := m.Tape.Place(); !m.Tape.Live() || at < last {
			return m.Tape.Now()
		}
	}
	return m.Config.Now()
}

// goTo shows the incident after another entry, as it was then.
func (m *model) goTo(n int) {
	m.Tape.Go(n)
	m.Now = m.readClock()
	facts := m.run.Facts
	m.run = run.Screen{Case: m.Case, Facts: facts}
	snap := m.Incident.Snapshot()
	m.run.Take(snap)
	rec := m.Tape.Recorded()
	if _, ok := snap.State.Step(rec.Step); ok {
		m.run.Front(rec.Step)
		m.run.Facts = facts
		m.run.Decide()
	}
	m.gate, m.Sheet = nil, nil
	if rec.Type == "approve" && snap.Gate != nil && len(snap.State.Lowering.Approvals) == 0 {
		rec.Step = snap.Gate.Step
	}
	switch rec.Type {
	case "approve", "gate.shown", "gate.answered", "gate.closed", "act.start", "act.end":
		if rec.Step == "" { // the approval of a lower severity
			break
		}
		m.gate = &gate.Modal{Step: rec.Step}
		m.gate.Take(snap, m.Now)
		m.gate.Edit.Paste(rec.Typed)
		m.gate.Edit.Pasted = false
	}
	if m.At == screen.AtEvidence {
		m.evidence.Open(m.Env)
	}
}

// play starts or stops.
func (m *model) play() tea.Cmd {
	r := &m.replay
	if r.playing = !r.playing; !r.playing {
		return nil
	}
	if m.Tape.Live() {
		_, last := m.Tape.Place()
		m.goTo(last)
		return nil
	}
	if at, last := m.Tape.Place(); at == last {
		m.goTo(0)
	}
	r.turn++
	return m.nextTurn()
}

func (m *model) nextTurn() tea.Cmd {
	turn := m.replay.turn
	return tea.Tick(min(max(m.Tape.Wait(), fastest), slowest), func(time.Time) tea.Msg { return playMsg{turn} })
}

func (m *model) played(msg playMsg) tea.Cmd {
	r := &m.replay
	if !r.playing || msg.turn != r.turn || m.Tape == nil || m.Tape.Live() {
		return nil
	}
	at, last := m.Tape.Place()
	m.goTo(at + 1)
	if at+1 >= last {
		r.playing = false
		return nil
	}
	return m.nextTurn()
}

// pressReplay routes every key of a replay. None of them can ask for anything.
func (m *model) pressReplay(msg tea.KeyPressMsg) tea.Cmd {
	r, k := &m.replay, &m.Keys
	m.Notice, m.Beside = screen.Notice{}, ""
	if m.help != nil {
		if m.help.Press(m.Env, msg) {
			m.help = nil
		}
		return nil
	}
	if m.Sheet != nil {
		f := m.Sheet
		cmd, over := f.Press(msg) // all that is asked for here is where to save something
		if over && m.Sheet == f {
			m.Sheet = nil
		}
		return cmd
	}
	if m.At == screen.AtEvidence {
		return m.evidence.Press(m.Env, msg)
	}
	s := msg.String()
	if len(s) == 1 && s[0] >= '0' && s[0] <= '9' && len(r.typed) < 9 {
		r.typed += s
		return nil
	}
	typed := r.typed
	r.typed = ""
	if picked := m.run.Row >= 0; m.gate == nil && typed == "" && (picked || key.Matches(msg, k.Up, k.Down)) {
		if cmd, taken := m.run.PressMatrix(m.Env, msg); taken {
			r.playing = r.playing && !picked
			return cmd
		}
	}
	at, last := m.Tape.Place()
	switch {
	case s == "right":
		r.playing = false
		m.goTo(at + 1)
	case s == "left":
		r.playing = false
		m.goTo(at - 1)
	case s == "home":
		r.playing = false
		m.goTo(0)
	case s == "end":
		r.playing = m.Tape.Live()
		m.goTo(last)
	case key.Matches(msg, k.Again):
		m.notable(1)
	case key.Matches(msg, k.Against):
		m.notable(-1)
	case s == "space":
		return m.play()
	case s == "backspace" && typed != "":
		r.typed = typed[:len(typed)-1]
	case key.Matches(msg, k.Enter):
		m.jumpTo(typed, last)
	case key.Matches(msg, k.Esc):
		m.gate = nil
	case key.Matches(msg, k.Evidence):
		r.playing = false
		return m.evidence.Open(m.Env)
	case key.Matches(msg, k.Report):
		r.playing = false
		return m.evidence.OpenReport(m.Env, screen.AtRun)
	case key.Matches(msg, k.Facts):
		m.run.Facts, m.run.Off = !m.run.Facts, 0
	case key.Matches(msg, k.Copy):
		rec := m.Tape.Recorded()
		return m.Copy(ink.Say("entry %d", at), fmt.Sprintf("%s entry %d %s by %s: %s", rec.At.UTC().Format(time.RFC3339), at, rec.Type, cmp.Or(rec.Actor, "handrail"), rec.Text))
	case key.Matches(msg, k.Help):
		m.openHelp()
	case key.Matches(msg, k.Status):
		return m.run.StatusUpdate(m.Env)
	case key.Matches(msg, k.Leave):
		return m.depart(m.Config.Replay != nil)
	default:
		m.scrollReplay(s)
	}
	return nil
}

func (m *model) jumpTo(typed string, last int) {
	n, err := strconv.Atoi(typed)
	switch {
	case typed == "":
		m.Warn("", "Type the number of an entry, then enter. A replay does nothing else.")
	case err != nil || n > last:
		m.Warn("", ink.Say("There is no entry %s: the last one is %d.", typed, last))
	default:
		m.replay.playing = false
		m.goTo(n)
	}
}

// notable goes to the next entry that a reader looks for, or the one before: a gate,
// an act, a finding that warns.
func (m *model) notable(by int) {
	m.replay.playing = false
	at, last := m.Tape.Place()
	for n := at + by; n >= 0 && n <= last; n += by {
		m.Tape.Go(n)
		rec := m.Tape.Recorded()
		switch rec.Type {
		case "gate.shown", "gate.answered", "gate.closed", "act.start", "act.end", "act.again":
		default:
			if rec.Level != "warning" && rec.Level != "critical" {
				continue
			}
		}
		m.goTo(n)
		return
	}
	m.goTo(at)
	m.Warn("", "There is no further gate, act or finding in this direction.")
}

// scrollReplay moves what is longer than the screen.
func (m *model) scrollReplay(key string) {
	by := map[string]int{"up": -1, "down": 1, "pgup": -10, "pgdown": 10, "k": -1, "j": 1}[key]
	switch {
	case by == 0:
		m.Warn("", header.OnlyLooking(m.Env))
	case m.gate != nil:
		m.gate.Off = max(0, m.gate.Off+by)
	default:
		m.run.Off = max(0, m.run.Off+by)
	}
}

// drawReplayed is a gate as it stood then, between the header and the foot of
// the replay.
func (m *model) drawReplayed() []ink.Drawn {
	head, foot := header.Draw(m.Env, m.front().name), m.foot()
	rows, _ := m.gateOver(m.H - len(head) - len(foot))
	return append(append(head, rows...), foot...)
}

// replayFoot is the entry that is shown, and the keys.
func (m *model) replayFoot() []ink.Drawn {
	th, r := &m.Theme, &m.replay
	rec := m.Tape.Recorded()
	at, last := m.Tape.Place()
	sym := ink.Drawn("")
	if rec.Level != "" {
		k := th.Level(rec.Level)
		sym = k.Ink.On(k.Symbol) + " "
	}
	t := incident.Gist(triage.Moment{Text: rec.Text, Step: rec.Step})
	out := []ink.Drawn{
		" " + th.Pick.On(ink.Say("entry %d of %d", at, last)) + "  " + th.Muted.On(ink.Clock(rec.At)) + "  " + th.Accent.On(ink.Shown(rec.Type)) +
			"  " + th.Muted.On("by ") + th.Plain.On(ink.Or(ink.Shown(rec.Actor), "handrail")),
		" " + sym + th.Strong.On(t),
	}
	if at == last && m.Tape.Ends() != "" {
		out = append(out, " "+th.Warn.On("! ")+th.Plain.On(ink.Say("The replay ends here: %s", m.Tape.Ends())))
	}
	play := ink.Text("play")
	switch {
	case m.Tape.Live() && r.playing:
		play = "stay here"
	case m.Tape.Live():
		play = "follow the newest"
	case r.playing:
		play = "stop"
	}
	jump := ink.Hint{Key: "number enter", Does: "go to"}
	if r.typed != "" {
		jump = ink.Hint{Key: ink.Shown(r.typed) + "▏ enter", Does: "go to"}
	}
	keys := append([]ink.Hint{{Key: "← →", Does: "entry"}, {Key: "space", Does: play}, {Key: "n N", Does: "gate, act, finding"}, {Key: "home end", Does: "first, last"}, jump}, keymap.Hints(m.Keys.Evidence, m.Keys.Facts)...)
	return append(out, " "+th.Footer(m.W-2, keys, keymap.Hints(m.Keys.Help, m.Keys.Leave)...))
}
