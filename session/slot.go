package session

import (
	"cmp"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"handrail/session/claim"
	"handrail/triage"
)

// makeSlot makes the slot of an act that is about to be recorded, durable up to
// the directory that holds all acts.
func (s *Session) makeSlot() (*triage.Slot, error) {
	var b [claim.NonceSize]byte
	if _, err := io.ReadFull(s.cfg.Rand, b[:]); err != nil {
		return nil, fmt.Errorf("naming the slot of the act: %w", err)
	}
	m := s.machine()
	slot := triage.Slot{Nonce: hex.EncodeToString(b[:]), Host: m.Host, Boot: m.Boot, Machine: m.ID}
	if m.Up > 0 {
		slot.Up = m.Up.String()
	}
	dir := claim.SlotDir(s.cfg.Acts, s.state.Incident, &slot, 0)
	file, err := claim.NewSlot(dir, slot.Nonce)
	if err != nil {
		return nil, fmt.Errorf("making the slot of the act: %w", err)
	}
	slot.File = file
	if err := claim.SyncUp(dir, filepath.Dir(s.cfg.Acts)); err != nil {
		return nil, fmt.Errorf("making the slot of the act durable: %w", err)
	}
	return &slot, nil
}

// dropSlot removes a slot that no entry tells of.
func (s *Session) dropSlot(slot *triage.Slot) {
	_ = os.RemoveAll(claim.SlotDir(s.cfg.Acts, s.state.Incident, slot, 0)) // what stays proves nothing, since nothing names it
}

// unproven says why it is not proven that an act did not begin, "" where its very
// slot is still unclaimed on the machine where it was made. A copy of a slot, one
// of another place or machine, and none at all prove nothing: the act may have
// been claimed elsewhere.
func (s *Session) unproven(dir string, slot *triage.Slot) string {
	if slot == nil || !claim.IsNonce(slot.Nonce) || slot.File == "" {
		return "its journal does not say where it was claimed"
	}
	if why := s.machine().ApartFrom(*slot); why != "" {
		return why
	}
	file, err := claim.FileID(filepath.Join(dir, claim.SlotFile))
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
	dir := claim.SlotDir(s.cfg.Acts, s.state.Incident, gate.Slot, gate.StartSeq)
	if pid, held, _ := claim.Carried(dir); held {
		return fmt.Sprintf("process %d is still carrying it out", pid)
	}
	apart := s.machine().ApartFrom(*gate.Slot)
	claimed, err := claim.FileID(filepath.Join(dir, claim.File))
	if err == nil && apart == "" && claim.Inode(claimed) == claim.Inode(gate.Slot.File) {
		return "" // it is held no more
	}
	st, _ := s.state.Step(gate.Step)
	until := st.Started.Add(beginsWithin + clocksApart)
	if now := s.cfg.Now(); now.Before(until) && now.After(st.Started.Add(-beginsWithin)) {
		lack := cmp.Or(s.unproven(dir, gate.Slot), "its executor may still be running")
		return lack + ", so it may still begin until " + until.UTC().Format(time.TimeOnly+"Z")
	}
	return ""
}

// machine is where this session runs now.
func (s *Session) machine() claim.Machine {
	if s.cfg.Machine == nil {
		return claim.Machine{}
	}
	return s.cfg.Machine()
}
