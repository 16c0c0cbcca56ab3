package triage

import (
	"bytes"
	"encoding/json"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// anyBody draws a payload: mostly of known names, so that many follow, with
// some nonsense.
func anyBody(t *rapid.T) Body {
	step := rapid.SampledFrom([]string{lock, extra, holder, page, pause, pauseUp, unlock, fix, again, clean, diff, "demo/none", ""}).Draw(t, "step")
	gate := rapid.SampledFrom([]string{pause, pauseUp, unlock, fix, again}).Draw(t, "gate")
	class := map[string]Class{pause: Contain, pauseUp: Contain, unlock: Release, fix: Repair, again: Rerun}[gate]
	text := rapid.SampledFrom([]string{"", "x", "two\nlines", "\x1b[31mred"}).Draw(t, "text")
	n := rapid.IntRange(-1, 4).Draw(t, "n")
	green := boolean(rapid.SampledFrom([]string{"true", "false", "null", "7"}).Draw(t, "green"))
	result := rapid.SampledFrom([]string{"true", "true", "true", "false", Unknown}).Draw(t, "result")
	arm := shown(gate, class)
	arm.Verdicts, arm.Why = []Verdict{{Expr: "e", Result: result, Refs: []string{"lock"}}}, text
	arm.Again = rapid.SampledFrom([]string{"", "30s", "-1s", "soon"}).Draw(t, "again")
	return rapid.SampledFrom([]Body{
		nil, (*Note)(nil), Open{Incident: "i", Severity: Sev2}, demoPlan(), small(), Note{Text: text}, Correct{Seq: int64(n), Text: text},
		Person{ID: "a", Name: text, Proof: "os", Roles: []string{"commander"}}, Person{ID: "b", Proof: text},
		SeveritySet{Level: Sev1, Why: text}, SeveritySet{Level: Sev3}, PhaseSet{To: Compare}, PhaseSet{To: Phase(text)},
		Skip{Step: step, Why: text}, Answer{Step: holder, Value: "dead"}, Answer{Step: step, Value: Unknown}, Answer{Step: holder, Value: text},
		Manual{Step: page, Proof: text}, concluded(TopicMutation, "yes"), concluded(TopicMutation, Unknown), concluded(TopicClass, partial),
		concluded(TopicConsistent, "no"), concluded(TopicReverts, "yes"), concluded(TopicOwner, text),
		Conclude{Topic: TopicMutation, Value: "no", Proposed: "yes", Person: text, Why: text},
		ProbeStart{Step: step, N: n}, ProbeStart{Step: lock, N: n}, ProbeStart{Step: clean, N: n},
		read(lock, n, "ok", "true"), read(lock, n, "failed", "false"), read(step, n, "ok", "[1,  2]"),
		ProbeEnd{Step: clean, N: n, Outcome: "ok", Green: &green, Findings: []Finding{{Level: "critical", Say: text, Against: []string{gate}}}},
		arm, shownToTwo(gate, class, t0.Add(1000*time.Hour)), answered(gate), start(gate), end(gate, "done"), end(gate, Unknown), end(gate, text),
		reread(gate, Holds), reread(gate, Undone), reread(gate, Unknown), reread(step, text),
		GateClosed{Step: gate, Why: text}, GateClosed{Step: gate, Moved: []string{"uid"}}, GateClosed{Step: step, Refused: true},
		HandAct{ID: text + "h", What: "w", Object: "o", Person: "p", Proof: step}, HandAct{ID: "proof", What: "w", Object: text, Person: "p", Proof: clean},
		Settle{Debt: "proof", How: "paid", Proof: "x"}, FindingAnswer{Step: lock, Finding: text, How: Resolved, Why: "x"}, FindingAnswer{Step: step, Finding: text, How: Taken, Person: text},
		ProbeEnd{Step: lock, N: n, Outcome: "ok", Findings: []Finding{{Level: "critical", Say: text}}}, Approve{Digest: "d-" + gate, Person: "p", Sig: "s"}, approval(gate, t0.Add(time.Duration(n)*time.Minute)), DebtOpened{ID: text, Kind: "resume", Of: gate},
		Settle{Debt: text, How: "carried", Owner: "o", Until: "2026-12-01"}, Settle{Debt: text, How: "paid", Proof: text},
		Waive{Law: 1, Subject: lock, Person: "p", Why: text}, Waive{Law: 8, Subject: clean, Person: "p", Why: text},
		Waive{Law: n, Subject: step, Person: text, Why: text}, Close{Outcome: "recovered"}, Close{Outcome: text},
	}).Draw(t, "body")
}

// anyStory draws events, often from a lawful beginning so that deep states are
// reached.
func anyStory(t *rapid.T) []Event {
	var told []Body
	if rapid.Bool().Draw(t, "ready") {
		told = ready()
	} else if rapid.Bool().Draw(t, "opened") {
		told = ready()[:2]
	}
	told = append(told, rapid.SliceOfN(rapid.Custom(anyBody), 0, 40).Draw(t, "bodies")...)
	at, out := t0, []Event{}
	for i, b := range told {
		at = at.Add(time.Duration(rapid.IntRange(-1, 60).Draw(t, "seconds")) * time.Second)
		out = append(out, Event{Seq: int64(i + 1), At: at, Actor: "robot", Body: b})
	}
	return out
}

// foldable keeps the events that follow one another.
func foldable(events []Event) []Event {
	var out []Event
	var s State
	for _, e := range events {
		if to, err := Fold(s, e); err == nil {
			s, out = to, append(out, e)
		}
	}
	return out
}

func foldEach(t *rapid.T, s State, events []Event) State {
	for _, e := range events {
		var err error
		if s, err = Fold(s, e); err != nil {
			t.Fatalf("Fold(%d %s) = %v", e.Seq, typeOf(e.Body), err)
		}
	}
	return s
}

// TestFoldNeverChangesItsInput keeps every state on the way, folds a second
// event onto each, and looks at all of them again at the end.
func TestFoldNeverChangesItsInput(t *testing.T) {
	if testing.Short() {
		t.Skip("too long for -short")
	}
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		events := anyStory(t)
		var states []State
		var digests []string
		var s State
		for _, e := range events {
			states, digests = append(states, s), append(digests, Digest(s))
			to, err := Fold(s, e)
			if err != nil && Digest(to) != Digest(s) {
				t.Fatalf("an event that does not fold (%v) changed the state", err)
			}
			if fork, err := Fold(s, Event{Seq: e.Seq, At: e.At, Body: anyBody(t)}); err == nil {
				states, digests = append(states, fork), append(digests, Digest(fork))
			}
			if why := breach(s, to); why != "" {
				t.Fatalf("%s: %s", story(to), why)
			}
			s = to
		}
		for i := range states {
			if Digest(states[i]) != digests[i] {
				t.Fatalf("state %d changed after it was folded onto", i)
			}
		}
	})
}

