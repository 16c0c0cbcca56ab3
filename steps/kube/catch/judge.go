package catch

import (
	"slices"
	"time"

	"handrail/steps/kube/blame"
)

// verdict is what the writes of a window come to. A pointer is nil where
// it is not known.
type verdict struct {
	writes    int
	reverts   *bool
	writer    string // of what was reverted, or of most writes; "" for none
	tick      time.Duration
	ticks     int // gaps that the tick stands on
	recreated bool
	derived   bool
	settled   bool
	hole      bool
	scale     bool // the writer came through the scale subresource
	status    int  // writes of the status alone
	again     int  // writes by who holds the field, which left its value as it was
	gone      bool // the object is not there at the end
}

// judge weighs the writes of a window.
func (c *writeTracker) judge() verdict {
	all := c.touching()
	v := verdict{writes: len(all), recreated: len(c.uids) > 1, hole: len(c.holes) > 0, gone: c.last.absent && !c.first.absent}
	for _, w := range c.writes {
		if w.status {
			v.status++
		}
		if w.again {
			v.again++
		}
	}
	v.settled = v.writes == 0 && v.again == 0
	reverting := c.reverting(all)
	switch yes, no := true, false; {
	case len(reverting) > 0:
		v.reverts = &yes
	case v.writes > 0 && v.again == 0 && !c.secret && len(c.path) > 0:
		v.reverts = &no // a value that nothing changed could not be put back
	}
	v.writer = most(reverting)
	if v.writer == "" {
		v.writer = most(slices.DeleteFunc(slices.Clone(all), func(w write) bool { return w.by.ByPerson() }))
	}
	if v.writer == "" {
		v.writer = most(all)
	}
	var gaps []time.Duration
	var before *write
	for _, w := range all {
		if w.who() != v.writer || v.writer == "" {
			continue
		}
		v.scale = v.scale || w.by.Subresource == "scale"
		if before != nil {
			gaps = append(gaps, w.at.Sub(before.at))
			v.derived = v.derived || !w.by.ByPerson() && w.at.Sub(before.at) <= blame.Fresh
		}
		before = &w
	}
	if v.ticks = len(gaps); v.ticks > 0 {
		slices.Sort(gaps)
		v.tick = gaps[len(gaps)/2]
	}
	return v
}

// reverting are the writes that put back a value that the field had before, or
// that took a field from another writer without being a person's.
func (c *writeTracker) reverting(all []write) []write {
	var out []write
	had := map[int]bool{c.base: c.base >= 0}
	owner, owned := c.ownerAtFirst()
	for i, w := range all {
		switch {
		case w.gone:
		case w.value >= 0 && had[w.value]:
			out = append(out, w)
		case i == 0 && w.known && !w.by.ByPerson() && owned && !owner.Same(w.by) && len(c.path) > 0:
			out = append(out, w)
		}
		if w.value >= 0 {
			had[w.value] = true
		}
	}
	return out
}

// ownerAtFirst is who held the field when the window began.
func (c *writeTracker) ownerAtFirst() (blame.Entry, bool) {
	if c.first.absent || len(c.path) == 0 {
		return blame.Entry{}, false
	}
	pl, err := c.path.In(c.first.Object.Object)
	if err != nil {
		return blame.Entry{}, false
	}
	entries, _ := blame.Entries(c.first.Object)
	for _, e := range entries {
		if pl.Held(e.Fields).Any() {
			return e, true
		}
	}
	return blame.Entry{}, false
}

// most is the writer of most of the writes whose author is known.
func most(all []write) string {
	n := map[string]int{}
	best := ""
	for _, w := range all {
		if who := w.who(); who != "" {
			if n[who]++; n[who] > n[best] {
				best = who
			}
		}
	}
	return best
}
