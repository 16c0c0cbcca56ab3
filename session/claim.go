package session

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
	"handrail/steps"
	"handrail/triage"
)

// The directory of one act, acts/<incident>/<nonce>: the session that orders the
// act makes it, with the slot, and from the claim on it belongs to the executor,
// which alone writes there: the claim, which it holds locked while it lives, the
// lines that the act says, what it keeps, and in the end the outcome (docs/decisions.md, Acts).
const (
	claimFile   = "claim"
	linesFile   = "lines"
	outcomeFile = "outcome.json"
)

// maxLines bounds the file of lines; what an act says beyond is not shown while
// it runs.
const maxLines = 16 << 20

// errClaimed: somebody carries the act out, or did.
var errClaimed = errors.New("the act was claimed before")

// claim is the executor's hold on one act.
type claim struct {
	dir  string
	lock *flock.Flock

	mu    sync.Mutex
	lines *os.File
	said  int
	keys  LiveLog // only judges lines of private keys, which show by what stands around them
}

// claimAct claims an act by taking its slot away, so that no act runs twice;
// errClaimed says that there is no slot to claim. The claim is locked from its
// first moment, and durable when claimAct returns: nothing is sent before.
func claimAct(acts, dir string) (*claim, error) {
	name := filepath.Join(dir, slotFile)
	c := &claim{dir: dir, lock: flock.New(name, flock.SetFlag(os.O_RDWR))} // it makes no slot
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
func (c *claim) take(slot, last string) error {
	held := filepath.Join(c.dir, claimFile)
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
	if c.lines, err = os.OpenFile(filepath.Join(c.dir, linesFile), os.O_CREATE|os.O_EXCL|os.O_WRONLY|os.O_APPEND, 0o600); err != nil {
		return err
	}
	return syncUp(c.dir, last)
}

// say appends a line, redacted already, for whoever follows.
func (c *claim) say(line string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for part := range strings.SplitSeq(strings.TrimSuffix(line, "\n"), "\n") {
		part, ok := c.keys.outside(part)
		if c.said += len(part) + 1; !ok || c.said > maxLines {
			continue
		}
		_, _ = c.lines.WriteString(part + "\n") // it is for people; the outcome does not depend on it
	}
}

// leave renames the outcome into place.
func (c *claim) leave(o outcome) error {
	b, err := json.Marshal(o)
	if err != nil {
		return err
	}
	tmp := filepath.Join(c.dir, "outcome.tmp")
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
	if err := os.Rename(tmp, filepath.Join(c.dir, outcomeFile)); err != nil {
		return err
	}
	_ = syncDir(c.dir) // lost with the power it is unknown, which is careful
	return nil
}

// Close gives the claim up; the directory stays as the record of the act.
func (c *claim) Close() error {
	var err error
	if c.lines != nil {
		err = c.lines.Close()
	}
	return errors.Join(err, c.lock.Close())
}

// carried says whether an executor holds the act of dir, and its process. It holds
// the slot for a moment before that becomes the claim; in this order neither is
// missed.
func carried(dir string) (pid int, held bool, err error) {
	held, err = locked(filepath.Join(dir, slotFile))
	if held || !errors.Is(err, fs.ErrNotExist) {
		return 0, held, err
	}
	name := filepath.Join(dir, claimFile)
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

// outcome is what the executor leaves behind for the session, or for the one
// after it.
type outcome struct {
	End   triage.ActEnd   `json:"end"`
	Owes  []steps.Debt    `json:"owes"`
	Blobs []evidence.Blob `json:"blobs,omitempty"` // in the bundle beside
}

func readOutcome(dir string) (outcome, error) {
	var o outcome
	b, err := os.ReadFile(filepath.Join(dir, outcomeFile))
	if err != nil {
		return o, err
	}
	return o, json.Unmarshal(b, &o)
}
