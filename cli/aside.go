package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"handrail/cli/process"
	"handrail/cli/settings"
	"handrail/steps/fault"
	"handrail/tui"
)

const (
	// asideLines and asideBytes bound what is kept of what came on stderr while
	// the screen was drawn.
	asideLines = 100
	asideBytes = 400 // of a line
	// asideDrain is how long a program that goes on writing is listened to after
	// the screen was given back.
	asideDrain = 200 * time.Millisecond
)

// draw shows the terminal UI. Nothing else reaches the terminal meanwhile; what
// tried to is told after the screen was given back.
func draw(ctx context.Context, p *process.Program, face tui.Config) error {
	face, err := settings.ScreenConfig(p, face)
	if err != nil {
		return err
	}
	stderr, ok := process.FileOf(p.Stderr)
	if !ok || !process.TurnsAside || !process.IsTerminal(stderr) {
		return tui.Run(ctx, face)
	}
	a, err := setAside(stderr)
	if err != nil {
		return fmt.Errorf("keeping the screen clean: %w", err)
	}
	face.Aside = a.news
	err = tui.Run(ctx, face)
	back := a.end()
	if len(a.kept) > 0 {
		fmt.Fprintln(p.Stderr, "While the screen was drawn, this came on stderr:")
	}
	for i := 0; i < len(a.kept); {
		line, times := a.kept[i], 0
		for ; i < len(a.kept) && a.kept[i] == line; i++ {
			times++
		}
		process.Lines(p.Stderr, "  | ", line)
		if times > 1 {
			fmt.Fprintf(p.Stderr, "  (%d times)\n", times)
		}
	}
	if a.lost > 0 {
		fmt.Fprintf(p.Stderr, "  (%s before these)\n", process.Counted(a.lost, "line"))
	}
	return errors.Join(err, back)
}

// aside takes what is written to stderr. The descriptor itself is turned away,
// since credential plugins inherit it, and client-go and the log package hold
// on to the file from when they began.
type aside struct {
	stderr   *os.File
	terminal *os.File // what stderr was
	pipe     *os.File
	news     chan string // the newest line, for the screen
	kept     []string    // to be read after end
	lost     int
	reading  sync.WaitGroup
}

func setAside(stderr *os.File) (_ *aside, err error) {
	terminal, err := process.Duplicate(stderr)
	if err != nil {
		return nil, err
	}
	r, w, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, terminal.Close())
	}
	err = errors.Join(process.Become(stderr, w), w.Close())
	// A crash must be seen all the same.
	err = errors.Join(err, debug.SetCrashOutput(terminal, debug.CrashOptions{}))
	a := &aside{stderr: stderr, terminal: terminal, pipe: r, news: make(chan string, 1)}
	a.reading.Go(func() {
		defer fault.To(func(error) { _, _ = io.Copy(io.Discard, a.pipe) })
		a.read()
	})
	if err != nil {
		return nil, errors.Join(err, a.end())
	}
	return a, nil
}

// read must take everything: a full pipe would hold up the writer.
func (a *aside) read() {
	in := bufio.NewReader(a.pipe)
	for {
		line, err := in.ReadSlice('\n')
		text := strings.TrimRight(string(line[:min(len(line), asideBytes)]), "\r\n")
		for errors.Is(err, bufio.ErrBufferFull) {
			_, err = in.ReadSlice('\n') // the rest of a line without an end
		}
		if strings.TrimSpace(text) != "" {
			a.keep(text)
		}
		if err != nil {
			return
		}
	}
}

func (a *aside) keep(text string) {
	if a.kept = append(a.kept, text); len(a.kept) > asideLines {
		a.kept = a.kept[1:]
		a.lost++
	}
	select {
	case <-a.news: // the one before was not looked at
	default:
	}
	a.news <- text // only this goroutine sends, so there is room
}

// end gives stderr back.
func (a *aside) end() error {
	err := errors.Join(process.Become(a.stderr, a.terminal), debug.SetCrashOutput(nil, debug.CrashOptions{}))
	// A plugin that still runs holds the other end: its silence is no end.
	err = errors.Join(err, a.pipe.SetReadDeadline(time.Now().Add(asideDrain)))
	a.reading.Wait()
	return errors.Join(err, a.pipe.Close(), a.terminal.Close())
}
