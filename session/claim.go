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

// The directory of one act, acts/<incident>/<seq>, belongs to its executor, which
// alone writes there: the claim, which it holds locked while it lives, the lines
// that the act says, what it keeps, and in the end the outcome (DECISIONS S8).
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

func actDir(acts, incident string, seq int64) string {
	return filepath.Join(acts, incident, strconv.FormatInt(seq, 10))
}

// claim is the executor's hold on one act.
type claim struct {
	dir  string
	lock *flock.Flock

	mu    sync.Mutex
	lines *os.File
	said  int
	keys  LiveLog // only judges lines of private keys, which show by what stands around them
}

// claimAct makes the directory of an act, locked from its first moment, so that
// no act runs twice; errClaimed says that it is another's.
func claimAct(acts, incident string, seq int64) (*claim, error) {
	dir := actDir(acts, incident, seq)
	parent := filepath.Dir(dir)
	if err := os.MkdirAll(parent, 0o700); err != nil {
		return nil, err
	}
	made, err := os.MkdirTemp(parent, ".claim-")
	if err != nil {
		return nil, err
	}
	c := &claim{dir: dir, lock: flock.New(filepath.Join(made, claimFile), flock.SetFlag(os.O_CREATE|os.O_RDWR), flock.SetPermissions(0o600))}
	err = func() error {
		if ok, err := c.lock.TryLock(); err != nil || !ok {
			return fmt.Errorf("locking the claim of an act: %w", errors.Join(err, fs.ErrPermission))
		}
		if err := os.WriteFile(filepath.Join(made, claimFile), []byte(strconv.Itoa(os.Getpid())+"\n"), 0o600); err != nil {
			return err
		}
		var err error
		if c.lines, err = os.OpenFile(filepath.Join(made, linesFile), os.O_CREATE|os.O_EXCL|os.O_WRONLY|os.O_APPEND, 0o600); err != nil {
			return err
		}
		// A directory that is not empty is never replaced: this is the claim.
		if err := os.Rename(made, dir); err != nil {
			if _, there := os.Lstat(dir); there == nil {
				return errClaimed
			}
			return err
		}
		return nil
	}()
	if err != nil {
		return nil, errors.Join(err, c.Close(), os.RemoveAll(made))
	}
	return c, nil
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
	return os.Rename(tmp, filepath.Join(c.dir, outcomeFile))
}

// Close gives the claim up; the directory stays as the record of the act.
func (c *claim) Close() error {
	var err error
	if c.lines != nil {
		err = c.lines.Close()
	}
	return errors.Join(err, c.lock.Close())
}

// carried says whether an executor holds the claim of dir, and its process.
func carried(dir string) (pid int, held bool, err error) {
	name := filepath.Join(dir, claimFile)
	l := flock.New(name, flock.SetFlag(os.O_RDONLY))
	free, err := l.TryRLock()
	if err != nil {
		return 0, false, err
	}
	if free {
		return 0, false, l.Close()
	}
	b, err := os.ReadFile(name)
	if err != nil {
		return 0, true, err
	}
	pid, err = strconv.Atoi(strings.TrimSpace(string(b)))
	return pid, true, err
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
