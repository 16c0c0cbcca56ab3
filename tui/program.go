package tui

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
)

// Run shows the face until the person leaves or a signal ends the program. It
// owns the terminal and the signals, SIGHUP of a closed connection included,
// and returns after every incident it opened was let go: an act that was running
// has ended by then, or its own executor goes on with it.
func Run(ctx context.Context, c Config) error {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	return run(ctx, c, 0, 0)
}

// run is Run without the signals. A size is given where no terminal says one.
func run(ctx context.Context, c Config, w, h int) error {
	side, cancel := context.WithCancel(ctx)
	defer cancel()

	m := newModel(side, c)
	opts := options(ctx, c)
	if w > 0 {
		opts = append(opts, tea.WithWindowSize(w, h))
	}
	_, err := tea.NewProgram(m, opts...).Run()
	cancel()
	for _, l := range m.bye {
		fmt.Fprintln(out(c), l) // the terminal may be gone; there is nobody to tell
	}
	if late := m.crew.finish(); late != nil {
		err = errors.Join(err, late)
	}
	if errors.Is(err, context.Canceled) && ctx.Err() != nil {
		return context.Cause(ctx) // "hangup signal received"
	}
	return err
}

func options(ctx context.Context, c Config) []tea.ProgramOption {
	opts := []tea.ProgramOption{tea.WithContext(ctx), tea.WithoutSignalHandler()}
	if c.NoColor || os.Getenv("NO_COLOR") != "" { // any value, as the convention says
		opts = append(opts, tea.WithColorProfile(colorprofile.ASCII))
	}
	if c.In != nil {
		opts = append(opts, tea.WithInput(c.In))
	}
	if c.Out != nil {
		opts = append(opts, tea.WithOutput(c.Out))
	}
	return opts
}

func out(c Config) interface{ Write([]byte) (int, error) } {
	if c.Out != nil {
		return c.Out
	}
	return os.Stdout
}
