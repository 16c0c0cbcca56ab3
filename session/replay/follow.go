package replay

import (
	"fmt"
	"maps"

	"handrail/evidence"
	"handrail/runbooks"
	"handrail/session/view"
)

// follow is the open end of a journal that another process writes.
type follow struct {
	reader  *evidence.Reader
	journal *evidence.Follower
}

// Follow opens an incident that another handrail has, to look on: a replay whose
// tape grows as the journal does, placed at its newest entry. It locks nothing
// and can act on nothing. Close it.
func Follow(path string, c Config) (*Tape, error) {
	r, err := evidence.OpenReadOnly(path)
	if err != nil {
		return nil, err
	}
	p := &Tape{path: path, cfg: c, books: map[string]*runbooks.Runbook{}, blobs: map[int64][]view.BlobRef{}, changed: make(chan struct{}),
		live: &follow{reader: r, journal: r.Follow()}}
	p.Grow()
	if len(p.tape) == 0 {
		err := fmt.Errorf("following %s: nothing can be read: %s", path, p.ends)
		_ = r.Close() // only read from
		return nil, err
	}
	p.Go(len(p.tape) - 1)
	return p, nil
}

// Live reports whether the tape grows as the journal does.
func (p *Tape) Live() bool { return p.live != nil }

// Grow reads what was added to the journal since, and returns how many entries
// that were. What cannot be read is told by Ends, and tried again by the next
// call: a writer that starts again mends its journal.
func (p *Tape) Grow() int {
	if p.live == nil {
		return 0
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	n := 0
	err := p.live.journal.More(func(e evidence.Entry) error {
		if n == 0 {
			p.blobs = maps.Clone(p.blobs) // a snapshot that was given out holds the other one
		}
		if err := p.read(p.live.reader, e); err != nil {
			return err
		}
		n++
		return nil
	})
	p.ends = ""
	if err != nil {
		p.ends = err.Error()
	}
	return n
}
