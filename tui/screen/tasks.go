package screen

import (
	"context"
	"fmt"
	"slices"
	"sync"

	tea "charm.land/bubbletea/v2"

	"handrail/steps/fault"
)

// Tasks owns every goroutine that works beside the event loop and every incident
// that was opened, so that all can be waited for and let go whatever ended the
// program. Bubble Tea neither cancels nor awaits a command that is under way.
type Tasks struct {
	Ctx   context.Context
	Scrub func(string) string // takes secrets out of what a fault says
	wg    sync.WaitGroup
	mu    sync.Mutex
	open  []Incident
}

// Fault says that something of ours panicked beside the loop.
type Fault struct{ What string }

// Start runs f at once; the command only waits for it, so that one which is
// dropped on leaving loses nothing.
func (c *Tasks) Start(f func(ctx context.Context) tea.Msg) tea.Cmd {
	done := make(chan tea.Msg, 1)
	c.wg.Go(func() {
		defer fault.To(func(err error) { done <- Fault{What: c.Scrub(err.Error())} })
		done <- f(c.Ctx)
	})
	return func() tea.Msg { return <-done }
}

// Keep notes an incident that must be let go in the end.
func (c *Tasks) Keep(i Incident) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !slices.Contains(c.open, i) {
		c.open = append(c.open, i)
	}
}

// Release lets go of one incident.
func (c *Tasks) Release(i Incident) error {
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

// Finish lets go of everything. Incidents first: closing one ends its probes,
// on which goroutines may be waiting; then those opened in the meantime.
func (c *Tasks) Finish() error {
	err := c.releaseAll()
	c.wg.Wait()
	if late := c.releaseAll(); err == nil {
		err = late
	}
	return err
}

func (c *Tasks) releaseAll() error {
	c.mu.Lock()
	left := slices.Clone(c.open)
	c.mu.Unlock()
	var first error
	for _, i := range left {
		if err := c.Release(i); err != nil && first == nil {
			first = fmt.Errorf("closing the incident: %w", err)
		}
	}
	return first
}
