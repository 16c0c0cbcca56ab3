package drills_test

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"handrail/drills"
	"handrail/session/debrief"
	"handrail/session/journal"
	"handrail/steps/catalog"
	"handrail/triage"
)

var update = flag.Bool("update", false, "write the paths of the reference walks into the library")

var factOf = regexp.MustCompile(`\bfacts\.(\w+)\.`)

// unread reports whether an expression stands on a read that the whole walk had no use
// for: it does not apply in this drill.
func unread(st triage.State, step, expr string) bool {
	book, _, _ := strings.Cut(step, "/")
	return slices.ContainsFunc(factOf.FindAllStringSubmatch(expr, -1), func(m []string) bool {
		s, ok := st.Step(book + "/" + m[1])
		return ok && s.Attempts == 0
	})
}

// keepsToReference wants the recorded path of a scene to be the one that its
// reference answers walk now; -update records it.
func keepsToReference(t *testing.T, w *walked) {
	t.Helper()
	if w.scene.Expect.Exit != 0 {
		if path, err := w.scene.Reference(); path != nil || err != nil {
			t.Errorf("%s has a path, and its script lies: %v, %v", w.scene.Name(), path, err)
		}
		return
	}
	st := loaded(t, w.rep.Bundle)
	var now strings.Builder
	for _, s := range debrief.Path(st) {
		now.WriteString(s.String() + "\n")
	}
	for _, step := range st.Steps {
		for _, row := range step.Rows {
			for _, side := range row.Sides {
				if !side.Value.Known() && !unread(st, step.ID, side.Expr) {
					t.Errorf("%s compares what the reference does not know: %+v", step.ID, row)
				}
			}
		}
		if step.Kind == triage.CompareStep {
			t.Logf("%s: %s", step.ID, step.Summary)
		}
	}
	name := w.scene.Drill.ID
	if w.scene.Variant != "" {
		name += "." + w.scene.Variant
	}
	file := filepath.Join("library", name+".path")
	if *update {
		if err := os.WriteFile(file, []byte(now.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	old, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v (-update records it)", err)
	}
	if d := cmp.Diff(settled(string(old)), settled(now.String())); d != "" {
		t.Errorf("the reference walks another path than %s says (-recorded +walked; -update records it):\n%s", file, d)
	}
	known, err := drills.Score(st, catalog.New())
	if err != nil || !known.Judged || known.Won != w.rep.Judgement.Won || known.Name != w.scene.Name() || len(known.Conditions) != len(w.rep.Judgement.Conditions) {
		t.Errorf("Score() = %+v, %v, want the judgement of the walk", known, err)
	}
}

// settled is a path without what the speed of the servers decides: reads that go side by side
// end in any order, a comparison stands where the last of what it compares was read, and what
// is concluded again after an act depends on what had moved by then. The first two keep their
// place between all else.
func settled(path string) []string {
	var out, stretch []string
	acted, concluded := false, map[string]bool{}
	for line := range strings.Lines(path) {
		if f := strings.Fields(line); f[0] == "act" {
			acted = true
		} else if f[0] == "conclude" {
			if acted && concluded[f[1]] {
				continue
			}
			concluded[f[1]] = true
		}
		if strings.HasPrefix(line, "read ") || strings.HasPrefix(line, "compare ") {
			stretch = append(stretch, line)
			continue
		}
		slices.Sort(stretch)
		out, stretch = append(append(out, stretch...), line), nil
	}
	slices.Sort(stretch)
	return append(out, stretch...)
}

// TestScoreReadsTheJudgement: what was judged at the close is read again from the
// journal, whole.
func TestScoreReadsTheJudgement(t *testing.T) {
	t.Parallel()
	d, err := drills.Lookup("killed-runner", catalog.New())
	if err != nil {
		t.Fatal(err)
	}
	cases := []struct {
		name, variant string
		j             drills.Judgement
	}{
		{"won", "", drills.Judgement{Won: true, Conditions: []drills.ConditionResult{{Condition: "!facts.l.held", Holds: true}, {Condition: "facts.s.serial == (drill.serial)", Holds: true}}}},
		{"lost", "live-holder", drills.Judgement{Conditions: []drills.ConditionResult{{Condition: "facts.l.held", Why: "cannot be told: (denied)"}, {Condition: "size(facts.l.id) > 0"}}}},
		{"bare", "", drills.Judgement{Won: true}},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			s, err := d.Scene(tc.variant)
			if err != nil {
				t.Fatal(err)
			}
			st := triage.State{Drill: "killed-runner", Timeline: []triage.Moment{
				{Type: "note", Text: "drill orphan-hook judged: won"}, {Type: "answer", Text: "drill killed-runner judged: won"},
				{Type: "note", Text: tc.j.Note(s)}, {Type: "note", Text: "the drill was judged: won"}}}
			got, err := drills.Score(st, catalog.New())
			if err != nil {
				t.Fatal(err)
			}
			want, err := s.Debriefing(&tc.j)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("Score() (-want +got):\n%s", d)
			}
		})
	}
	for name, st := range map[string]triage.State{
		"not judged": {Drill: "killed-runner"},
		"unknown":    {Drill: "some-drill", Timeline: []triage.Moment{{Type: "note", Text: "drill some-drill judged: won"}}},
	} {
		if got, err := drills.Score(st, catalog.New()); err != nil || got == nil || got.Judged {
			t.Errorf("%s: Score() = %+v, %v", name, got, err)
		}
	}
	if got, err := drills.Score(triage.State{}, catalog.New()); got != nil || err != nil {
		t.Errorf("a real incident has the score %+v, %v", got, err)
	}
}

func loaded(t *testing.T, path string) triage.State {
	t.Helper()
	st, err := journal.LoadState(path)
	if err != nil {
		t.Fatal(err)
	}
	return st
}
