package evidence

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/tlog"
)

// Checkpoint says what the first entries of a bundle were: it fits no other journal.
type Checkpoint struct {
	ID      string
	Entries int64
	Root    string // Merkle tree hash over those entries, base64
}

// AnchorWord begins the line of a checkpoint.
const AnchorWord = "handrail-seal"

const maxCheckpoint = 4096

// Text is the content of a checkpoint file, and what a signature covers.
func (c Checkpoint) Text() []byte {
	return fmt.Appendf(nil, "%s/%s\n%d\n%s\n", Format, c.ID, c.Entries, c.Root)
}

// Line is the checkpoint as one line to post where others can see it and its author cannot take it back. A bundle that
// was rewritten or cut behind it no longer fits.
func (c Checkpoint) Line() string {
	return fmt.Sprintf("%s %s %d %s", AnchorWord, c.ID, c.Entries, c.Root)
}

// parseCheckpoint reads a checkpoint file; it has one form only.
func parseCheckpoint(raw []byte) (Checkpoint, error) {
	lines := strings.Split(string(raw), "\n")
	if len(lines) != 4 || lines[3] != "" || !strings.HasPrefix(lines[0], Format+"/") {
		return Checkpoint{}, errors.New("not a checkpoint")
	}
	return newCheckpoint(strings.TrimPrefix(lines[0], Format+"/"), lines[1], lines[2])
}

// ParseAnchor reads a posted line. Blanks and back-ticks around it, as chats add them, are let pass.
func ParseAnchor(line string) (Checkpoint, error) {
	words := strings.Fields(strings.Trim(line, " \t\r\n`"))
	if len(words) != 4 || words[0] != AnchorWord {
		return Checkpoint{}, fmt.Errorf("%q is not a line like: %s BUNDLE ENTRIES ROOT", line, AnchorWord)
	}
	c, err := newCheckpoint(words[1], words[2], words[3])
	if err != nil {
		return c, fmt.Errorf("anchor: %w", err)
	}
	return c, nil
}

func newCheckpoint(id, entries, root string) (Checkpoint, error) {
	if !validID.MatchString(id) {
		return Checkpoint{}, fmt.Errorf("bundle id %q", id)
	}
	n, err := strconv.ParseInt(entries, 10, 64)
	if err != nil || n < 1 || strconv.FormatInt(n, 10) != entries {
		return Checkpoint{}, fmt.Errorf("number of entries %q", entries)
	}
	sum, err := base64.StdEncoding.DecodeString(root)
	// Several spellings decode to the same bytes; only one is the checkpoint's.
	if err != nil || len(sum) != tlog.HashSize || base64.StdEncoding.EncodeToString(sum) != root {
		return Checkpoint{}, fmt.Errorf("root %q", root)
	}
	return Checkpoint{ID: id, Entries: n, Root: root}, nil
}

func encodeRoot(h tlog.Hash) string { return base64.StdEncoding.EncodeToString(h[:]) }
