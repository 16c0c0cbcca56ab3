package session

import (
	"regexp"
	"slices"
	"sync"
	"testing"

	"handrail/steps"
	"handrail/triage"
)

func TestAuditIDIsAUUIDOfWhereItWasSent(t *testing.T) {
	t.Parallel()
	shape := regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)
	first := AuditID("b", "rb/lock", 7, 1)
	if !shape.MatchString(first) {
		t.Errorf("AuditID = %q, which is no UUID of version 8", first)
	}
	if first != AuditID("b", "rb/lock", 7, 1) {
		t.Error("AuditID differs between two computations of the same")
	}
	for _, other := range []string{AuditID("c", "rb/lock", 7, 1), AuditID("b", "rb/state", 7, 1), AuditID("b", "rb/lock", 8, 1), AuditID("b", "rb/lock", 7, 2)} {
		if other == first {
			t.Errorf("two requests have the Audit-ID %s", first)
		}
	}
}

func TestAsksNameEveryRequestOnce(t *testing.T) {
	t.Parallel()
	a := &asks{bundle: "b", step: "rb/lock", seq: 7, count: &counter{}}
	env := a.env(steps.Env{})
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 100 {
				env.Audit()
			}
		})
	}
	all.Wait()
	ids := slices.Sorted(slices.Values(a.ids()))
	if len(ids) != 800 || len(slices.Compact(ids)) != 800 {
		t.Errorf("800 requests have %d Audit-IDs, %d of them different", len(a.ids()), len(slices.Compact(ids)))
	}
	if a.gap() != nil {
		t.Errorf("gap = %q, want none", a.gap())
	}
	// A second run from the same entry goes on counting.
	b := &asks{bundle: "b", step: "rb/lock", seq: 7, count: a.count}
	if id := b.next(); slices.Contains(a.ids(), id) {
		t.Errorf("two requests have the Audit-ID %s", id)
	}
	for range namedAudits + 3 {
		b.next()
	}
	if len(b.ids()) != namedAudits || len(b.gap()) != 1 {
		t.Errorf("%d Audit-IDs are named and the gap is %q", len(b.ids()), b.gap())
	}
}

func TestNoRequestNamesNothing(t *testing.T) {
	t.Parallel()
	var none *asks
	if none.ids() != nil || none.gap() != nil {
		t.Error("a step without a request names requests")
	}
	end := triage.ProbeEnd{Audit: (&asks{}).ids()}
	if end.Audit != nil {
		t.Errorf("Audit = %q, want nil", end.Audit)
	}
}
