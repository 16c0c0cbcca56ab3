package depot_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"oras.land/oras-go/v2"
	"oras.land/oras-go/v2/content/file"
	"oras.land/oras-go/v2/registry/remote"
	"oras.land/oras-go/v2/registry/remote/auth"

	"handrail/evidence"
	"handrail/session/index/depot"
)

func push(t *testing.T, src string, to depot.Store) depot.Receipt {
	t.Helper()
	r, err := depot.Push(t.Context(), src, t.TempDir(), to, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestThereAndBack(t *testing.T) {
	everywhere(t, func(t *testing.T, f far) {
		dir := t.TempDir()
		src, dest := bundle(t, filepath.Join(dir, "a"), "one", "first", "second"), mkdir(t, filepath.Join(dir, "b"))
		store := f.store(t)
		if _, err := depot.Pull(t.Context(), store, "one", dest, nil); !errors.Is(err, depot.ErrNone) {
			t.Errorf("a bundle that is not there: %v, want ErrNone", err)
		}
		if r := push(t, src, store); r.Already || r.Files == 0 || r.Path != store.Place("one") {
			t.Errorf("Push() = %+v", r)
		}
		if r := push(t, src, store); !r.Already {
			t.Errorf("a second Push() = %+v, want that it is there already", r)
		}
		f.stray(t, "notes")
		l, err := depot.List(t.Context(), store)
		if err != nil || len(l.Bundles) != 1 || l.Bundles[0].ID != "one" || l.Bundles[0].Size == 0 || !slices.Equal(l.Strangers, []string{"notes"}) {
			t.Errorf("List() = %+v, %v", l, err)
		}
		r, err := depot.Pull(t.Context(), store, "one", dest, nil)
		if err != nil || r.Already {
			t.Fatalf("Pull() = %+v, %v", r, err)
		}
		if root(t, r.Path) != root(t, src) {
			t.Error("what came back has another root")
		}
		if again, err := depot.Pull(t.Context(), store, "one", dest, nil); err != nil || !again.Already {
			t.Errorf("a second Pull() = %+v, %v, want that it is there already", again, err)
		}
		left, err := filepath.Glob(filepath.Join(dest, ".handrail-incoming", "*"))
		if err != nil || slices.ContainsFunc(left, func(n string) bool { return filepath.Ext(n) != ".lock" }) {
			t.Errorf("left in quarantine: %v", left)
		}
	})
}

// What lies there needs no handrail: tar alone gives back the bundle.
func TestStockToolsUnpack(t *testing.T) {
	everywhere(t, func(t *testing.T, f far) {
		dir := t.TempDir()
		src := incident(t, filepath.Join(dir, "a"), "one", 1)
		push(t, src, f.store(t))
		cmd := exec.CommandContext(t.Context(), "tar", "-xz", "-C", mkdir(t, filepath.Join(dir, "b")))
		cmd.Stdin = bytes.NewReader(f.read(t, "one"))
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("tar: %v\n%s", err, out)
		}
		if root(t, filepath.Join(dir, "b", "one.hrb")) != root(t, src) {
			t.Error("what tar unpacked has another root")
		}
	})
}

// ORAS unpacks a bundle of one layer itself.
func TestORASPulls(t *testing.T) {
	t.Parallel()
	f, dir := oci(t), t.TempDir()
	src := bundle(t, filepath.Join(dir, "a"), "one", "first")
	place := push(t, src, f.store(t)).Path
	host, _, _ := strings.Cut(strings.TrimPrefix(place, "oci://"), "/")
	repo, err := remote.NewRepository(host + "/team/incidents")
	if err != nil {
		t.Fatal(err)
	}
	repo.PlainHTTP = true
	repo.Client = &auth.Client{Credential: auth.StaticCredential(host, auth.Credential{Username: labUser, Password: labSecret})}
	files, err := file.New(filepath.Join(dir, "b"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := oras.Copy(t.Context(), repo, "one", files, "one", oras.DefaultCopyOptions); err != nil {
		t.Fatal(err)
	}
	if err := files.Close(); err != nil {
		t.Fatal(err)
	}
	if root(t, filepath.Join(dir, "b", "one.hrb")) != root(t, src) {
		t.Error("what ORAS unpacked has another root")
	}
}

func TestNothingIsOverwrittenFarAway(t *testing.T) {
	everywhere(t, func(t *testing.T, f far) {
		dir := t.TempDir()
		src := bundle(t, filepath.Join(dir, "a"), "one", "first")
		store := f.store(t)
		push(t, src, store)
		was := f.read(t, "one")
		other := bundle(t, filepath.Join(dir, "b"), "one", "another story")
		if _, err := depot.Push(t.Context(), other, t.TempDir(), store, nil); !errors.Is(err, depot.ErrOther) {
			t.Errorf("another history of the same id: %v, want ErrOther", err)
		}
		b, err := evidence.Open(src, evidence.Options{})
		if err != nil {
			t.Fatal(err)
		}
		say(t, b, "later")
		if err := b.Close(); err != nil {
			t.Fatal(err)
		}
		if _, err := depot.Push(t.Context(), src, t.TempDir(), store, nil); !errors.Is(err, depot.ErrOlder) {
			t.Errorf("a later state: %v, want ErrOlder", err)
		}
		if !bytes.Equal(f.read(t, "one"), was) {
			t.Error("what was there changed")
		}
		// Here lies another history than there.
		dest := mkdir(t, filepath.Join(dir, "c"))
		bundle(t, dest, "one", "a third story")
		if _, err := depot.Pull(t.Context(), store, "one", dest, nil); !errors.Is(err, depot.ErrOther) {
			t.Errorf("Pull() over another history: %v, want ErrOther", err)
		}
		// The name is taken by something else.
		f.stray(t, "two")
		f.swap(t, "three", []byte("no bundle at all"))
		for _, id := range []string{"two", "three"} {
			src := bundle(t, filepath.Join(dir, "d"), id, "first")
			_, err := depot.Push(t.Context(), src, t.TempDir(), store, nil)
			if id == "three" && !errors.Is(err, depot.ErrOther) || err != nil && id == "two" && !errors.Is(err, depot.ErrStranger) {
				t.Errorf("Push(%s) over a stranger: %v", id, err)
			}
		}
	})
}

// What was changed on the other side is refused with the property named, and
// nothing of it becomes visible.
func TestDamageThereStaysOutside(t *testing.T) {
	everywhere(t, func(t *testing.T, f far) {
		dir := t.TempDir()
		src := bundle(t, filepath.Join(dir, "a"), "one", "first", "second")
		store := f.store(t)
		push(t, src, store)
		good := f.read(t, "one")
		grown := append(slices.Clone(good), "more"...)
		for _, c := range []struct {
			what, says string
			id         string
			change     func(t *testing.T, id string, packed []byte)
			packed     []byte
		}{
			{"journal", "chain", "", f.swap, repacked(t, good, "journal/000001.jsonl", flipped)},
			{"artifact", "blobs", "", f.swap, repacked(t, good, "blobs/sha256/", flipped)},
			{"readme", "format", "", f.swap, repacked(t, good, "README", flipped)},
			{"cut off", "archive", "", f.swap, good[:len(good)-20]},
			{"behind", "archive", "", f.swap, grown},
			{"not packed", "archive", "", f.swap, []byte("no bundle at all")},
			{"another id", "another", "two", f.swap, good},
			// Last, since it breaks what the server believes of its own bytes.
			{"bit on disk", "", "one", f.harm, flipped(good)},
			{"end on disk", "", "one", f.harm, good[:len(good)/2]},
		} {
			if c.id == "" {
				c.id = strings.ReplaceAll(c.what, " ", "-")
			}
			c.change(t, c.id, c.packed)
			dest := mkdir(t, filepath.Join(dir, c.what))
			_, err := depot.Pull(t.Context(), store, c.id, dest, nil)
			switch {
			case c.what == "end on disk" && errors.Is(err, io.ErrUnexpectedEOF): // the server says how much there was
			case !errors.Is(err, depot.ErrUnverified):
				t.Errorf("%s: Pull() = %v, want ErrUnverified", c.what, err)
			case !strings.Contains(err.Error(), c.says):
				t.Errorf("%s: %q does not say %q", c.what, err, c.says)
			}
			if got := names(t, dest); len(got) != 0 {
				t.Errorf("%s: %v became visible", c.what, got)
			}
		}
	})
}

// A push that breaks off shows nothing under the name, and the next one does not
// send again what is there. The same goes for a pull.
func TestBrokenOffFarAway(t *testing.T) {
	everywhere(t, func(t *testing.T, f far) {
		dir := t.TempDir()
		src := largeBundle(t, threeParts)
		store := f.store(t)
		stop := errors.New("the line is cut")
		cut := func(after int64) (context.Context, depot.Progress) {
			ctx, cancel := context.WithCancelCause(t.Context())
			t.Cleanup(func() { cancel(nil) })
			return ctx, func(done, _ int64) {
				if done >= after {
					cancel(stop)
				}
			}
		}
		ctx, tell := cut(depot.PartSize)
		if _, err := depot.Push(ctx, src, t.TempDir(), store, tell); err == nil {
			t.Fatal("the push was not broken off")
		}
		if _, err := store.Find(t.Context(), threeParts); !errors.Is(err, depot.ErrNone) {
			t.Errorf("half a push is there: %v", err)
		}
		before := f.sent()
		r := push(t, src, f.store(t))
		sent := f.sent() - before
		if least := r.Bytes - depot.PartSize; r.Bytes <= 2*depot.PartSize || sent < least || sent > least+depot.PartSize/2 {
			t.Errorf("sent %d bytes of %d, want all but the first part", sent, r.Bytes)
		}
		dest := mkdir(t, filepath.Join(dir, "b"))
		ctx, tell = cut(depot.PartSize + 1)
		if _, err := depot.Pull(ctx, store, threeParts, dest, tell); err == nil {
			t.Fatal("the pull was not broken off")
		}
		if got := names(t, dest); len(got) != 0 {
			t.Errorf("%v became visible", got)
		}
		first := int64(0)
		got, err := depot.Pull(t.Context(), store, threeParts, dest, func(done, _ int64) {
			if first == 0 {
				first = done
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		if first <= depot.PartSize {
			t.Errorf("the second pull began at %d, want after the first part", first)
		}
		if root(t, got.Path) != root(t, src) {
			t.Error("what came back has another root")
		}
	})
}

func TestManyPushAtOnce(t *testing.T) {
	everywhere(t, func(t *testing.T, f far) {
		dir := t.TempDir()
		for id, src := range map[string]string{"small": bundle(t, filepath.Join(dir, "a"), "small", "first"), twoParts: largeBundle(t, twoParts)} {
			var wg sync.WaitGroup
			for range 3 {
				store := f.store(t)
				wg.Go(func() {
					if _, err := depot.Push(t.Context(), src, filepath.Join(dir, "work"), store, nil); err != nil {
						t.Errorf("%s: %v", id, err)
					}
				})
			}
			wg.Wait()
			dest := mkdir(t, filepath.Join(dir, "to", id))
			if _, err := depot.Pull(t.Context(), f.store(t), id, dest, nil); err != nil {
				t.Error(err)
			}
		}
	})
}

func TestRefusedAtTheDoor(t *testing.T) {
	everywhere(t, func(t *testing.T, f far) {
		dir := t.TempDir()
		src, dest := bundle(t, filepath.Join(dir, "a"), "one", "first"), mkdir(t, filepath.Join(dir, "b"))
		wrong := f.wrong(t)
		_, pushed := depot.Push(t.Context(), src, t.TempDir(), wrong, nil)
		_, pulled := depot.Pull(t.Context(), wrong, "one", dest, nil)
		_, listed := depot.List(t.Context(), wrong)
		for what, err := range map[string]error{"Push": pushed, "Pull": pulled, "List": listed} {
			if err == nil || strings.Contains(err.Error(), wrongOne) {
				t.Errorf("%s() = %v", what, err)
			} else if !strings.Contains(err.Error(), "SignatureDoesNotMatch") && !strings.Contains(err.Error(), "401") {
				t.Errorf("%s() = %q, want the words of the server", what, err)
			}
		}
		_, err := depot.List(t.Context(), f.none(t))
		if err == nil || !strings.Contains(err.Error(), "nobodys") {
			t.Errorf("List() of what does not exist = %v, want its name", err)
		}
	})
}

// leaky is a server that sends back what it was given.
type leaky struct {
	depot.Store
	secret string
}

func (l leaky) List(context.Context) (depot.Listing, error) {
	return depot.Listing{}, errors.Join(io.ErrUnexpectedEOF, errors.New("you are "+l.secret))
}
func (l leaky) Secrets() []string { return []string{l.secret, ""} }

func TestErrorsHoldNoCredentials(t *testing.T) {
	t.Parallel()
	for _, secret := range []string{"short", "a longer passphrase of somebody"} {
		_, err := depot.List(t.Context(), leaky{secret: secret})
		if err == nil || strings.Contains(err.Error(), secret) || !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("List() = %v", err)
		}
	}
}

// The same bundle gives the same bytes, wherever it lies and for every user.
func TestPackedTwiceIsTheSame(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	src := incident(t, filepath.Join(dir, "a"), "one", 1)
	r, err := depot.Receive(t.Context(), src, mkdir(t, filepath.Join(dir, "b")))
	if err != nil {
		t.Fatal(err)
	}
	var sums []string
	for _, path := range []string{src, r.Path} {
		p, err := depot.Pack(t.Context(), path, filepath.Join(dir, "work"))
		if err != nil {
			t.Fatal(err)
		}
		sums = append(sums, p.SHA256)
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	}
	if sums[0] != sums[1] {
		t.Error("two packs of one bundle differ")
	}
	if left, err := os.ReadDir(filepath.Join(dir, "work")); err != nil || len(left) != 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// What is damaged here does not travel.
func TestDamageHereDoesNotTravel(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	src := bundle(t, filepath.Join(dir, "a"), "one", "first")
	flip(t, artifact(t, src), 0)
	if _, err := depot.Pack(t.Context(), src, dir); !errors.Is(err, depot.ErrUnverified) {
		t.Errorf("Pack() = %v, want ErrUnverified", err)
	}
}

// What would not be unpacked is not packed either.
func TestLongFileIsNotPacked(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	src := bundle(t, filepath.Join(dir, "a"), "one", "first")
	name := artifact(t, src)
	if err := os.Chmod(name, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(name, 256<<20+1); err != nil { // a hole, which takes no room
		t.Fatal(err)
	}
	if _, err := depot.Pack(t.Context(), src, dir); !errors.Is(err, depot.ErrTooLong) {
		t.Errorf("Pack() = %v, want ErrTooLong", err)
	}
}

// A bundle that shrinks far is packed so that it is no bomb.
func TestPackedIsNoBomb(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	src := bundle(t, filepath.Join(dir, "a"), "one", strings.Repeat("the same line\n", 40_000))
	b, err := evidence.Open(src, evidence.Options{})
	if err != nil {
		t.Fatal(err)
	}
	w, err := b.Blob("output", "text/plain")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(bytes.Repeat([]byte(strings.Repeat("a", 99)+"\n"), 200_000)); err != nil {
		t.Fatal(err)
	}
	blob, err := w.Commit()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.Append(t.Context(), evidence.Draft{Type: "note", Actor: "op", Blobs: []evidence.Blob{blob}}); err != nil {
		t.Fatal(err)
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	p, err := depot.Pack(t.Context(), src, dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
}
