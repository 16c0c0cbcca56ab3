package evidence

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"handrail/evidence/disk"
	"handrail/evidence/sig"
	"handrail/evidence/sig/sigtest"
)

func openAgain(t testing.TB, path string) *Bundle {
	t.Helper()
	b, err := Open(path, testOptions(""))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.Close() })
	return b
}

func closed(t testing.TB, b *Bundle) {
	t.Helper()
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestSealTwiceIsOneSeal(t *testing.T) {
	t.Parallel()
	path := small(t)
	b := openAgain(t, path)
	one, err := b.Seal(context.Background(), "robin", []string{"r/ask"})
	if err != nil || one.Before || one.Number != 1 || one.Entries != 5 {
		t.Fatalf("Seal = %+v, %v", one, err)
	}
	two, err := b.Seal(context.Background(), "robin", nil)
	if err != nil || !two.Before || two.Checkpoint != one.Checkpoint {
		t.Fatalf("second Seal = %+v, %v", two, err)
	}
	closed(t, b)
	b = openAgain(t, path) // opening alone reopens nothing
	if three, err := b.Seal(context.Background(), "sam", nil); err != nil || three.Checkpoint != one.Checkpoint || !b.Sealed() {
		t.Fatalf("third Seal = %+v, %v", three, err)
	}
	if b.Checkpoint() != one.Checkpoint {
		t.Errorf("Checkpoint = %+v, want %+v", b.Checkpoint(), one.Checkpoint)
	}
}

func TestAnEntryAfterASealReopens(t *testing.T) {
	t.Parallel()
	path := small(t)
	b := openAgain(t, path)
	sealIt(t, b)
	note(t, b, "and yet")
	sealIt(t, b)
	closed(t, b)
	got, err := entriesOf(t, path)
	if err != nil {
		t.Fatal(err)
	}
	var types []string
	for _, e := range got[4:] {
		types = append(types, e.Type)
	}
	if s := strings.Join(types, " "); s != "seal reopen note seal" {
		t.Errorf("after the fourth entry: %s", s)
	}
	if r := mustVerify(t, path); !r.OK() || r.Of(PropertySeal) != Proven {
		t.Errorf("Verify = %+v", r.Lines)
	}
}

// TestSealSurvivesACrash makes each call of the file system fail during sealing; what was acknowledged stays, and
// sealing again ends with the one seal.
func TestSealSurvivesACrash(t *testing.T) {
	t.Parallel()
	for call := 1; ; call++ {
		path := small(t)
		o := testOptions("")
		f := &failingFS{FS: disk.OS{}}
		o.FS = f
		b, err := Open(path, o)
		if err != nil {
			t.Fatal(err)
		}
		f.left = call
		_, err = b.Seal(context.Background(), "robin", nil)
		done := f.left > 0
		_ = b.Close() // may fail as the rest did
		if (err == nil) != done {
			t.Fatalf("call %d: Seal = %v, failed is %v", call, err, !done)
		}
		again := openAgain(t, path)
		s, err := again.Seal(context.Background(), "robin", nil)
		if err != nil {
			t.Fatalf("call %d: sealing again: %v", call, err)
		}
		closed(t, again)
		if r := mustVerify(t, path); !r.OK() || r.Of(PropertySeal) != Proven || r.Entries != s.Entries {
			t.Fatalf("call %d: Verify = %+v", call, r.Lines)
		}
		if done {
			if call < 8 {
				t.Fatalf("sealing took %d calls: the faults did not reach it", call-1)
			}
			return
		}
	}
}

var errFault = errors.New("fault")

// failingFS fails one call, the left-th from when left is set, and every one after it.
type failingFS struct {
	disk.FS
	left int // 0: never
	dead bool
}

func (f *failingFS) fails() bool {
	if f.left > 0 {
		f.left--
		f.dead = f.dead || f.left == 0
	}
	return f.dead
}

func (f *failingFS) OpenFile(name string, flag int, perm os.FileMode) (disk.File, error) {
	if f.fails() {
		return nil, errFault
	}
	file, err := f.FS.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	return &failingFile{file, f}, nil
}

func (f *failingFS) Rename(from, to string) error {
	if f.fails() {
		return errFault
	}
	return f.FS.Rename(from, to)
}

func (f *failingFS) SyncDir(name string) error {
	if f.fails() {
		return errFault
	}
	return f.FS.SyncDir(name)
}

type failingFile struct {
	disk.File
	fs *failingFS
}

func (f *failingFile) Write(p []byte) (int, error) {
	if f.fs.fails() {
		n, _ := f.File.Write(p[:len(p)/2]) // a torn write
		return n, errFault
	}
	return f.File.Write(p)
}

func (f *failingFile) Sync() error {
	if f.fs.fails() {
		return errFault
	}
	return f.File.Sync()
}

func (f *failingFile) Close() error {
	failing := f.fs.fails()
	if err := f.File.Close(); err != nil || !failing {
		return err
	}
	return errFault
}

func TestSign(t *testing.T) {
	t.Parallel()
	path := small(t)
	o := testOptions("")
	if _, err := Sign(path, sigtest.Key(t, "alice"), o); !errors.Is(err, ErrUnsealed) {
		t.Fatalf("Sign of an open bundle = %v", err)
	}
	b := openAgain(t, path)
	sealIt(t, b)
	if _, err := Sign(path, sigtest.Key(t, "alice"), o); !errors.Is(err, disk.ErrLocked) {
		t.Fatalf("Sign of a bundle that is open for writing = %v", err)
	}
	closed(t, b)
	want := []string{"seals/000001.txt.sig", "seals/000001.txt." + keyMark(sigtest.Key(t, "bob").PublicKey()) + ".sig", "seals/000001.txt.sig"}
	for i, who := range []string{"alice", "bob", "alice"} {
		if name, err := Sign(path, sigtest.Key(t, who), o); err != nil || name != want[i] {
			t.Fatalf("Sign by %s = %q, %v; want %q", who, name, err, want[i])
		}
	}
	s, err := sig.ParseSigners([]byte(allowed(t, "alice", "bob")))
	if err != nil {
		t.Fatal(err)
	}
	r, err := Policy{Signers: s, SignedBy: []string{"alice@example.com", "bob@example.com"}}.Verify(path)
	if err != nil || !r.OK() || r.Of(PropertyComplete) != Proven {
		t.Fatalf("Verify = %+v, %v", r.Lines, err)
	}
	if err := os.WriteFile(filepath.Join(path, "README"), []byte("changed"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Sign(path, sigtest.Key(t, "carol"), o); !errors.Is(err, ErrCorrupt) {
		t.Errorf("Sign of a changed bundle = %v", err)
	}
	b = openAgain(t, path)
	note(t, b, "more")
	closed(t, b)
}

func TestAnchors(t *testing.T) {
	t.Parallel()
	b := create(t, testOptions(""))
	at := b.Checkpoint()
	note(t, b, "one")
	now := b.Checkpoint()
	note(t, b, "two")
	for _, bad := range []Checkpoint{{ID: "i2", Entries: at.Entries, Root: at.Root}, {ID: at.ID, Entries: 2, Root: at.Root}, {ID: at.ID, Entries: 9, Root: at.Root}} {
		if _, err := b.RecordAnchor(context.Background(), "robin", bad, "#inc"); err == nil {
			t.Errorf("RecordAnchor(%+v) took it", bad)
		}
	}
	if _, err := b.RecordAnchor(context.Background(), "robin", at, " "); err == nil {
		t.Error("an anchor without a place was recorded")
	}
	for _, c := range []Checkpoint{at, now, b.Checkpoint()} {
		back, err := ParseAnchor(" `" + c.Line() + "`\n")
		if err != nil || back != c {
			t.Fatalf("ParseAnchor = %+v, %v", back, err)
		}
		if _, err := b.RecordAnchor(context.Background(), "robin", back, "#inc"); err != nil {
			t.Error(err)
		}
	}
	closed(t, b)
	r, err := Policy{Anchors: []Checkpoint{at, now}}.Verify(b.Path())
	if err != nil || !r.OK() {
		t.Errorf("Verify = %+v, %v", r.Lines, err)
	}
	for _, line := range []string{"", "handrail-seal i1 1", "handrail-seal i1 01 " + at.Root, "handrail-seal i1 0 " + at.Root, "handrail-seal ../x 1 " + at.Root, "handrail-seal i1 1 " + at.Root[1:], at.Line() + " x"} {
		if c, err := ParseAnchor(line); err == nil {
			t.Errorf("ParseAnchor(%q) = %+v", line, c)
		}
	}
}
