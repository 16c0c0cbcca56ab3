package session

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"handrail/evidence"
	"handrail/session/journal"
	"handrail/triage"
)

// Anchor is the line that stands for the journal as it is now. Posted where the
// author of the bundle cannot change it, it proves later that nothing before it
// was changed or cut.
type Anchor struct {
	Line string
	Due  string // why it should be posted now, "" while it need not be
}

// Skipped names the steps of the plan in force that were left out, in the order
// of the loop: skipped on purpose, or never taken.
func Skipped(st triage.State) []string {
	var out []string
	for _, s := range st.Steps {
		if !s.Retired && (s.Status == triage.Skipped || s.Status == triage.Pending) {
			out = append(out, s.ID)
		}
	}
	return out
}

// Seal ends the journal of a bundle that nobody has open with a seal. Sealing a
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
	return b.Seal(ctx, c.Actor.ID, Skipped(st))
}

// Seal seals the incident as it is. What is recorded after it reopens the
// bundle; the seal stays good for what it covers.
func (s *Session) Seal(ctx context.Context) (sealed evidence.Seal, err error) {
	err = s.call(ctx, func() error {
		if s.dead != nil {
			return s.dead
		}
		if sealed, err = s.bundle.Seal(s.ctxForDisk(), s.actor, Skipped(s.state)); err != nil {
			return err
		}
		s.due, s.sealed = "the bundle is sealed", true
		s.redraw()
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
		s.publish()
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
		return "gate " + e.Step + " is armed"
	case "act.end":
		return "the act of " + e.Step + " ended"
	case "seal":
		return "the bundle is sealed"
	case "checkpoint":
		return ""
	}
	return due
}

// sealedRight holds the steps that a seal says were left out against the fold.
func (a *auditor) sealedRight(e evidence.Entry, before triage.State) {
	got, err := evidence.SkippedIn(e)
	if len(a.left) >= auditFaults {
		return
	}
	if err != nil {
		a.left = append(a.left, err.Error())
		return
	}
	a.seals++
	if want := Skipped(before); !slices.Equal(got, want) && len(got)+len(want) > 0 {
		a.left = append(a.left, fmt.Sprintf("entry %d: the seal says that %q were left out, the journal says %q", e.Seq, got, want))
	}
}