func TestFoldPrefixThenRest(t *testing.T) {
	if testing.Short() {
		t.Skip("too long for -short")
	}
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		events := foldable(anyStory(t))
		cut := rapid.IntRange(0, len(events)).Draw(t, "cut")
		whole, err := FoldAll(State{}, events)
		if err != nil {
			t.Fatalf("FoldAll() = %v", err)
		}
		prefix, _ := FoldAll(State{}, events[:cut])
		before := Digest(prefix)
		rest, err := FoldAll(prefix, events[cut:])
		if err != nil || !rest.Equal(whole) || Digest(prefix) != before {
			t.Fatalf("a prefix and then the rest is not the whole (%v)", err)
		}
		if each := foldEach(t, State{}, events); !each.Equal(whole) {
			t.Fatal("one by one and all at once differ")
		}
	})
}

// TestWalkIsThatOfTheEvents: the stays are the events that entered a phase, in
// their order, and nothing else.
func TestWalkIsThatOfTheEvents(t *testing.T) {
	t.Parallel()
	place := map[Phase]int{}
	for i, p := range Phases() {
		place[p] = i
	}
	rapid.Check(t, func(t *rapid.T) {
		events := foldable(append(anyStory(t), anyWalk(t)...))
		var want []Stay
		for _, e := range events {
			to, why := Declare, ""
			switch b := e.Body.(type) {
			case Open:
			case PhaseSet:
				to, why = b.To, b.Why
			default:
				continue
			}
			back := len(want) > 0 && place[to] < place[want[len(want)-1].Phase]
			want = append(want, Stay{Phase: to, Seq: e.Seq, From: e.At, Why: why, Back: back})
		}
		var s State
		for _, e := range events {
			before := slices.Clone(s.Walk)
			to, err := Fold(s, e)
			if err != nil {
				t.Fatal(err)
			}
			if fork, err := Fold(s, Event{Seq: e.Seq, At: e.At, Body: PhaseSet{To: Learn, Why: "fork"}}); err == nil && fork.Here().Why != "fork" {
				t.Fatalf("a phase that was entered is not Here: %+v", fork.Here())
			}
			if !slices.Equal(before, s.Walk) {
				t.Fatal("a fold changed the walk of the state that it was given")
			}
			if s = to; s.Here().Phase != s.Phase {
				t.Fatalf("Here is %q, the phase %q", s.Here().Phase, s.Phase)
			}
		}
		whole, err := FoldAll(State{}, events)
		if err != nil || !slices.Equal(s.Walk, want) || !slices.Equal(whole.Walk, want) {
			t.Fatalf("the walk is\n%+v\nand all at once\n%+v\n(%v), the events say\n%+v", s.Walk, whole.Walk, err, want)
		}
	})
}

