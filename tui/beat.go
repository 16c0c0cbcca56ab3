package tui

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"handrail/triage"
	"handrail/tui/run"
	"handrail/tui/screen"
)

// How often clocks are redrawn: each second where something is counted in
// seconds, seldom where no one reads them. A frame a second is most of what an idle
// handrail costs.
const (
	counting = time.Second
	resting  = 10 * time.Second
)

// ticker is the tick that is under way.
type ticker struct {
	n     int // its number: one that was overtaken is ignored
	every time.Duration
}

// tickMsg comes at each beat; elapsed times and countdowns are drawn from it.
type tickMsg struct{ n int }

// beat starts the next tick.
func (m *model) beat() tea.Cmd {
	m.ticker.n++
	m.ticker.every = m.pace()
	n := m.ticker.n
	return tea.Tick(m.ticker.every, func(time.Time) tea.Msg { return tickMsg{n} })
}

// ticked is the beat that came.
func (m *model) ticked(msg tickMsg) tea.Cmd {
	if msg.n != m.ticker.n {
		return nil
	}
	return tea.Batch(m.beat(), m.run.SampleWhenDue(m.Env))
}

// calmMsg comes when what was brought to the front has been shown for long enough.
type calmMsg struct{}

// calm draws the screen anew once keys decide again.
func (m *model) calm() tea.Cmd {
	if m.ticker.n == 0 || !m.Now.Before(m.Quiet) {
		return nil
	}
	return tea.Tick(m.Quiet.Sub(m.Now), func(time.Time) tea.Msg { return calmMsg{} })
}

// hurry beats faster at once where something has begun that is counted in seconds.
func (m *model) hurry(cmd tea.Cmd) tea.Cmd {
	if m.ticker.n == 0 || m.pace() >= m.ticker.every {
		return cmd
	}
	return tea.Batch(cmd, m.beat())
}

// pace is how often what is shown changes by itself.
func (m *model) pace() time.Duration {
	if m.At == screen.AtWait || m.gate != nil {
		return counting
	}
	if m.Incident == nil || m.run.Closed() {
		return resting
	}
	s := m.run.Snap
	if len(s.Running) > 0 || m.run.Armed() || m.Now.Sub(s.State.Opened) < time.Minute {
		return counting
	}
	for _, st := range m.run.Steps() {
		if st.Kind == triage.WatchStep && st.Attempts > 0 && st.Streak < run.Greens(st) {
			return counting
		}
	}
	return resting
}
