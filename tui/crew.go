package tui

import (
	"context"
	"fmt"
	"slices"
	"sync"

	tea "charm.land/bubbletea/v2"

	"handrail/steps/fault"
)

// crew owns every goroutine that works beside the event loop and every incident
// that was opened, so that all can be waited for and let go whatever ended the
// program. Bubble Tea neither cancels nor awaits a command that is under way.
type crew struct {
	ctx   context.Context
	scrub func(string) string // takes secrets out of what a fault says
	wg    sync.WaitGroup
	mu    sync.Mutex
	open  []Incident
}

// faultMsg says that something of ours panicked beside the loop.
type faultMsg struct{ what string }

// start runs f at once; the command only waits for it, so that one which is
// dropped on leaving loses nothing.
func (c *crew) start(f func(ctx context.Context) tea.Msg) tea.Cmd {
	done := make(chan tea.Msg, 1)
	c.wg.Go(func() {
		defer fault.To(func(err error) { done <- faultMsg{c.scrub(err.Error())} })
		done <- f(c.ctx)
	})
	return func() tea.Msg { return <-done }
}

// keep notes an incident that must be let go in the end.
func (c *crew) keep(i Incident) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !slices.Contains(c.open, i) {
		c.open = append(c.open, i)
	}
}

// release lets go of one incident.
func (c *crew) release(i Incident) error {
	c.mu.Lock()
	n := slices.Index(c.open, i)
	if n >= 0 {
		c.open = slices.Delete(c.open, n, n+1)
	}
	c.mu.Unlock()
	if n < 0 {
		return nil
	}
	return i.Close()
}

// finish lets go of everything. Incidents first: closing one ends its probes,
// on which goroutines may be waiting; then those opened in the meantime.
func (c *crew) finish() error {
	err := c.releaseAll()
	c.wg.Wait()
	if late := c.releaseAll(); err == nil {
		err = late
	}
	return err
}

func (c *crew) releaseAll() error {
	c.mu.Lock()
	left := slices.Clone(c.open)
	c.mu.Unlock()
	var first error
	for _, i := range left {
		if err := c.release(i); err != nil && first == nil {
			first = fmt.Errorf("closing the incident: %w", err)
		}
	}
	return first
}
