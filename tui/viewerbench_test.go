package tui

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/metrics"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"handrail/session/journal"
	"handrail/triage"
	"handrail/tui/viewer"
)

// onDisk is an artifact in a file.
type onDisk struct {
	*os.File
	size int64
}

func (o onDisk) Size() int64 { return o.size }

// disk gives every artifact this file.
func (b *bench) disk(path string) {
	b.body = func() (journal.Artifact, error) {
		f, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		info, err := f.Stat()
		return onDisk{f, info.Size()}, err
	}
}

// millionLines is a log of a million lines on the disk.
func millionLines(b *testing.B) string {
	path := filepath.Join(b.TempDir(), "million.log")
	f, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	for i := range 1000 {
		var s strings.Builder
		for n := range 1000 {
			fmt.Fprintf(&s, "2026-11-20T02:14:%02d.%06dZ level=info msg=\"vertex example_subnet.支付[%d] visited\" took=%dms\n", n%60, n, i*1000+n, n%91)
		}
		if _, err := f.WriteString(s.String()); err != nil {
			b.Fatal(err)
		}
	}
	if err := f.Close(); err != nil {
		b.Fatal(err)
	}
	return path
}

// sparse is a file of a gibibyte without a single line.
func sparse(b *testing.B) string {
	path := filepath.Join(b.TempDir(), "sparse")
	if err := errors.Join(os.WriteFile(path, nil, 0o600), os.Truncate(path, 1<<30)); err != nil {
		b.Fatal(err)
	}
	return path
}

func onBenchText(b *testing.B, path string, entries int) *stage {
	s := &stage{clock: &clockwork{opened()}}
	s.bench = newBench(s.clock.now, "")
	for range entries {
		s.bench.record(triage.Note{Text: "still watching"})
	}
	s.bench.disk(path)
	c := configFixture(s.clock.now, "")
	c.Open = s.bench
	s.model = newModel(b.Context(), c)
	s.Update(tea.WindowSizeMsg{Width: 140, Height: 45})
	s.toEvidence()
	return s
}

// BenchmarkViewerKey is one key to its frame, the page read from the file included, with a million lines open and 100,000
// entries behind them. Keys come one by one; what is beside the loop is waited for.
func BenchmarkViewerKey(b *testing.B) {
	million, line := millionLines(b), sparse(b)
	for name, keys := range map[string][]string{
		"one-line-of-1GiB": {"pgdown", "pgdown", "end", "pgup", "home"}, "one-line-wrapped": {"pgdown", "down", "end", "pgup", "up", "home"},
		"scroll": {"down", "down", "down", "up"}, "page": {"pgdown", "pgdown", "pgup"}, "ends": {"end", "home"}, "wrapped": {"pgdown", "pgdown", "up"},
		"line": {"7", "7", "7", "7", "7", "7", "enter", "home"}, "next": {"n"}, "sideways": {"right", "right", "left", "left"},
	} {
		b.Run(name, func(b *testing.B) {
			path := million
			if strings.HasPrefix(name, "one-line") {
				path = line
			}
			s := onBenchText(b, path, 100_000)
			s.press("enter", "enter")
			switch name {
			case "wrapped", "one-line-wrapped":
				s.press("w")
			case "next":
				s.press("/")
				s.write("took=7ms")
				s.press("enter")
			}
			var took []time.Duration
			for i := 0; b.Loop(); i++ {
				from := time.Now()
				s.press(keys[i%len(keys)])
				s.View()
				took = append(took, time.Since(from))
			}
			quantiles(b, took)
		})
	}
}

// BenchmarkViewerKeyWhileCounting presses a key whenever the page of the one before is there, while the lines of a gibibyte
// are counted; messages come in any order, and each is a frame, as in the program.
func BenchmarkViewerKeyWhileCounting(b *testing.B) {
	path := sparse(b)
	var took []time.Duration
	for b.Loop() {
		s := onBenchText(b, path, 0)
		back := make(chan tea.Msg, 16)
		handle := func(msg tea.Msg) {
			if _, cmd := s.Update(msg); cmd != nil {
				go func() { back <- cmd() }()
			}
			s.View()
		}
		handle(keyPress("enter"))
		var pressed time.Time
		for s.evidence.View.File == nil || !s.evidence.View.Look.Index.Over() {
			msg := <-back
			handle(msg)
			if _, page := msg.(viewer.PageMsg); page {
				if !pressed.IsZero() {
					took = append(took, time.Since(pressed))
				}
				pressed = time.Now()
				handle(keyPress("down"))
			}
		}
		s.evidence.CloseArtifact(s.Env)
	}
	quantiles(b, took)
}

func quantiles(b *testing.B, took []time.Duration) {
	slices.Sort(took)
	at := func(q float64) float64 {
		return float64(took[min(len(took)-1, int(q*float64(len(took))))].Nanoseconds()) / 1e6
	}
	b.ReportMetric(at(0.5), "p50-ms")
	b.ReportMetric(at(0.99), "p99-ms")
	b.ReportMetric(took[len(took)-1].Seconds()*1000, "worst-ms")
}

// BenchmarkViewerOpen is the way from the key to the first page of a gibibyte, and to all its lines counted.
func BenchmarkViewerOpen(b *testing.B) {
	for name, path := range map[string]string{"sparse-1GiB": sparse(b), "million-lines": millionLines(b)} {
		b.Run(name, func(b *testing.B) {
			var first time.Duration
			var most uint64
			n := 0
			for b.Loop() {
				s := onBenchText(b, path, 0)
				runtime.GC()
				before := inUse()
				from := time.Now()
				_, cmd := s.Update(keyPress("enter"))
				for range 2 {
					_, cmd = s.Update(cmd())
				}
				s.View()
				first += time.Since(from)
				for n++; cmd != nil; {
					_, cmd = s.Update(cmd())
					most = max(most, inUse()-min(before, inUse()))
				}
				s.evidence.CloseArtifact(s.Env)
			}
			b.ReportMetric(first.Seconds()*1000/float64(n), "first-page-ms")
			b.ReportMetric(float64(most)/(1<<20), "peak-MB")
		})
	}
}

// inUse is what is on the heap now, garbage included.
func inUse() uint64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// BenchmarkViewerSearch looks through a million lines for what is not there.
func BenchmarkViewerSearch(b *testing.B) {
	s := onBenchText(b, millionLines(b), 0)
	s.press("enter", "enter")
	b.SetBytes(s.evidence.View.File.Size())
	for b.Loop() {
		s.press("/")
		_, cmd := s.Update(tea.PasteMsg{Content: "zebra"})
		s.settle(cmd)
		if !s.evidence.View.Find.None {
			b.Fatal("it was not looked for")
		}
		s.press("esc")
	}
}
