package journal

import (
	"sync"

	"handrail/steps"
	"handrail/triage"
)

const (
	longFrom = 4 << 10
	longMost = 64 // values that are kept
)

// LongValues keeps what long values of the journal say: each condition of a
// runbook looks at all facts, and a list of addresses is read once, not each time.
// A value of the journal never changes, so its bytes stand for it.
type LongValues struct {
	mu sync.Mutex
	of map[*byte]steps.Value
}

// Loaded is [Loaded], done once for a long value.
func (l *LongValues) Loaded(v triage.Value) steps.Value {
	if l == nil || len(v.V) < longFrom || v.Unknown != "" {
		return Loaded(v)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	at := &v.V[0]
	if got, ok := l.of[at]; ok {
		return got
	}
	if len(l.of) >= longMost || l.of == nil {
		l.of = map[*byte]steps.Value{}
	}
	l.of[at] = Loaded(v)
	return l.of[at]
}
