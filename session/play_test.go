package session_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"handrail/runbooks"
	"handrail/session/walk"
	"handrail/steps"
	"handrail/steps/strict"
	"handrail/triage"
)

const script = `apiVersion: handrail/v1
kind: Answers
runbook: test-lock
answers:
  holder: {value: dead, how: seen}
conclude: {mutation: accept, consistent: accept, class: accept}
gates:
  unlock: {phrase: "unlock ${drill.lock}"}
debts:
  unfinished: {carry: {owner: platform, until: "2026-12-01"}}
`

// scripted is a stage whose watch needs no waiting.
func scripted(t *testing.T) *stage {
	t.Helper()
	st := newStage(t)
	rb, err := runbooks.Parse("test-lock.yaml", []byte(strings.Replace(book, "apart: 20s", "apart: 1ms", 1)), st.w)
	if err != nil {
		t.Fatal(err)
	}
	st.rb = rb
	return st
}

func answers(t *testing.T, src string) *walk.Answers {
	t.Helper()
	a, err := walk.ParseAnswers("answers.yaml", []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// says is a script with the variables of a drill.
func says(t *testing.T, src string, talk io.Writer) walk.Script {
	t.Helper()
	return walk.Script{Answers: answers(t, src), Vars: map[string]string{"drill.lock": "l-1"}, Talk: talk}
}

// TestPlayEndsWithItsCode holds the exit codes of a headless walk.
func TestPlayEndsWithItsCode(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name   string
		edit   func(string) string
		world  func(*world)
		code   int
		refuse string
		acts   int
	}{
		{"recovered", nil, nil, walk.CodeDone, "", 1},
		{"the answer closes the gate", func(s string) string {
			return strings.NewReplacer("value: dead", "value: alive", "mutation: accept", "mutation: {value: unknown, why: nobody saw}").Replace(s)
		}, nil, walk.CodeRefused, "test-lock/unlock", 0},
		{"a wrong phrase", func(s string) string { return strings.Replace(s, "unlock ${", "unlocked ${", 1) }, nil, walk.CodeRefused, "test-lock/unlock", 0},
		{"the target moves", nil, func(w *world) {
			w.onRead = func(n int, w *world) {
				if n == 2 {
					w.lock = "l-2"
				}
			}
		}, walk.CodeRefused, "test-lock/unlock", 0},
		{"an owner that no one has paused", nil, func(w *world) { w.owners = []steps.Owner{{Name: "a run elsewhere", Paused: "unknown"}} }, walk.CodeRefused, "test-lock/unlock", 0},
		{"no word for the gate", func(s string) string {
			return strings.Replace(s, "gates:\n  unlock: {phrase: \"unlock ${drill.lock}\"}\n", "", 1)
		}, nil, walk.CodeOpen, "", 0},
		{"a capture that cannot be had", nil, func(w *world) { w.fails = errors.New("no rights") }, walk.CodeOpen, "", 0},
		{"a debt that the script leaves", func(s string) string { return s[:strings.Index(s, "debts:")] }, nil, walk.CodeOpen, "", 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			st := scripted(t)
			if tc.world != nil {
				tc.world(st.w)
			}
			src := script
			if tc.edit != nil {
				src = tc.edit(src)
			}
			var talk bytes.Buffer
			got, err := walk.Play(t.Context(), st.start(t), says(t, src, &talk))
			if err != nil {
				t.Fatal(err)
			}
			if got.Code != tc.code || got.Refused != tc.refuse || st.w.acts != tc.acts {
				t.Errorf("Play() = %+v after %d acts, want code %d, refused %q, %d acts\n%s", got, st.w.acts, tc.code, tc.refuse, tc.acts, talk.String())
			}
		})
	}
}

