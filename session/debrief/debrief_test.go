package debrief

import (
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"handrail/steps"
	"handrail/triage"
)

var t0 = time.Date(2026, 11, 21, 2, 14, 0, 0, time.UTC)

// walk folds events that come ten seconds apart.
func walk(t *testing.T, bodies ...triage.Body) triage.State {
	t.Helper()
	var st triage.State
	for i, b := range bodies {
		next, err := triage.Fold(st, triage.Event{Seq: int64(i + 1), At: t0.Add(time.Duration(i) * 10 * time.Second), Actor: "ada", Body: b})
		if err != nil {
			t.Fatalf("event %d (%s): %v", i+1, b.Type(), err)
		}
		st = next
	}
	return st
}

func opening() []triage.Body {
	return []triage.Body{
		triage.Open{Incident: "20261121-021400-demo-aaaa", Title: "demo", Severity: triage.Sev3, Drill: "demo"},
		triage.Person{ID: "ada", Name: "Ada", Proof: "os"},
		triage.Plan{Runbook: "demo", Title: "demo", Digest: "d", Steps: []triage.PlanStep{
			{ID: "demo/lock", Phase: triage.Preserve, Kind: triage.ProbeStep, Required: true},
			{ID: "demo/ci", Phase: triage.Preserve, Kind: triage.ManualStep, Required: true},
			{ID: "demo/holder", Phase: triage.Mutation, Kind: triage.AskStep},
			{ID: "demo/sides", Phase: triage.Compare, Kind: triage.CompareStep},
			{ID: "demo/unlock", Phase: triage.Recover, Kind: triage.GateStep, Class: triage.Release},
			{ID: "demo/free", Phase: triage.Verify, Kind: triage.WatchStep, Greens: 1, Apart: "1s"},
		}},
	}
}

func read(step string, n int, outcome string) []triage.Body {
	green := new(steps.BoolOf(true))
	return []triage.Body{triage.ProbeStart{Step: step, N: n}, triage.ProbeEnd{Step: step, N: n, Outcome: outcome, Summary: "ok: so it is", Green: green}}
}

// story is a walk with everything that a debriefing tells.
func story() []triage.Body {
	return slices.Concat(opening(), read("demo/lock", 1, "failed"), read("demo/lock", 2, "ok"), []triage.Body{
		triage.Waive{Law: 1, Subject: "demo/ci", Person: "Grace", Why: "there is no CI"},
		triage.Answer{Step: "demo/holder", Value: "dead", How: "seen"},
		triage.Conclude{Topic: triage.TopicMutation, Value: "yes"},
		triage.GateClosed{Step: "demo/unlock", Why: "not classified: yet", Refused: true},
		triage.Conclude{Topic: triage.TopicClass, Value: "MutationPartiallySucceeded"},
		triage.GateShown{Step: "demo/unlock", Digest: "x", Class: triage.Release, Effect: "e", Target: []triage.KV{{Key: "k", Value: "v"}}, Request: "r", Command: "unlock it", Phrase: "unlock l", Until: t0.Add(time.Hour)},
		triage.GateAnswered{Step: "demo/unlock", Digest: "x", Typed: "unlock l"},
		triage.ActStart{Step: "demo/unlock", Digest: "x", Request: "r"},
		triage.ActEnd{Step: "demo/unlock", Digest: "x", Outcome: "done"},
		triage.DebtOpened{ID: "unfinished", Kind: "unfinished", Of: "demo/unlock", Text: "the rest"},
		triage.Settle{Debt: "unfinished", How: "carried", Owner: "platform", Until: "2026-12-01"},
	}, read("demo/free", 1, "ok"), []triage.Body{triage.Close{Outcome: "aborted", Why: "enough"}})
}

// TestAgreementBeforeTheAct: whether the states agree is told as the last word before the first act
// had it.
func TestAgreementBeforeTheAct(t *testing.T) {
	t.Parallel()
	say := func(value string) triage.Body {
		return triage.Conclude{Topic: triage.TopicConsistent, Value: value, Why: "seen"}
	}
	s := story()
	at := slices.IndexFunc(s, func(b triage.Body) bool { return b.Type() == "conclude" })
	end := slices.IndexFunc(s, func(b triage.Body) bool { return b.Type() == "act.end" })
	s = slices.Concat(s[:at], []triage.Body{say("unknown"), say("no")}, s[at:end+1], []triage.Body{say("yes")}, s[end+1:])
	var got []string
	for _, leg := range Of(walk(t, s...), nil).Legs {
		if leg.Yours.Step == string(triage.TopicConsistent) {
			got = append(got, leg.Yours.line())
		}
	}
	if want := []string{"conclude consistent no (3 times)"}; !slices.Equal(got, want) {
		t.Errorf("path tells %q, want %q", got, want)
	}
}

