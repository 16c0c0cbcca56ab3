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
