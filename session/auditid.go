package session

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"sync"

	"handrail/steps"
)

// namedAudits bounds how many Audit-IDs one entry names.
const namedAudits = 5000

// AuditID names one request to an API server so that the server's own audit log
// can be held against the bundle: a UUID (version 8) of the bundle, the step,
// the newest entry when the step began to ask, and how many requests it had made.
// It can be computed again from the journal.
func AuditID(bundle, step string, seq int64, n int) string {
	b := sha256.Sum256(fmt.Appendf(nil, "handrail audit-id v1\n%s\n%s\n%d\n%d\n", bundle, step, seq, n))
	b[6], b[8] = b[6]&0x0f|0x80, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:16])
}

// asks hands out the Audit-IDs of one run of a step and remembers them. Steps
// ask from several goroutines.
type asks struct {
	bundle, step string
	seq          int64
	count        *counter

	mu    sync.Mutex
	named []string
	more  int
}

// counter goes on where the run before stopped that began at the same entry, so
// that no two requests have one name.
type counter struct {
	mu sync.Mutex
	n  int
}

func (c *counter) next() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.n++
	return c.n
}

// asking begins a run of a step; the owner calls it.
func (s *Session) asking(step string) *asks {
	key := fmt.Sprintf("%d %s", s.state.Seq, step)
	if s.counters == nil {
		s.counters = map[string]*counter{}
	}
	if s.counters[key] == nil {
		s.counters[key] = &counter{}
	}
	return &asks{bundle: s.bundle.ID(), step: step, seq: s.state.Seq, count: s.counters[key]}
}

func (a *asks) next() string {
	id := AuditID(a.bundle, a.step, a.seq, a.count.next())
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.named) < namedAudits {
		a.named = append(a.named, id)
	} else {
		a.more++
	}
	return id
}

// env is the environment in which the step asks.
func (a *asks) env(e steps.Env) steps.Env {
	e.Audit = a.next
	return e
}

// ids are the Audit-IDs handed out so far; nil where the step asked no server.
func (a *asks) ids() []string {
	if a == nil {
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.named)
}

// named are the Audit-IDs of a gate that no entry names yet; the entry that is
// about to be recorded does.
func (s *Session) named(gate string) []string {
	a := s.asked[gate]
	delete(s.asked, gate)
	return a.ids()
}

// gap says that the entry does not name every request.
func (a *asks) gap() []string {
	if a == nil {
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.more == 0 {
		return nil
	}
	return []string{fmt.Sprintf("the Audit-IDs of %d further requests are not named here", a.more)}
}
