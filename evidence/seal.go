package evidence

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"handrail/evidence/disk"
)

// Seal is a seal of a bundle.
type Seal struct {
	Checkpoint
	Number int    // counted from 1
	File   string // the checkpoint file inside the bundle
	Before bool   // it was there already, nothing was added since
	Key    string // what became of the redaction key: destroyed, escrowed, or "" when it was left
	Escrow string // where an escrowed one was put
}

func sealName(n int) string { return fmt.Sprintf("%06d.txt", n) }

// Seal ends the journal with a seal entry and writes its checkpoint. Where the journal ends with a seal already, that
// one is returned, and its checkpoint written should a crash have come between. skipped names the steps that were left
// out, which only the caller can know.
func (b *Bundle) Seal(ctx context.Context, actor string, skipped []string) (Seal, error) {
	if err := ctx.Err(); err != nil {
		return Seal{}, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := b.usable(); err != nil {
		return Seal{}, err
	}
	before := b.ledger.sealed()
	if !before {
		if err := b.preface("seal", actor); err != nil { // first, since the seal counts what it adds
			return Seal{}, err
		}
		if err := b.announceKey(actor); err != nil {
			return Seal{}, fmt.Errorf("sealing %q: %w", b.path, err)
		}
		data, err := b.ledger.sealing(skipped)
		if err != nil {
			return Seal{}, fmt.Errorf("sealing %q: %w", b.path, err)
		}
		if _, err := b.appendLocked(Draft{Type: "seal", Actor: actor, Data: data, derived: true}); err != nil {
			return Seal{}, fmt.Errorf("sealing %q: %w", b.path, err)
		}
	}
	if err := b.finishSeal(); err != nil {
		return Seal{}, err
	}
	if err := b.dropKey(); err != nil {
		return Seal{}, err
	}
	n := len(b.ledger.seals)
	s := Seal{Checkpoint: b.ledger.seals[n-1].Checkpoint, Number: n, File: "seals/" + sealName(n), Before: before, Key: b.ledger.keyGone}
	if s.Key == keyEscrowed {
		s.Escrow = filepath.Join(b.opts.Keys, escrowName(b.id, n))
	}
	return s, nil
}

// finishSeal writes the checkpoint of the last seal entry where it is missing: it follows from the journal, so a crash
// between the two loses nothing. One that says something else is left for Verify to show.
func (b *Bundle) finishSeal() error {
	n := len(b.ledger.seals)
	want := b.ledger.seals[n-1].Text()
	dir, name := filepath.Join(b.path, "seals"), sealName(n)
	got, err := disk.Read(b.fs, filepath.Join(dir, name), maxCheckpoint)
	if errors.Is(err, fs.ErrNotExist) {
		if err := disk.Write(b.fs, dir, name, want, 0o600); err != nil {
			return fmt.Errorf("the seal stands in the journal of %q, its checkpoint could not be written; seal it again once the disk works again: %w", b.path, err)
		}
		return nil
	}
	if err != nil {
		return fmt.Errorf("checkpoint %q: %w", name, err)
	}
	if string(got) != string(want) {
		return fmt.Errorf("%w: %q is not the checkpoint of its seal; it is left as it is, see bundle verify", ErrCorrupt, name)
	}
	return nil
}

// preface writes what must stand before the next entry: that a sealed bundle goes on, and with which redaction.
func (b *Bundle) preface(next, actor string) error {
	if b.ledger.sealed() {
		if err := b.finishSeal(); err != nil {
			return err
		}
		if err := b.dropKey(); err != nil {
			return err
		}
		if _, err := b.appendLocked(Draft{Type: "reopen", Actor: actor, Data: map[string]int{"seal": len(b.ledger.seals)}, derived: true}); err != nil {
			return fmt.Errorf("going on after the seal: %w", err)
		}
	}
	if b.ledger.entries == 0 { // nothing comes before entry 0
		return nil
	}
	if len(b.owed) > 0 {
		if _, err := b.appendLocked(Draft{Type: "env", Actor: "system", Data: b.owed}); err != nil {
			return fmt.Errorf("before %s: %w", next, err)
		}
		b.owed = nil
	}
	if err := b.storeKey(); err != nil {
		return err
	}
	if err := b.keepTold(); err != nil {
		return fmt.Errorf("before %s: %w", next, err)
	}
	if err := b.keepKnown(); err != nil {
		return fmt.Errorf("before %s: %w", next, err)
	}
	return nil
}

// Checkpoint is the checkpoint over all entries so far; its Line is what to post now.
func (b *Bundle) Checkpoint() Checkpoint {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.ledger.checkpoint(b.id)
}

// Sealed reports whether nothing follows the last seal.
func (b *Bundle) Sealed() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.ledger.sealed()
}
