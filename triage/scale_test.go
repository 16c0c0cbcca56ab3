package triage

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

// longStory is a journal of n entries: a watch sampled for days, with notes.
func longStory(n int) []Event {
	told := ready()
	out := make([]Event, 0, n)
	for i := range n {
		var b Body
		switch k := i - len(told); {
		case k < 0:
			b = told[i]
		case k%3 == 0:
			b = ProbeStart{Step: clean, N: k/3 + 1}
		case k%3 == 1:
			b = watched(k/3+1, "true")
		default:
			b = Note{Text: "still watching"}
		}
		out = append(out, Event{Seq: int64(i + 1), At: t0.Add(time.Duration(i) * time.Second), Body: b})
	}
	return out
}

func BenchmarkFold100k(b *testing.B) {
	events := longStory(100_000)
	b.Run("one", func(b *testing.B) {
		for b.Loop() {
			var s State
			for _, e := range events {
				var err error
				if s, err = Fold(s, e); err != nil {
					b.Fatal(err)
				}
			}
		}
	})
	b.Run("all", func(b *testing.B) {
		for b.Loop() {
			if _, err := FoldAll(State{}, events); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkOptions(b *testing.B) {
	s, err := FoldAll(State{}, longStory(1000))
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		Options(s, s.Updated, nil)
	}
}

// TestFoldAllocatesLinearly guards the structure rather than the clock: eight
// times the entries may cost eight times the bytes and a little, never sixty.
func TestFoldAllocatesLinearly(t *testing.T) {
	cost := func(n int) uint64 {
		events := longStory(n)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		var s State
		for _, e := range events {
			s, _ = Fold(s, e)
		}
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	small, large := cost(500), cost(4000)
	if large > 16*small {
		t.Errorf("4000 entries take %d bytes, 500 take %d: more than linear", large, small)
	}
}

// TestFoldIsSafeToShare folds onto one state from many goroutines.
func TestFoldIsSafeToShare(t *testing.T) {
	t.Parallel()
	base := tell(t, State{}, ready()...)
	texts := make([]string, 8)
	var wg sync.WaitGroup
	for i := range texts {
		wg.Go(func() {
			s := base
			for range 50 {
				var err error
				if s, err = Fold(s, next(s, Note{Text: strings.Repeat("x", i+1)})); err != nil {
					t.Error(err)
					return
				}
			}
			texts[i] = s.Timeline[len(base.Timeline)].Text
		})
	}
	wg.Wait()
	for i, got := range texts {
		if want := strings.Repeat("x", i+1); got != want {
			t.Errorf("branch %d has %q, want %q", i, got, want)
		}
	}
	if grown := append(base.Timeline, Moment{Text: "mine"}); tell(t, base, Note{Text: "y"}).Timeline[len(base.Timeline)].Text != "y" || grown[len(base.Timeline)].Text != "mine" {
		t.Error("an append outside reached into a state")
	}
}

// TestStandardLibraryOnly keeps the loop and its nouns pure: nothing else of ours,
// nothing from outside, no clock, no files, no randomness.
func TestStandardLibraryOnly(t *testing.T) {
	t.Parallel()
	for _, dir := range []string{".", "./record"} {
		onlyStandard(t, dir)
	}
}

func onlyStandard(t *testing.T, dir string) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "list", "-f", `{{join .Imports "\n"}}`, dir).Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	for _, path := range strings.Fields(string(out)) {
		first, _, _ := strings.Cut(path, "/")
		if strings.Contains(first, ".") || first == "handrail" && (dir != "." || path != "handrail/triage/record") {
			t.Errorf("%s imports %s", dir, path)
		}
		switch path {
		case "os", "io", "net", "net/http", "math/rand", "math/rand/v2", "crypto/rand", "os/exec":
			t.Errorf("%s imports %s and is no longer pure", dir, path)
		}
	}
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if !strings.HasSuffix(f.Name(), ".go") || strings.HasSuffix(f.Name(), "_test.go") {
			continue
		}
		src, err := os.ReadFile(filepath.Join(dir, f.Name()))
		if err != nil {
			t.Fatal(err)
		}
		for _, clock := range []string{"time.Now", "time.Since", "time.Until"} {
			if strings.Contains(string(src), clock) {
				t.Errorf("%s reads the clock (%s)", f.Name(), clock)
			}
		}
	}
}

// TestFollowsLeavesRoom: an event that is tried first and folded then must not
// make the fold copy the timeline, or a long incident slows down with each entry.
func TestFollowsLeavesRoom(t *testing.T) {
	s, err := FoldAll(State{}, longStory(1000))
	if err != nil {
		t.Fatal(err)
	}
	e := next(s, Note{Text: "x"})
	if err := Follows(s, e); err != nil {
		t.Fatal(err)
	}
	if after, err := Fold(s, e); err != nil || &after.Timeline[0] != &s.Timeline[0] {
		t.Errorf("Fold() copied the timeline (error %v)", err)
	}
	if Follows(s, next(s, Open{Incident: "twice"})) == nil {
		t.Error("Follows() accepts what Fold() refuses")
	}
}
