package kube

import (
	"strings"
	"testing"

	"handrail/steps"
)

// TestStatusMoves: a controller that reports between the reading and the act does
// not shut a gate; anything else that moves does.
func TestStatusMoves(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, at, body, want string
	}{
		{"status", "/status", `{"status":{"lastScheduleTime":"2026-11-01T00:00:00Z"}}`, steps.Done},
		{"label", "", `{"metadata":{"labels":{"role":"protected"}}}`, steps.Refused},
		{"spec", "", `{"spec":{"schedule":"31 2 * * *"}}`, steps.Refused},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			in := changeIn("cronjob", "audit", s.born("batch", "cronjobs", cronJob("audit")))
			g := s.gate("kube/suspend")
			armed := s.preview(g, in)
			approval := s.confirm(s.preview(g, in), armed.Digest("i", "s"))
			s.must("PATCH", s.at("batch", "cronjobs", "audit")+c.at, "application/merge-patch+json", c.body)
			o, err := g.Act(t.Context(), approval, &scrap{})
			if err != nil || o.Result != c.want {
				t.Fatalf("Act() = %+v, %v, want %s", o, err, c.want)
			}
			wrote := 0
			for _, w := range s.writes() {
				if strings.HasSuffix(w.URI, "/audit") || strings.Contains(w.URI, "/audit?") {
					wrote++
				}
			}
			if want := map[string]int{steps.Done: 1}[c.want]; wrote != want {
				t.Errorf("%d writes of the operator, want %d", wrote, want)
			}
		})
	}
}

// TestStatusMovesDuringStrip: so it is of a finalizer, but for an object that is being deleted: there the status may tell
// that the clean-up runs.
func TestStatusMovesDuringStrip(t *testing.T) {
	t.Parallel()
	for deleted, want := range map[bool]string{false: steps.Done, true: steps.Refused} {
		s := newStage(t)
		uid := s.born("batch", "cronjobs", cronJob("audit"))
		at := s.at("batch", "cronjobs", "audit")
		s.must("PATCH", at, "application/merge-patch+json", `{"metadata":{"finalizers":["`+cleaner+`"]}}`)
		if deleted {
			s.must("DELETE", at, "application/json", "")
		}
		g, in := s.gate("kube/strip-finalizer"), s.stripParams("cronjob", "audit", uid)
		armed := s.preview(g, in)
		approval := s.confirm(s.preview(g, in), armed.Digest("i", "s"))
		s.must("PATCH", at+"/status", "application/merge-patch+json", `{"status":{"lastScheduleTime":"2026-11-01T00:00:00Z"}}`)
		if o, err := g.Act(t.Context(), approval, &scrap{}); err != nil || o.Result != want {
			t.Errorf("deleted %t: Act() = %+v, %v, want %s", deleted, o, err, want)
		}
	}
}
