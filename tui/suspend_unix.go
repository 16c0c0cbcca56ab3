//go:build unix

package tui

import (
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	tea "charm.land/bubbletea/v2"
)

// toShell stops the process group until fg. tea.Suspend does the same, but may
// stop the process before the clock of its renderer has ended; that clock then
// ends after fg, and the screen stays dead. A moment before the stop is enough.
func toShell() tea.Cmd {
	return tea.Exec(suspension{}, func(error) tea.Msg { return tea.ResumeMsg{} })
}

// clockEnds is far more than a goroutine needs to end, and less than a person
// sees.
const clockEnds = 100 * time.Millisecond

type suspension struct{}

func (suspension) SetStdin(io.Reader)  {}
func (suspension) SetStdout(io.Writer) {}
func (suspension) SetStderr(io.Writer) {}

func (suspension) Run() error {
	time.Sleep(clockEnds)
	on := make(chan os.Signal, 1)
	signal.Notify(on, syscall.SIGCONT)
	defer signal.Stop(on)
	if err := syscall.Kill(0, syscall.SIGTSTP); err != nil {
		return err
	}
	<-on
	return nil
}
