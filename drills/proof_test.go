package drills

import (
	"testing"
	"time"

	"handrail/drills/lab"
	"handrail/triage"
)

// TestProve wants a write without its act to be found, whatever hides it.
func TestProve(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 1, 2, 14, 0, 0, time.UTC)
	done := act{step: "state-lock/unlock", start: at, end: at.Add(time.Second),
		target: []triage.KV{{Key: "lock object", Value: "drill-a/lock-x"}}}
	write := lab.AuditEvent{Verb: "update", Resource: "leases", Namespace: "drill-a", Name: "lock-x", Code: 200, Received: at.Add(time.Millisecond)}
	for _, tc := range []struct {
		name   string
		change func(e *lab.AuditEvent)
		writes int
		ok     bool
	}{
		{"named", func(*lab.AuditEvent) {}, 1, true},
		{"another object", func(e *lab.AuditEvent) { e.Name = "lock-y" }, 1, false},
		{"another namespace", func(e *lab.AuditEvent) { e.Namespace = "drill-b" }, 1, false},
		{"before the act", func(e *lab.AuditEvent) { e.Received = at.Add(-time.Minute) }, 1, false},
		{"after the act", func(e *lab.AuditEvent) { e.Received = at.Add(time.Minute) }, 1, false},
		{"a review", func(e *lab.AuditEvent) { e.Group = "authorization.k8s.io" }, 0, true},
		{"refused by the server", func(e *lab.AuditEvent) { e.Code = 403 }, 0, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			e := write
			tc.change(&e)
			p := prove([]lab.AuditEvent{e}, []act{done})
			if p.OK != tc.ok || len(p.Writes) != tc.writes {
				t.Errorf("prove() = %+v, want OK %v and %d writes", p, tc.ok, tc.writes)
			}
			if p.OK == (len(p.Unnamed()) > 0) {
				t.Errorf("OK %v with unnamed %+v", p.OK, p.Unnamed())
			}
		})
	}
}
