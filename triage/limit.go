package triage

import (
	"bytes"
	"errors"
	"fmt"
)

// What a reader folds of a journal that it did not write. An incident of a week
// stays far below; a journal that was made to fill the memory does not.
const (
	limitEntries = 1_000_000
	limitBytes   = 256 << 20
	limitMembers = 6_000_000   // values in all payloads: a small one grows fiftyfold when it is read
	limitParts   = 10_000      // steps, people, debts, waivers and gates of a state
	limitWork    = 200_000_000 // parts, summed over the entries: an event may look at each
)

// ErrTooLong says that a journal is longer than what is folded of one.
var ErrTooLong = errors.New("the journal is too long")

// Limit bounds the fold of a journal from elsewhere. The zero value has taken
// nothing yet.
type Limit struct{ entries, bytes, members, work int64 }

// Take accounts for the payload of the entry that comes next, before it is
// decoded, and for the state that it is folded onto. An error wraps ErrTooLong,
// and nothing more may be folded.
func (l *Limit) Take(data []byte, s State) error {
	parts := s.parts()
	l.entries++
	l.bytes += int64(len(data))
	l.members += int64(bytes.Count(data, []byte{','})) + 1
	l.work += parts
	switch {
	case l.entries > limitEntries:
		return fmt.Errorf("%w: over %d entries", ErrTooLong, limitEntries)
	case l.bytes > limitBytes:
		return fmt.Errorf("%w: over %d MiB", ErrTooLong, limitBytes>>20)
	case l.members > limitMembers:
		return fmt.Errorf("%w: over %d values in its entries", ErrTooLong, limitMembers)
	case parts > limitParts:
		return fmt.Errorf("%w: over %d steps, people, debts and waivers", ErrTooLong, limitParts)
	case l.work > limitWork:
		return fmt.Errorf("%w: too many entries for its %d steps, people, debts and waivers", ErrTooLong, parts)
	}
	return nil
}

func (s *State) parts() int64 {
	n := len(s.Steps) + len(s.People) + len(s.Debts) + len(s.Waivers) + len(s.Hands) + len(s.Answered) + len(s.Gates) + len(s.Past) + len(s.Plans)
	for _, p := range s.Plans {
		n += len(p.Steps)
	}
	return int64(n)
}
