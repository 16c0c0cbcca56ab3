package evidence

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"handrail/evidence/disk"
)

func TestSecondWriterIsToldWhoHasIt(t *testing.T) {
	t.Parallel()
	b := create(t, testOptions(""))
	_, err := Open(b.Path(), testOptions(""))
	want := fmt.Sprintf("process %d on host %q", os.Getpid(), "bridge")
	if !errors.Is(err, disk.ErrLocked) || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "bundle show") {
		t.Errorf("Open = %v, want %q and what to do meanwhile", err, want)
	}
	r, err := OpenReadOnly(b.Path())
	if err != nil {
		t.Fatalf("reading meanwhile: %v", err)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	for _, content := range []string{"", "\x1b[2J", "-", "12", strings.Repeat("9", 4096)} {
		if err := os.WriteFile(filepath.Join(b.Path(), "lock"), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(b.Path(), testOptions("")); !errors.Is(err, disk.ErrLocked) || strings.ContainsRune(err.Error(), 0x1b) {
			t.Errorf("lock says %.20q: Open = %v", content, err)
		}
	}
}

// TestRemovedUnderTheWriter: a file that is gone takes writes and syncs, and nothing of them may be acknowledged.
func TestRemovedUnderTheWriter(t *testing.T) {
	t.Parallel()
	for name, remove := range map[string]func(path string) error{
		"removed": os.RemoveAll,
		"moved":   func(path string) error { return os.Rename(path, path+".away") },
		"journal replaced": func(path string) error {
			name := filepath.Join(path, "journal", segmentName(1))
			raw, err := os.ReadFile(name)
			return errors.Join(err, os.Remove(name), os.WriteFile(name, raw, 0o600))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := create(t, testOptions(""))
			note(t, b, "before")
			if err := remove(b.Path()); err != nil {
				t.Fatal(err)
			}
			_, err := b.Append(t.Context(), Draft{Type: "note"})
			if !errors.Is(err, ErrDead) || !strings.Contains(err.Error(), "removed, moved or replaced") {
				t.Errorf("Append = %v, want a dead writer that says why", err)
			}
			if _, err := b.Append(t.Context(), Draft{Type: "note"}); !errors.Is(err, ErrDead) {
				t.Errorf("Append again = %v", err)
			}
			if _, err := b.Blob("log", ""); !errors.Is(err, ErrDead) {
				t.Errorf("Blob = %v", err)
			}
		})
	}
}

// readOnlyFS is a disk that the kernel made read-only.
type readOnlyFS struct {
	disk.OS
	now *bool
}

func (r readOnlyFS) OpenFile(name string, flag int, perm fs.FileMode) (disk.File, error) {
	if *r.now && flag&(os.O_WRONLY|os.O_RDWR) != 0 {
		return nil, &fs.PathError{Op: "open", Path: name, Err: syscall.EROFS}
	}
	f, err := r.OS.OpenFile(name, flag, perm)
	return readOnlyFile{f, r.now}, err
}

type readOnlyFile struct {
	disk.File
	now *bool
}

func (f readOnlyFile) Write(p []byte) (int, error) {
	if *f.now {
		return 0, syscall.EROFS
	}
	return f.File.Write(p)
}

func TestReadOnlyDisk(t *testing.T) {
	t.Parallel()
	o, now := testOptions(""), false
	o.FS = readOnlyFS{now: &now}
	b := create(t, o)
	note(t, b, "before")
	now = true
	if _, err := b.Blob("log", ""); err == nil || errors.Is(err, ErrDead) || !strings.Contains(err.Error(), "read-only file system") {
		t.Errorf("Blob = %v", err)
	}
	_, err := b.Append(t.Context(), Draft{Type: "note"})
	if !errors.Is(err, ErrDead) || !strings.Contains(err.Error(), "read-only now") || !strings.Contains(err.Error(), "another disk") {
		t.Errorf("Append = %v", err)
	}
	if err := b.Close(); err != nil {
		t.Error(err)
	}
	if _, err := Open(b.Path(), o); err == nil || !strings.Contains(err.Error(), "read-only file system") {
		t.Errorf("Open = %v", err)
	}
	now = false
	if r := mustVerify(t, b.Path()); !r.OK() || r.Entries != 2 {
		t.Errorf("Verify = %+v", r)
	}
}

func TestClockStepsBack(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 21, 2, 14, 0, 0, time.UTC)
	o := testOptions("")
	o.Now = func() time.Time { return at }
	b := create(t, o)
	at = at.Add(time.Minute)
	note(t, b, "one")
	at = at.Add(-time.Hour)
	note(t, b, "an hour earlier")
	sealIt(t, b)
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	r := mustVerify(t, b.Path())
	for _, l := range r.Lines {
		if l.Property == PropertyCustody && !strings.Contains(l.Detail, "stepped back 1 times") {
			t.Errorf("custody says %q", l.Detail)
		}
	}
	if !r.OK() {
		t.Errorf("Verify = %+v", r)
	}
	again, err := Open(b.Path(), o)
	if err != nil {
		t.Fatal(err)
	}
	if err := again.Close(); err != nil {
		t.Error(err)
	}
}
