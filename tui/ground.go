package tui

import (
	"time"

	tea "charm.land/bubbletea/v2"
)

// answerWithin is how long a terminal may take to tell its background before it
// counts as one that does not say: a round trip over a slow line.
const answerWithin = 300 * time.Millisecond

// groundAsked is the last question for the background of the terminal.
type groundAsked struct {
	at       time.Time
	answered chan struct{} // nil where no answer is due
}

// ask asks the terminal for its background: a desktop turns light or dark while
// the program runs.
func (g *groundAsked) ask() tea.Cmd {
	*g = groundAsked{at: time.Now(), answered: make(chan struct{})}
	return tea.RequestBackgroundColor
}

// end takes note of the answer.
func (g *groundAsked) end() {
	if g.answered != nil {
		close(g.answered)
	}
	*g = groundAsked{}
}

// before does cmd, which gives the terminal back, once the answer to the last
// question has come: the shell would take it for typed keys.
func (g *groundAsked) before(cmd tea.Cmd) tea.Cmd {
	left := answerWithin - time.Since(g.at)
	if g.answered == nil || left <= 0 {
		return cmd
	}
	answered := g.answered
	return tea.Sequence(func() tea.Msg {
		timer := time.NewTimer(left)
		defer timer.Stop()
		select {
		case <-answered:
		case <-timer.C:
		}
		return nil
	}, cmd)
}