// anyWalk draws events that enter phases, after those of anyStory.
func anyWalk(t *rapid.T) []Event {
	var out []Event
	for i, to := range rapid.SliceOfN(rapid.SampledFrom(Phases()), 0, 12).Draw(t, "phases") {
		why := rapid.SampledFrom([]string{"", "a: b; c", "two\nlines"}).Draw(t, "why")
		out = append(out, Event{Seq: int64(100 + i), At: t0.Add(time.Duration(i) * time.Hour), Actor: "robot", Body: PhaseSet{To: to, Why: why}})
	}
	return out
}

func TestFoldAllStopsBeforeTheBadEvent(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		events := anyStory(t)
		got, err := FoldAll(State{}, events)
		var want State
		for _, e := range events {
			to, bad := Fold(want, e)
			if bad != nil {
				if err == nil || err.Error() != bad.Error() {
					t.Fatalf("FoldAll() = %v, want %v", err, bad)
				}
				break
			}
			want = to
		}
		if Digest(got) != Digest(want) {
			t.Fatal("FoldAll left a trace of the event it refused")
		}
	})
}

func TestFoldAfterRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		events := foldable(anyStory(t))
		copies := make([]Event, len(events))
		for i, e := range events {
			copies[i] = Event{Seq: e.Seq, At: e.At, Actor: e.Actor}
			if e.Body == nil {
				continue
			}
			raw, err := json.Marshal(e.Body)
			if err != nil {
				t.Fatal(err)
			}
			if copies[i].Body, err = Decode(e.Body.Type(), raw); err != nil {
				t.Fatalf("Decode(%s) = %v", raw, err)
			}
		}
		if a, b := foldEach(t, State{}, events), foldEach(t, State{}, copies); !a.Equal(b) {
			t.Fatal("what was written and read again folds to something else")
		}
	})
}

