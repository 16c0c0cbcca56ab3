package session_test

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strings"
	"testing"
	"time"

	"handrail/evidence"
	"handrail/session/audit"
	"handrail/session/journal"
	"handrail/triage"
)

// forge adds entries to a bundle as an author of his own handrail would: the
// chain is right, and only their number is absurd.
func forge(t *testing.T, path, typ string, data func(n int) string, total int64) (entries int64) {
	t.Helper()
	src, err := os.ReadFile(filepath.Join(path, "journal", "000001.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(src)), "\n")
	var last evidence.Entry
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &last); err != nil {
		t.Fatal(err)
	}
	const segment = 16 << 20
	seq, prev, written, size := last.Seq, last.Hash, int64(0), len(src)
	name := 1
	f, err := os.OpenFile(filepath.Join(path, "journal", "000001.jsonl"), os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	w := bufio.NewWriterSize(f, 1<<20)
	end := func() {
		if err := errors.Join(w.Flush(), f.Close()); err != nil {
			t.Fatal(err)
		}
	}
	for n := 0; written < total; n++ {
		seq++
		head := fmt.Sprintf(`{"v":1,"seq":%d,"type":%q,"t":%q,"mono":%q,"boot":%q,"actor":"op","step":"","data":%s,"blobs":[],"prev":%q`,
			seq, typ, last.T, last.Mono, last.Boot, data(n), prev)
		sum := sha256.Sum256([]byte("\x00" + head))
		prev = hex.EncodeToString(sum[:])
		line := head + `,"hash":"` + prev + "\"}\n"
		if size+len(line) > segment {
			end()
			name++
			if f, err = os.Create(filepath.Join(path, "journal", fmt.Sprintf("%06d.jsonl", name))); err != nil {
				t.Fatal(err)
			}
			w.Reset(f)
			size = 0
		}
		size += len(line)
		written += int64(len(line))
		if _, err := w.WriteString(line); err != nil {
			t.Fatal(err)
		}
	}
	end()
	return seq + 1
}

// peak is the most that lived on the heap while f ran, where garbage is collected only as the
// bound comes near: what holds less stays below it, and what holds more goes beyond.
func peak(bound uint64, f func()) uint64 {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	runtime.GC()
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(int64(bound) * 9 / 10))
	done := make(chan struct{})
	most := make(chan uint64)
	go func() {
		sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
		var top uint64
		tick := time.NewTicker(2 * time.Millisecond)
		defer tick.Stop()
		for {
			metrics.Read(sample)
			top = max(top, sample[0].Value.Uint64())
			select {
			case <-done:
				most <- top
				return
			case <-tick.C:
			}
		}
	}()
	f()
	close(done)
	return <-most
}

// A stranger's journal of hundreds of megabytes costs the memory of the part that is
// judged, and the verdict says where that part ends. Its chain is verified whole.
func TestHugeJournals(t *testing.T) { // not parallel: the heap is that of the process
	if testing.Short() {
		t.Skip("too long for -short")
	}
	for _, tc := range []struct {
		name, typ, why string
		data           func(n int) string
		total          int64
		heap           uint64
	}{
		{"notes", "note", "over 256 MiB", func(n int) string {
			return fmt.Sprintf(`{"text":"%07d%s"}`, n, strings.Repeat("x", 1_000_000))
		}, 300 << 20, 700 << 20},
		{"people", "person", "steps, people, debts and waivers", func(n int) string {
			return fmt.Sprintf(`{"id":"p%d","name":"n","proof":"claimed"}`, n)
		}, 5 << 20, 256 << 20},
		{"values", "person", "values in its entries", func(n int) string {
			return fmt.Sprintf(`{"id":"p%d","name":"n","proof":"claimed","roles":[%s"a"]}`, n, strings.Repeat(`"",`, 200_000))
		}, 20 << 20, 400 << 20},
	} {
		t.Run(tc.name, func(t *testing.T) {
			st := newStage(t)
			s := st.start(t)
			path := s.Snapshot().Bundle
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			entries := forge(t, path, tc.typ, tc.data, tc.total)
			var laws audit.Report
			var err error
			if used := peak(tc.heap, func() { laws, err = audit.Bundle(path, st.w, audit.Verifier{}) }); used > tc.heap {
				t.Errorf("Audit held %d MiB, want at most %d", used>>20, tc.heap>>20)
			} else {
				t.Logf("Audit of %d entries held %d MiB at most", entries, used>>20)
			}
			if err != nil || laws.OK() || !strings.Contains(laws.Lines[0].Detail, "were checked, and none after them") || !strings.Contains(laws.Lines[0].Detail, tc.why) {
				t.Errorf("audit.Bundle() = %+v, %v", laws.Lines, err)
			}
			laws = audit.Report{}
			if tc.total > 100<<20 {
				return // once through it is enough
			}
			var state triage.State
			if used := peak(tc.heap, func() { state, err = journal.LoadState(path) }); used > tc.heap {
				t.Errorf("LoadState held %d MiB, want at most %d", used>>20, tc.heap>>20)
			}
			if !errors.Is(err, triage.ErrTooLong) || state.Incident == "" {
				t.Errorf("LoadState() = %q, %v", state.Incident, err)
			}
			state = triage.State{}
			var r evidence.Report
			if used := peak(128<<20, func() { r, err = evidence.Verify(path) }); used > 128<<20 {
				t.Errorf("Verify held %d MiB", used>>20)
			}
			if err != nil || r.Of(evidence.PropertyChain) != evidence.Proven || r.Entries != entries {
				t.Errorf("Verify() = %d entries, chain %s, %v; want all %d", r.Entries, r.Of(evidence.PropertyChain), err, entries)
			}
		})
	}
}
