package catch

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"
	smd "sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"handrail/steps"
	"handrail/steps/kube/blame"
	"handrail/steps/kube/fieldpath"
)

// write is one write that was seen.
type write struct {
	at      time.Time // on arrival, by our clock
	by      blame.Entry
	known   bool // by was recorded
	changed bool // the field has another value, or another owner where its value is not read
	value   int  // which of the values that the field had, -1 where it is not known
	status  bool // of the status alone
	again   bool // by who holds the field, whose value stayed as it was
	gone    bool // the object was deleted
	uid     types.UID
}

// who names the writer as a fact does.
func (w write) who() string {
	if !w.known {
		return ""
	}
	return w.by.Manager
}

func (w write) String() string {
	if w.gone {
		return "deleted, with no recorded author"
	}
	if !w.known {
		return "author not recorded"
	}
	return w.by.String()
}

// writeTracker compares each state with the one before it.
type writeTracker struct {
	path   fieldpath.Path
	secret bool
	last   snapshot
	first  snapshot
	uids   []types.UID
	values []string // the values that the field had, in order of their first sight
	value  int      // of last
	base   int      // of first
	writes []write
	holes  []string
}

// start takes the state from which the others are counted.
func (c *writeTracker) start(m snapshot) {
	c.first, c.last = m, m
	if !m.absent {
		c.uids = append(c.uids, m.GetUID())
	}
	c.value = c.valueOf(m)
	c.base = c.value
}

// valueOf numbers the value of the field: the values themselves are kept out of
// all that is told. -1 where it is not read.
func (c *writeTracker) valueOf(m snapshot) int {
	if c.secret || len(c.path) == 0 {
		return -1
	}
	text := "absent"
	if !m.absent {
		pl, err := c.path.In(m.Object.Object)
		if err != nil {
			text = "unreadable: " + err.Error()
		} else if pl.Present {
			raw, _ := json.Marshal(pl.Value)
			text = "=" + string(raw)
		}
	}
	if i := slices.Index(c.values, text); i >= 0 {
		return i
	}
	c.values = append(c.values, text)
	return len(c.values) - 1
}

// see takes the next state.
func (c *writeTracker) see(m snapshot) {
	before := c.last
	c.last = m
	w := write{at: m.at, value: c.valueOf(m)}
	switch {
	case m.absent:
		if before.absent {
			return
		}
		w.gone, w.uid = true, m.GetUID()
		w.changed = true
	case before.absent, before.GetUID() != m.GetUID():
		w.uid = m.GetUID()
		if !slices.Contains(c.uids, w.uid) {
			c.uids = append(c.uids, w.uid)
		}
		entries, _ := blame.Entries(m.Object)
		if len(entries) > 0 {
			w.by, w.known = entries[0], true
		}
		w.changed = w.value != c.value || len(c.path) == 0 || c.secret
	case before.GetResourceVersion() == m.GetResourceVersion():
		return
	default:
		w.uid = m.GetUID()
		c.compare(before, m, &w)
	}
	c.value = w.value
	c.writes = append(c.writes, w)
}

// compare finds who made m of before.
func (c *writeTracker) compare(before, m snapshot, w *write) {
	was, _ := blame.Entries(before.Object)
	is, _ := blame.Entries(m.Object)
	var authors []blame.Entry
	for _, e := range is {
		i := slices.IndexFunc(was, e.Same)
		// An entry that only lost fields was written by another writer.
		if i < 0 || !e.At.Equal(was[i].At) || grew(was[i], e) {
			authors = append(authors, e)
		}
	}
	if len(authors) == 0 && len(is) > 0 && !is[0].At.IsZero() && m.at.Sub(before.at) < 2*time.Second && len(c.writes) > 0 {
		// Times are whole seconds: a second write within one leaves the same line.
		if last := c.writes[len(c.writes)-1]; last.known && is[0].Same(last.by) && (len(is) == 1 || is[1].At.Before(is[0].At)) {
			authors = is[:1]
		}
	}
	if len(authors) > 0 {
		w.by, w.known = authors[0], true
	}
	w.status = len(authors) > 0 && !slices.ContainsFunc(authors, func(e blame.Entry) bool { return !statusAlone(e, was) })
	switch {
	case len(c.path) == 0:
		w.changed = !w.status
	case c.secret:
		w.changed = c.tookOver(before, m, authors)
	default:
		w.changed = w.value != c.value
		w.again = !w.changed && !w.status && c.holds(m, authors)
	}
}