func TestDebriefing(t *testing.T) {
	t.Parallel()
	d := Of(walk(t, story()...), nil)
	var path []string
	for _, l := range d.Legs {
		path = append(path, l.Yours.line())
	}
	want := []string{"read lock (2 times)", "waive ci", "answer holder dead", "conclude mutation yes", "conclude class MutationPartiallySucceeded", "act unlock", "watch free"}
	if !slices.Equal(path, want) {
		t.Errorf("path = %q, want %q", path, want)
	}
	marks := map[string]time.Duration{FirstReading: 60 * time.Second, AllCaptures: 70 * time.Second, FirstAct: 140 * time.Second, TheEnd: 200 * time.Second}
	for _, m := range d.Marks {
		if !m.Reached || m.After != marks[m.What] || m.Seconds != m.After.Seconds() {
			t.Errorf("%s after %s, want %s", m.What, m.After, marks[m.What])
		}
	}
	if d.Evidence != 3 {
		t.Errorf("%d pieces of evidence before the act, want 3", d.Evidence)
	}
	if len(d.Stopped) != 1 || d.Stopped[0].Step != "unlock" || d.Stopped[0].Why != "not classified: yet" {
		t.Errorf("stopped = %+v", d.Stopped)
	}
	if len(d.Acts) != 1 || d.Acts[0] != (Act{"unlock", "done", "unlock it"}) || len(d.Debts) != 1 || d.Debts[0].How != "carried" || len(d.Waivers) != 1 {
		t.Errorf("acts %+v, debts %+v, waivers %+v", d.Acts, d.Debts, d.Waivers)
	}
	if d.Verdict() != "" || len(d.Hints) != 0 {
		t.Errorf("a real incident has the verdict %q and the hints %q", d.Verdict(), d.Hints)
	}
}

// TestNothingWalked: an incident that was closed at once has never reached
// anything, and that is said.
func TestNothingWalked(t *testing.T) {
	t.Parallel()
	all := strings.Join(Of(walk(t, opening()...), &Drill{Name: "demo", Shut: "unlock"}).Lines(), "\n")
	for _, want := range []string{"The drill was not judged.", "first reading: never", "all required captures: never", "first act: never", "close: never", "0 pieces of evidence",
		"no unsafe attempt", "your path:", "the gate unlock must stay shut"} {
		if !strings.Contains(all, want) {
			t.Errorf("it does not say %q:\n%s", want, all)
		}
	}
}

func TestBesideTheReference(t *testing.T) {
	t.Parallel()
	path, err := ParsePath("read lock\nread state\nwaive ci\nconclude mutation yes\nanswer holder alive\nconclude class MutationPartiallySucceeded\nact unlock\n")
	if err != nil {
		t.Fatal(err)
	}
	d := Of(walk(t, story()...), &Drill{Name: "demo", Path: path, Judged: true, Conditions: []Condition{{Condition: "a", Holds: true}, {Condition: "b", Why: "denied"}, {Condition: "c"}}})
	all := strings.Join(d.Lines(), "\n")
	for _, want := range []string{"The drill is not won.\n  a: holds\n  b: does not hold: denied\n  c: does not hold\n", "your path, next to the reference:",
		"  =  read lock (2 times)\n  -  read state (left out)\n  =  waive ci\n", "  =  conclude class MutationPartiallySucceeded\n  =  act unlock\n  +  watch free\n",
		"Left out, although the reference did it: state.", "At another time than in the reference: holder."} {
		if !strings.Contains(all, want) {
			t.Errorf("it does not say %q:\n%s", want, all)
		}
	}
}

func TestAlign(t *testing.T) {
	t.Parallel()
	cases := []struct{ yours, reference, want string }{
		{"a b c", "a b c", "=a =b =c"},
		{"a c", "a b c", "=a -b =c"},
		{"a x b", "a b", "=a +x =b"},
		{"b a c", "a b c", "~b =a =c"},
		{"", "a b", "-a -b"},
		{"a b", "", "+a +b"},
		{"a b:1 c", "a b:2 c", "=a ≠b =c"},
		{"c b a", "a b c", "~c ~b =a"},
	}
	signs := map[string]string{Same: "=", Otherwise: "≠", Order: "~", Extra: "+", LeftOut: "-"}
	for _, tc := range cases {
		var got []string
		for _, l := range Align(stops(tc.yours), stops(tc.reference)) {
			s := l.Yours
			if s == nil {
				s = l.Reference
			}
			got = append(got, signs[l.Is]+s.Step)
		}
		if strings.Join(got, " ") != tc.want {
			t.Errorf("%q beside %q: %q, want %q", tc.yours, tc.reference, got, tc.want)
		}
	}
}

