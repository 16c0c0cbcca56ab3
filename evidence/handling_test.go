package evidence

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

func plainText(s string) string { return s }

// handled is a bundle in a directory of its own.
func handled(t *testing.T) string {
	t.Helper()
	b := create(t, testOptions(t.TempDir()))
	note(t, b, t.Name())
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Path()
}

func logOf(t *testing.T, bundle string) HandlingLog {
	t.Helper()
	l, err := Handled(bundle)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestHandlingIsChainedBesideTheBundle(t *testing.T) {
	t.Parallel()
	at := handled(t)
	before := treeOf(t, at)
	if l := logOf(t, at); len(l.Lines) != 0 || !l.Sound() {
		t.Fatalf("before anything was done: %+v", l)
	}
	scrub := func(s string) string { return strings.ReplaceAll(s, "hunter2", "<hidden>") }
	for i, h := range []Handling{
		{Actor: "ada", What: "export", Form: "html", Place: "/srv/pages/a.html", Result: "verified"},
		{Actor: "ada", What: "push", Place: "s3://AKIAEXAMPLE:topsecret@store/bucket/x?X-Amz-Signature=deadbeef#part"},
		{Actor: "ada hunter2", What: "leaks", Result: "2 found", Exit: 7},
	} {
		if err := Handle(at, h, scrub); err != nil {
			t.Fatalf("%d: %v", i, err)
		}
	}
	l := logOf(t, at)
	if len(l.Lines) != 3 || !l.Sound() || l.Lines[2].Exit != 7 || l.Lines[2].Entries < 2 || l.Lines[0].Form != "html" {
		t.Fatalf("log = %+v", l)
	}
	raw, err := os.ReadFile(l.Path)
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{"topsecret", "AKIAEXAMPLE", "deadbeef", "hunter2", "part"} {
		if bytes.Contains(raw, []byte(secret)) {
			t.Errorf("the log holds %q:\n%s", secret, raw)
		}
	}
	if got, want := l.Lines[1].Place, "s3://…@store/bucket/x?…#…"; got != want {
		t.Errorf("place = %q, want %q", got, want)
	}
	if after := treeOf(t, at); after != before {
		t.Errorf("the bundle changed:\n%s\n%s", before, after)
	}
	if v, err := Verify(at); err != nil || !v.OK() {
		t.Errorf("the bundle does not verify beside its log: %+v %v", v.Lines, err)
	}
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(python, "-c", chainRecipe, l.Path).CombinedOutput(); err != nil {
		t.Errorf("the recipe for a journal does not hold for the log: %v %s", err, out)
	}
}

// chainRecipe checks the chain of a journal, as the README of a bundle does.
const chainRecipe = `import hashlib,sys
prev='0'*64
for n,l in enumerate(open(sys.argv[1],'rb')):
    p,h=l[:-76],l[-67:-3].decode()
    assert hashlib.sha256(b'\0'+p).hexdigest()==h and p.endswith(b'"prev":"'+prev.encode()+b'"'),n
    prev=h
`

// treeOf names every file of a bundle with its size and time.
func treeOf(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.Walk(dir, func(name string, info os.FileInfo, err error) error {
		if err == nil && !info.IsDir() {
			fmt.Fprintln(&b, name, info.Size(), info.ModTime().UnixNano())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestHandlingShowsWhatWasDoneToIt(t *testing.T) {
	t.Parallel()
	write := func(t *testing.T) (string, []byte) {
		at := handled(t)
		for i := range 3 {
			if err := Handle(at, Handling{Actor: "ada", What: "verify", Result: fmt.Sprint("ok ", i)}, plainText); err != nil {
				t.Fatal(err)
			}
		}
		raw, err := os.ReadFile(HandlingPath(at))
		if err != nil {
			t.Fatal(err)
		}
		return at, raw
	}
	put := func(t *testing.T, at string, raw []byte) {
		if err := os.WriteFile(HandlingPath(at), raw, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, change := range map[string]func([][]byte) [][]byte{
		"edited":  func(l [][]byte) [][]byte { l[1] = bytes.Replace(l[1], []byte("ada"), []byte("eve"), 1); return l },
		"removed": func(l [][]byte) [][]byte { return append(l[:1], l[2:]...) },
		"swapped": func(l [][]byte) [][]byte { l[0], l[1] = l[1], l[0]; return l },
		"twice":   func(l [][]byte) [][]byte { return append(l[:3:3], l[2], nil) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			at, raw := write(t)
			put(t, at, bytes.Join(change(bytes.SplitAfter(raw, []byte("\n"))), nil))
			if l := logOf(t, at); l.Sound() {
				t.Errorf("nothing is noticed: %+v", l)
			}
		})
	}
	t.Run("torn, and gone on", func(t *testing.T) {
		t.Parallel()
		at, raw := write(t)
		put(t, at, raw[:len(raw)-40])
		if err := Handle(at, Handling{What: "verify"}, plainText); err != nil {
			t.Fatal(err)
		}
		if l := logOf(t, at); len(l.Lines) != 3 || l.Damaged != 1 || l.Broken != 0 {
			t.Errorf("log = %+v, want 3 good lines that follow each other, and one that is none", l)
		}
	})
	t.Run("another journal", func(t *testing.T) {
		t.Parallel()
		at, raw := write(t)
		b := create(t, testOptions(t.TempDir()))
		note(t, b, "another story")
		if err := b.Close(); err != nil {
			t.Fatal(err)
		}
		other := b.Path()
		put(t, other, raw)
		if l := logOf(t, other); l.Sound() || l.Broken+l.Damaged > 0 {
			t.Errorf("the log of %s beside %s: %+v", at, other, l)
		}
	})
	t.Run("no place for it", func(t *testing.T) {
		t.Parallel()
		at := handled(t)
		if err := os.Symlink(filepath.Join(at, "bundle.json"), HandlingPath(at)); err != nil {
			t.Fatal(err)
		}
		if err := Handle(at, Handling{What: "verify"}, plainText); err == nil {
			t.Error("a link was written through")
		}
		if _, err := Handled(at); err == nil {
			t.Error("a link was read")
		}
	})
}

const handlerEnv = "HANDRAIL_TEST_HANDLER"

// TestHandlersInManyProcesses lets processes write one log at once, and some of them goroutines.
func TestHandlersInManyProcesses(t *testing.T) {
	t.Parallel()
	if at := os.Getenv(handlerEnv); at != "" {
		for i := range 4 {
			if err := Handle(at, Handling{Actor: fmt.Sprint(os.Getpid()), What: "verify", Result: fmt.Sprint(i), At: time.Unix(0, 0)}, plainText); err != nil {
				t.Fatal(err)
			}
		}
		return
	}
	at := handled(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			cmd := exec.Command(self, "-test.run", "^TestHandlersInManyProcesses$")
			cmd.Env = append(os.Environ(), handlerEnv+"="+at)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
		wg.Go(func() {
			for range 3 {
				if err := Handle(at, Handling{Actor: "goroutine", What: "export"}, plainText); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if l := logOf(t, at); len(l.Lines) != 4*4+4*3 || !l.Sound() {
		t.Errorf("%d lines, %d damaged, %d broken; want 28 that follow each other", len(l.Lines), l.Damaged, l.Broken)
	}
}
