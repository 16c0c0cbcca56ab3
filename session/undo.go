package session

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"handrail/evidence/escrow"
	"handrail/steps"
	"handrail/triage"
)

// undoRole names the artifact that a gate is undone from.
const undoRole = "undo"

// priorCopy is what one gate would be undone from, and how it is kept.
type priorCopy struct {
	raw  []byte
	back string
	blob string   // the artifact
	to   []string // who may read the encrypted copy; empty where the artifact says all
}

// copyOf keeps the redacted copy of what p would be undone from, and says in p
// how to undo it, or that it could not be undone.
func (s *Session) copyOf(p *steps.Preview, k *sink) (*priorCopy, error) {
	if p.Prior == nil {
		return nil, nil
	}
	c := &priorCopy{raw: p.Prior.Raw, back: p.Prior.Back}
	if gap := steps.Keep(k, undoRole, p.Prior.Media, func(w io.Writer) error { _, err := w.Write(c.raw); return err }); gap != "" {
		return nil, fmt.Errorf("%s; nothing is changed without an undo copy", gap)
	}
	c.blob = k.newest(undoRole)
	if !s.bundle.Alters(p.Prior.Media, c.raw) {
		p.Undo = join(p.Undo, "From the copy in the evidence: "+c.fromBlob(s.path))
		return c, nil
	}
	to, err := s.recipients()
	switch {
	case p.Prior.Optional && (err != nil || len(to) == 0):
		p.Undo = join(p.Undo, "No copy is kept: it holds secrets, and no age recipient is configured to read it.")
		p.Prior = nil
		return nil, nil
	case err != nil:
		p.Unmet = append(p.Unmet, steps.Need{Why: "undo cannot be kept: " + err.Error(), Cure: "fix the list of age recipients, then preview it again"})
	case len(to) == 0:
		p.Unmet = append(p.Unmet, steps.Need{
			Why:  "undo cannot be kept: the target holds secrets, and no age recipient is configured to read its copy",
			Cure: s.cfg.recipientCure() + ", then preview again",
		})
	default:
		c.to = to
		p.Undo = join(p.Undo, fmt.Sprintf("From the copy that is encrypted before the act, into %s: age -d -i KEY FILE | %s", s.cfg.Undo, c.back))
	}
	return c, nil
}

func (s *Session) recipients() ([]string, error) {
	if s.cfg.UndoTo == nil || s.cfg.Undo == "" {
		return nil, nil
	}
	to, err := s.cfg.UndoTo()
	if err == nil && len(to) > 0 {
		err = escrow.CheckRecipients(to)
	}
	return to, err
}

func (c Config) recipientCure() string {
	if c.UndoHelp != "" {
		return c.UndoHelp
	}
	return "name a recipient"
}

func (c *priorCopy) fromBlob(bundle string) string {
	return c.back + " < " + steps.Quote(filepath.Join(bundle, "blobs", "sha256", c.blob[:2], c.blob))
}

// keep makes the copy durable before the act begins. Nothing of it reaches the
// disk in clear.
func (s *Session) keep(c *priorCopy) (*triage.Kept, error) {
	if c == nil {
		return nil, nil
	}
	if len(c.to) == 0 {
		return &triage.Kept{Blob: c.blob, Command: c.fromBlob(s.path)}, nil
	}
	u, err := escrow.WriteUndo(s.cfg.Undo, c.to, bytes.NewReader(c.raw))
	if err != nil {
		return nil, err
	}
	return &triage.Kept{
		Blob: c.blob, Path: u.Path, SHA256: u.SHA256, Bytes: u.Bytes, Recipients: u.Recipients,
		Command: "age -d -i KEY " + steps.Quote(u.Path) + " | " + c.back,
	}, nil
}

// sumHex identifies what was copied, "" where there was nothing.
func (c *priorCopy) sumHex() string {
	if c == nil {
		return ""
	}
	sum := sha256.Sum256(c.raw)
	return hex.EncodeToString(sum[:])
}

// sumOf is the same of what a preview would be undone from.
func sumOf(p steps.Preview) (sum [sha256.Size]byte) {
	if p.Prior != nil {
		sum = sha256.Sum256(p.Prior.Raw)
	}
	return sum
}

func join(a, b string) string { return strings.TrimSpace(strings.TrimSpace(a) + " " + b) }
