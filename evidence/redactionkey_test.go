package evidence

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"filippo.io/age"

	"handrail/evidence/disk"
	"handrail/evidence/redact"
)

const aSecret = "password=plover-egg-twice"

// keyOf is the redaction key of i1 in a directory, nil when there is none.
func keyOf(t *testing.T, dir string) []byte {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(dir, "i1.key"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return raw
}

func said(t *testing.T, b *Bundle, text string) string {
	t.Helper()
	e, err := b.Append(t.Context(), Draft{Type: "note", Actor: "robin", Data: map[string]string{"text": text}})
	if err != nil {
		t.Fatal(err)
	}
	var d struct{ Text string }
	if err := json.Unmarshal(e.Data, &d); err != nil {
		t.Fatal(err)
	}
	return d.Text
}

// words are what the env entries of a bundle say of the key, in order.
func words(t *testing.T, path string) (out []string) {
	t.Helper()
	k := &kit{t: t, files: map[string]file{}}
	k.load(path)
	for _, e := range k.entries() {
		var d struct {
			Key string `json:"redaction_key"`
		}
		if err := json.Unmarshal(e.Data, &d); err != nil {
			t.Fatal(err)
		}
		if e.Type == "seal" || e.Type == "reopen" {
			out = append(out, e.Type)
		}
		if d.Key != "" {
			out = append(out, d.Key)
		}
	}
	return out
}

func seal(t *testing.T, b *Bundle) Seal {
	t.Helper()
	s, err := b.Seal(t.Context(), "robin", nil)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestSealDestroysKey(t *testing.T) {
	t.Parallel()
	keys := t.TempDir()
	b := create(t, testOptions(keys))
	first := said(t, b, aSecret)
	if !strings.Contains(first, redact.TokenOpen) || keyOf(t, keys) == nil {
		t.Fatalf("%q, key %x", first, keyOf(t, keys))
	}
	if s := seal(t, b); s.Key != keyDestroyed || s.Escrow != "" {
		t.Errorf("Seal = %+v", s)
	}
	if keyOf(t, keys) != nil {
		t.Error("the key is there still")
	}
	if s := seal(t, b); !s.Before || s.Key != keyDestroyed || keyOf(t, keys) != nil {
		t.Errorf("sealed again: %+v", s)
	}
	// The incident goes on in the same process, with another key.
	second := said(t, b, aSecret)
	if !strings.Contains(second, redact.TokenOpen) || second == first {
		t.Errorf("after the seal %q, before it %q", second, first)
	}
	if third := said(t, b, aSecret); third != second {
		t.Errorf("then %q and %q", second, third)
	}
	if again := said(t, b, first); again != first {
		t.Errorf("a token from before became %q", again)
	}
	live := keyOf(t, keys)
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	b, err := Open(b.Path(), testOptions(keys))
	if err != nil {
		t.Fatal(err)
	}
	if got := said(t, b, aSecret+" and "+first); got != second+" and "+first {
		t.Errorf("resumed: %q", got)
	}
	if !bytes.Equal(live, keyOf(t, keys)) {
		t.Error("resuming changed the key")
	}
	seal(t, b)
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(words(t, b.Path()), " "); got != "destroyed seal reopen new destroyed seal" {
		t.Errorf("the journal says %q", got)
	}
	r := mustVerify(t, b.Path())
	for _, l := range r.Lines {
		if l.Verdict == Failed || l.Property == PropertyRedaction && !strings.Contains(l.Detail, "destroyed") {
			t.Errorf("%+v", l)
		}
	}
	// Looking into a sealed bundle makes no key.
	if b, err = Open(b.Path(), testOptions(keys)); err != nil {
		t.Fatal(err)
	}
	if err := b.Close(); err != nil || keyOf(t, keys) != nil {
		t.Errorf("opened and closed: %v, key %x", err, keyOf(t, keys))
	}
}

func TestSealEscrowsKey(t *testing.T) {
	t.Parallel()
	keys := t.TempDir()
	id, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	o := testOptions(keys)
	o.Recipients = []string{id.Recipient().String()}
	b := create(t, o)
	said(t, b, aSecret)
	key := keyOf(t, keys)
	s := seal(t, b)
	if s.Key != keyEscrowed || keyOf(t, keys) != nil {
		t.Fatalf("Seal = %+v, key %x", s, keyOf(t, keys))
	}
	raw, err := os.ReadFile(s.Escrow)
	if err != nil {
		t.Fatal(err)
	}
	plain, err := age.Decrypt(bytes.NewReader(raw), id)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(plain); err != nil || !bytes.Equal(got, key) {
		t.Errorf("in escrow is %x, %v; want %x", got, err, key)
	}
	k := &kit{t: t, files: map[string]file{}}
	k.load(b.Path())
	for _, want := range []string{`"recipients":["` + id.Recipient().String() + `"]`, `"file":"` + filepath.Base(s.Escrow) + `"`, `"sha256":"` + sumHex(raw) + `"`} {
		if !strings.Contains(k.text(firstSegment), want) {
			t.Errorf("no entry says %s", want)
		}
	}
	o.Recipients = []string{"age1nobody"}
	b2, err := Create(t.TempDir(), "i1", o)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b2.Seal(t.Context(), "robin", nil); err == nil || b2.Sealed() || keyOf(t, keys) == nil {
		t.Errorf("sealed for a recipient that is none: %v", err)
	}
}

func TestSealKeepsKeyWhenAsked(t *testing.T) {
	t.Parallel()
	keys := t.TempDir()
	o := testOptions(keys)
	o.KeepKey = true
	b := create(t, o)
	first := said(t, b, aSecret)
	if s := seal(t, b); s.Key != "" || keyOf(t, keys) == nil {
		t.Errorf("Seal = %+v", s)
	}
	if got := said(t, b, aSecret); got != first {
		t.Errorf("after the seal %q, before it %q", got, first)
	}
	if got := strings.Join(words(t, b.Path()), " "); got != "seal reopen" {
		t.Errorf("the journal says %q", got)
	}
}

// TestKeyAfterCrash puts back what a crash would have left, at each point between the word of a seal and its end.
func TestKeyAfterCrash(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name string
		left func(k *kit) // takes away what was not written yet
		gone bool         // the key must be gone after opening it
	}{
		{"the word, and no seal", func(k *kit) {
			l := k.lines()
			k.setLines(l[:len(l)-1])
			k.drop(firstSeal)
		}, false},
		{"the seal is torn", func(k *kit) {
			k.set(firstSegment, strings.TrimSuffix(k.text(firstSegment), "\n"))
			k.drop(firstSeal)
		}, false},
		{"the seal, and no checkpoint", func(k *kit) { k.drop(firstSeal) }, true},
		{"the checkpoint too", func(*kit) {}, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			keys := t.TempDir()
			b := create(t, testOptions(keys))
			first := said(t, b, aSecret)
			key := keyOf(t, keys)
			seal(t, b)
			if err := b.Close(); err != nil {
				t.Fatal(err)
			}
			k := &kit{t: t, id: "i1", files: map[string]file{}}
			k.load(b.Path())
			tc.left(k)
			if err := os.WriteFile(filepath.Join(keys, "i1.key"), key, 0o600); err != nil {
				t.Fatal(err)
			}
			path := k.write(t.TempDir())
			b, err := Open(path, testOptions(keys))
			if err != nil {
				t.Fatal(err)
			}
			if got := keyOf(t, keys); (got == nil) != tc.gone {
				t.Errorf("key %x", got)
			}
			if _, err := os.Stat(filepath.Join(path, firstSeal)); tc.gone && err != nil {
				t.Errorf("the key is gone before the checkpoint is there: %v", err)
			}
			if got := said(t, b, aSecret); (got == first) == tc.gone {
				t.Errorf("then %q, before %q", got, first)
			}
			if err := b.Close(); err != nil {
				t.Fatal(err)
			}
			for _, l := range mustVerify(t, path).Lines {
				if l.Verdict == Failed {
					t.Errorf("%+v", l)
				}
			}
		})
	}
}

