package evidence

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"handrail/evidence/redact"
)

// powerLength is long enough for every kind of call; each call is tried in a session of its own, so that the cost is its square.
var powerLength = flag.Int("power-length", 80, "how many entries a session of the power model has")

var powerEvery = flag.Int("power-stride", 1, "look at every nth call of the power model only")

// stride is how many calls of the model there are to one that is looked at: all of them, and under the race detector one
// in 23, which meets every kind of call.
func stride() int {
	if raceEnabled {
		return max(*powerEvery, 23)
	}
	return *powerEvery
}

// powerRun is a session of powerLength entries on a file system that may fail, and what of it was acknowledged.
type powerRun struct {
	fs      *powerFS
	opts    Options
	b       *Bundle
	created bool
	entries map[int64]string  // acknowledged: number and hash
	blobs   map[string]string // acknowledged: name and bytes
	seals   map[string]string // checkpoints of seals that were acknowledged
	hurt    string            // a blob that the test itself damaged and that was not stored again yet
	seen    map[string]bool   // outcomes that were looked at
}

func newPowerRun(red *redact.Redactor) *powerRun {
	p := newPowerFS()
	o := testOptions("/d/keys")
	o.FS, o.noLock, o.red = p, true, red
	return &powerRun{fs: p, opts: o, entries: map[int64]string{}, blobs: map[string]string{}, seals: map[string]string{}, seen: map[string]bool{}}
}

const powerBundle = "/d/i1.hrb"

// play writes until the first error that a writer does not survive.
func (r *powerRun) play() error {
	var err error
	if r.b, err = Create("/d", "i1", r.opts); err != nil {
		return err
	}
	r.created = true
	at := func(of200 int) int { return of200 * *powerLength / 200 }
	for i := range *powerLength {
		switch i {
		case at(60), at(130):
			err = r.reopen()
		case at(90):
			err = r.tear()
		case at(110):
			r.damage()
		case at(150):
			err = r.seal()
		}
		if err == nil {
			err = r.entry(i)
		}
		if err != nil {
			return err
		}
	}
	if err := r.seal(); err != nil {
		return err
	}
	return r.b.Close()
}

func (r *powerRun) entry(i int) error {
	size := 3 + i%7
	switch { // some lines are longer than a sector, some longer than a page
	case i%40 == 7:
		size = 700
	case i%10 == 3:
		size = 90
	}
	d := Draft{Type: "note", Actor: "robin", Data: map[string]string{"text": strings.Repeat(fmt.Sprintf("seen %d; ", i), size)}}
	if i%5 == 0 {
		text := fmt.Sprintf("log %d\n", i%60) + strings.Repeat("line of a log\n", i%60*5)
		blob, err := r.blob(text)
		if errors.Is(err, ErrDead) {
			return err
		}
		if err == nil { // else the operator is told, and the entry goes without it
			d.Blobs = []Blob{blob}
		}
	}
	e, err := r.b.Append(context.Background(), d)
	if err != nil && !errors.Is(err, ErrDead) { // nothing was written: the caller tries again
		e, err = r.b.Append(context.Background(), d)
	}
	if err == nil {
		r.entries[e.Seq] = e.Hash
	}
	return err
}

func (r *powerRun) blob(text string) (Blob, error) {
	w, err := r.b.Blob("log", "text/plain")
	if err != nil {
		return Blob{}, err
	}
	if _, err = io.WriteString(w, text); err != nil {
		w.Abort()
		return Blob{}, err
	}
	blob, err := w.Commit()
	if err == nil {
		r.blobs[blob.SHA256] = text
		if r.hurt == blob.SHA256 {
			r.hurt = ""
		}
	}
	return blob, err
}

func (r *powerRun) reopen() (err error) {
	if err := r.b.Close(); err != nil {
		return err
	}
	r.b, err = Open(powerBundle, r.opts)
	return err
}

