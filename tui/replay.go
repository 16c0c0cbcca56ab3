package tui

import (
	"strconv"
	"time"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"handrail/session"
	"handrail/triage"
)

// Tape is a recorded incident: its snapshot is that of one entry, and Go goes to
// another. A [session.Replay] is one. It refuses every intent, and the face asks
// for none.
type Tape interface {
	Incident
	Go(to int)
	Place() (at, last int)
	Now() time.Time
	Wait() time.Duration
	Ends() string
	Recorded() session.Recorded
}

// The pace of a replay that plays: as it went, but nobody waits for long, and
// what was recorded at once can be followed.
const (
	slowest = 2 * time.Second
	fastest = 150 * time.Millisecond
)

// replay is where a person is in a recorded incident.
type replay struct {
	tape    Tape
	playing bool
	turn    int    // numbers the ticks, so that one of an earlier play does nothing
	typed   string // digits of the entry to go to
}

// playMsg says that the next entry is due.
type playMsg struct{ turn int }

func (m *model) replaying() bool { return m.replay.tape != nil }

// readClock is the time that elapsed times are counted to: that of the entry in a
// replay.
func (m *model) readClock() time.Time {
	if m.replaying() {
		return m.replay.tape.Now()
	}
	return m.c.Now()
}

// goTo shows the incident after another entry, as it was then.
func (m *model) goTo(n int) {
	m.replay.tape.Go(n)
	m.now = m.readClock()
	facts := m.run.facts
	m.run = runScreen{facts: facts}
	snap := m.inc.Snapshot()
	m.run.take(snap)
	rec := m.replay.tape.Recorded()
	if _, ok := snap.State.Step(rec.Step); ok {
		m.run.front(rec.Step)
		m.run.facts = facts
		m.run.decide()
	}
	m.gate, m.form = nil, nil
	switch rec.Type {
	case "gate.shown", "gate.answered", "gate.closed", "act.start", "act.end":
		m.gate = &gateModal{step: rec.Step}
		m.gate.take(snap, m.now)
		m.gate.edit.paste(rec.Typed)
		m.gate.edit.pasted = false
	}
	if m.at == atEvidence {
		m.evidence.open(snap)
	}
}

// play starts or stops.
func (m *model) play() tea.Cmd {
	r := &m.replay
	if r.playing = !r.playing; !r.playing {
		return nil
	}
	if at, last := r.tape.Place(); at == last {
		m.goTo(0)
	}
	r.turn++
	return m.nextTurn()
}

func (m *model) nextTurn() tea.Cmd {
	turn := m.replay.turn
	return tea.Tick(min(max(m.replay.tape.Wait(), fastest), slowest), func(time.Time) tea.Msg { return playMsg{turn} })
}

func (m *model) played(msg playMsg) tea.Cmd {
	r := &m.replay
	if !r.playing || msg.turn != r.turn {
		return nil
	}
	at, last := r.tape.Place()
	m.goTo(at + 1)
	if at+1 >= last {
		r.playing = false
		return nil
	}
	return m.nextTurn()
}

// pressReplay routes every key of a replay. None of them can ask for anything.
func (m *model) pressReplay(msg tea.KeyPressMsg) tea.Cmd {
	r, k := &m.replay, &m.keys
	m.notice = notice{}
	if m.help != nil {
		m.pressHelp(msg)
		return nil
	}
	if m.at == atEvidence {
		return m.pressEvidence(msg)
	}
	s := msg.String()
	if len(s) == 1 && s[0] >= '0' && s[0] <= '9' && len(r.typed) < 9 {
		r.typed += s
		return nil
	}
	typed := r.typed
	r.typed = ""
	at, last := r.tape.Place()
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
		r.playing = false
		m.goTo(last)
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
		m.at = atEvidence
		m.evidence.open(m.run.snap)
	case key.Matches(msg, k.Facts):
		m.run.facts, m.run.off = !m.run.facts, 0
	case key.Matches(msg, k.Help):
		m.openHelp()
	case key.Matches(msg, k.Leave):
		return m.quit()
	default:
		m.scrollReplay(s)
	}
	return nil
}

func (m *model) jumpTo(typed string, last int) {
	n, err := strconv.Atoi(typed)
	switch {
	case typed == "":
		m.warn("", "Type the number of an entry, then enter. Nothing else can be done in a replay.")
	case err != nil || n > last:
		m.warn("", say("There is no entry %s: the last one is %d.", typed, last))
	default:
		m.replay.playing = false
		m.goTo(n)
	}
}

// scrollReplay moves what is longer than the screen.
func (m *model) scrollReplay(key string) {
	by := map[string]int{"up": -1, "down": 1, "pgup": -10, "pgdown": 10, "k": -1, "j": 1}[key]
	switch {
	case by == 0:
		m.warn("", "This is a REPLAY: it shows what went on then, and nothing can be done in it.")
	case m.gate != nil:
		m.gate.off = max(0, m.gate.off+by)
	default:
		m.run.off = max(0, m.run.off+by)
	}
}

// drawReplayed is a gate as it stood then, between the header and the foot of
// the replay.
func (m *model) drawReplayed() []drawn {
	head, foot := m.header(), m.foot()
	whole := m.h
	m.h = whole - len(head) - len(foot)
	rows, _ := m.drawGate()
	room := m.h
	m.h = whole
	for len(rows) < room {
		rows = append(rows, "")
	}
	return append(append(head, rows[:room]...), foot...)
}

// replayFoot is the entry that is shown, and the keys.
func (m *model) replayFoot() []drawn {
	th, r := &m.th, &m.replay
	rec := r.tape.Recorded()
	at, last := r.tape.Place()
	sym := drawn("")
	if rec.Level != "" {
		k := th.level(rec.Level)
		sym = k.ink.on(k.symbol) + " "
	}
	t := gist(triage.Moment{Text: rec.Text, Step: rec.Step})
	out := []drawn{
		" " + th.pick.on(say("entry %d of %d", at, last)) + "  " + th.muted.on(clock(rec.At)) + "  " + th.accent.on(shown(rec.Type)) +
			"  " + th.muted.on("by ") + th.plain.on(or(shown(rec.Actor), "handrail")),
		" " + sym + th.strong.on(t),
	}
	if at == last && r.tape.Ends() != "" {
		out = append(out, " "+th.warn.on("! ")+th.plain.on(say("The replay ends here: %s", r.tape.Ends())))
	}
	play := text("play")
	if r.playing {
		play = "stop"
	}
	jump := hint{"number enter", "go to"}
	if r.typed != "" {
		jump = hint{shown(r.typed) + "▏ enter", "go to"}
	}
	keys := append([]hint{{"← →", "entry"}, {"space", play}, {"home end", "first, last"}, jump}, hints(m.keys.Evidence, m.keys.Facts)...)
	return append(out, " "+th.footer(m.w-2, keys, hints(m.keys.Help, m.keys.Leave)...))
}