func stops(path string) []Stop {
	var out []Stop
	for _, f := range strings.Fields(path) {
		step, value, _ := strings.Cut(f, ":")
		out = append(out, Stop{Do: "answer", Step: step, Value: value})
	}
	return out
}

// TestAlignLosesNothing: whatever two paths are, yours stands in its order and
// every stop of either is there once.
func TestAlignLosesNothing(t *testing.T) {
	t.Parallel()
	draw := rapid.Custom(func(t *rapid.T) []Stop {
		steps := rapid.SliceOfNDistinct(rapid.StringMatching("[a-h]"), 0, 8, rapid.ID[string]).Draw(t, "steps")
		var out []Stop
		for _, s := range steps {
			out = append(out, Stop{Do: "answer", Step: s, Value: rapid.SampledFrom([]string{"", "x", "y"}).Draw(t, "value")})
		}
		return out
	})
	rapid.Check(t, func(t *rapid.T) {
		yours, reference := draw.Draw(t, "yours"), draw.Draw(t, "reference")
		var mine, theirs []Stop
		matched := 0
		for _, l := range Align(yours, reference) {
			if l.Yours != nil {
				mine = append(mine, *l.Yours)
			}
			if l.Reference != nil {
				theirs = append(theirs, *l.Reference)
			}
			both := l.Yours != nil && l.Reference != nil
			if both != (l.Is == Same || l.Is == Otherwise || l.Is == Order) || both && l.Yours.Step != l.Reference.Step {
				t.Fatalf("a leg %+v", l)
			}
			if l.Is == Same || l.Is == Otherwise {
				matched++
				if (l.Is == Same) != (*l.Yours == *l.Reference) {
					t.Fatalf("%s: %+v beside %+v", l.Is, l.Yours, l.Reference)
				}
			}
		}
		if !slices.Equal(mine, yours) {
			t.Fatalf("your path came out as %v", mine)
		}
		by := func(a, b Stop) int { return strings.Compare(a.Step, b.Step) }
		slices.SortFunc(theirs, by)
		slices.SortFunc(reference, by)
		if !slices.Equal(theirs, reference) {
			t.Fatalf("the reference came out as %v, want %v", theirs, reference)
		}
		if len(yours) > 0 && len(reference) > 0 && matched == 0 && slices.ContainsFunc(yours, func(s Stop) bool {
			return slices.ContainsFunc(reference, func(r Stop) bool { return r.Step == s.Step })
		}) {
			t.Fatal("no leg is the same, and both paths share a step")
		}
	})
}

func TestParsePathRefuses(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{"read", "jump over", "lock read"} {
		if _, err := ParsePath(bad); err == nil {
			t.Errorf("%q is a path", bad)
		}
	}
}

// TestByItselfIsNoAttempt: what a preview that began by itself met is no attempt of a person. One
// that a person asked for is, also after it, and in a bundle that does not tell the two apart.
func TestByItselfIsNoAttempt(t *testing.T) {
	t.Parallel()
	const why = `"step":"demo/unlock","why":"the lock is 2m old","refused":true`
	itself, asked := `{`+why+`,"by_itself":true}`, `{`+why+`}`
	for name, tc := range map[string]struct {
		data []string
		want int
		says string
	}{
		"by itself":             {[]string{itself}, 0, "demo/unlock stayed shut, its preview began by itself: the lock is 2m old"},
		"asked for":             {[]string{asked}, 1, "demo/unlock refused: the lock is 2m old"},
		"asked for after it":    {[]string{itself, asked}, 1, "demo/unlock refused: the lock is 2m old"},
		"asked for twice":       {[]string{itself, asked, asked}, 2, "demo/unlock refused: the lock is 2m old"},
		"by itself, after that": {[]string{asked, itself}, 1, "demo/unlock stayed shut, its preview began by itself: the lock is 2m old"},
	} {
		bodies := opening()
		for _, data := range tc.data {
			b, err := triage.Decode("gate.closed", []byte(data))
			if err != nil {
				t.Fatal(err)
			}
			bodies = append(bodies, b)
		}
		st := walk(t, bodies...)
		d := Of(st, nil)
		if got := st.Timeline[len(st.Timeline)-1].Text; len(d.Stopped) != tc.want || got != tc.says {
			t.Errorf("%s: %d attempts, %q; want %d, %q", name, len(d.Stopped), got, tc.want, tc.says)
		}
		for _, s := range d.Stopped {
			if s.Why != "the lock is 2m old" {
				t.Errorf("%s: stopped because %q", name, s.Why)
			}
		}
	}
}
