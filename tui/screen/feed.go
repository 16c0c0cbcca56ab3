package screen

import (
	"sync"

	tea "charm.land/bubbletea/v2"
)

// Feed carries lines of progress to the loop: any number of writers, one signal.
type Feed struct {
	mu    sync.Mutex
	lines []string
	news  chan struct{}
	done  <-chan struct{}
}

// Line adds a line, from any goroutine.
func (f *Feed) Line(s string) {
	f.mu.Lock()
	f.lines = append(f.lines, s)
	f.mu.Unlock()
	select {
	case f.news <- struct{}{}:
	default:
	}
}

// Drain takes the lines that came since.
func (f *Feed) Drain() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	out := f.lines
	f.lines = nil
	return out
}

// Next waits for new lines, and then says msg; nothing once all is done.
func (f *Feed) Next(msg tea.Msg) tea.Cmd {
	return func() tea.Msg {
		select {
		case <-f.news:
			return msg
		case <-f.done:
			return nil
		}
	}
}

// NewFeed is a feed that ends with done.
func NewFeed(done <-chan struct{}) *Feed { return &Feed{news: make(chan struct{}, 1), done: done} }
