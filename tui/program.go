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

	"handrail/tui/screen"
)

// Run shows the face until the person leaves or a signal ends the program. It
// owns the terminal and the signals, SIGHUP of a closed connection included,
// and returns after every incident it opened was let go. An act that is running
// goes on in its own process.
func Run(ctx context.Context, c screen.Config) error {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	return show(ctx, c, 0, 0)
}

// show is Run without the signals. A size is given where no terminal says one.
func show(ctx context.Context, c screen.Config, w, h int) error {
	side, cancel := context.WithCancel(ctx)
	defer cancel()

	m := newModel(side, c)
	shown, end := context.WithCancel(ctx)
	defer end()
	var fell error
	g := &guard{Model: m, fell: func(err error) {
		fell = errors.Join(fell, err)
		end()
	}}
	opts := options(shown, c)
	if w > 0 {
		opts = append(opts, tea.WithWindowSize(w, h))
	}
	_, err := tea.NewProgram(g, opts...).Run()
	if fell != nil {
		err = fell // not that the program was ended because of it
	}
	cancel()
	for _, l := range m.bye {
		fmt.Fprintln(out(c), l) // the terminal may be gone
	}
	if late := m.Tasks.Finish(); late != nil {
		err = errors.Join(err, late)
	}
	if errors.Is(err, context.Canceled) && ctx.Err() != nil {
		return context.Cause(ctx) // "hangup signal received"
	}
	return err
}

// frames is how often in a second a picture may be written. The clock behind it
// runs while nothing changes too: at 60 it takes most of what an idle handrail
// costs, and no eye sees whether a key shows after 17 ms or 33.
const frames = 30

func options(ctx context.Context, c screen.Config) []tea.ProgramOption {
	opts := []tea.ProgramOption{tea.WithContext(ctx), tea.WithoutSignalHandler(), tea.WithFPS(frames)}
	if c.NoColor { // what is left of a style without its colour: weight and reverse video
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

func out(c screen.Config) interface{ Write([]byte) (int, error) } {
	if c.Out != nil {
		return c.Out
	}
	return os.Stdout
}