// tear leaves half a line behind, as a writer that was killed would, and resumes.
func (r *powerRun) tear() error {
	name := filepath.Join(powerBundle, "journal", segmentName(1))
	if err := r.b.Close(); err != nil {
		return err
	}
	n := r.fs.names[name]
	w := powerWrite{int64(len(n.data)), []byte(`{"v":1,"seq":`)}
	n.data = w.on(n.data)
	n.writes = append(n.writes, w)
	b, err := Open(powerBundle, r.opts)
	r.b = b
	return err
}

// damage changes a stored blob, which is found and kept aside when the same bytes come again.
func (r *powerRun) damage() {
	for sum := range r.blobs {
		r.hurt = max(r.hurt, sum)
	}
	n := r.fs.names[filepath.Join(powerBundle, "blobs/sha256", r.hurt[:2], r.hurt)]
	if n != nil {
		n.data, n.synced, n.writes = []byte("other bytes"), []byte("other bytes"), nil
	}
}

func (r *powerRun) seal() error {
	s, err := r.b.Seal(context.Background(), "robin", []string{"r/skipped"})
	if err == nil {
		r.seals[s.File] = string(s.Text())
	}
	return err
}

// new says whether this outcome was not looked at before: most calls change nothing that a power cut would show.
func (r *powerRun) new(left *powerFS) bool {
	key := fmt.Sprint(len(r.entries), len(r.blobs), len(r.seals), r.created, r.hurt, sumHex([]byte(left.picture())))
	if r.seen[key] {
		return false
	}
	r.seen[key] = true
	return true
}

// check opens what a fault left, and holds it against what was acknowledged. further goes on writing in it.
func (r *powerRun) check(left *powerFS, further bool) error {
	o := r.opts
	o.FS = left
	before := left.names[filepath.Join(powerBundle, "journal", segmentName(1))]
	var was []byte
	if before != nil {
		was = before.data
	}
	if err := r.keyThere(left); err != nil {
		return err
	}
	b, err := Open(powerBundle, o)
	if err != nil {
		if len(r.entries) == 0 && !r.created {
			return nil // it was not reported that there is a bundle
		}
		return fmt.Errorf("Open: %w", err)
	}
	if err := b.Close(); err != nil {
		return err
	}
	if err := r.holds(left, was); err != nil {
		return err
	}
	if b.ledger.keyGone != "" && left.names["/d/keys/i1.key"] != nil {
		return errors.New("a redaction key is there that a seal says was destroyed")
	}
	return r.goesOn(left, o, further)
}

// keyThere: the redaction key may be gone only once a seal and its checkpoint are there that say so, or where an entry
// begins a new one.
func (r *powerRun) keyThere(left *powerFS) error {
	journal := left.names[filepath.Join(powerBundle, "journal", segmentName(1))]
	if key := left.names["/d/keys/i1.key"]; !r.created || journal == nil || key != nil && len(key.data) == redact.KeySize {
		return nil
	}
	s := newScanner(segmentName(1), strings.NewReader(string(journal.data)), chain{prev: zeroHash}, true, int64(len(journal.data)))
	l, begun := newLedger(), false
	for {
		e, _, err := s.next()
		if err != nil {
			break
		}
		l.add("i1", &e)
		begun = strings.Contains(string(e.Data), `"redaction_key":"new"`)
	}
	if begun {
		return nil
	}
	n := len(l.seals)
	if l.keyGone == "" || left.names[filepath.Join(powerBundle, "seals", sealName(n))] == nil {
		return fmt.Errorf("the redaction key is gone, and %q is what the %d seals say of it", l.keyGone, n)
	}
	return nil
}

