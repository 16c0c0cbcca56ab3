package evidence

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"handrail/evidence/corpus"
	"handrail/evidence/disk"
)

// faultFS fails one call, and all later ones when it plays a power cut; then lose drops what was never synced.
type faultFS struct {
	disk.OS
	mu     sync.Mutex
	calls  int
	failAt int
	err    error
	cut    bool
	synced map[string]int64 // size of each written file that is durable
	names  map[string]bool  // new names whose directory was not synced
}

func newFaultFS(at int, err error, cut bool) *faultFS {
	return &faultFS{failAt: at, err: err, cut: cut, synced: map[string]int64{}, names: map[string]bool{}}
}

func (f *faultFS) step() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls++
	if f.calls == f.failAt || f.cut && f.failAt > 0 && f.calls > f.failAt {
		return f.err
	}
	return nil
}

func (f *faultFS) OpenFile(name string, flag int, perm fs.FileMode) (disk.File, error) {
	if err := f.step(); err != nil {
		return nil, err
	}
	_, statErr := os.Lstat(name)
	file, err := f.OS.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	if statErr != nil {
		f.names[name] = true
		f.synced[name] = 0
	}
	return &faultFile{File: file, fs: f, name: name}, nil
}

func (f *faultFS) Rename(from, to string) error {
	if err := f.step(); err != nil {
		return err
	}
	if err := f.OS.Rename(from, to); err != nil {
		return err
	}
	f.synced[to] = f.synced[from]
	f.names[to] = true
	delete(f.synced, from)
	delete(f.names, from)
	return nil
}

func (f *faultFS) SyncDir(name string) error {
	if err := f.step(); err != nil {
		return err
	}
	for n := range f.names {
		if filepath.Dir(n) == filepath.Clean(name) {
			delete(f.names, n)
		}
	}
	return f.OS.SyncDir(name)
}

func (f *faultFS) lose(t *testing.T) {
	for name, size := range f.synced {
		if f.names[name] {
			_ = os.Remove(name)
			continue
		}
		if info, err := os.Stat(name); err == nil && info.Size() > size {
			// Half of what was not synced may have arrived.
			if err := errors.Join(os.Chmod(name, 0o600), os.Truncate(name, size+(info.Size()-size)/2)); err != nil {
				t.Fatal(err)
			}
		}
	}
}

type faultFile struct {
	disk.File
	fs   *faultFS
	name string
}

func (f *faultFile) Write(p []byte) (int, error) {
	if err := f.fs.step(); err != nil {
		n, _ := f.File.Write(p[:len(p)/3])
		return n, err
	}
	return f.File.Write(p)
}

func (f *faultFile) Sync() error {
	if err := f.fs.step(); err != nil {
		return err
	}
	info, err := os.Stat(f.name)
	if err == nil {
		f.fs.synced[f.name] = info.Size()
	}
	return err
}

// TestEveryFault fails each call in turn: what was acknowledged stays, the rest is a clear error, and the bundle opens again.
func TestEveryFault(t *testing.T) {
	if testing.Short() {
		t.Skip("too long for -short")
	}
	t.Parallel()
	for _, tc := range []struct {
		name string
		err  error
		cut  bool
	}{{"EIO", syscall.EIO, false}, {"ENOSPC", syscall.ENOSPC, false}, {"power cut", syscall.EIO, true}} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			for at, done := 1, false; !done; at++ {
				done = oneFault(t, newFaultFS(at, tc.err, tc.cut))
			}
		})
	}
}

func oneFault(t *testing.T, f *faultFS) (beyond bool) {
	o := testOptions("")
	o.FS = f
	dir := t.TempDir()
	b, err := Create(dir, "i1", o)
	if err != nil {
		if _, left := os.Lstat(filepath.Join(dir, "i1.hrb")); !errors.Is(left, os.ErrNotExist) {
			t.Fatalf("call %d: a bundle that was not made is left behind: %v", f.failAt, left)
		}
	}
	var acked []Entry
	for range 3 {
		if err != nil {
			break
		}
		var w *BlobWriter
		if w, err = b.Blob("log", ""); err != nil {
			break
		}
		_, _ = fmt.Fprintf(w, "blob %d", len(acked)) // Commit tells
		var blob Blob
		if blob, err = w.Commit(); err != nil {
			break
		}
		var e Entry
		e, err = b.Append(t.Context(), Draft{Type: "note", Data: map[string]string{"text": "x"}, Blobs: []Blob{blob}})
		if err == nil {
			acked = append(acked, e)
		} else if errors.Is(err, ErrDead) {
			if _, again := b.Append(t.Context(), Draft{Type: "note"}); !errors.Is(again, ErrDead) {
				t.Fatalf("call %d: a dead writer took another entry: %v", f.failAt, again)
			}
			if errors.Is(f.err, syscall.ENOSPC) && !strings.Contains(err.Error(), "no space left") {
				t.Fatalf("call %d: full disk reported as %v", f.failAt, err)
			}
		}
	}
	if err == nil && f.calls < f.failAt {
		return true
	}
	if b != nil {
		_ = b.Close()
	}
	if f.cut {
		f.lose(t)
	}
	path := filepath.Join(dir, "i1.hrb")
	again, err := Open(path, testOptions(""))
	if err != nil {
		if len(acked) > 0 {
			t.Fatalf("call %d: %d entries acknowledged, then Open = %v", f.failAt, len(acked), err)
		}
		return false
	}
	if err := again.Close(); err != nil {
		t.Fatal(err)
	}
	got, err := entriesOf(t, path)
	if err != nil {
		t.Fatalf("call %d: %v", f.failAt, err)
	}
	for _, e := range acked {
		if e.Seq >= int64(len(got)) || got[e.Seq].Hash != e.Hash {
			t.Fatalf("call %d: acknowledged entry %d is gone", f.failAt, e.Seq)
		}
	}
	if r := mustVerify(t, path); !r.OK() {
		t.Fatalf("call %d: Verify = %+v", f.failAt, r)
	}
	return false
}

func FuzzJournal(f *testing.F) {
	corpus.Seed(f)
	raw, err := os.ReadFile(filepath.Join(small(f), "journal", "000001.jsonl"))
	if err != nil {
		f.Fatal(err)
	}
	for line := range strings.Lines(string(raw)) {
		f.Add([]byte(strings.TrimSuffix(line, "\n")))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		e, err := parseEntry(line)
		if err != nil {
			return
		}
		if again, _ := appendEntry(nil, &e); string(again) != string(line) {
			t.Fatalf("%q reads as %q", line, again)
		}
	})
}
