package tui

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"handrail/session/journal"
)

// reading opens a text in the viewer, on the whole screen.
func reading(t *testing.T, w, h int, body string) *stage {
	t.Helper()
	s := onStage(t, w, h, true, "")
	s.bench.holds(body)
	s.toEvidence()
	s.press("enter", "enter")
	return s
}

// TestViewerKeys walks a long text by its keys.
func TestViewerKeys(t *testing.T) {
	t.Parallel()
	s := reading(t, 80, 24, applyLog())
	s.want(t, "line 1 of 12,000", "top", "835.9 KiB")
	s.press("end")
	s.want(t, "12000 │", "end")
	s.press("5", "0", "0", "1")
	s.want(t, "line ▸ 5001▏ of 12,000")
	s.press("enter")
	s.want(t, "line 5,001 of 12,000", "5001 │")
	s.press("g", "9", "esc")
	s.want(t, "line 5,001 of")
	s.press("g")
	s.write("99999999")
	s.press("enter")
	s.want(t, "12000 │", "end")
	s.press("home", "/")
	s.write("CONFLICT")
	s.want(t, "no match for")
	s.press("backspace", "backspace", "backspace", "backspace", "backspace", "backspace", "backspace", "backspace")
	s.write("[error] sub")
	s.want(t, "in line 43 of 12,000")
	s.press("enter", "n")
	s.want(t, "in line 1,043 of")
	s.press("N", "N")
	s.want(t, "in line 11,043 of 12,000, around the end")
	s.press("n")
	s.want(t, "in line 43 of 12,000, around the end")
	s.press("esc")
	s.want(t, "line 3") // the page stays, the search is over
	s.press("home", "right")
	s.want(t, "from column")
	s.press("left", "left", "w")
	s.want(t, "wrapped", "network not renewed, try 0")
	s.press("left")
	s.want(t, "Lines are wrapped here")
	s.press("enter")
	s.want(t, "ENTRY ")
	s.press("esc")
	s.want(t, "EVIDENCE")
	if s.evidence.View != nil {
		t.Error("the artifact is still open")
	}
}

// TestFindGoesBack: a cancelled search leaves the page where it was.
func TestFindGoesBack(t *testing.T) {
	t.Parallel()
	s := reading(t, 80, 24, applyLog())
	s.press("pgdown", "/")
	s.write("try 500")
	s.want(t, "in line 4,505 of")
	s.press("esc")
	s.want(t, "line 16 of 12,000")
}

// TestCopy hands what is shown to the clipboard, no more than it takes, and nothing a shell would act on.
func TestCopy(t *testing.T) {
	t.Parallel()
	clip := func(s *stage, k string) string {
		t.Helper()
		_, cmd := s.Update(keyPress(k))
		_, cmd = s.Update(cmd())
		if cmd == nil {
			return ""
		}
		return fmt.Sprint(cmd())
	}
	s := reading(t, 80, 24, "first\r\nsec\x1b[31mond\x1b]0;x\a\nthird")
	if got, want := clip(s, "y"), "first\nsecond\\x1b]0;x\\x07\nthird\n"; got != want {
		t.Errorf("the page is copied as %q, want %q", got, want)
	}
	s.want(t, "Sent to the terminal's clipboard: what is on the screen, 31 bytes.")
	s.press("/")
	s.write("ond")
	s.press("enter")
	if got, want := clip(s, "Y"), "second\\x1b]0;x\\x07\n"; got != want {
		t.Errorf("the line is copied as %q, want %q", got, want)
	}
	s = reading(t, 80, 24, strings.Repeat("支", 100_000))
	if got := clip(s, "y"); len(got) < 64<<10-3 || len(got) > 64<<10 {
		t.Errorf("%d bytes are copied, want at most %d", len(got), 64<<10)
	}
	s.want(t, "the first 64.0 KiB", "s saves everything")
}

// TestSave saves the stored bytes under a name that is asked for, and says where or why not.
func TestSave(t *testing.T) {
	t.Parallel()
	s := reading(t, 80, 24, "a\x1b[2J\r\n")
	s.press("s")
	s.want(t, "cannot be saved here")
	var name, saved string
	s.Config.Save = func(_ context.Context, n string, from io.Reader) (string, error) {
		b, err := io.ReadAll(from)
		name, saved = n, string(b)
		if n == "taken" {
			err = errors.New("it is there already")
		}
		return "/home/ana/" + n, err
	}
	s.press("s", "enter")
	s.want(t, "is required")
	s.write("lock.txt")
	s.press("enter")
	s.want(t, "✓ Saved 7 bytes to /home/ana/lock.txt")
	if name != "lock.txt" || saved != "a\x1b[2J\r\n" {
		t.Errorf("saved %q as %q", saved, name)
	}
	s.press("s")
	s.write("taken")
	s.press("enter")
	s.want(t, "Nothing was saved: it is there already")
	for _, in := range s.bench.sent {
		if in.Kind != "probe" {
			t.Errorf("saving asked for %+v", in)
		}
	}
}

// TestViewerTrouble: what cannot be opened or read says so, and what comes late does nothing.
func TestViewerTrouble(t *testing.T) {
	t.Parallel()
	s := onStage(t, 80, 24, true, "")
	s.bench.body = func() (journal.Artifact, error) { return nil, errors.New("no such blob") }
	s.toEvidence()
	s.press("enter")
	s.want(t, "✗ no such blob")
	s.press("down", "end", "/", "x", "enter", "n", "y", "s", "w", "g", "1", "enter", "enter", "esc", "esc")

	short := onStage(t, 80, 24, true, "")
	short.bench.body = func() (journal.Artifact, error) { return grown{stored{bytes.NewReader([]byte("abc\n"))}}, nil }
	short.toEvidence()
	short.press("enter")
	short.want(t, "shorter than it was")
}

// grown says that it is longer than it is.
type grown struct{ stored }

func (grown) Size() int64 { return 1 << 20 }

// TestHalfCounted says honestly how much is counted, and goes to a line once it is.
func TestHalfCounted(t *testing.T) {
	t.Parallel()
	s := onStage(t, 80, 24, true, "")
	s.bench.holds(strings.Repeat("0123456789012345678901234567890\n", 1_000_000))
	s.toEvidence()
	_, cmd := s.Update(keyPress("enter"))
	_, cmd = s.Update(cmd()) // opened
	_, cmd = s.Update(cmd()) // the first page
	s.want(t, "1 │ 0123456789", "line 1 of at least 0, 0 % counted")
	_, cmd = s.Update(cmd()) // the first slice
	s.want(t, "line 1 of at least 262,144, 26 % counted")
	s.write("900000")
	_, more := s.Update(keyPress("enter"))
	s.want(t, "going to line 900,000, at least 262,144, 26 % counted")
	s.settle(cmd)
	s.settle(more)
	s.want(t, "line 900,000 of 1,000,000", "900000 │")
}

// TestKeysAreHeld: keys that come while a page is on its way are gone at once, in the end, and no further than the text.
func TestKeysAreHeld(t *testing.T) {
	t.Parallel()
	s := reading(t, 80, 24, applyLog())
	_, cmd := s.Update(keyPress("down"))
	for range 100 {
		if _, more := s.Update(keyPress("down")); more != nil {
			t.Fatal("another page is asked for while one is on its way")
		}
	}
	s.settle(cmd)
	s.want(t, "line 102 of 12,000")
	_, cmd = s.Update(keyPress("up"))
	for range 5000 {
		s.Update(keyPress("up"))
	}
	s.settle(cmd)
	s.want(t, "line 1 of 12,000")
	s.press("down")
	s.want(t, "line 2 of 12,000")
}