// goesOn opens it again, which must change nothing, writes, cuts the power once more without mercy, and seals.
func (r *powerRun) goesOn(left *powerFS, o Options, further bool) error {
	picture := left.picture()
	b, err := Open(powerBundle, o)
	if err != nil {
		return fmt.Errorf("Open again: %w", err)
	}
	if left.picture() != picture {
		return errors.New("opening it again changed something")
	}
	if !further {
		return b.Close()
	}
	e, err := b.Append(context.Background(), Draft{Type: "note", Actor: "robin", Data: map[string]string{"text": "we go on"}})
	if err != nil {
		return fmt.Errorf("going on: %w", err)
	}
	again := losses[0].apply(left, nil)
	o.FS = again
	if b, err = Open(powerBundle, o); err != nil {
		return fmt.Errorf("a second cut: %w", err)
	}
	if seq, hash := b.Head(); seq != e.Seq || hash != e.Hash {
		return fmt.Errorf("a second cut took entry %d", e.Seq)
	}
	if _, err := b.Seal(context.Background(), "robin", nil); err != nil {
		return fmt.Errorf("sealing: %w", err)
	}
	return nil
}

// holds reads the journal: everything acknowledged is there, and what was cut off is in quarantine and reported.
func (r *powerRun) holds(left *powerFS, was []byte) error {
	journal := left.names[filepath.Join(powerBundle, "journal", segmentName(1))].data
	s := newScanner(segmentName(1), strings.NewReader(string(journal)), chain{prev: zeroHash}, true, int64(len(journal)))
	l, hashes := newLedger(), map[int64]string{}
	cut := 0 // where the bytes that were there before and are no longer begin
	for {
		e, line, err := s.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		l.add("i1", &e)
		hashes[e.Seq] = e.Hash
		if at := int(s.off) - len(line); at == cut && at+len(line) <= len(was) && string(was[at:at+len(line)]) == string(line) {
			cut = int(s.off)
		}
	}
	if s.tail != nil {
		return errors.New("there is a tail still")
	}
	for seq, hash := range r.entries {
		if hashes[seq] != hash {
			return fmt.Errorf("acknowledged entry %d is gone", seq)
		}
	}
	content := func(name string) string {
		if n := left.names[filepath.Join(powerBundle, name)]; n != nil {
			return string(n.data)
		}
		return ""
	}
	for sum, text := range r.blobs {
		if sum != r.hurt && content("blobs/sha256/"+sum[:2]+"/"+sum) != text {
			return fmt.Errorf("acknowledged blob %s is gone", sum)
		}
	}
	for sum := range l.blobs {
		if sum != r.hurt && sumHex([]byte(content("blobs/sha256/"+sum[:2]+"/"+sum))) != sum {
			return fmt.Errorf("blob %s is named and not there", sum)
		}
	}
	for file, text := range r.seals {
		if content(file) != text {
			return fmt.Errorf("%s of an acknowledged seal is gone", file)
		}
	}
	for name := range left.names {
		if base := strings.TrimPrefix(name, powerBundle+"/quarantine/"); strings.HasSuffix(base, ".bin") && !strings.HasPrefix(base, tempPrefix) && !slices.Contains(l.kept, base) {
			return fmt.Errorf("quarantine/%s is there and nothing reports it", base)
		}
	}
	reported := was[min(cut, len(was)):]
	found := len(reported) == 0
	for _, name := range l.kept {
		kept := content("quarantine/" + name)
		if !strings.HasSuffix(name, "-"+sumHex([]byte(kept))+".bin") {
			return fmt.Errorf("quarantine/%s is reported and not there", name)
		}
		found = found || kept == string(reported)
	}
	if !found {
		return fmt.Errorf("%d bytes were cut off and are nowhere", len(reported))
	}
	return nil
}

func powerRedactor(t *testing.T) *redact.Redactor {
	red, err := redact.New(make([]byte, redact.KeySize), nil)
	if err != nil {
		t.Fatal(err)
	}
	return red
}

