package session

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"handrail/evidence"
	"handrail/session/journal"
)

// Seal ends the journal of a bundle that is not open with a seal. Sealing a
// bundle twice gives the same seal.
func Seal(ctx context.Context, c Config, path string) (_ evidence.Seal, err error) {
	b, err := evidence.Open(path, c.evidence())
	if err != nil {
		return evidence.Seal{}, fmt.Errorf("sealing %s: %w", filepath.Base(path), err)
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	// Read once it is locked and mended: nothing can come between this and the seal.
	st, err := journal.LoadState(path)
	if err != nil {
		return evidence.Seal{}, fmt.Errorf("sealing %s: %w", filepath.Base(path), err)
	}
	return b.Seal(ctx, c.Actor.ID, journal.Skipped(st))
}

// Seal seals the incident as it is. What is recorded after it reopens the
// bundle; the seal stays good for what it covers.
func (s *Session) Seal(ctx context.Context) (sealed evidence.Seal, err error) {
	err = s.call(ctx, func() error {
		if s.dead != nil {
			return s.dead
		}
		if sealed, err = s.bundle.Seal(s.ctxForDisk(), s.actor, journal.Skipped(s.state)); err != nil {
			return err
		}
		s.due, s.sealed = "the bundle is sealed", true
		s.touch()
		return nil
	})
	return sealed, err
}

// Anchored records that the person at the keyboard posted a line, and where. The
// line may be an earlier one than that of the present snapshot.
func (s *Session) Anchored(ctx context.Context, line, where string) error {
	return s.call(ctx, func() error {
		if s.dead != nil {
			return s.dead
		}
		c, err := evidence.ParseAnchor(line)
		if err != nil {
			return err
		}
		e, err := s.bundle.RecordAnchor(s.ctxForDisk(), s.actor, c, where)
		if errors.Is(err, evidence.ErrDead) {
			return s.die(err)
		}
		if err != nil {
			return err
		}
		if err := s.fold(e); err != nil {
			return s.die(err)
		}
		s.touch()
		return nil
	})
}

// anchorDue says why the line should be posted after an entry: at the open and
// around each gate, so that a later rewrite is bounded by what others saw.
func anchorDue(due string, e evidence.Entry) string {
	switch e.Type {
	case "open":
		return "the incident is open"
	case "gate.shown":
		return "gate " + e.Step + " was armed"
	case "act.end":
		return "the act of " + e.Step + " ended"
	case "seal":
		return "the bundle is sealed"
	case "checkpoint":
		return ""
	}
	return due
}
