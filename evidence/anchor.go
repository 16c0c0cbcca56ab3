package evidence

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// RecordAnchor records that a person posted the line of a checkpoint, and where. It refuses a line that the journal
// does not bear out, so that a slip in copying shows at once.
func (b *Bundle) RecordAnchor(ctx context.Context, actor string, c Checkpoint, where string) (Entry, error) {
	if strings.TrimSpace(where) == "" {
		return Entry{}, errors.New("an anchor needs the place where it was posted")
	}
	if err := b.bearsOut(c); err != nil {
		return Entry{}, err
	}
	if err := ctx.Err(); err != nil {
		return Entry{}, err
	}
	data := map[string]string{"line": c.Line(), "where": b.red.Text(where)}
	return b.append(Draft{Type: "checkpoint", Actor: actor, Data: data, derived: true})
}

func (b *Bundle) bearsOut(c Checkpoint) error {
	if now := b.Checkpoint(); c == now {
		return nil
	}
	r, err := OpenReadOnly(b.path)
	if err != nil {
		return err
	}
	defer r.Close()
	return r.Extends(c)
}

// Extends reports, by recomputing, whether the journal begins with the entries that a checkpoint stands for.
func (r *Reader) Extends(c Checkpoint) error {
	if c.ID != r.meta.ID {
		return fmt.Errorf("the line is of bundle %q, this one is %q", c.ID, r.meta.ID)
	}
	var tree ledger = newLedger()
	for e, err := range r.Entries() {
		if err != nil {
			break
		}
		tree.add(c.ID, &e)
		if e.Seq+1 == c.Entries {
			if tree.checkpoint(c.ID) != c {
				return fmt.Errorf("the first %d entries of %q are not those of the line", c.Entries, c.ID)
			}
			return nil
		}
	}
	return fmt.Errorf("the line covers %d entries of %q, only %d are there and good", c.Entries, c.ID, tree.entries)
}
