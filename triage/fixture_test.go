package triage

import (
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"
)

// The runbook of most tests: one required capture, one question, a release, a
// repair, a rerun and two containments, one watch.
const (
	lock    = "demo/lock"
	extra   = "demo/extra"
	heavy   = "demo/heavy"
	holder  = "demo/holder"
	mutates = "demo/mutates"
	diff    = "demo/diff"
	agrees  = "demo/agrees"
	kind    = "demo/kind"
	page    = "demo/page"
	pause   = "demo/pause"
	pauseUp = "demo/pause_up"
	unlock  = "demo/unlock"
	fix     = "demo/fix"
	again   = "demo/again"
	clean   = "demo/clean"
)

var t0 = time.Date(2026, 11, 21, 2, 14, 0, 0, time.UTC)

func demoPlan() Plan {
	return Plan{Runbook: "demo", Title: "Demo", Digest: "p1", Matrix: 7, Steps: []PlanStep{
		{ID: lock, Phase: Preserve, Kind: ProbeStep, Required: true},
		{ID: heavy, Phase: Mutation, Kind: ProbeStep, Required: true, Heavy: true},
		{ID: extra, Phase: Mutation, Kind: ProbeStep, Required: true},
		{ID: holder, Phase: Mutation, Kind: AskStep, Answers: []string{"alive", "dead"}},
		{ID: mutates, Phase: Mutation, Kind: ConcludeStep, Uses: "mutation", Refs: []string{lock, holder}},
		{ID: diff, Phase: Compare, Kind: CompareStep},
		{ID: agrees, Phase: Compare, Kind: ConcludeStep, Uses: "consistent"},
		{ID: kind, Phase: Classify, Kind: ConcludeStep, Uses: "class"},
		{ID: page, Phase: Authority, Kind: ManualStep, Required: true},
		{ID: pause, Phase: Authority, Kind: GateStep, Class: Contain},
		{ID: pauseUp, Phase: Authority, Kind: GateStep, Class: Contain},
		{ID: unlock, Phase: Recover, Kind: GateStep, Class: Release, Refs: []string{lock, holder}},
		{ID: fix, Phase: Recover, Kind: GateStep, Class: Repair},
		{ID: again, Phase: Recover, Kind: GateStep, Class: Rerun},
		{ID: clean, Phase: Verify, Kind: WatchStep, Greens: 2, Apart: "20s"},
	}}
}

// boolean is what a journal with that text reads as: unknown for what is neither.
func boolean(v string) Value {
	var out Value
	if err := json.Unmarshal([]byte(`{"t":"bool","v":`+strconv.Quote(strings.Trim(v, `"`))+`}`), &out); err != nil {
		panic(err)
	}
	return out
}

func good(expr string) []Verdict { return []Verdict{{Expr: expr, Result: "true"}} }

func shown(step string, class Class) GateShown {
	return GateShown{
		Step: step, Digest: "d-" + step, Class: class, Phrase: "do " + step, Target: []KV{{Key: "id", Value: "1"}},
		Verdicts: good("ok"), Until: t0.Add(1000 * time.Hour),
	}
}

func answered(step string) GateAnswered {
	return GateAnswered{Step: step, Digest: "d-" + step, Typed: "do " + step}
}

func start(step string) ActStart { return ActStart{Step: step, Digest: "d-" + step} }

func end(step, outcome string) ActEnd {
	return ActEnd{Step: step, Digest: "d-" + step, Outcome: outcome}
}

func reread(step, outcome string) ActAgain {
	return ActAgain{Step: step, Digest: "d-" + step, Outcome: outcome}
}

func begin(step string) ProbeStart { return ProbeStart{Step: step, N: 1} }

func read(step string, n int, outcome, held string) ProbeEnd {
	return ProbeEnd{Step: step, N: n, Outcome: outcome, Facts: map[string]Value{"held": boolean(held)}}
}

func concluded(t Topic, v string) Conclude { return Conclude{Topic: t, Value: v} }

const partial = "MutationPartiallySucceeded"

// ready is the story up to the point where every law is satisfied.
func ready() []Body {
	return []Body{
		Open{Incident: "i1", Title: "stuck", Severity: Sev3}, demoPlan(),
		begin(lock), read(lock, 1, "ok", "true"),
		Answer{Step: holder, Value: "dead", How: "looked"},
		concluded(TopicMutation, "yes"), concluded(TopicClass, partial), concluded(TopicConsistent, "no"),
	}
}

// next is the event that follows s, a minute after it.
func next(s State, b Body) Event {
	at := s.Updated.Add(time.Minute)
	if s.Updated.IsZero() {
		at = t0
	}
	return Event{Seq: s.Seq + 1, At: at, Actor: "robot", Body: b}
}

func tell(t *testing.T, s State, bodies ...Body) State {
	t.Helper()
	for _, b := range bodies {
		var err error
		if s, err = Fold(s, next(s, b)); err != nil {
			t.Fatalf("Fold(%s) = %v, want no error", typeOf(b), err)
		}
	}
	return s
}

func refused(t *testing.T, s State, b Body) *FoldError {
	t.Helper()
	before := Digest(s)
	got, err := Fold(s, next(s, b))
	var bad *FoldError
	if !errors.As(err, &bad) {
		t.Fatalf("Fold(%+v) = %v, want a *FoldError", b, err)
	}
	if Digest(got) != before || Digest(s) != before {
		t.Errorf("Fold(%s) left a trace of an event it refused", typeOf(b))
	}
	return bad
}
