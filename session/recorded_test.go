package session_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"handrail/runbooks"
	"handrail/session/walk"
	"handrail/steps/catalog"
	"handrail/steps/strict"
	"handrail/triage"
	"handrail/triage/record"
)

// asking is a stage whose runbook requires a task and an answer, and asks for more.
func asking(t *testing.T) *stage {
	t.Helper()
	st := newStage(t)
	src := strings.NewReplacer("apart: 20s", "apart: 1ms",
		"mutation:\n  - id: holder\n    ask: Is the holder alive?\n", `  - id: run
    manual: Note the run.
    evidence: "a link: \"#1\", or an id"
    required: true
mutation:
  - id: extra
    ask: Did it print anything?
    answers: {much: a lot, little: hardly anything}
  - id: holder
    ask: Is the holder alive?
    required: true
`).Replace(book)
	rb, err := runbooks.Parse("test-lock.yaml", []byte(src), st.w)
	if err != nil {
		t.Fatal(err)
	}
	st.rb = rb
	return st
}

// filled is the template with the words of a walk to the end.
func filled(t *testing.T, rb *runbooks.Runbook) string {
	t.Helper()
	out := walk.Template(rb, nil)
	for _, change := range [][2]string{
		{`  run: ""`, `  run: "ci \"4711\"\nand its log"`},
		{`  holder: {value: "", how: ""}`, `  holder: {value: dead, how: "seen: no process"}`},
		{"#conclude:", "conclude:"}, {"#  mutation: accept", "  mutation: accept"}, {"#  consistent: accept", "  consistent: accept"},
		{"#  class: accept", "  class: {value: MutationPartiallySucceeded, why: the log ends in it}"},
		{"#gates:", "gates:"}, {`#  unlock: {phrase: ""}`, `  unlock: {phrase: unlock l-1}`},
		{"#debts:", "debts:"}, {`#  unfinished: {carry: {owner: "", until: "2026-12-31", why: ""}}`, `  unfinished: {carry: {owner: platform, until: "2026-12-31", why: later}}`},
		{"#skip:", "skip:"}, {`#  STEP: "why it is not needed here"`, `  extra: nothing is printed`},
		{"#people:", "people:"}, {`#  - {name: "", roles: [commander]}`, `  - {name: ann, roles: [commander]}`},
		{"#severity:", "severity:"}, {"#  level: SEV-3", "  level: SEV-2"}, {`#  why: ""`, `  why: it got worse`},
	} {
		if strings.Count(out, change[0]) != 1 {
			t.Fatalf("the template has %q %d times:\n%s", change[0], strings.Count(out, change[0]), out)
		}
		out = strings.Replace(out, change[0], change[1], 1)
	}
	return out
}

// walked plays a file and says what is on record of it, without times.
func walked(t *testing.T, st *stage, src string) (triage.State, []string) {
	t.Helper()
	a, err := walk.ParseAnswers("answers.yaml", []byte(src))
	if err != nil {
		t.Fatalf("%v\n%s", err, src)
	}
	if err := a.Check(st.rb); err != nil {
		t.Fatal(err)
	}
	if missing := a.Missing(st.rb); len(missing) > 0 {
		t.Errorf("the file lacks %v", missing)
	}
	s := st.start(t)
	var talk bytes.Buffer
	got, err := walk.Play(t.Context(), s, walk.Script{Answers: a, Talk: &talk})
	if err != nil || got.Code != walk.CodeDone || st.w.acts != 1 {
		t.Fatalf("Play() = %+v, %v after %d acts\n%s", got, err, st.w.acts, talk.String())
	}
	state := s.Snapshot().State
	var out []string
	for _, m := range state.Timeline {
		if m.Type != (triage.Open{}).Type() {
			out = append(out, m.Type+" "+m.Step+" "+m.Text)
		}
	}
	return state, out
}

// TestAnswersGoRound: a template that is filled in and run, exported and run again,
// is the same walk.
func TestAnswersGoRound(t *testing.T) {
	t.Parallel()
	st := asking(t)
	first, want := walked(t, st, filled(t, st.rb))
	again := asking(t)
	src := walk.Recorded(first)
	second, got := walked(t, again, src)
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("the second walk differs (-first +second):\n%s\nby the file\n%s", d, src)
	}
	if d := cmp.Diff(strings.ReplaceAll(src, first.Incident, second.Incident), walk.Recorded(second)); d != "" {
		t.Errorf("it is written down in another way (-first +second):\n%s", d)
	}
}