// whole is an intent that says all that its option asks for.
func whole(s State, o Option) Intent {
	in := Intent{Kind: o.Kind, Step: o.Step, Topic: o.Topic, Value: o.Value, Text: "because", Person: "somebody"}
	st, _ := s.Step(o.Step)
	switch o.Kind {
	case DoAnswer:
		in.Value = Unknown
		if len(st.Answers) > 0 {
			in.Value = st.Answers[0]
		}
	case DoConclude:
		in.Value = Unknown
	case DoPhase:
		in.Phase = Phase(o.Value)
	case DoSeverity:
		in.Severity = Sev2
	case DoPerson:
		in.Who = Person{ID: "z", Name: "Z", Proof: "claimed"}
	case DoSettle:
		in.Debt = Settle{Debt: o.Subject, How: "paid", Proof: "PR"}
		if i := slices.IndexFunc(s.Debts, func(d Debt) bool { return d.ID == o.Subject }); i >= 0 && s.proofLacks(s.Debts[i]) != "" {
			in.Debt = Settle{Debt: o.Subject, How: "carried", Owner: "o", Until: "2026-12-01"}
		}
	case DoResolve:
		in.Finding = FindingAnswer{Step: o.Step, Finding: o.Subject, How: Resolved, Why: "fixed"}
	case DoDrift:
		for _, q := range s.Undrifted() {
			in.Drift.Answers = append(in.Drift.Answers, KV{Key: q.ID, Value: "x"})
		}
		in.Drift.Person = "ana"
	case DoHand:
		in.Hand = HandAct{What: "kubectl scale", Object: "deploy/web", Person: "ada"}
		if all := s.Shows(); len(all) > 0 {
			in.Hand.Proof = all[0].ID
		}
	case DoWaive:
		in.Law = map[string]int{"1": 1, "8": 8, "12": 12}[o.Value]
		in.Step = o.Subject
		if in.Law == LawNone {
			in.Findings = st.Said()
		}
	case DoApprove:
		in.Digest, in.Sig, in.Person, in.Key, in.Signed = o.Subject, "sig", "somebody new", "SHA256:new", s.Updated
	case DoPlan:
		in.Value = "other"
	case DoConfirm:
		in.Typed = s.Gates[o.Step].Shown.Phrase
	}
	return in
}

// TestOptionsAgreeWithFold: what is offered folds, what is refused does not.
func TestOptionsAgreeWithFold(t *testing.T) {
	if testing.Short() {
		t.Skip("too long for -short")
	}
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := foldEach(t, State{}, foldable(anyStory(t)))
		before := Digest(s)
		asked := map[string]int{}
		judge := func(id string) []Verdict { asked[id]++; return good("x") }
		now := s.Updated.Add(time.Second)
		options, recommended := Options(s, now, judge), 0
		for id, n := range asked {
			if n != 1 {
				t.Fatalf("the judge of %s was asked %d times", id, n)
			}
		}
		for _, o := range options {
			if o.Recommended {
				recommended++
				if !o.Available() {
					t.Fatalf("%s %s is recommended and refused", o.Kind, o.Step)
				}
			}
			for _, r := range o.Refusals {
				if blank(r.Why) {
					t.Fatalf("%s %s is refused without a reason", o.Kind, o.Step)
				}
			}
			in := whole(s, o)
			if no := Check(s, in, now, judge); (no == nil) != o.Available() {
				t.Fatalf("Check(%s %s) = %v, the option has %v", o.Kind, o.Step, no, o.Refusals)
			}
			body, pure := Draft(s, in)
			if !pure {
				continue
			}
			_, err := Fold(s, Event{Seq: s.Seq + 1, At: now, Body: body})
			if c, is := body.(Close); is && c.Outcome == "recovered" && err == nil {
				continue // a journal of before may have closed over what is asked for today
			}
			if (err == nil) != o.Available() {
				t.Fatalf("%s %s: refusals %v, Fold = %v", o.Kind, o.Step, o.Refusals, err)
			}
		}
		if recommended > 1 || Digest(s) != before {
			t.Fatalf("%d recommended, state changed: %v", recommended, Digest(s) != before)
		}
	})
}

func FuzzDecodeFold(f *testing.F) {
	for i, b := range bodies(ready(), []Body{shown(unlock, Release), answered(unlock), start(unlock), end(unlock, "done"), watched(1, "true")}) {
		raw, err := json.Marshal(b)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b.Type(), raw, uint8(i))
	}
	f.Fuzz(func(t *testing.T, typ string, data []byte, told uint8) {
		body, err := Decode(typ, data)
		if err != nil {
			return
		}
		story := bodies(ready(), []Body{shown(unlock, Release), answered(unlock), start(unlock)})
		s := tell(t, State{}, story[:int(told)%(len(story)+1)]...)
		to, err := Fold(s, next(s, body))
		if err != nil {
			return
		}
		if why := breach(s, to); why != "" && !bytes.Contains(data, []byte(`"plan`)) && typ != "plan" {
			t.Errorf("%s %s: %s", typ, data, why)
		}
		Options(to, to.Updated, func(string) []Verdict { return nil })
	})
}
