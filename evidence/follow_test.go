package evidence

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestFollow follows a journal cut at every byte: each good line comes once, in order, and half a line waits.
func TestFollow(t *testing.T) {
	t.Parallel()
	b := create(t, testOptions(filepath.Join(t.TempDir(), "keys")))
	for range 5 {
		note(t, b, "seen")
	}
	segment := filepath.Join(b.Path(), "journal", segmentName(1))
	whole, err := os.ReadFile(segment)
	if err != nil {
		t.Fatal(err)
	}
	r, err := OpenReadOnly(b.Path())
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	f := r.Follow()
	var got []int64
	out, err := os.OpenFile(segment, os.O_WRONLY|os.O_TRUNC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	for n := range whole {
		if _, err := out.Write(whole[n : n+1]); err != nil {
			t.Fatal(err)
		}
		if err := f.More(func(e Entry) error { got = append(got, e.Seq); return nil }); err != nil {
			t.Fatalf("at %d bytes: %v", n, err)
		}
	}
	if len(got) != 6 {
		t.Fatalf("followed %v, want entries 0 to 5 once", got)
	}
	for i, seq := range got {
		if seq != int64(i) {
			t.Fatalf("followed %v", got)
		}
	}
	if err := os.WriteFile(segment, whole[:len(whole)-1], 0o600); err != nil {
		t.Fatal(err)
	}
	if err := f.More(func(Entry) error { return nil }); !errors.Is(err, ErrCorrupt) {
		t.Errorf("a journal that became shorter: %v", err)
	}
}

// TestFollowIntoTheNextSegment follows over the end of a segment, and stops where the visitor says.
func TestFollowIntoTheNextSegment(t *testing.T) {
	if testing.Short() {
		t.Skip("too long for -short")
	}
	t.Parallel()
	b := create(t, testOptions(filepath.Join(t.TempDir(), "keys")))
	r, err := OpenReadOnly(b.Path())
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	f := r.Follow()
	long := strings.Repeat("a long line of a log\n", longData/24)
	seen := int64(0)
	for range 2*segmentSize/len(long) + 1 {
		note(t, b, long)
		if err := f.More(func(e Entry) error {
			if e.Seq != seen {
				t.Fatalf("entry %d where %d belongs", e.Seq, seen)
			}
			seen++
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	if f.segment < 3 {
		t.Errorf("followed %d entries over %d segments", seen, f.segment)
	}
	stop := errors.New("enough")
	g := r.Follow()
	if err := g.More(func(Entry) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("More = %v", err)
	}
}
