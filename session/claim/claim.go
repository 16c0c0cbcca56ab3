// Package claim lets an act run once and never twice, across processes and
// crashes (docs/decisions.md, Acts).
//
// Each act has a directory, acts/<incident>/<nonce>. Who orders the act makes it
// with a slot in it; the journal keeps which file the slot is. An executor
// [Take]s the slot by one rename, locked and synced before anything is sent, and
// from then on it alone writes there: its process, the lines that the act says,
// and in the end its [Outcome], by rename.
//
// Only the very file that the journal names, still a slot, on the [Machine] and
// in the boot where it was made, proves that an act did not begin. A copy, a
// restored directory or another machine proves nothing.
package claim

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"github.com/gofrs/flock"

	"handrail/evidence"
	"handrail/session/live"
	"handrail/steps"
	"handrail/triage"
)

// The directory of one act, acts/<incident>/<nonce>: the session that orders the
// act makes it, with the slot, and from the claim on it belongs to the executor,
// which alone writes there: the claim, which it holds locked while it lives, the
// lines that the act says, what it keeps, and in the end the outcome (docs/decisions.md, Acts).
const (
	File        = "claim" // locked while its executor lives
	LinesFile   = "lines"
	outcomeFile = "outcome.json"
)

// MaxLines bounds the file of lines; what an act says beyond is not shown while
// it runs.
const MaxLines = 16 << 20

// errClaimed: the act is being carried out, or was.
var errClaimed = errors.New("the act was already claimed")

// Claim is the executor's hold on one act.
type Claim struct {
	Dir  string // of the act
	lock *flock.Flock

	mu    sync.Mutex
	lines *os.File
	said  int
	keys  live.Log // only judges lines of private keys, which show by what stands around them
}

// Take claims an act by taking its slot away, so that no act runs twice;
// errClaimed says that there is no slot to claim. The claim is locked from its
// first moment, and durable when claimAct returns: nothing is sent before.
func Take(acts, dir string) (*Claim, error) {
	name := filepath.Join(dir, SlotFile)
	c := &Claim{Dir: dir, lock: flock.New(name, flock.SetFlag(os.O_RDWR))} // it makes no slot
	ok, err := c.lock.TryLock()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, errClaimed
	case err != nil:
		return nil, fmt.Errorf("locking the slot of an act: %w", err)
	case !ok:
		return nil, errClaimed
	}
	if err := c.take(name, filepath.Dir(acts)); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// take makes the slot, which is locked, the claim.
func (c *Claim) take(slot, last string) error {
	held := filepath.Join(c.Dir, File)
	if _, err := os.Lstat(held); !errors.Is(err, fs.ErrNotExist) {
		return errors.Join(errClaimed, err)
	}
	// One rename of this file succeeds, ever.
	if err := os.Rename(slot, held); errors.Is(err, fs.ErrNotExist) {
		return errClaimed
	} else if err != nil {
		return err
	}
	f, err := os.OpenFile(held, os.O_WRONLY|os.O_TRUNC, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(strconv.Itoa(os.Getpid()) + "\n")
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if c.lines, err = os.OpenFile(filepath.Join(c.Dir, LinesFile), os.O_CREATE|os.O_EXCL|os.O_WRONLY|os.O_APPEND, 0o600); err != nil {
		return err
	}
	return SyncUp(c.Dir, last)
}

// Say appends a line, redacted already, for followers.
func (c *Claim) Say(line string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for part := range strings.SplitSeq(strings.TrimSuffix(line, "\n"), "\n") {
		part, ok := c.keys.Outside(part)
		if c.said += len(part) + 1; !ok || c.said > MaxLines {
			continue
		}
		_, _ = c.lines.WriteString(part + "\n") // it is for people; the outcome does not depend on it
	}
}

// Leave renames the outcome into place.
func (c *Claim) Leave(o Outcome) error {
	b, err := json.Marshal(o)
	if err != nil {
		return err
	}
	tmp := filepath.Join(c.Dir, "outcome.tmp")
	f, err := os.OpenFile(tmp, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	if _, err := f.Write(b); err != nil {
		_ = f.Close()
		return err
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Rename(tmp, filepath.Join(c.Dir, outcomeFile)); err != nil {
		return err
	}
	_ = syncDir(c.Dir) // lost with the power it is unknown, which is careful
	return nil
}

// Close gives the claim up; the directory stays as the record of the act.
func (c *Claim) Close() error {
	var err error
	if c.lines != nil {
		err = c.lines.Close()
	}
	return errors.Join(err, c.lock.Close())
}

// Carried says whether an executor holds the act of dir, and its process. It holds
// the slot for a moment before that becomes the claim; in this order neither is
// missed.
func Carried(dir string) (pid int, held bool, err error) {
	held, err = locked(filepath.Join(dir, SlotFile))
	if held || !errors.Is(err, fs.ErrNotExist) {
		return 0, held, err
	}
	name := filepath.Join(dir, File)
	if held, err = locked(name); !held {
		return 0, false, err
	}
	b, err := os.ReadFile(name)
	if err != nil {
		return 0, true, err
	}
	pid, err = strconv.Atoi(strings.TrimSpace(string(b)))
	return pid, true, err
}

// locked reports whether another holds a file locked.
func locked(name string) (bool, error) {
	l := flock.New(name, flock.SetFlag(os.O_RDONLY))
	free, err := l.TryRLock()
	if err != nil || !free {
		return err == nil, err
	}
	return false, l.Close()
}

// Outcome is what the executor leaves behind for the session, or for the one
// after it.
type Outcome struct {
	End   triage.ActEnd   `json:"end"`
	Owes  []steps.Debt    `json:"owes"`
	Blobs []evidence.Blob `json:"blobs,omitempty"` // in the bundle beside
}

// ReadOutcome reads what an executor left; fs.ErrNotExist says that it left nothing.
func ReadOutcome(dir string) (Outcome, error) {
	var o Outcome
	b, err := os.ReadFile(filepath.Join(dir, outcomeFile))
	if err != nil {
		return o, err
	}
	return o, json.Unmarshal(b, &o)
}