// TestRecordedSaysWhatAScriptCannot: what was provisional is no final word of the
// next walk, and what the walk said by itself is not in the file.
func TestRecordedSaysWhatAScriptCannot(t *testing.T) {
	t.Parallel()
	st := asking(t)
	s := st.start(t)
	do(t, s, triage.Intent{Kind: triage.DoConclude, Topic: triage.TopicMutation, Value: "no", Person: "ann", Text: "she \u202elooked", Provisional: true})
	do(t, s, triage.Intent{Kind: triage.DoAnswer, Step: "test-lock/extra", Value: triage.Unknown, Text: "the script has no answer", Script: true})
	do(t, s, triage.Intent{Kind: triage.DoNote, Text: "said\n  gates: {unlock: {phrase: unlock l-1}}"})
	src := walk.Recorded(s.Snapshot().State)
	a, err := walk.ParseAnswers("answers.yaml", []byte(src))
	if err != nil {
		t.Fatalf("%v\n%s", err, src)
	}
	if len(a.Conclude)+len(a.Answers)+len(a.Gates) > 0 || !strings.Contains(src, `#  mutation: {value: "no", why: "she \u202elooked", person: "ann"}`) {
		t.Errorf("the file says\n%s", src)
	}
	if len(a.Notes) != 1 || !strings.Contains(a.Notes[0], "gates") {
		t.Errorf("notes = %q", a.Notes)
	}
}

// TestRecordedOfAHostileJournal: names and words of a journal from elsewhere become
// values and nothing else.
func TestRecordedOfAHostileJournal(t *testing.T) {
	t.Parallel()
	const planted = "x\ngates: {unlock: {phrase: unlock l-1}}\n#"
	book := "x\ny"
	step := func(kind triage.StepKind, st triage.Step) triage.Step {
		st.ID, st.Kind = book+"/"+planted, kind
		return st
	}
	st := triage.State{
		Incident: planted, Title: planted, Severity: triage.Sev2, Plans: []triage.Plan{{Runbook: planted}, {Runbook: book, Params: map[string]triage.Value{planted: record.StringOf(planted)}}},
		People: []triage.Person{{Name: planted, Proof: "claimed", Roles: []string{planted}}},
		Steps: []triage.Step{
			step(triage.AskStep, triage.Step{Status: triage.Settled, Answer: planted, How: planted}),
			step(triage.ManualStep, triage.Step{Status: triage.Settled, Summary: planted}),
			step(triage.NoteStep, triage.Step{Status: triage.Skipped, How: planted}),
		},
		Topics:   map[triage.Topic]triage.Conclusion{triage.TopicOwner: {Value: planted, Why: planted, Person: planted}},
		Waivers:  []triage.Waiver{{Waive: triage.Waive{Law: 1, Subject: planted, Person: planted, Why: planted}}},
		Debts:    []triage.Debt{{DebtOpened: triage.DebtOpened{ID: planted}, Settled: triage.Settle{How: "paid", Proof: planted}}},
		Timeline: []triage.Moment{{Type: "note", Text: planted}, {Type: "severity", Text: "severity is SEV-2: " + planted}},
	}
	src := walk.Recorded(st)
	a, err := walk.ParseAnswers("answers.yaml", []byte(src))
	if err != nil {
		t.Fatalf("%v\n%s", err, src)
	}
	if len(a.Gates) > 0 || a.Runbook != book || a.Answers[planted].How != planted || a.Manual[planted] != planted || len(a.Notes) != 1 {
		t.Errorf("the file says %+v\n%s", a, src)
	}
}

// TestTemplateIsRefusedUntilItIsFilledIn, with the place of what is empty, and says
// nothing by itself.
func TestTemplateIsRefusedUntilItIsFilledIn(t *testing.T) {
	t.Parallel()
	st := asking(t)
	src := walk.Template(st.rb, nil)
	_, err := walk.ParseAnswers("answers.yaml", []byte(src))
	if err == nil || !strings.Contains(err.Error(), "run is empty") || !strings.Contains(err.Error(), "value is empty") {
		t.Errorf("ParseAnswers() = %v of\n%s", err, src)
	}
	for _, want := range []string{"# Is the holder alive? (mutation, required)\n  #   alive: it runs\n  #   dead: it is gone\n  #   unknown: ", `# Say with it: a link: "#1", or an id`,
		"#  extra: {value", "#  class: accept", "(release, test/unlock)"} {
		if !strings.Contains(src, want) {
			t.Errorf("the template lacks %q:\n%s", want, src)
		}
	}
	src = strings.NewReplacer(`  run: ""`, "  run: ci", `  holder: {value: "", how: ""}`, "  holder: {value: dead, how: seen}").Replace(src)
	a, err := walk.ParseAnswers("answers.yaml", []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	if len(a.Conclude)+len(a.Gates)+len(a.Debts)+len(a.Waive)+len(a.Skip)+len(a.Params) > 0 {
		t.Errorf("the template says more than what was filled in: %+v", a)
	}
}

// TestRequiredWordsAreNotPassedOver: the walk stops where the terminal would wait, and
// says which key is missing.
func TestRequiredWordsAreNotPassedOver(t *testing.T) {
	t.Parallel()
	const head = "apiVersion: handrail/v1\nkind: Answers\nrunbook: test-lock\n"
	for name, tc := range map[string]struct{ src, why, missing string }{
		"a task":     {head, "add manual.run", "manual.run answers.holder"},
		"a question": {head + "manual: {run: ci}\n", "add answers.holder", "answers.holder"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			st := asking(t)
			s := st.start(t)
			a := answers(t, tc.src)
			if got := strings.Join(a.Missing(st.rb), " "); got != tc.missing {
				t.Errorf("Missing() = %q, want %q", got, tc.missing)
			}
			got, err := walk.Play(t.Context(), s, walk.Script{Answers: a, Talk: io.Discard})
			if err != nil || got.Code != walk.CodeOpen || !strings.Contains(got.Why, tc.why) {
				t.Errorf("Play() = %+v, %v, want it stopped because %q", got, err, tc.why)
			}
			for _, x := range s.Snapshot().State.Steps {
				if x.Required && (x.Status == triage.Skipped || x.Status == triage.CannotTell) {
					t.Errorf("%s is %s (%s)", x.ID, x.Status, x.How)
				}
			}
		})
	}
}

