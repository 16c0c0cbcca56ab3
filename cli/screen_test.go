package cli

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/vt"
	"github.com/creack/pty"
)

// screen is a program in a pty and what a person would see of it.
type screen struct {
	t   *testing.T
	pty *os.File

	mu      sync.Mutex
	term    *vt.Emulator
	torn    bool         // a frame has begun and not ended
	pulled  bool         // its size was changed
	raw     []byte       // all that was written to the terminal
	answers atomic.Int64 // how often the terminal told its background
	changed chan struct{}
	ended   chan struct{}
}

// openScreen starts a shell in a terminal.
func openScreen(t *testing.T, home string) *screen {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "bash", "--norc", "--noprofile")
	cmd.Dir = ".."
	cmd.Env = []string{"HOME=" + home, "PATH=" + filepath.Join(home, "bin") + ":" + os.Getenv("PATH"), "TERM=xterm-256color",
		usesLab(t), "PS1=$ ", "LC_ALL=C.UTF-8", "GOPATH=" + os.Getenv("GOPATH")}
	return onScreen(t, cmd, 34, 110)
}

// onScreen starts cmd as the leader of a terminal.
func onScreen(t *testing.T, cmd *exec.Cmd, rows, cols int) *screen {
	t.Helper()
	f, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: uint16(rows), Cols: uint16(cols)})
	if err != nil {
		t.Fatal(err)
	}
	s := &screen{t: t, pty: f, term: vt.NewEmulator(cols, rows), changed: make(chan struct{}, 1), ended: make(chan struct{})}
	s.knowsFrames()
	var work sync.WaitGroup
	work.Go(s.show)
	work.Go(func() { // what the terminal answers to questions of the program
		b := make([]byte, 1024)
		for {
			n, err := s.term.Read(b)
			if err != nil {
				return
			}
			_, _ = f.Write(b[:n]) // the program may have ended
			s.answers.Add(int64(bytes.Count(b[:n], []byte("\x1b]11;"))))
			s.wake()
		}
	})
	t.Cleanup(func() {
		_ = f.Close() // some tests have closed it
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // it has usually ended with its terminal
		<-s.ended
		_ = s.term.Close()
		work.Wait()
	})
	return s
}

// knowsFrames makes the emulator a terminal that knows synchronized output, so
// that a wait never sees the top of a new frame above the rest of an old one:
// a key that is sent then would be meant for another screen than it reaches.
func (s *screen) knowsFrames() {
	torn := func(is bool) func(ansi.Mode) {
		return func(m ansi.Mode) {
			if m == ansi.ModeSynchronizedOutput {
				s.torn = is
			}
		}
	}
	s.term.SetCallbacks(vt.Callbacks{EnableMode: torn(true), DisableMode: torn(false)})
	_, _ = s.term.WriteString(ansi.ResetModeSynchronizedOutput) // a mode that was reset once is one that it has
}

func (s *screen) show() {
	defer close(s.ended)
	b := make([]byte, 32<<10)
	for {
		n, err := s.pty.Read(b)
		s.mu.Lock()
		s.draw(b[:n])
		s.raw = append(s.raw, b[:n]...)
		s.mu.Unlock()
		s.wake()
		if err != nil {
			return
		}
	}
}

// wake lets until look again.
func (s *screen) wake() {
	select {
	case s.changed <- struct{}{}:
	default:
	}
}

// draw hands bytes to the emulator. A frame that was on its way while the window
// became smaller may scroll lines that there are no more; terminals let that be,
// the emulator falls over it. What such a frame loses, the next one draws anew.
func (s *screen) draw(b []byte) {
	if !s.pulled {
		_, _ = s.term.Write(b) // an emulator does not fail
		return
	}
	for len(b) > 0 {
		end := bytes.IndexByte(b[1:], '\x1b') + 1
		if end == 0 {
			end = len(b)
		}
		func() {
			defer func() { _ = recover() }()
			_, _ = s.term.Write(b[:end])
		}()
		b = b[end:]
	}
}

func (s *screen) text() string {
	text, _ := s.frame()
	return text
}

// frame is what is seen, and whether that is a whole frame.
func (s *screen) frame() (text string, whole bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.term.String(), !s.torn
}

// written is all that was written to the terminal so far.
func (s *screen) written() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return string(s.raw)
}

func (s *screen) send(keys string) {
	s.t.Helper()
	if _, err := s.pty.WriteString(keys); err != nil {
		s.t.Fatalf("typing %q: %v\n%s", keys, err, s.text())
	}
}

// heard waits until the program has taken all keys before this moment: in a
// window that is too small it would rightly drop them. To be told that its
// window is in front again comes in line with the keys, and is answered by asking
// for the background. The answer lies before the next key then.
func (s *screen) heard() {
	s.t.Helper()
	const asks = "\x1b]11;?"
	before := strings.Count(s.written(), asks)
	s.send("\x1b[I")
	s.until("that keys were heard", func(string) bool {
		asked := strings.Count(s.written(), asks)
		return asked > before && s.answers.Load() >= int64(asked)
	})
}

// resize makes the terminal another size, as a person pulls at its window. What
// a terminal shows until it is drawn again differs; here all of it is litter, so
// that what a program leaves standing is seen.
func (s *screen) resize(rows, cols int) {
	s.t.Helper()
	s.mu.Lock()
	if s.term.Width() == cols && s.term.Height() == rows {
		s.mu.Unlock()
		return // there is nothing to report to
	}
	s.pulled = true
	s.term.Resize(cols, rows)
	if s.term.IsAltScreen() {
		for y := range rows {
			for x := range cols {
				s.term.SetCell(x, y, &uv.Cell{Content: "▒", Width: 1})
			}
		}
	}
	s.mu.Unlock()
	if err := pty.Setsize(s.pty, &pty.Winsize{Rows: uint16(rows), Cols: uint16(cols)}); err != nil {
		s.t.Fatal(err)
	}
}

// until waits for a whole frame of which seen is true, and returns it.
func (s *screen) until(what string, seen func(text string) bool) string {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), patience)
	defer cancel()
	for {
		text, whole := s.frame()
		if whole && seen(text) {
			return text
		}
		select {
		case <-s.changed:
		case <-s.ended:
			if text, _ := s.frame(); seen(text) {
				return text
			}
			s.t.Fatalf("the terminal ended before it showed %s\n%s", what, s.text())
		case <-ctx.Done():
			s.t.Fatalf("the screen never showed %s\n%s", what, s.text())
		}
	}
}

// wait returns when the screen shows what the tape waits for.
func (s *screen) wait(c command) {
	s.t.Helper()
	what := "/" + c.re.String() + "/"
	if c.line > 0 {
		what += fmt.Sprintf(" of demo.tape:%d", c.line)
	}
	s.until(what, c.re.MatchString)
}

func (s *screen) shows(re string) {
	s.t.Helper()
	s.wait(command{re: regexp.MustCompile(re)})
}

// pause lets time pass as the tape says; nothing is asserted about it.
func (s *screen) pause(d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-s.t.Context().Done():
	}
}

// phrase types at a gate, which is deaf until the keyboard was quiet for a while,
// so that keys meant for the screen below do not reach it.
func (s *screen) phrase(text string) {
	s.t.Helper()
	s.pause(time.Second)
	s.send(text)
	// Where the line is too short, its beginning is out of sight.
	s.wait(command{re: regexp.MustCompile(`phrase ▸ .*` + regexp.QuoteMeta(text[max(0, len(text)-24):]))})
}
