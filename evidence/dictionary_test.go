package evidence

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"handrail/evidence/disk"
	"handrail/evidence/redact"
)

const schemaState = `{"version":4,"serial":1,"lineage":"x","resources":[{"mode":"managed","type":"acme_db","name":"a","provider":"p","instances":[
{"attributes":{"id":"db-1","connection":"plain-words-one","size":3,"users":[{"name":"web","login":"plain-words-two"},{"name":"job","login":"plain-words-three"}],
"pools":{"east":{"login":"plain-words-four","zone":"a"}},"pin":48151623}}]},
{"mode":"managed","type":"acme_other","name":"b","provider":"p","instances":[{"attributes":{"connection":"not-a-secret-here"}}]}]}`

const learned = "seven plovers at dawn"

// reopened closes a bundle and opens it as a later handrail does.
func reopened(t *testing.T, b *Bundle, keys string) *Bundle {
	t.Helper()
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := Open(b.Path(), testOptions(keys))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = again.Close() })
	return again
}

// stored is what a text became as an artifact.
func stored(t *testing.T, b *Bundle, media, text string) string {
	t.Helper()
	raw, err := os.ReadFile(b.BlobPath(putBlob(t, b, media, text).SHA256))
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// inDir looks for a text in all files below dir.
func inDir(t *testing.T, dir, text string) (in []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		raw, err := os.ReadFile(name)
		if strings.Contains(string(raw), text) {
			in = append(in, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return in
}

// lostSaid counts how often the journal says that known values are lost.
func lostSaid(t *testing.T, path string) int {
	t.Helper()
	k := &kit{t: t, files: map[string]file{}}
	k.load(path)
	n := 0
	for _, e := range k.entries() {
		if e.Type == "env" && strings.Contains(string(e.Data), `"known":"lost"`) {
			n++
		}
	}
	return n
}

// What a writer learned, a later one knows: values and what schemas call sensitive, and neither is stored in clear.
func TestWhatWasLearnedStaysKnown(t *testing.T) {
	t.Parallel()
	keys := t.TempDir()
	b := create(t, testOptions(keys))
	b.Secret(learned)
	b.Sensitive(map[string][]string{"acme_db": {"users.login", "connection", "pools.login", "pin"}})
	note(t, b, "the plan was read")
	for range 2 { // and the one after that
		b = reopened(t, b, keys)
		if got := said(t, b, "login: "+learned); strings.Contains(got, learned) {
			t.Errorf("an entry says %q", got)
		}
		if got := stored(t, b, "text/plain", "connecting as "+learned+"\n"); strings.Contains(got, learned) {
			t.Errorf("a log is stored as %q", got)
		}
		got := stored(t, b, redact.MediaTFState, schemaState)
		for _, secret := range []string{"plain-words-one", "plain-words-two", "plain-words-three", "plain-words-four", "48151623"} {
			if strings.Contains(got, secret) {
				t.Errorf("%s of a state is stored", secret)
			}
		}
		if !strings.Contains(got, "not-a-secret-here") || b.Forgot() != "" {
			t.Errorf("what no schema calls sensitive is gone, or the bundle forgot (%s):\n%s", b.Forgot(), got)
		}
	}
	for _, dir := range []string{keys, b.Path()} {
		if in := inDir(t, dir, "plovers"); in != nil {
			t.Errorf("in clear in %q", in)
		}
	}
	info, err := os.Stat(filepath.Join(keys, "i1.known"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("dictionary: %v, %v, want mode 0600", info, err)
	}
	if n := lostSaid(t, b.Path()); n != 0 {
		t.Errorf("said %d times that something was lost", n)
	}
	mustVerify(t, b.Path())
}

// A seal destroys what is known with the key, and what comes after it is known anew.
func TestSealDestroysWhatIsKnown(t *testing.T) {
	t.Parallel()
	keys := t.TempDir()
	b := create(t, testOptions(keys))
	b.Secret(learned)
	note(t, b, "one")
	side := filepath.Join(keys, sideDictionary("i1", "7"))
	other := filepath.Join(keys, dictionaryName("i1.2"))
	for _, name := range []string{side, other} {
		if err := os.WriteFile(name, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	seal(t, b)
	for _, name := range []string{side, filepath.Join(keys, "i1.known"), filepath.Join(keys, "i1.key")} {
		if _, err := os.Stat(name); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s is left: %v", filepath.Base(name), err)
		}
	}
	if _, err := os.Stat(other); err != nil {
		t.Errorf("what another incident knows went as well: %v", err)
	}
	note(t, b, "it goes on") // this process knows it still, and keeps it under the new key
	b = reopened(t, b, keys)
	if got := said(t, b, learned); strings.Contains(got, learned) || b.Forgot() != "" {
		t.Errorf("after the seal %q, forgot %q", got, b.Forgot())
	}
}

// Where what was known cannot be had, the journal says so, and text loses what could be a secret.
func TestLostDictionary(t *testing.T) {
	t.Parallel()
	for name, harm := range map[string]func(name string) error{
		"missing": os.Remove,
		"empty":   func(name string) error { return os.Truncate(name, 0) },
		"cut":     func(name string) error { return os.Truncate(name, 40) },
		"of another incident": func(name string) error {
			raw, err := sealDictionary(make([]byte, redact.KeySize), "i2.known", dictionary{})
			if err != nil {
				return err
			}
			return os.WriteFile(name, raw, 0o600)
		},
		"changed": func(name string) error {
			raw, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			raw[len(raw)/2] ^= 1
			return os.WriteFile(name, raw, 0o600)
		},
		"without its key": func(name string) error { return os.Remove(strings.TrimSuffix(name, ".known") + ".key") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			keys := t.TempDir()
			b := create(t, testOptions(keys))
			b.Secret("plover-egg-twice")
			said(t, b, "the state holds plover-egg-twice")
			if err := b.Close(); err != nil {
				t.Fatal(err)
			}
			if err := harm(filepath.Join(keys, "i1.known")); err != nil {
				t.Fatal(err)
			}
			log := "db-7d9f8c6b5-x2x4z is up, 9f86d081-884c-4d63-a15a-0b1c2d3e4f50 took 12m30s at 2026-11-21T02:14:07Z on 10.0.0.17:5432 with tJ4kQ9vXw2LmZp8 and plover-egg-twice\n"
			for i := range 2 {
				b = reopened(t, b, keys)
				if i == 0 && b.Forgot() == "" {
					t.Error("nothing is said of the loss")
				}
				text := said(t, b, "again plover-egg-twice, aws_instance.web01, "+strings.Repeat("ab12", 16))
				got := stored(t, b, "text/plain", log)
				if strings.Contains(got, "tJ4kQ9vXw2LmZp8") {
					t.Errorf("stored in clear: %s", got)
				}
				if name != "without its key" && strings.Contains(text+got, "plover-egg") {
					t.Errorf("what has a token is stored in clear: %s\n%s", text, got)
				}
				doc := stored(t, b, redact.MediaJSON, `{"id":"db-7d9f8c6b5-x2x4z","note":"plover-egg-twice"}`)
				if name != "without its key" && strings.Contains(doc, "plover-egg") || !strings.Contains(doc, "db-7d9f8c6b5-x2x4z") {
					t.Errorf("a field of JSON is stored as %s", doc)
				}
				for _, kept := range []string{"db-7d9f8c6b5-x2x4z is up, 9f86d081-884c-4d63-a15a-0b1c2d3e4f50 took 12m30s at 2026-11-21T02:14:07Z on 10.0.0.17:5432 with"} {
					if !strings.Contains(got, kept) {
						t.Errorf("what anybody may read is gone: %s", got)
					}
				}
				if !strings.Contains(text, "aws_instance.web01, "+strings.Repeat("ab12", 16)) {
					t.Errorf("what an entry must say is gone: %s", text)
				}
				if n := lostSaid(t, b.Path()); n != 1 {
					t.Errorf("the journal says %d times that values are lost, want once", n)
				}
			}
		})
	}
}

// fullFS takes no more dictionaries.
type fullFS struct{ disk.FS }

func (f fullFS) OpenFile(name string, flag int, perm fs.FileMode) (disk.File, error) {
	if flag&os.O_WRONLY != 0 && strings.HasSuffix(name, ".known") {
		return nil, errors.New("no space left on device")
	}
	return f.FS.OpenFile(name, flag, perm)
}

// What cannot be kept does not end the recording, and the journal says so before anything stands on it.
func TestDictionaryThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	keys := t.TempDir()
	b := create(t, testOptions(keys))
	b.fs, b.opts.FS = fullFS{b.fs}, fullFS{b.opts.FS}
	b.Secret(learned)
	if got := said(t, b, learned); strings.Contains(got, learned) {
		t.Errorf("stored %q", got)
	}
	note(t, b, "and on")
	if n := lostSaid(t, b.Path()); n != 1 {
		t.Errorf("said %d times that values are lost, want once", n)
	}
	b = reopened(t, b, keys)
	if b.red.Doubting() == nil {
		t.Error("a later writer does not doubt")
	}
}

// What a process beside the writer learned is known to the writer, and to those after it.
func TestBesideGivesBackWhatItLearned(t *testing.T) {
	t.Parallel()
	for _, when := range []string{"at once", "after a crash"} {
		t.Run(when, func(t *testing.T) {
			t.Parallel()
			keys := t.TempDir()
			b := create(t, testOptions(keys))
			b.Sensitive(map[string][]string{"acme_db": {"connection"}})
			note(t, b, "one")
			side, err := Beside(t.TempDir(), "i1", testOptions(keys))
			if err != nil {
				t.Fatal(err)
			}
			side.Learn(b.Learned())
			if got := stored(t, side, redact.MediaTFState, schemaState); strings.Contains(got, "plain-words-one") {
				t.Error("beside the writer a state shows what its schema calls sensitive")
			}
			side.Secret(learned)
			side.Sensitive(map[string][]string{"acme_db": {"users.login"}})
			if err := errors.Join(side.KeepBeside("3"), side.Close()); err != nil {
				t.Fatal(err)
			}
			if when == "after a crash" {
				b = reopened(t, b, keys)
			} else if got := b.TakeIn("3"); len(got) != 1 || got[0] != learned {
				t.Errorf("TakeIn = %q", got)
			}
			note(t, b, "two")
			if _, err := os.Stat(filepath.Join(keys, sideDictionary("i1", "3"))); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("it is left behind: %v", err)
			}
			b = reopened(t, b, keys)
			if got := said(t, b, learned); strings.Contains(got, learned) {
				t.Errorf("stored %q", got)
			}
			if got := stored(t, b, redact.MediaTFState, schemaState); strings.Contains(got, "plain-words-two") {
				t.Error("what a schema said beside the writer is forgotten")
			}
		})
	}
}