// TestPowerCut cuts the power before every call of a session, and loses what was not synced in each way.
func TestPowerCut(t *testing.T) {
	if testing.Short() {
		t.Skip("too long for -short")
	}
	t.Parallel()
	red := powerRedactor(t)
	r := newPowerRun(red)
	cases, distinct, verified := 0, 0, 0
	r.fs.before = func(call int) {
		if call%stride() != 0 {
			return
		}
		for i, l := range losses {
			left := l.apply(r.fs, rand.New(rand.NewPCG(uint64(call), uint64(i))))
			cases++
			if !r.new(left) {
				continue
			}
			distinct++
			if err := r.check(left, true); err != nil {
				t.Fatalf("power cut before call %d, %s: %v", call, l.name, err)
			}
			if distinct%97 == 0 && r.created {
				verified++
				mustHold(t, left, call, l.name)
			}
		}
	}
	if err := r.play(); err != nil {
		t.Fatal(err)
	}
	if n := len(r.entries); n != *powerLength || r.fs.calls < 5*n {
		t.Fatalf("%d entries in %d calls: the session is not what it says", n, r.fs.calls)
	}
	t.Logf("%d calls of a session of %d entries, %d ways to lose what was not synced: %d cuts with %d different outcomes: 0 acknowledged entries or blobs lost, always opens; %d of them verified whole", r.fs.calls, len(r.entries), len(losses), cases, distinct, verified)
}

func mustHold(t *testing.T, left *powerFS, call int, what string) {
	dir := t.TempDir()
	if err := left.dump(dir); err != nil {
		t.Fatal(err)
	}
	for _, l := range mustVerify(t, filepath.Join(dir, "i1.hrb")).Lines {
		if l.Verdict == Failed && (l.Property != PropertyBlobs || !strings.Contains(l.Detail, "other bytes")) { // what the test damaged
			t.Fatalf("call %d, %s: %+v", call, what, l)
		}
	}
}

// TestEveryCallFails lets each call of a session fail, lets the writer react, and looks at what is left: as the next
// process finds it, and after a power cut on top.
func TestEveryCallFails(t *testing.T) {
	if testing.Short() {
		t.Skip("too long for -short")
	}
	t.Parallel()
	for _, tc := range []struct {
		name  string
		err   error
		short bool
		calls string // which can fail like that, "" for all
	}{
		{"EIO", syscall.EIO, false, ""},
		{"ENOSPC", syscall.ENOSPC, false, "mkdir openfile rename write sync syncdir"},
		{"short write", nil, true, "write"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			red := powerRedactor(t)
			whole := newPowerRun(red)
			if err := whole.play(); err != nil {
				t.Fatal(err)
			}
			cases, step := 0, 0
			for at := 1; ; at++ {
				if at <= len(whole.fs.kinds) {
					if !strings.Contains(" "+tc.calls+" ", " "+whole.fs.kinds[at-1]+" ") && tc.calls != "" {
						continue
					}
					if step++; step%stride() != 0 {
						continue
					}
				}
				r := newPowerRun(red)
				r.fs.failAt, r.fs.err, r.fs.short = at, tc.err, tc.short
				err := r.play()
				if r.fs.calls < at {
					if err != nil {
						t.Fatal(err)
					}
					break
				}
				cases++
				if err != nil && r.b != nil && errors.Is(err, ErrDead) {
					if _, again := r.b.Append(t.Context(), Draft{Type: "note"}); !errors.Is(again, ErrDead) {
						t.Fatalf("call %d: a dead writer took another entry: %v", at, again)
					}
				}
				if r.b != nil {
					_ = r.b.Close()
				}
				if r.fs.retried != "" {
					t.Fatalf("call %d: %s was synced again after its sync had failed", at, r.fs.retried)
				}
				r.fs.failAt = 0
				for i, l := range losses {
					if i > 0 && i != 1+at%3 { // the mildest of them, and one of the others in turn
						continue
					}
					left := l.apply(r.fs, rand.New(rand.NewPCG(uint64(at), uint64(i))))
					if !r.new(left) {
						continue
					}
					if err := r.check(left, false); err != nil {
						t.Fatalf("call %d failed, then a power cut, %s: %v", at, l.name, err)
					}
				}
				if err := r.check(r.fs, true); err != nil {
					t.Fatalf("call %d failed: %v", at, err)
				}
			}
			t.Logf("%s: %d calls of a session of %d entries, each failed once: 0 acknowledged entries or blobs lost, always opens, no sync tried again", tc.name, cases, *powerLength)
		})
	}
}
