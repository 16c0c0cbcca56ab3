package session_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"handrail/evidence"
	"handrail/runbooks"
	"handrail/session"
	"handrail/session/audit"
	"handrail/session/replay"
	"handrail/session/report"
	"handrail/triage"
)

const sidesID = "test-lock/sides"

// comparing is a stage whose runbook compares, and whose gate stands on it.
func comparing(t *testing.T) (*stage, *session.Session) {
	t.Helper()
	st := newStage(t)
	src := strings.Replace(book, "compare:\n", `compare:
  - id: sides
    compare: What is wanted, beside what is there?
    rows:
      held: {desired: "answers.holder != 'dead'", actual: facts.lock.held}
      id: {recorded: "'l-1'", actual: facts.lock.id}
`, 1)
	src = strings.Replace(src, "    require:\n", "    require:\n      - {when: '!facts.sides.agree', else: nothing differs}\n", 1)
	rb, err := runbooks.Parse("test-lock.yaml", []byte(src), st.w)
	if err != nil {
		t.Fatal(err)
	}
	st.rb = rb
	return st, st.start(t)
}

// TestComparisonIsRecorded: what was compared stands in the journal with the
// entries that each side stands on, follows from them, and a replay shows it.
func TestComparisonIsRecorded(t *testing.T) {
	t.Parallel()
	st, s := comparing(t)
	compare := triage.Intent{Kind: triage.DoProbe, Step: sidesID}
	do(t, s, compare)
	step, _ := s.Snapshot().State.Step(sidesID)
	if n, _ := triage.Tally(step.Rows); n.Unknown != 2 || step.Facts["agree"].Known() || len(step.Gaps) != 3 {
		t.Errorf("before anything was read: %+v, %+v", step.Rows, step.Gaps)
	}
	ready(t, s)
	do(t, s, compare)
	state := s.Snapshot().State
	step, _ = state.Step(sidesID)
	lock, _ := state.Step("test-lock/lock")
	holder, _ := state.Step("test-lock/holder")
	if len(step.Rows) != 2 || step.Rows[0].Judge().Word != "actual is not as desired" || step.Rows[1].Judge().Word != "agree" {
		t.Fatalf("rows = %+v", step.Rows)
	}
	if a, b := step.Rows[0].Sides[0].From, step.Rows[0].Sides[1].From; !slices.Equal(a, []int64{holder.EndSeq}) || !slices.Equal(b, []int64{lock.EndSeq}) {
		t.Errorf("the sides stand on %v and %v, want the answer %d and the reading %d", a, b, holder.EndSeq, lock.EndSeq)
	}
	if want := "2 fields, 1 agree, 1 differ; held: actual is not as desired"; step.Summary != want {
		t.Errorf("summary = %q, want %q", step.Summary, want)
	}
	do(t, s, preview())
	if g := s.Snapshot().State.Gates[gateID]; g.Phase != triage.GateArmed {
		t.Fatalf("gate = %s, %s", g.Phase, g.Why)
	}
	path := s.Snapshot().Bundle
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if rep, err := audit.Bundle(path, st.w, audit.Verifier{}); err != nil || !rep.OK() {
		t.Errorf("audit.Bundle() = %+v, %v", rep.Lines, err)
	}
	if rep, err := evidence.Verify(path); err != nil || !rep.OK() {
		t.Errorf("Verify() = %+v, %v", rep.Lines, err)
	}
	tape, err := replay.Open(path, looking(st.cfg))
	if err != nil {
		t.Fatal(err)
	}
	_, last := tape.Place()
	tape.Go(last)
	again, _ := tape.Snapshot().State.Step(sidesID)
	if d := cmp.Diff(step.Rows, again.Rows); d != "" {
		t.Errorf("the replay shows another matrix (-recorded +replayed):\n%s", d)
	}
	page, err := os.ReadFile(filepath.Clean(report.Path(path)))
	if err != nil || !strings.Contains(string(page), "≠ actual is not as desired") {
		t.Errorf("the report has no matrix: %v", err)
	}
}

// TestComparisonDoesNotMakeNew: what is too old for a gate, or was read again, is
// not made new by a comparison.
func TestComparisonDoesNotMakeNew(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name    string
		between func(*testing.T, *stage, *session.Session) // after the comparison
		want    string
	}{
		{"read again", func(t *testing.T, _ *stage, s *session.Session) {
			do(t, s, triage.Intent{Kind: triage.DoProbe, Step: "test-lock/lock"})
		}, "were read again since"},
		{"old by its oldest side", func(t *testing.T, st *stage, _ *session.Session) { st.clk.forward(8 * time.Minute) }, "more than 15m"},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			st, s := comparing(t)
			ready(t, s)
			st.clk.forward(8 * time.Minute)
			do(t, s, triage.Intent{Kind: triage.DoProbe, Step: sidesID})
			tc.between(t, st, s)
			err := s.Do(t.Context(), preview())
			if err == nil || !strings.Contains(err.Error(), tc.want) || !strings.Contains(err.Error(), "facts.sides.agree") {
				t.Errorf("preview = %v, want a refusal for %q", err, tc.want)
			}
		})
	}
	st, s := comparing(t)
	ready(t, s)
	st.clk.forward(16 * time.Minute)
	do(t, s, triage.Intent{Kind: triage.DoProbe, Step: sidesID})
	step, _ := s.Snapshot().State.Step(sidesID)
	if n, _ := triage.Tally(step.Rows); n.Unknown != 2 || !strings.Contains(step.Rows[0].Sides[1].Value.Why(), "more than 15m") {
		t.Errorf("16 minutes later: %+v", step.Rows)
	}
}
