package drills

import (
	"slices"
	"testing"
	"time"

	"handrail/drills/lab"
	"handrail/triage"
)

// TestProve wants a write without its act to be found, whatever hides it.
func TestProve(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 1, 2, 14, 0, 0, time.UTC)
	// One act of tofu, which knows no Audit-ID, and one of our own.
	unlock := act{step: "state-lock/unlock", start: at, end: at.Add(time.Second), done: true,
		target: []triage.KV{{Key: "lock object", Value: "drill-a/lock-x"}}}
	strip := act{step: "stuck-finalizer/strip", start: at.Add(time.Minute), end: at.Add(61 * time.Second), done: true,
		target: []triage.KV{{Key: "object", Value: "job/drill-a/x"}}, audits: []string{"id-1"}}
	lock := lab.AuditEvent{Verb: "update", Resource: "leases", Namespace: "drill-a", Name: "lock-x", Code: 200, Received: at.Add(time.Millisecond)}
	job := lab.AuditEvent{ID: "id-1", Verb: "patch", Resource: "jobs", Namespace: "drill-a", Name: "x", Code: 200, Received: strip.start.Add(time.Millisecond)}
	for _, tc := range []struct {
		name   string
		change func(lock, job *lab.AuditEvent)
		want   Proof // but for the writes and OK
		named  int
		writes int
	}{
		{"named", func(_, _ *lab.AuditEvent) {}, Proof{}, 2, 2},
		{"another object", func(lock, _ *lab.AuditEvent) { lock.Name = "lock-y" }, Proof{Silent: []string{unlock.step}}, 1, 2},
		{"another namespace", func(lock, _ *lab.AuditEvent) { lock.Namespace = "drill-b" }, Proof{Silent: []string{unlock.step}}, 1, 2},
		{"an object whose name ends alike", func(_, job *lab.AuditEvent) { job.Namespace = "a" }, Proof{Silent: []string{strip.step}}, 1, 2},
		{"before any act", func(lock, _ *lab.AuditEvent) { lock.Received = at.Add(-time.Minute) }, Proof{Before: 1, Silent: []string{unlock.step}}, 1, 2},
		{"after the act", func(lock, _ *lab.AuditEvent) { lock.Received = at.Add(30 * time.Second) }, Proof{Silent: []string{unlock.step}}, 1, 2},
		{"another request than the act sent", func(_, job *lab.AuditEvent) { job.ID = "id-2" }, Proof{Silent: []string{strip.step}}, 1, 2},
		{"a rehearsal and nothing else", func(_, job *lab.AuditEvent) { job.URI = "/x?dryRun=All" }, Proof{Silent: []string{strip.step}}, 1, 1},
		{"a review", func(lock, _ *lab.AuditEvent) { lock.Group = "authorization.k8s.io" }, Proof{Silent: []string{unlock.step}}, 1, 1},
		{"refused by the server", func(_, job *lab.AuditEvent) { job.Code = 403 }, Proof{Silent: []string{strip.step}}, 1, 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			l, j := lock, job
			tc.change(&l, &j)
			p := prove([]lab.AuditEvent{l, j}, []act{unlock, strip})
			if p.Before != tc.want.Before || !slices.Equal(p.Silent, tc.want.Silent) || len(p.Writes) != tc.writes || len(p.Unnamed()) != tc.writes-tc.named {
				t.Errorf("prove() = %+v, want %+v with %d of %d writes named", p, tc.want, tc.named, tc.writes)
			}
			if whole := tc.named == 2; p.OK != whole || p.Acts != 2 {
				t.Errorf("prove() = OK %v for %d acts, want %v for 2", p.OK, p.Acts, whole)
			}
		})
	}
}
