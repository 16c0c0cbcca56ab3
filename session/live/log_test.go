package live

import (
	"fmt"
	"io"
	"strings"
	"testing"
)

func printed(t *testing.T, x Text) string {
	t.Helper()
	b, err := io.ReadAll(io.NewSectionReader(x, 0, x.Size()))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestLiveLogKeepsToItsCap: the newest lines stay, and it is said how many went.
func TestLiveLogKeepsToItsCap(t *testing.T) {
	t.Parallel()
	var l Log
	early := Text{}
	const lines = 200_000
	for i := range lines {
		l.Print(fmt.Sprintf("%06d %s", i, strings.Repeat("x", 100)))
		if i == 100 {
			early = l.Now()
		}
	}
	now := l.Now()
	if now.Size() > liveMost || now.Size() < liveMost-2*liveDrop {
		t.Errorf("%d bytes are kept, of at most %d", now.Size(), liveMost)
	}
	got := printed(t, now)
	if want := fmt.Sprintf("%06d ", now.Lost); !strings.HasPrefix(got, want) || now.Gone != now.Lost*108 {
		t.Errorf("%d lines and %d bytes were dropped, and the first is %.10q", now.Lost, now.Gone, got)
	}
	if !strings.Contains(got[len(got)-120:], fmt.Sprintf("%06d ", lines-1)) {
		t.Errorf("the newest line is %.20q", got[len(got)-108:])
	}
	// What was taken earlier is as it was, whatever was dropped since.
	if got := printed(t, early); strings.Count(got, "\n") != 101 || !strings.HasPrefix(got, "000000 ") {
		t.Errorf("an earlier text changed: %d lines", strings.Count(got, "\n"))
	}
}

// TestLiveLogShowsNoSecret: neither a value that is named later nor a key whose
// lines say nothing by themselves.
func TestLiveLogShowsNoSecret(t *testing.T) {
	t.Parallel()
	var s Shelf
	l := s.Begin()
	l.Print("before")
	l.Print("token hunter2-hunter2 was sent")
	l.Print("-----BEGIN RSA PRIVATE KEY-----\nMIIEabc\n-----END RSA PRIVATE KEY-----")
	l.Print("  -----BEGIN PRIVATE KEY-----")
	l.Print("MIIEdef")
	l.Print("  -----END PRIVATE KEY-----")
	l.Print("after")
	era := l.Now().Era
	s.Forget("hunter2-hunter2", func(line string) string { return strings.ReplaceAll(line, "hunter2-hunter2", "[redacted]") })
	now := l.Now()
	if got, want := printed(t, now), "before\ntoken [redacted] was sent\n[a private key is not shown]\n[a private key is not shown]\nafter\n"; got != want {
		t.Errorf("the log is %q, want %q", got, want)
	}
	if now.Era == era {
		t.Error("what was read has changed, without a report")
	}
	s.End(l)
	if !l.Now().Over {
		t.Error("the end of the step is not reported")
	}
}
