package evidence

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

var kills = flag.Int("kills", 0, "how often TestKilledWriterLosesNothing kills a writer; 200 when 0, 100 under the race detector")

const killEnv = "EVIDENCE_KILL_BUNDLE"

// TestMain lets the kill test run this binary as the writer that is killed.
func TestMain(m *testing.M) {
	if path := os.Getenv(killEnv); path != "" {
		fmt.Println("error", writeForever(path))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// writeForever resumes a bundle and adds entries, blobs and seals to it. It says each on stdout once it is acknowledged.
func writeForever(path string) error {
	b, err := Open(path, Options{Keys: path + ".keys"})
	if err != nil {
		return err
	}
	fmt.Println("open")
	ctx := context.Background()
	for i := 0; ; i++ {
		d := Draft{Type: "note", Data: map[string]string{"text": strings.Repeat("x ", 40+i%9*300)}}
		if i%3 == 0 {
			w, err := b.Blob("log", "text/plain")
			if err != nil {
				return err
			}
			seq, _ := b.Head()
			fmt.Fprintf(w, "blob %d\n%s", seq, strings.Repeat("a line of it\n", i%7*100))
			blob, err := w.Commit()
			if err != nil {
				return err
			}
			fmt.Println("blob", blob.SHA256)
			d.Blobs = []Blob{blob}
		}
		e, err := b.Append(ctx, d)
		if err != nil {
			return err
		}
		fmt.Println("entry", e.Seq, e.Hash)
		if i%25 == 24 {
			s, err := b.Seal(ctx, "robin", nil)
			if err != nil {
				return err
			}
			fmt.Println("seal", s.File, s.Entries)
		}
	}
}

// killed is a bundle whose writers are killed one after the other, and what they acknowledged.
type killed struct {
	path    string
	entries map[int64]string
	blobs   map[string]bool
	seals   map[string]string
	torn    int
	total   int
}

const killsPerBundle = 40

// TestKilledWriterLosesNothing kills writers at moments that a seed chooses, some while they still open the bundle, and
// looks after each at what is left.
func TestKilledWriterLosesNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("too long for -short")
	}
	t.Parallel()
	n := *kills
	if n == 0 {
		if n = 200; raceEnabled {
			n = 100
		}
	}
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	jobs := make(chan int)
	var wg sync.WaitGroup
	var mu sync.Mutex
	var all killed
	for worker := range 8 {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(seed, uint64(worker)))
			for times := range jobs {
				k, err := killRound(t, r, times)
				mu.Lock()
				all.total += k.total
				all.torn += k.torn
				mu.Unlock()
				if err != nil {
					t.Errorf("worker %d: %v", worker, err)
				}
			}
		})
	}
	for left := n; left > 0 && !t.Failed(); left -= killsPerBundle {
		jobs <- min(left, killsPerBundle)
	}
	close(jobs)
	wg.Wait()
	if t.Failed() {
		return
	}
	t.Logf("%d kills, %d entries, blobs and seals acknowledged, 0 lost; %d times something was in quarantine", n, all.total, all.torn)
}

func killRound(t *testing.T, r *rand.Rand, times int) (k *killed, err error) {
	dir, err := os.MkdirTemp(t.TempDir(), "kill") // removed at once, so that 20,000 kills need little room
	if err != nil {
		return &killed{}, err
	}
	k = &killed{entries: map[int64]string{}, blobs: map[string]bool{}, seals: map[string]string{}}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	b, err := Create(dir, "i1", Options{Keys: filepath.Join(dir, "i1.hrb.keys")})
	if err != nil {
		return k, err
	}
	if k.path = b.Path(); b.Close() != nil {
		return k, errors.New("closing it")
	}
	for i := range times {
		if err := k.kill(t.Context(), r); err != nil {
			return k, fmt.Errorf("kill %d of %q: %w", i, k.path, err)
		}
		if err := k.check(); err != nil {
			return k, fmt.Errorf("after kill %d of %q: %w", i, k.path, err)
		}
	}
	return k, k.whole()
}