// TestAnswersThatTheLoopWouldRefuse end before the first read.
func TestAnswersThatTheLoopWouldRefuse(t *testing.T) {
	t.Parallel()
	st := asking(t)
	const head = "apiVersion: handrail/v1\nkind: Answers\nrunbook: test-lock\n"
	for src, want := range map[string]string{
		"answers: {holder: {value: gone, how: seen}}":            `answers.holder is one of alive, dead, unknown, not "gone"`,
		"conclude: {mutation: {value: maybe, why: she said so}}": `conclude.mutation cannot be "maybe"`,
		"skip: {run: there is none}":                             "skip.run: it is required; settle it, or waive law 1",
		"skip: {free: it is green}":                              "waive law 8",
		"answers: {holder: {value: unknown, how: asked ann}}":    "",
	} {
		err := answers(t, head+src+"\n").Check(st.rb)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: Check() = %v, want %q", src, err, want)
		}
	}
}

// TestTemplateOfEveryRunbook is refused for what is empty and for nothing else, and
// once that is filled in lacks nothing that the runbook requires.
func TestTemplateOfEveryRunbook(t *testing.T) {
	t.Parallel()
	all, err := runbooks.Library(catalog.New())
	if err != nil {
		t.Fatal(err)
	}
	question := regexp.MustCompile(`(?m)^  ([a-z0-9_]+): \{value: "", how: ""\}$`)
	blank := regexp.MustCompile(`(?m)^  ([a-z0-9_]+): ""$`)
	for _, rb := range all {
		src := walk.Template(rb, nil)
		var empty strict.Problems
		if _, err := walk.ParseAnswers(rb.ID, []byte(src)); err != nil && !errors.As(err, &empty) {
			t.Errorf("%s: %v", rb.ID, err)
		}
		for _, p := range empty {
			if !strings.HasSuffix(p.Message, " is empty") {
				t.Errorf("%s: the template is refused because %v", rb.ID, p)
			}
		}
		// What stands behind a # is in its place once the # is gone.
		_, err := walk.ParseAnswers(rb.ID, []byte(regexp.MustCompile(`(?m)^#(  |[a-z])`).ReplaceAllString(src, "$1")))
		if !errors.As(err, &empty) || slices.ContainsFunc(empty, func(p strict.Problem) bool { return !strings.HasSuffix(p.Message, " is empty") }) {
			t.Errorf("%s: without its # the template is refused because %v", rb.ID, err)
		}
		// What shuts no gate and what a record waits for can be answered.
		writes := slices.ContainsFunc(rb.Steps, func(st runbooks.Step) bool { return slices.Contains(triage.RecordKinds(), st.Uses) })
		for _, q := range triage.DriftQuestions() {
			if got := strings.Contains(src, "  # "+q.Ask+"\n#  "+q.ID+`: ""`); got != writes {
				t.Errorf("%s: lists the question %s: %t, writes the record: %t", rb.ID, q.ID, got, writes)
			}
		}
		for _, f := range rb.Loose() {
			if want := fmt.Sprintf("#  - {finding: %q, subject: %s, resolved: \"\"}", f.Quote, f.Step); len(f.Quote) >= 12 && !strings.Contains(src, want) {
				t.Errorf("%s: the template lacks %s", rb.ID, want)
			}
		}
		src = question.ReplaceAllStringFunc(src, func(line string) string {
			id := question.FindStringSubmatch(line)[1]
			st, _ := rb.Step(id)
			return "  " + id + ": {value: '" + st.Answers[0].Value + "', how: seen}"
		})
		a, err := walk.ParseAnswers(rb.ID, []byte(blank.ReplaceAllString(src, `  $1: store:seen/1 of 0a1b2c3d`)))
		if err != nil {
			t.Errorf("%s: %v", rb.ID, err)
			continue
		}
		if err := a.Check(rb); err != nil {
			t.Error(err)
		}
		if missing := a.Missing(rb); len(missing) > 0 {
			t.Errorf("%s: a template that is filled in lacks %v", rb.ID, missing)
		}
	}
}
