package runbooks

import (
	"slices"
	"strings"
	"testing"

	"handrail/steps/catalog"
	"handrail/triage"
)

// asking is a runbook with one question in a phase.
func asking(phase, green string) string {
	ask := "  - {id: works, ask: 'does it work?', answers: {works: it does, broken: it does not, none: nothing to ask}" + green + "}\n"
	if phase == "verify" {
		return head + strings.Replace(gated, "verify:\n", "verify:\n"+ask, 1)
	}
	return head + strings.Replace(gated, phase+":\n", phase+":\n"+ask, 1)
}

func TestQuestionOfVerifySaysWhichAnswersAreGreen(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ phase, green, want string }{
		{"verify", ", green: [works, none]", ""},
		{"verify", "", `the question "works" does not say which answers prove the recovery`},
		{"verify", ", green: []", "green is empty"},
		{"verify", ", green: [fine]", "fine"},
		{"verify", ", green: [unknown]", "unknown"},
		{"verify", ", green: works", "must be a list"},
		{"verify", ", green: [works, broken, none]", "every answer is green"},
		{"mutation", ", green: [works]", "only a question of verify"},
		{"mutation", "", ""},
	} {
		_, err := Lint("f", []byte("matrix: 8\nproves: {PC2: gone}\n"+asking(tc.phase, tc.green)), catalog.New())
		if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s%s: %v, want %q", tc.phase, tc.green, err, tc.want)
		}
	}
	// What a bundle keeps from before this was asked for is still read.
	old, err := Parse("f", []byte(asking("verify", "")), catalog.New())
	if err != nil {
		t.Fatal(err)
	}
	for _, st := range old.Plan(nil).Steps {
		if st.ID == "sample/works" && len(st.Green) > 0 {
			t.Errorf("an old question has green answers: %v", st.Green)
		}
	}
	b := mustParse(t, asking("verify", ", green: [works, none]"))
	i := slices.IndexFunc(b.Plan(nil).Steps, func(p triage.PlanStep) bool { return p.ID == "sample/works" })
	if got := b.Plan(nil).Steps[i].Green; !slices.Equal(got, []string{"works", "none"}) {
		t.Errorf("the plan has %v", got)
	}
}

func TestLibraryLints(t *testing.T) {
	t.Parallel()
	lib, err := theLibrary()
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range lib {
		if _, err := Lint(b.File, b.Source, catalog.New()); err != nil {
			t.Errorf("%s: %v", b.ID, err)
		}
	}
}