// holds reports whether one of the authors holds the field.
func (c *writeTracker) holds(m snapshot, authors []blame.Entry) bool {
	pl, err := c.path.In(m.Object.Object)
	return err == nil && slices.ContainsFunc(authors, func(e blame.Entry) bool { return pl.Held(e.Fields).Any() })
}

// grew reports whether an entry holds more than before. A map of which it has lost
// the last key is no gain, though it is written as one.
func grew(was, is blame.Entry) bool {
	if was.Fields == nil || is.Fields == nil {
		return false
	}
	more := false
	is.Fields.Difference(was.Fields).Iterate(func(p smd.Path) {
		below := was.Fields
		for _, pe := range p {
			below = below.WithPrefix(pe)
		}
		more = more || below.Empty()
	})
	return more
}

// statusAlone reports whether what an entry newly wrote lies below status: custom
// resources without a subresource are reported on like that.
func statusAlone(e blame.Entry, was []blame.Entry) bool {
	if e.Subresource == "status" {
		return true
	}
	if e.Fields == nil {
		return false
	}
	set := e.Fields
	if i := slices.IndexFunc(was, e.Same); i >= 0 && was[i].Fields != nil {
		if more := set.Difference(was[i].Fields); !more.Empty() {
			set = more
		}
	}
	only := true
	// Its iterator goes on when a loop over it is left early, and the loop then panics.
	set.Leaves().Iterate(func(p smd.Path) {
		only = only && len(p) > 0 && p[0].FieldName != nil && *p[0].FieldName == "status"
	})
	return only
}

// tookOver says whether a field whose value is not read was written: the writer that
// wrote holds it now.
func (c *writeTracker) tookOver(before, m snapshot, authors []blame.Entry) bool {
	now, err := c.path.In(m.Object.Object)
	if err != nil {
		return false
	}
	if c.holds(m, authors) {
		return true
	}
	held := func(of snapshot) bool {
		all, _ := blame.Entries(of.Object)
		return slices.ContainsFunc(all, func(e blame.Entry) bool { return now.Held(e.Fields).Any() })
	}
	return held(before) && !held(m)
}

// touching are the writes that changed what is watched.
func (c *writeTracker) touching() []write {
	return slices.DeleteFunc(slices.Clone(c.writes), func(w write) bool { return !w.changed })
}

// table tells each write in a line, the values of the field by letters.
func (c *writeTracker) table() string {
	var b strings.Builder
	fmt.Fprintln(&b, "SEEN\tWRITER\tFIELD")
	line := func(at time.Time, who, field string) {
		fmt.Fprintf(&b, "%s\t%s\t%s\n", at.UTC().Format("2006-01-02T15:04:05.000Z"), steps.Flat(who), field)
	}
	line(c.first.at, "as it was at first", letter(c.base))
	for _, w := range c.writes {
		field := letter(w.value)
		switch {
		case w.status:
			field = "status alone"
		case w.again:
			field = "the same value again"
		case !w.changed:
			field = "not changed"
		case w.gone:
			field = "gone"
		case field == "":
			field = "written"
		}
		line(w.at, w.String(), field)
	}
	for _, h := range c.holes {
		fmt.Fprintln(&b, "hole: "+steps.Flat(h))
	}
	return b.String()
}

// letter names a value without telling it.
func letter(n int) string {
	switch {
	case n < 0:
		return ""
	case n < 26:
		return "value " + string(rune('A'+n))
	}
	return fmt.Sprintf("value %d", n+1)
}
