package tui

import (
	"sync"

	tea "charm.land/bubbletea/v2"
)

// feed carries lines of progress to the loop: any number of writers, one signal.
type feed struct {
	mu    sync.Mutex
	lines []string
	news  chan struct{}
	done  <-chan struct{}
}

func (f *feed) line(s string) {
	f.mu.Lock()
	f.lines = append(f.lines, s)
	f.mu.Unlock()
	select {
	case f.news <- struct{}{}:
	default:
	}
}

func (f *feed) drain() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	out := f.lines
	f.lines = nil
	return out
}

// next waits for new lines, and then says msg; nothing once all is done.
func (f *feed) next(msg tea.Msg) tea.Cmd {
	return func() tea.Msg {
		select {
		case <-f.news:
			return msg
		case <-f.done:
			return nil
		}
	}
}

// newFeed is a feed that ends with done.
func newFeed(done <-chan struct{}) *feed { return &feed{news: make(chan struct{}, 1), done: done} }
