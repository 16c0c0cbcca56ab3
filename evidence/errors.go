package evidence

import (
	"errors"
	"fmt"
	"syscall"
)

var (
	// ErrDead: an earlier write or sync failed; nothing more can be recorded through this Bundle. What was acknowledged is safe.
	ErrDead = errors.New("bundle can take no more entries")
	// ErrCorrupt: a line before the last one is wrong. A crash cannot do that; the bundle is tampered with or damaged.
	ErrCorrupt = errors.New("journal is damaged before its last line")
	// ErrUnknownEntry: a newer handrail wrote the bundle; it can be read and verified here, not continued.
	ErrUnknownEntry = errors.New("journal holds an entry type that this handrail does not know")
	// ErrEmpty: the bundle has no first entry, so nothing was ever acknowledged.
	ErrEmpty = errors.New("bundle has no entry")
	// ErrTooLarge: the entry is over MaxEntry, or its data over MaxData; its bulk belongs in a blob.
	ErrTooLarge = errors.New("entry is too long")

	errBadHash = errors.New("hash does not fit the line")
	errRemoved = errors.New("the journal is no longer where it was")
)

// LineError says which journal line is wrong and why.
type LineError struct {
	Segment string
	Seq     int64 // the sequence number that the line should have
	Offset  int64 // of its first byte in the segment
	Err     error
}

func (e *LineError) Error() string {
	return fmt.Sprintf("%s: entry %d at byte %d: %v", e.Segment, e.Seq, e.Offset, e.Err)
}

func (e *LineError) Unwrap() error { return e.Err }

// writeFailed explains a failed write to the operator; the caller marks the writer dead.
func writeFailed(path string, cause error) error {
	if errors.Is(cause, errRemoved) {
		return fmt.Errorf("%w: %q was removed, moved or replaced while it was being written: %w; what was acknowledged before went "+
			"with it, so put it back and resume, or continue in a new bundle", ErrDead, path, cause)
	}
	if errors.Is(cause, syscall.EROFS) {
		return fmt.Errorf("%w: the disk of %q is read-only now: %w; all that was acknowledged is kept, resume once it can be "+
			"written, or continue in a new bundle on another disk", ErrDead, path, cause)
	}
	if errors.Is(cause, syscall.ENOSPC) || errors.Is(cause, syscall.EDQUOT) {
		return fmt.Errorf("%w: no space left for %q; all that was acknowledged is kept, free space and resume, "+
			"or continue in a new bundle on another disk: %w", ErrDead, path, cause)
	}
	return fmt.Errorf("%w: writing %q: %w; all that was acknowledged is kept, resume once the disk works again, "+
		"or continue in a new bundle elsewhere", ErrDead, path, cause)
}