// TestKeyThatCannotBeRemoved: the seal stands, sealing again finishes it.
func TestKeyThatCannotBeRemoved(t *testing.T) {
	t.Parallel()
	keys := t.TempDir()
	b := create(t, testOptions(keys))
	b.fs = noRemove{b.fs, errors.New("no")}
	if _, err := b.Seal(t.Context(), "robin", nil); err == nil || !strings.Contains(err.Error(), "seal again") || !b.Sealed() {
		t.Fatalf("Seal: %v", err)
	}
	b.fs = disk.OS{}
	if s := seal(t, b); !s.Before || keyOf(t, keys) != nil {
		t.Errorf("Seal = %+v", s)
	}
}

type noRemove struct {
	disk.FS
	err error
}

func (f noRemove) Remove(string) error { return f.err }

// TestLostKeyIsSaidOnce: opening without writing does not use the note up.
func TestLostKeyIsSaidOnce(t *testing.T) {
	t.Parallel()
	keys := t.TempDir()
	b := create(t, testOptions(keys))
	if err := errors.Join(b.Close(), os.Remove(filepath.Join(keys, "i1.key"))); err != nil {
		t.Fatal(err)
	}
	for i := range 4 {
		b, err := Open(b.Path(), testOptions(keys))
		if err != nil {
			t.Fatal(err)
		}
		if i > 1 {
			note(t, b, "on")
		}
		if err := b.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if got := strings.Join(words(t, b.Path()), " "); got != keyNew {
		t.Errorf("the journal says %q", got)
	}
}

func TestRedactAgainAfterKeyIsGone(t *testing.T) {
	t.Parallel()
	keys := filepath.Join(t.TempDir(), "keys")
	path := leaky(t, keys)
	if keyOf(t, keys) != nil {
		t.Fatal("the seal left the key")
	}
	got, err := RedactAgain(t.Context(), path, Again{Values: []string{plainSecret}, Actor: "alex", Reason: "read out"}, testOptions(keys))
	if err != nil {
		t.Fatal(err)
	}
	left, err := filepath.Glob(filepath.Join(keys, "*"))
	if err != nil || len(left) > 0 {
		t.Errorf("keys: %v, %v", left, err)
	}
	r, err := Policy{From: path}.Verify(got.Path)
	if err != nil || !r.OK() || r.Of(PropertyAgain) != Proven {
		t.Errorf("%+v, %v", r.Lines, err)
	}
	b, err := Open(got.Path, testOptions(keys))
	if err != nil {
		t.Fatal(err)
	}
	said(t, b, aSecret)
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	if w := words(t, got.Path); w[len(w)-1] != keyNew {
		t.Errorf("the journal says %q", w)
	}
}

// TestSealElsewhere seals a bundle on a machine that never had its key nor a directory for one.
func TestSealElsewhere(t *testing.T) {
	t.Parallel()
	path := small(t)
	keys := filepath.Join(t.TempDir(), "no", "such", "state", "keys")
	b, err := Open(path, testOptions(keys))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.Seal(t.Context(), "robin", nil); err != nil {
		t.Fatal(err)
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(keys); err != nil || len(left) != 0 {
		t.Errorf("%d files are left of the keys, %v", len(left), err)
	}
	if r := mustVerify(t, path); !r.OK() {
		t.Errorf("%+v", r.Lines)
	}
}