// TestPlayAsksBeforeEachIntent makes a race between preview and act, and wants
// the walk to end where the race cannot be made.
func TestPlayAsksBeforeEachIntent(t *testing.T) {
	t.Parallel()
	broken := errors.New("the lab is gone")
	for _, tc := range []struct {
		name string
		at   func(w *world) error
		err  error
		code int
	}{
		{"the target moves", func(w *world) error { w.mu.Lock(); defer w.mu.Unlock(); w.lock = "l-2"; return nil }, nil, walk.CodeRefused},
		{"it cannot be made", func(*world) error { return broken }, broken, walk.CodeOpen},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			st := scripted(t)
			by := says(t, script, io.Discard)
			var seen []triage.IntentKind
			by.Before = func(_ context.Context, in triage.Intent) error {
				seen = append(seen, in.Kind)
				if in.Kind == triage.DoConfirm && in.Step == "test-lock/unlock" {
					return tc.at(st.w)
				}
				return nil
			}
			got, err := walk.Play(t.Context(), st.start(t), by)
			if !errors.Is(err, tc.err) || got.Code != tc.code || st.w.acts != 0 {
				t.Errorf("Play() = %+v, %v after %d acts, want code %d, %v and none", got, err, st.w.acts, tc.code, tc.err)
			}
			if tc.err == nil && !strings.Contains(got.Why, "l-1 -> l-2") {
				t.Errorf("the refusal does not say what moved: %q", got.Why)
			}
			if seen[0] == triage.DoConfirm || seen[len(seen)-1] != triage.DoConfirm {
				t.Errorf("asked before %v, want every intent up to the confirmation", seen)
			}
		})
	}
}

func TestPhraseKnowsNothingButItsVariables(t *testing.T) {
	t.Parallel()
	st := scripted(t)
	src := strings.Replace(script, "${drill.lock}", "${facts.lock.id}", 1)
	if _, err := walk.Play(t.Context(), st.start(t), says(t, src, io.Discard)); err == nil || st.w.acts != 0 {
		t.Fatalf("Play() = %v after %d acts, want an error and none", err, st.w.acts)
	}
}

func TestAnswersAreReadStrictly(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ name, src, want string }{
		{"misspelt key", "apiVersion: handrail/v1\nkind: Answers\nrunbook: x\nanswrs: {}\n", `answers.yaml:4:1: an answers file has no key "answrs" (did you mean "answers"?)`},
		{"twice", "apiVersion: handrail/v1\nkind: Answers\nrunbook: x\nrunbook: y\n", "answers.yaml:4:1: key \"runbook\" again"},
		{"tag", "apiVersion: handrail/v1\nkind: Answers\nrunbook: !x y\n", "answers.yaml:3:10: a YAML tag"},
		{"two ways", "apiVersion: handrail/v1\nkind: Answers\nrunbook: x\ndebts: {unfinished: {paid: {proof: x}, waive: {person: y, why: z}}}\n", "settled in exactly one way"},
		{"empty", "", "the document is empty"},
		{"not how it is known", "apiVersion: handrail/v1\nkind: Answers\nrunbook: x\nanswers: {holder: alive}\n", "answers.yaml:4:19: the answer holder does not say how it is known (as in holder: {value: alive, how: "},
		{"a blank how", "apiVersion: handrail/v1\nkind: Answers\nrunbook: x\nanswers: {holder: {value: alive, how: ' '}}\n", "how is empty"},
		{"no reason", "apiVersion: handrail/v1\nkind: Answers\nrunbook: x\nconclude: {domain: accept, mutation: 'yes'}\n", "answers.yaml:4:38: the conclusion mutation gives no reason"},
		{"unknown without a reason", "apiVersion: handrail/v1\nkind: Answers\nrunbook: x\nconclude: {mutation: unknown}\n", "the conclusion mutation gives no reason"},
		{"yes to all", "apiVersion: handrail/v1\nkind: Answers\nrunbook: x\ngates: {unlock: yes}\n", "must be a mapping"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			_, err := walk.ParseAnswers("answers.yaml", []byte(tc.src))
			var ps strict.Problems
			if !errors.As(err, &ps) || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("ParseAnswers() = %v, want %q", err, tc.want)
			}
		})
	}
}

func TestAnswersThatTheRunbookLacks(t *testing.T) {
	t.Parallel()
	st := scripted(t)
	a := answers(t, strings.Replace(script, "holder:", "holdr:", 1))
	if err := a.Check(st.rb); err == nil || !strings.Contains(err.Error(), "answers.holdr") {
		t.Fatalf("Check() = %v, want the id that is not there", err)
	}
}

func FuzzAnswers(f *testing.F) {
	f.Add([]byte(script))
	f.Add([]byte("a: &b [*b]\n"))
	f.Fuzz(func(t *testing.T, src []byte) {
		if a, err := walk.ParseAnswers("f", src); (a == nil) == (err == nil) {
			t.Fatalf("answers %v with error %v", a, err)
		}
	})
}
