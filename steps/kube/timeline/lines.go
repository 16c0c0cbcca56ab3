package timeline

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"handrail/steps"
)

const (
	// mostKept bounds the folded lines that are kept, the newest.
	mostKept = 4_000
	// mostTold bounds those of a fact.
	mostTold = 40
)

// The sources of lines.
const (
	ofGit     = "git"
	ofArgo    = "argocd"
	ofFlux    = "flux"
	ofHelm    = "helm"
	ofRollout = "rollout"
	ofObject  = "object"
	ofEvent   = "event"
)

// line is one change, or several that are alike.
type line struct {
	source, object, who, what string

	first, last time.Time
	times       int64
}

func (l line) String() string {
	out := fmt.Sprintf("%s  %s  %s  %s", l.last.UTC().Format(time.RFC3339), l.source, steps.Flat(l.object), steps.Flat(l.what))
	if l.who != "" {
		out += "  by " + steps.Flat(l.who)
	}
	if l.times > 1 {
		out += fmt.Sprintf("  (%d times", l.times)
		if !l.first.Equal(l.last) {
			out += " since " + l.first.UTC().Format(time.RFC3339)
		}
		out += ")"
	}
	return out
}

func (l line) key() string { return l.source + "\x00" + l.object + "\x00" + l.who + "\x00" + l.what }

// lines gathers changes of a window. It is safe for several readers at once.
type lines struct {
	since, until time.Time

	mu     sync.Mutex
	folded map[string]line
	count  int64 // before folding
	by     map[string]int64
	left   bool // some were too many
}

func newLines(since, until time.Time) *lines {
	return &lines{since: since, until: until, folded: map[string]line{}, by: map[string]int64{}}
}

// holds reports whether a time is in the window. A clock that is ahead by a little still counts.
func (l *lines) holds(at time.Time) bool {
	return !at.IsZero() && !at.Before(l.since) && !at.After(l.until.Add(10*time.Minute))
}

// add takes one change, seen so many times; one outside of the window is left.
func (l *lines) add(at time.Time, times int64, source, object, who, what string) {
	if !l.holds(at) {
		return
	}
	one := line{source: source, object: steps.Clip(object, 300), who: steps.Clip(who, 120), what: steps.OneLine(what, 300), first: at, last: at, times: max(times, 1)}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.count += one.times
	l.by[source] += one.times
	if had, is := l.folded[one.key()]; is {
		one.times += had.times
		one.first, one.last = earlier(one.first, had.first), later(one.last, had.last)
	}
	l.folded[one.key()] = one
	if len(l.folded) > 2*mostKept {
		l.trim()
	}
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// trim keeps the newest.
func (l *lines) trim() {
	if len(l.folded) <= mostKept {
		return
	}
	for _, old := range l.ordered()[mostKept:] {
		delete(l.folded, old.key())
	}
	l.left = true
}

// ordered are the lines, the newest first.
func (l *lines) ordered() []line {
	out := make([]line, 0, len(l.folded))
	for _, one := range l.folded {
		out = append(out, one)
	}
	slices.SortFunc(out, func(a, b line) int {
		return cmp.Or(b.last.Compare(a.last), strings.Compare(a.key(), b.key()))
	})
	return out
}
