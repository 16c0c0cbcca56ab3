package session_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"handrail/session"
	"handrail/session/replay"
	"handrail/triage"
)

// copies hands out copies of a bundle as they are put in.
type copies struct {
	t      *testing.T
	src    string
	next   bool
	err    error
	n      int
	asked  int
	closed bool
}

func (c *copies) Newest(context.Context) (string, time.Time, error) {
	c.asked++
	if c.err != nil || !c.next {
		return "", time.Time{}, c.err
	}
	c.next = false
	c.n++
	into := filepath.Join(c.t.TempDir(), filepath.Base(c.src))
	return into, time.Time{}, os.CopyFS(into, os.DirFS(c.src))
}

func (c *copies) Close() error { c.closed = true; return nil }

// TestFollowPushed: entries come with each copy, the place is asked once in five seconds, what it says last stays where it
// does not answer or another history lies there, and nothing can be done in it.
func TestFollowPushed(t *testing.T) {
	t.Parallel()
	st := newStage(t)
	s := st.start(t)
	from := &copies{t: t, src: s.Snapshot().Bundle, next: true}
	cfg := st.cfg
	now := time.Date(2026, 11, 21, 3, 0, 0, 0, time.UTC)
	cfg.Now = func() time.Time { return now }
	p, err := replay.FollowPushed(t.Context(), from, "s3://team/x", looking(cfg))
	if err != nil {
		t.Fatal(err)
	}
	_, first := p.Place()
	do(t, s, triage.Intent{Kind: triage.DoNote, Text: "looked at from afar"})
	from.next = true
	if n := p.Grow(); n != 0 || from.asked != 1 {
		t.Fatalf("it was asked %d times within five seconds", from.asked)
	}
	now = now.Add(5 * time.Second)
	if n := p.Grow(); n == 0 {
		t.Fatalf("nothing came: %+v", p.Heard())
	}
	at, last := p.Place()
	if at != first || last <= first {
		t.Errorf("at %d of %d, was at %d", at, last, first)
	}
	p.Go(last)
	if tl := p.Snapshot().State.Timeline; !strings.Contains(tl[len(tl)-1].Text, "from afar") {
		t.Errorf("the newest entry is %q", tl[len(tl)-1].Text)
	}
	heard := p.Heard()
	now = now.Add(5 * time.Second)
	from.err = errors.New("no route")
	p.Grow()
	if h := p.Heard(); h.Err != "no route" || h.At != heard.At {
		t.Errorf("heard %+v", h)
	}
	from.err = nil
	now = now.Add(5 * time.Second)
	if p.Grow(); p.Heard().Err != "" || p.Heard().At != now || p.Heard().Stored != heard.Stored {
		t.Errorf("heard %+v after it answers again", p.Heard())
	}
	other := newStage(t).start(t)
	from.src, from.next = other.Snapshot().Bundle, true
	now = now.Add(5 * time.Second)
	if n := p.Grow(); n != 0 || !strings.Contains(p.Heard().Err, "does not continue") {
		t.Errorf("another history: %d entries, %+v", n, p.Heard())
	}
	var refused *triage.Refused
	if err := p.Do(t.Context(), triage.Intent{Kind: triage.DoNote, Text: "x"}); !errors.As(err, &refused) {
		t.Errorf("Do = %v", err)
	}
	if err := p.Close(); err != nil || !from.closed {
		t.Errorf("Close = %v, closed %v", err, from.closed)
	}
	for _, x := range []*session.Session{s, other} {
		if err := x.Close(); err != nil {
			t.Error(err)
		}
	}
}
