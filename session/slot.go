package session

import (
	"cmp"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"handrail/triage"
)

// slotFile is the slot of an act until it is claimed; the claim renames
// it to claimFile.
const slotFile = "slot"

// slotDir is the directory of an act. It is named by the nonce of its slot; an act
// of a journal that has none is found by its entry, as it was then.
func slotDir(acts, incident string, slot *triage.Slot, seq int64) string {
	if slot != nil && isNonce(slot.Nonce) { // a journal may not choose another place
		return filepath.Join(acts, incident, slot.Nonce)
	}
	return filepath.Join(acts, incident, strconv.FormatInt(seq, 10))
}

// nonceSize is that of a nonce in bytes.
const nonceSize = 16

func isNonce(s string) bool {
	b, err := hex.DecodeString(s)
	return err == nil && len(b) == nonceSize && s == hex.EncodeToString(b)
}

// makeSlot makes the slot of an act that is about to be recorded, durable up to
// the directory that holds all acts.
func (s *Session) makeSlot() (*triage.Slot, error) {
	var b [nonceSize]byte
	if _, err := io.ReadFull(s.cfg.Rand, b[:]); err != nil {
		return nil, fmt.Errorf("naming the slot of the act: %w", err)
	}
	m := s.machine()
	slot := triage.Slot{Nonce: hex.EncodeToString(b[:]), Host: m.Host, Boot: m.Boot, Machine: m.ID}
	if m.Up > 0 {
		slot.Up = m.Up.String()
	}
	dir := slotDir(s.cfg.Acts, s.state.Incident, &slot, 0)
	file, err := newSlot(dir, slot.Nonce)
	if err != nil {
		return nil, fmt.Errorf("making the slot of the act: %w", err)
	}
	slot.File = file
	if err := syncUp(dir, filepath.Dir(s.cfg.Acts)); err != nil {
		return nil, fmt.Errorf("making the slot of the act durable: %w", err)
	}
	return &slot, nil
}

// newSlot makes a directory with an unclaimed slot in it, and says which file the slot is.
func newSlot(dir, nonce string) (file string, err error) {
	if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
		return "", err
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		return "", err
	}
	f, err := os.OpenFile(filepath.Join(dir, slotFile), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if _, err := f.WriteString(nonce + "\n"); err != nil {
		return "", err
	}
	if err := f.Sync(); err != nil {
		return "", err
	}
	return fileID(f.Name())
}

// dropSlot removes a slot that no entry tells of.
func (s *Session) dropSlot(slot *triage.Slot) {
	_ = os.RemoveAll(slotDir(s.cfg.Acts, s.state.Incident, slot, 0)) // what stays proves nothing, since nothing names it
}

// unproven says why it is not proven that an act did not begin, "" where its very
// slot is still unclaimed on the machine where it was made. A copy of a slot, one
// of another place or machine, and none at all prove nothing: the act may have
// been claimed elsewhere.
func (s *Session) unproven(dir string, slot *triage.Slot) string {
	if slot == nil || !isNonce(slot.Nonce) || slot.File == "" {
		return "its journal does not say where it was claimed"
	}
	if why := s.machine().apartFrom(*slot); why != "" {
		return why
	}
	file, err := fileID(filepath.Join(dir, slotFile))
	switch {
	case err != nil:
		return "its slot is not here, in " + s.cfg.Acts
	case file != slot.File:
		return "the slot that is here is a copy, in " + s.cfg.Acts
	}
	return ""
}

// stillToCome says why an act whose outcome is unknown may still begin or go on,
// "" once it cannot: its claim was left here by an executor that ended, or the time
// within which one may begin is over.
func (s *Session) stillToCome(gate triage.GateState) string {
	if gate.Slot == nil {
		return "" // of before there were slots: nothing more can be told
	}
	dir := slotDir(s.cfg.Acts, s.state.Incident, gate.Slot, gate.StartSeq)
	if pid, held, _ := carried(dir); held {
		return fmt.Sprintf("it is still carried out, by process %d", pid)
	}
	apart := s.machine().apartFrom(*gate.Slot)
	claimed, err := fileID(filepath.Join(dir, claimFile))
	if err == nil && apart == "" && inode(claimed) == inode(gate.Slot.File) {
		return "" // it is held no more
	}
	st, _ := s.state.Step(gate.Step)
	until := st.Started.Add(beginsWithin + clocksApart)
	if now := s.cfg.Now(); now.Before(until) && now.After(st.Started.Add(-beginsWithin)) {
		lack := cmp.Or(s.unproven(dir, gate.Slot), "its executor is not known to have ended")
		return lack + ", so it may still begin until " + until.UTC().Format(time.TimeOnly+"Z")
	}
	return ""
}

// inode is the part of the identity of a file that a new name leaves.
func inode(id string) string { return id[:max(0, strings.LastIndexByte(id, '-'))] }

// syncUp makes the names in a directory and in each one above it durable, up to
// and with the last.
func syncUp(dir, last string) error {
	for {
		if err := syncDir(dir); err != nil {
			return err
		}
		up := filepath.Dir(dir)
		if dir == last || up == dir {
			return nil
		}
		dir = up
	}
}