func (k *killed) kill(ctx context.Context, r *rand.Rand) error {
	cmd := exec.CommandContext(ctx, os.Args[0])
	cmd.Env = append(os.Environ(), killEnv+"="+k.path)
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	early := r.IntN(8) == 0
	after := time.Duration(r.IntN(15_000)) * time.Microsecond
	die := func() { time.AfterFunc(after, func() { _ = cmd.Process.Kill() }) }
	if early {
		die()
	}
	for s := bufio.NewScanner(out); s.Scan(); {
		f := strings.Fields(s.Text())
		switch {
		case f[0] == "open" && !early:
			die()
		case f[0] == "open":
		case f[0] == "entry":
			seq, err := strconv.ParseInt(f[1], 10, 64)
			if err != nil {
				return err
			}
			k.entries[seq] = f[2]
			k.total++
		case f[0] == "blob":
			k.blobs[f[1]] = true
			k.total++
		case f[0] == "seal":
			k.seals[f[1]] = f[2]
			k.total++
		default:
			err = errors.New(s.Text())
		}
	}
	_ = cmd.Wait() // killed, as it should be
	return err
}

// check reads what is there as it is, without mending anything.
func (k *killed) check() error {
	r, err := OpenReadOnly(k.path)
	if err != nil {
		return err
	}
	defer r.Close()
	found := 0
	for e, err := range r.Entries() {
		var torn *TornError
		if errors.As(err, &torn) {
			break
		}
		if err != nil {
			return err
		}
		if hash, acked := k.entries[e.Seq]; acked {
			if hash != e.Hash {
				return fmt.Errorf("acknowledged entry %d is another now", e.Seq)
			}
			found++
		}
	}
	if found != len(k.entries) {
		return fmt.Errorf("%d of %d acknowledged entries are gone", len(k.entries)-found, len(k.entries))
	}
	for sum := range k.blobs {
		f, err := r.OpenBlob(sum)
		if err != nil {
			return fmt.Errorf("acknowledged blob: %w", err)
		}
		raw, err := io.ReadAll(f)
		if err = errors.Join(err, f.Close()); err != nil || sumHex(raw) != sum {
			return fmt.Errorf("acknowledged blob %s has other bytes, %v", sum, err)
		}
	}
	for file, entries := range k.seals {
		raw, err := os.ReadFile(filepath.Join(k.path, file))
		if err != nil || !strings.Contains(string(raw), "\n"+entries+"\n") {
			return fmt.Errorf("acknowledged seal %s: %q, %v", file, raw, err)
		}
	}
	return nil
}

// whole goes on a last time, twice, and verifies.
func (k *killed) whole() error {
	for range 2 {
		b, err := Open(k.path, Options{Keys: k.path + ".keys"})
		if err != nil {
			return err
		}
		// A seal whose checkpoint a kill cut off is finished by the next entry.
		_, err = b.Append(context.Background(), Draft{Type: "note"})
		if err = errors.Join(err, b.Close()); err != nil {
			return err
		}
	}
	b, err := Open(k.path, Options{Keys: k.path + ".keys"})
	if err != nil {
		return err
	}
	_, err = b.Seal(context.Background(), "robin", nil)
	if err = errors.Join(err, b.Close()); err != nil {
		return err
	}
	if left, err := os.ReadDir(k.path + ".keys"); err != nil || len(left) > 0 {
		return fmt.Errorf("redaction keys after the seal: %v, %v", left, err)
	}
	rep, err := Verify(k.path)
	if err != nil {
		return err
	}
	if !rep.OK() {
		return fmt.Errorf("%+v", rep.Lines)
	}
	kept, err := filepath.Glob(filepath.Join(k.path, "quarantine", "*.bin"))
	k.torn += len(kept)
	return err
}
