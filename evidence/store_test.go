package evidence

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/tlog"

	"handrail/evidence/disk"
)

func testOptions(keys string) Options {
	var mu sync.Mutex
	var ticks time.Duration
	tick := func() time.Duration {
		mu.Lock()
		defer mu.Unlock()
		ticks += time.Millisecond
		return ticks
	}
	return Options{
		Now:  func() time.Time { return time.Date(2026, 11, 21, 2, 14, 0, 0, time.UTC).Add(tick()) },
		Mono: tick, Boot: "00000000-0000-0000-0000-000000000001", Keys: keys, Host: "bridge", Version: "test",
		Types: func(name string) bool { return name != "hologram" },
	}
}

func create(t testing.TB, o Options) *Bundle {
	t.Helper()
	b, err := Create(t.TempDir(), "i1", o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.Close() })
	return b
}

func note(t testing.TB, b *Bundle, text string) Entry {
	t.Helper()
	e, err := b.Append(context.Background(), Draft{Type: "note", Actor: "robin", Data: map[string]any{"text": text}})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func putBlob(t testing.TB, b *Bundle, media, content string) Blob {
	t.Helper()
	w, err := b.Blob("log", media)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(w, content); err != nil {
		t.Fatal(err)
	}
	blob, err := w.Commit()
	if err != nil {
		t.Fatal(err)
	}
	return blob
}

// small writes a bundle of a few entries and one blob, closes it and returns its path.
func small(t testing.TB) string {
	t.Helper()
	b := create(t, testOptions(filepath.Join(t.TempDir(), "keys")))
	note(t, b, "first")
	blob := putBlob(t, b, "text/plain", "a log\n")
	if _, err := b.Append(context.Background(), Draft{Type: "probe.end", Actor: "robin", Step: "r/lock", Data: map[string]any{"outcome": "ok"}, Blobs: []Blob{blob}}); err != nil {
		t.Fatal(err)
	}
	note(t, b, "last")
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Path()
}

func mustVerify(t testing.TB, path string) Report {
	t.Helper()
	r, err := Verify(path)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func entriesOf(t testing.TB, path string) ([]Entry, error) {
	t.Helper()
	r, err := OpenReadOnly(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var out []Entry
	for e, err := range r.Entries() {
		if err != nil {
			return out, err
		}
		out = append(out, e)
	}
	return out, nil
}

func TestRoundTrip(t *testing.T) {
	t.Parallel()
	path := small(t)
	r := mustVerify(t, path)
	if !r.OK() || r.Entries != 4 || r.ID != "i1" {
		t.Fatalf("Verify = %+v", r)
	}
	got, err := entriesOf(t, path)
	if err != nil || len(got) != 4 || got[0].Type != "env" || string(got[1].Data) != `{"text":"first"}` {
		t.Fatalf("entries = %+v, %v", got, err)
	}
	var hashes []tlog.Hash
	for _, e := range got {
		line, _ := appendEntry(nil, &e)
		hashes = append(hashes, tlog.RecordHash(line[:len(line)-hashSuffix]))
	}
	if h := hex.EncodeToString(hashes[3][:]); h != got[3].Hash || r.Head != h {
		t.Errorf("record hash %s, entry hash %s, head %s: want all equal", h, got[3].Hash, r.Head)
	}
	want := tlog.NodeHash(tlog.NodeHash(hashes[0], hashes[1]), tlog.NodeHash(hashes[2], hashes[3]))
	if r.Root != want.String() {
		t.Errorf("root %s, want %s", r.Root, want)
	}
	for name, mode := range map[string]os.FileMode{"": 0o700, "bundle.json": 0o600, "journal/000001.jsonl": 0o600, "blobs/sha256/" + got[2].Blobs[0].SHA256[:2] + "/" + got[2].Blobs[0].SHA256: 0o400} {
		info, err := os.Stat(filepath.Join(path, name))
		if err != nil || info.Mode().Perm() != mode {
			t.Errorf("%q has mode %v, want %v (%v)", name, info.Mode().Perm(), mode, err)
		}
	}
}

// TestRecipe verifies a bundle by the words of the package documentation alone.
func TestRecipe(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile(filepath.Join(small(t), "journal", "000001.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	prev := strings.Repeat("0", 64)
	for n, line := range strings.SplitAfter(strings.TrimSuffix(string(raw), "\n"), "\n") {
		line = strings.TrimSuffix(line, "\n") + "\n"
		covered, hash := line[:len(line)-76], line[len(line)-67:len(line)-3]
		sum := sha256.Sum256([]byte("\x00" + covered))
		if hex.EncodeToString(sum[:]) != hash || !strings.HasSuffix(covered, `"prev":"`+prev+`"`) {
			t.Fatalf("line %d does not verify", n)
		}
		prev = hash
	}
}

func TestEveryTruncation(t *testing.T) {
	if testing.Short() {
		t.Skip("too long for -short")
	}
	t.Parallel()
	path := small(t)
	journal := filepath.Join(path, "journal", "000001.jsonl")
	whole, err := os.ReadFile(journal)
	if err != nil {
		t.Fatal(err)
	}
	lastLine := bytes.LastIndexByte(whole[:len(whole)-1], '\n')
	for cut := range whole {
		if !*everyBit && cut%7 != 0 && cut < lastLine && !bytes.Contains(whole[max(cut-3, 0):cut+3], []byte("\n")) {
			continue // all of the last line, and the ends of the others
		}
		if err := os.WriteFile(journal, whole[:cut], 0o600); err != nil {
			t.Fatal(err)
		}
		// What an earlier cut left in quarantine would be reported as well.
		kept, _ := filepath.Glob(filepath.Join(path, "quarantine", "*"))
		for _, name := range kept {
			if err := os.Remove(name); err != nil {
				t.Fatal(err)
			}
		}
		good := strings.Count(string(whole[:cut]), "\n")
		atLine := cut == 0 || whole[cut-1] == '\n'
		got, err := entriesOf(t, path)
		var torn *TornError
		if len(got) != good || atLine != (err == nil) || !atLine && !errors.As(err, &torn) {
			t.Fatalf("cut at %d: %d entries, %v; want %d", cut, len(got), err, good)
		}
		b, err := Open(path, testOptions(""))
		if good == 0 {
			if !errors.Is(err, ErrEmpty) {
				t.Fatalf("cut at %d: Open = %v, want ErrEmpty", cut, err)
			}
			continue
		}
		if err != nil {
			t.Fatalf("cut at %d: Open = %v", cut, err)
		}
		seq, _ := b.Head()
		if err := b.Close(); err != nil {
			t.Fatal(err)
		}
		want := int64(good - 1)
		if !atLine {
			want++
		}
		if seq != want {
			t.Fatalf("cut at %d: head %d, want %d", cut, seq, want)
		}
		after, err := os.ReadFile(journal)
		if err != nil || !strings.HasPrefix(string(after), string(whole[:strings.LastIndexByte(string(whole[:cut]), '\n')+1])) {
			t.Fatalf("cut at %d: a good line was lost", cut)
		}
		if got, err := entriesOf(t, path); err != nil || int64(len(got)) != want+1 {
			t.Fatalf("cut at %d: after resume %d entries, %v", cut, len(got), err)
		}
		// Opening once more must change nothing.
		b, err = Open(path, testOptions(""))
		if err != nil {
			t.Fatal(err)
		}
		if again, _ := b.Head(); again != want {
			t.Fatalf("cut at %d: second Open wrote an entry", cut)
		}
		if err := b.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestTamperedLines(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name string
		edit func(l []string) []string
	}{
		{"swapped", func(l []string) []string { l[1], l[2] = l[2], l[1]; return l }},
		{"duplicated", func(l []string) []string { return append(l[:2:2], l[1:]...) }},
		{"deleted", func(l []string) []string { return append(l[:1:1], l[2:]...) }},
		{"first deleted", func(l []string) []string { return l[1:] }},
		{"blank line", func(l []string) []string { return append([]string{l[0], "\n"}, l[1:]...) }},
		{"space added", func(l []string) []string { l[1] = " " + l[1]; return l }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			path := small(t)
			journal := filepath.Join(path, "journal", "000001.jsonl")
			raw, err := os.ReadFile(journal)
			if err != nil {
				t.Fatal(err)
			}
			lines := strings.SplitAfter(strings.TrimSuffix(string(raw), "\n"), "\n")
			lines[len(lines)-1] += "\n"
			if err := os.WriteFile(journal, []byte(strings.Join(tc.edit(lines), "")), 0o600); err != nil {
				t.Fatal(err)
			}
			before, _ := os.ReadFile(journal)
			if r := mustVerify(t, path); r.OK() {
				t.Error("Verify sees nothing")
			}
			if _, err := Open(path, testOptions("")); !errors.Is(err, ErrCorrupt) {
				t.Errorf("Open = %v, want ErrCorrupt", err)
			}
			if after, _ := os.ReadFile(journal); string(after) != string(before) {
				t.Error("Open changed a journal that it refused")
			}
		})
	}
}

func TestWrongLastLineIsLoud(t *testing.T) {
	t.Parallel()
	path := small(t)
	journal := filepath.Join(path, "journal", "000001.jsonl")
	raw, err := os.ReadFile(journal)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(journal, []byte(strings.Replace(string(raw), "last", "lost", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	b, err := Open(path, testOptions(""))
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	got, err := entriesOf(t, path)
	if err != nil {
		t.Fatal(err)
	}
	if e := got[len(got)-1]; e.Type != "recover" || !strings.Contains(string(e.Data), "ALARM") {
		t.Errorf("last entry = %+v, want a loud recover", e)
	}
	if r := mustVerify(t, path); !r.OK() {
		t.Errorf("after recovery: %+v", r)
	}
}

func TestUnknownEntryType(t *testing.T) {
	t.Parallel()
	path := small(t)
	journal := filepath.Join(path, "journal", "000001.jsonl")
	got, err := entriesOf(t, path)
	if err != nil {
		t.Fatal(err)
	}
	last := got[len(got)-1]
	last.Seq, last.Prev, last.Type = last.Seq+1, last.Hash, "hologram"
	line, _ := appendEntry(nil, &last)
	f, err := os.OpenFile(journal, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.Write(append(line, '\n'))
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(path, testOptions("")); !errors.Is(err, ErrUnknownEntry) {
		t.Errorf("Open = %v, want ErrUnknownEntry", err)
	}
	r, err := Policy{Types: testOptions("").Types}.Verify(path)
	if err != nil || !r.OK() || r.Entries != 5 || !strings.Contains(r.Lines[slices.IndexFunc(r.Lines, func(l Line) bool { return l.Property == PropertyFormat })].Detail, `a newer handrail wrote "hologram" at entry 4`) {
		t.Errorf("Verify = %+v, %v", r, err)
	}
}

func TestTypesAreNames(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{"note": true, "act.again": true, "seal": true, "": false, "a b": false, ".a": false, "a.": false, "A": false, "a\n": false} {
		if Types(nil).known(name) != want {
			t.Errorf("%q is known: %v, want %v", name, !want, want)
		}
	}
}

func TestSecondWriterIsRefused(t *testing.T) {
	t.Parallel()
	b := create(t, testOptions(""))
	if _, err := Open(b.Path(), testOptions("")); !errors.Is(err, disk.ErrLocked) {
		t.Errorf("Open = %v, want ErrLocked", err)
	}
	note(t, b, "still mine")
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := Open(b.Path(), testOptions(""))
	if err != nil {
		t.Fatal(err)
	}
	if err := again.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestAppendRefuses(t *testing.T) {
	t.Parallel()
	b := create(t, testOptions(""))
	for _, tc := range []struct {
		name string
		d    Draft
	}{
		{"unknown type", Draft{Type: "hologram"}},
		{"no type", Draft{}},
		{"the store's own", Draft{Type: "seal"}},
		{"too large", Draft{Type: "env", Data: map[string]string{"text": strings.Repeat("x ", MaxEntry/2)}}},
		{"not an object", Draft{Type: "note", Data: []int{1}}},
		{"blob never committed", Draft{Type: "note", Blobs: []Blob{{SHA256: strings.Repeat("a", 64)}}}},
	} {
		if _, err := b.Append(t.Context(), tc.d); err == nil || errors.Is(err, ErrDead) {
			t.Errorf("%s: Append = %v, want a refusal that leaves the bundle alive", tc.name, err)
		}
	}
	if e := note(t, b, "alive"); e.Seq != 1 {
		t.Errorf("seq %d, want 1", e.Seq)
	}
	if r := mustVerify(t, b.Path()); !r.OK() {
		t.Errorf("Verify = %+v", r)
	}
}

func TestSymlinksAreRefused(t *testing.T) {
	t.Parallel()
	path := small(t)
	journal := filepath.Join(path, "journal", "000001.jsonl")
	if err := errors.Join(os.Rename(journal, journal+".x"), os.Rename(journal+".x", filepath.Join(t.TempDir(), "j"))); err != nil {
		t.Fatal(err)
	}
	victim := filepath.Join(t.TempDir(), "victim")
	if err := errors.Join(os.WriteFile(victim, []byte("precious"), 0o600), os.Symlink(victim, journal)); err != nil {
		t.Fatal(err)
	}
	if r := mustVerify(t, path); r.OK() {
		t.Error("Verify follows a link")
	}
	if _, err := Open(path, testOptions("")); err == nil {
		t.Error("Open follows a link")
	}
	if got, _ := os.ReadFile(victim); string(got) != "precious" {
		t.Errorf("victim is now %q", got)
	}
}

func TestSegmentsContinueTheChain(t *testing.T) {
	if testing.Short() {
		t.Skip("too long for -short")
	}
	t.Parallel()
	o := testOptions("")
	o.noSync = true
	b := create(t, o)
	big := strings.Repeat("lorem ipsum ", 20_000) // what is longer goes into a blob
	for range 80 {
		note(t, b, big)
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	if b.segNo != 2 {
		t.Fatalf("%d segments, want 2", b.segNo)
	}
	again, err := Open(b.Path(), testOptions(""))
	if err != nil {
		t.Fatal(err)
	}
	note(t, again, "more")
	if r := mustVerify(t, b.Path()); !r.OK() || r.Entries != 82 {
		t.Errorf("Verify = %+v", r)
	}
}

func TestBlobDamageIsKeptAside(t *testing.T) {
	t.Parallel()
	b := create(t, testOptions(""))
	blob := putBlob(t, b, "text/plain", "same bytes")
	name := b.BlobPath(blob.SHA256)
	if err := errors.Join(os.Chmod(name, 0o600), os.WriteFile(name, []byte("other bytes"), 0o600)); err != nil {
		t.Fatal(err)
	}
	if again := putBlob(t, b, "text/plain", "same bytes"); again.SHA256 != blob.SHA256 {
		t.Fatalf("names differ: %v, %v", blob, again)
	}
	if r := mustVerify(t, b.Path()); !r.OK() || r.Entries != 2 {
		t.Errorf("Verify = %+v", r)
	}
}

func BenchmarkAppend(b *testing.B) {
	for _, sync := range []bool{true, false} {
		b.Run(fmt.Sprintf("sync=%v", sync), func(b *testing.B) {
			o := testOptions("")
			o.noSync = !sync
			bun := create(b, o)
			d := Draft{Type: "answer", Actor: "robin", Step: "state-lock/holder", Data: map[string]any{"step": "holder", "value": "dead", "how": "its log ends at 13:40:20Z"}}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := bun.Append(context.Background(), d); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
