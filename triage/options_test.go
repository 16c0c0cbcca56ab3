package triage

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func recommended(s State, judge func(string) []Verdict) string {
	for _, o := range Options(s, s.Updated, judge) {
		if o.Recommended {
			return strings.TrimSpace(strings.Join([]string{string(o.Kind), o.Step, string(o.Topic), o.Subject, o.Value}, " "))
		}
	}
	return ""
}

func yes(string) []Verdict { return good("x") }

// TestIdleQuestionIsPassedOver: what need not be known is not asked, unless the
// runbook requires it, and what cannot be read is.
func TestIdleQuestionIsPassedOver(t *testing.T) {
	t.Parallel()
	plan := demoPlan()
	at := func(required bool) State {
		for i := range plan.Steps {
			if plan.Steps[i].ID == holder {
				plan.Steps[i].Required = required
			}
		}
		return tell(t, State{}, Open{Incident: "i", Severity: Sev3}, plan, begin(lock), read(lock, 1, "ok", "true"),
			begin(extra), read(extra, 1, "ok", "true"), begin(heavy), read(heavy, 1, "ok", "true"))
	}
	for _, tc := range []struct {
		result   string
		required bool
		want     string
	}{
		{"true", false, "answer " + holder},
		{"unknown", false, "answer " + holder},
		{"stale", false, "answer " + holder},
		{"error", false, "answer " + holder},
		{"false", false, "conclude " + mutates + " mutation"},
		{"false", true, "answer " + holder},
	} {
		judge := func(id string) []Verdict {
			if id != holder {
				return nil
			}
			return []Verdict{{Result: tc.result, Why: "so"}}
		}
		if got := recommended(at(tc.required), judge); strings.Join(strings.Fields(got), " ") != tc.want {
			t.Errorf("%s, required %v: recommended %q, want %q", tc.result, tc.required, got, tc.want)
		}
	}
}

// TestReadThatAppliesIsMade: what nothing stands on is read where its own condition holds,
// and only there; while evidence is kept, the rounds of reads see to it.
func TestReadThatAppliesIsMade(t *testing.T) {
	t.Parallel()
	const more = "demo/more"
	for _, tc := range []struct {
		phase  Phase
		result string
		aside  bool
		want   string
	}{
		{Mutation, "true", true, "probe " + more},
		{Mutation, "false", true, "answer " + holder},
		{Mutation, "unknown", true, "answer " + holder},
		{Mutation, "true", false, "answer " + holder},
		{Preserve, "true", true, "answer " + holder},
		{Locate, "true", true, "answer " + holder},
	} {
		plan := demoPlan()
		plan.Steps = slices.Insert(plan.Steps, 1, PlanStep{ID: more, Phase: tc.phase, Kind: ProbeStep})
		s := tell(t, State{}, Open{Incident: "i", Severity: Sev3}, plan, begin(lock), read(lock, 1, "ok", "true"),
			begin(extra), read(extra, 1, "ok", "true"), begin(heavy), read(heavy, 1, "ok", "true"))
		judge := func(id string) []Verdict {
			if id != more {
				return nil
			}
			return []Verdict{{Result: tc.result, Why: "so", Aside: tc.aside}}
		}
		if got := recommended(s, judge); got != tc.want {
			t.Errorf("%s in %s: recommended %q, want %q", tc.result, tc.phase, got, tc.want)
		}
		s = tell(t, s, begin(more), read(more, 1, "failed", "true"))
		if got := recommended(s, judge); got != "answer "+holder {
			t.Errorf("%s in %s: recommended %q after it was tried once", tc.result, tc.phase, got)
		}
	}
}

// TestRecommendedWalksTheLoop follows the recommendation from the page to the
// close.
func TestRecommendedWalksTheLoop(t *testing.T) {
	t.Parallel()
	s := tell(t, State{}, Open{Incident: "i", Severity: Sev3}, demoPlan())
	only := func(id string) []Verdict {
		switch id {
		case unlock:
			return good("x")
		case pause, pauseUp, fix, again:
			return []Verdict{{Result: "false", Why: "not this one", Aside: true}}
		}
		return nil // no condition
	}
	steps := []struct {
		want string
		then []Body
	}{
		{"probe " + lock, []Body{begin(lock), read(lock, 1, "failed", "true")}},
		{"probe " + lock, []Body{ProbeStart{Step: lock, N: 2}, read(lock, 2, "denied", "true")}},
		{"waive " + lock + "  " + lock + " 1", []Body{ProbeStart{Step: lock, N: 3}, read(lock, 3, "ok", "true")}},
		{"probe " + extra, []Body{begin(extra), read(extra, 1, "ok", "true")}},
		{"probe " + heavy, []Body{begin(heavy), read(heavy, 1, "ok", "true")}},
		{"answer " + holder, []Body{Answer{Step: holder, Value: "dead"}}},
		{"conclude " + mutates + " mutation", []Body{concluded(TopicMutation, Unknown)}},
		{"probe " + diff, []Body{begin(diff), read(diff, 1, "ok", "true")}},
		{"conclude " + agrees + " consistent", []Body{concluded(TopicConsistent, Unknown)}},
		{"conclude " + kind + " class", []Body{Conclude{Topic: TopicClass, Value: partial, Provisional: true}}},
		{"manual " + page, []Body{Manual{Step: page, Proof: "link"}}},
		{"preview " + unlock, []Body{shown(unlock, Release)}},
		{"confirm " + unlock, []Body{answered(unlock), start(unlock)}},
		{"", []Body{end(unlock, Unknown)}},
		{"preview " + unlock, []Body{end(unlock, "done"), DebtOpened{ID: "d1", Kind: "unfinished", Of: unlock}}},
		{"probe " + clean, []Body{ProbeStart{Step: clean, N: 1}, watched(1, "true")}},
		{"probe " + clean, []Body{ProbeStart{Step: clean, N: 2}, watched(2, "true")}},
		{"conclude " + agrees + " consistent", []Body{concluded(TopicConsistent, "yes")}},
		{"conclude " + kind + " class", []Body{concluded(TopicClass, partial)}},
		{"settle " + unlock + "  d1", []Body{Settle{Debt: "d1", How: "paid", Proof: "PR"}}},
		{"close    recovered", []Body{Close{Outcome: "recovered"}}},
		{"", nil},
	}
	for i, x := range steps {
		if got := strings.Join(strings.Fields(recommended(s, only)), " "); got != strings.Join(strings.Fields(x.want), " ") {
			t.Fatalf("step %d: recommended %q, want %q", i, got, x.want)
		}
		s = tell(t, s, x.then...)
	}
}

func TestRedReturnsToCompare(t *testing.T) {
	t.Parallel()
	s := tell(t, State{}, ready()...)
	s = tell(t, s, begin(extra), read(extra, 1, "ok", "true"), begin(heavy), read(heavy, 1, "ok", "true"),
		begin(diff), read(diff, 1, "ok", "true"), ProbeStart{Step: clean, N: 1}, watched(1, "false"))
	if got := recommended(s, nil); got != "probe "+diff || s.Return != Compare {
		t.Errorf("after a red: recommended %q, return %q, want the compare", got, s.Return)
	}
	if got := tell(t, s, PhaseSet{To: Compare}).Return; got != "" {
		t.Errorf("after going back the loop still proposes %q", got)
	}
}

func TestNilJudgeShutsConditions(t *testing.T) {
	t.Parallel()
	s := tell(t, State{}, ready()...)
	no := Check(s, Intent{Kind: DoPreview, Step: unlock}, s.Updated, nil)
	if no == nil || !strings.Contains(no.Error(), "not evaluated") {
		t.Errorf("Check(preview) without a judge = %v, want a refusal", no)
	}
	if no := Check(s, Intent{Kind: DoPreview, Step: unlock}, s.Updated, yes); no != nil {
		t.Errorf("Check(preview) with a judge = %v, want none", no)
	}
}

func TestCheckContent(t *testing.T) {
	t.Parallel()
	s := tell(t, State{}, ready()...)
	s = tell(t, s, shown(unlock, Release))
	late := s.Gates[unlock].Shown.Until.Add(time.Second)
	tests := []struct {
		name string
		in   Intent
		at   time.Time
		want string
	}{
		{"wider containment", Intent{Kind: DoPreview, Step: pauseUp}, t0, "gives no reason"},
		{"wider with a reason", Intent{Kind: DoPreview, Step: pauseUp, Text: "parent undoes it"}, t0, ""},
		{"confirm", Intent{Kind: DoConfirm, Step: unlock, Typed: "do " + unlock, Seen: s.Seq}, t0, ""},
		{"confirm nothing", Intent{Kind: DoConfirm, Step: unlock}, t0, "the phrase"},
		{"confirm unseen", Intent{Kind: DoConfirm, Step: unlock, Typed: "x", Seen: s.Seq - 1}, t0, "newer"},
		{"confirm late", Intent{Kind: DoConfirm, Step: unlock, Typed: "x"}, late, "expired"},
		{"confirm the wrong gate", Intent{Kind: DoConfirm, Step: fix, Typed: "x"}, t0, "not armed"},
		{"wrong answer", Intent{Kind: DoAnswer, Step: holder, Value: "hm"}, t0, "not an answer"},
		{"answer", Intent{Kind: DoAnswer, Step: holder, Value: "alive"}, t0, ""},
		{"no such step", Intent{Kind: DoProbe, Step: "demo/none"}, t0, "nothing to probe"},
		{"waive without person", Intent{Kind: DoWaive, Step: clean, Law: 8, Text: "x"}, t0, "named person"},
		{"waive law 3", Intent{Kind: DoWaive, Step: clean, Law: 3, Text: "x", Person: "a"}, t0, "cannot be waived"},
		{"severity without reason", Intent{Kind: DoSeverity, Severity: Sev1}, t0, "reason"},
		{"less careful", Intent{Kind: DoConclude, Topic: TopicMutation, Value: "no", Proposed: "yes", Text: "x"}, t0, "names no person"},
		{"more careful", Intent{Kind: DoConclude, Topic: TopicMutation, Value: Unknown, Proposed: "yes"}, t0, ""},
		{"another class", Intent{Kind: DoConclude, Topic: TopicClass, Value: "EvidenceIncomplete", Proposed: partial}, t0, "reason"},
		{"nameless person", Intent{Kind: DoPerson, Who: Person{ID: "a", Proof: "os"}}, t0, "a name"},
		{"close too early", Intent{Kind: DoClose, Value: "recovered"}, t0, "armed"},
		{"abort", Intent{Kind: DoClose, Value: "aborted"}, t0, ""},
		{"nothing", Intent{}, t0, "nothing to"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			no := Check(s, tc.in, tc.at, yes)
			if (no == nil) != (tc.want == "") || (no != nil && !strings.Contains(no.Error(), tc.want)) {
				t.Errorf("Check() = %v, want %q", no, tc.want)
			}
		})
	}
}

// TestEveryRefusalIsNamed: a gate that several laws refuse says all of them.
func TestEveryRefusalIsNamed(t *testing.T) {
	t.Parallel()
	s := tell(t, State{}, Open{Incident: "i", Severity: Sev1}, demoPlan())
	for _, o := range Options(s, t0, nil) {
		if o.Kind != DoPreview || o.Step != again {
			continue
		}
		var laws []int
		for _, r := range o.Refusals {
			laws = append(laws, r.Law)
			if r.Cure == "" {
				t.Errorf("%q has no cure", r.Why)
			}
		}
		if diff := cmp.Diff([]int{1, 2, 2, 3, 0}, laws); diff != "" {
			t.Errorf("laws that refuse the rerun (-want +got):\n%s", diff)
		}
	}
}

func TestTimelineIsOneLine(t *testing.T) {
	t.Parallel()
	s := tell(t, State{}, ready()...)
	s = tell(t, s, Note{Text: "two\r\nlines"}, shown(unlock, Release), Answer{Step: holder, Value: "alive", How: "saw it"})
	want := []string{"two lines", unlock + " is armed", holder + " answered alive: saw it; " + unlock + " is disarmed: the answer to " + holder + " changed to alive"}
	var got []string
	for _, m := range s.Timeline[len(s.Timeline)-3:] {
		got = append(got, m.Text)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("timeline (-want +got):\n%s", diff)
	}
	if int64(len(s.Timeline)) != s.Seq {
		t.Errorf("%d moments for %d events", len(s.Timeline), s.Seq)
	}
}

// TestTooOldIsReadAgain: where nothing but age keeps a gate shut, the loop asks
// again, and does not go on as if the gate had acted.
func TestTooOldIsReadAgain(t *testing.T) {
	t.Parallel()
	s := tell(t, State{}, ready()...)
	s = tell(t, s, begin(extra), read(extra, 1, "ok", "true"), begin(heavy), read(heavy, 1, "ok", "true"), begin(diff), read(diff, 1, "ok", "true"),
		Manual{Step: page, Proof: "told"}, Skip{Step: pause, Why: "nothing to pause"})
	stale := func(aged ...string) func(string) []Verdict {
		return func(id string) []Verdict {
			if id == unlock {
				return append(good("x"), Verdict{Expr: "y", Result: "stale", Aged: aged})
			}
			return good("x")
		}
	}
	for _, tc := range []struct {
		judge func(string) []Verdict
		want  string
	}{
		{yes, "preview " + unlock},
		{stale("holder"), "answer " + holder + "   dead"},
		{stale("lock", "holder"), "probe " + lock},
		{stale("none", "holder"), "answer " + holder + "   dead"},
		{stale(), "preview " + fix}, // it would stay shut with what is old, too
		{func(id string) []Verdict {
			if id == unlock {
				return []Verdict{{Result: "stale", Aged: []string{"holder"}}, {Result: "false", Why: "not this one"}}
			}
			return good("x")
		}, "preview " + fix},
	} {
		if got := recommended(s, tc.judge); got != tc.want {
			t.Errorf("recommended %q, want %q", got, tc.want)
		}
	}
	undone := tell(t, State{}, ready()[0], ready()[1]) // and never where a law keeps it shut
	if got := recommended(undone, stale("holder")); got != "probe "+lock {
		t.Errorf("recommended %q before the captures", got)
	}
}

// TestSecondContainmentOfAKindIsWanted: two writers to stop are two gates of one
// kind, and the loop leads to both.
func TestSecondContainmentOfAKindIsWanted(t *testing.T) {
	t.Parallel()
	for uses, want := range map[string]string{"kube/suspend": "preview " + pauseUp, "kube/stop-batch": "preview " + unlock} {
		plan := demoPlan()
		for i := range plan.Steps {
			switch plan.Steps[i].ID {
			case pause:
				plan.Steps[i].Uses = "kube/suspend"
			case pauseUp:
				plan.Steps[i].Uses = uses
			}
		}
		story := ready()
		story[1] = plan
		s := tell(t, State{}, story...)
		s = tell(t, s, begin(extra), read(extra, 1, "ok", "true"), begin(heavy), read(heavy, 1, "ok", "true"), begin(diff), read(diff, 1, "ok", "true"),
			Manual{Step: page, Proof: "told"}, shown(pause, Contain), answered(pause), start(pause), end(pause, "done"))
		if got := recommended(s, yes); got != want {
			t.Errorf("after one %s, %q is recommended, want %q", uses, got, want)
		}
	}
}

// TestWiderContainmentThatIsCalledFor: where the narrowest does not apply the next one is led to, and after the narrowest
// one whose own condition holds; one without a condition is not.
func TestWiderContainmentThatIsCalledFor(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		does  bool // the narrowest is done
		judge func(id string) []Verdict
		want  string
	}{
		"the narrowest does not apply": {false, func(id string) []Verdict {
			if id == pause {
				return []Verdict{{Aside: true, Result: "false"}}
			}
			return nil
		}, "preview " + pauseUp},
		"the narrowest comes first": {false, func(id string) []Verdict { return []Verdict{{Aside: true, Result: "true"}} }, "preview " + pause},
		"both apply": {true, func(id string) []Verdict {
			if id == pauseUp {
				return []Verdict{{Aside: true, Result: "true"}}
			}
			return nil
		}, "preview " + pauseUp},
		"one that may not apply": {true, func(id string) []Verdict {
			if id == pauseUp {
				return []Verdict{{Aside: true, Result: Unknown}}
			}
			return nil
		}, "preview " + fix},
	} {
		plan := demoPlan()
		for i := range plan.Steps {
			switch plan.Steps[i].ID {
			case pause:
				plan.Steps[i].Uses = "kube/suspend"
			case pauseUp:
				plan.Steps[i].Uses = "kube/stop-batch"
			}
		}
		story := ready()
		story[1] = plan
		s := tell(t, State{}, story...)
		s = tell(t, s, begin(extra), read(extra, 1, "ok", "true"), begin(heavy), read(heavy, 1, "ok", "true"), begin(diff), read(diff, 1, "ok", "true"), Manual{Step: page, Proof: "told"})
		if tc.does {
			s = tell(t, s, shown(pause, Contain), answered(pause), start(pause), end(pause, "done"))
		}
		if got := recommended(s, tc.judge); got != tc.want {
			t.Errorf("%s: %q is recommended, want %q", name, got, tc.want)
		}
	}
}

// TestTimeOpensAGate: a gate that only time keeps shut says when it opens, and then is
// read again; until then it is neither offered as it was nor forgotten.
func TestTimeOpensAGate(t *testing.T) {
	t.Parallel()
	opens := t0.Add(3 * time.Hour)
	young := Finding{Level: "critical", Say: "the lock is young", Against: []string{unlock}, At: opens}
	found := read(lock, 2, "ok", "true")
	found.Findings = []Finding{young}
	s := tell(t, State{}, append(ready(), ProbeStart{Step: lock, N: 2}, found)...)
	judge := func(aged ...string) func(string) []Verdict {
		return func(string) []Verdict {
			return []Verdict{{Expr: "age", Result: "false", Why: "too young", Refs: []string{lock}, At: opens, Aged: aged}}
		}
	}
	o := option(t, s, DoPreview, unlock)
	for _, x := range Options(s, s.Updated, judge()) {
		if x.Kind == DoPreview && x.Step == unlock {
			o = x
		}
	}
	if at, alone := Opens(o.Refusals); !at.Equal(opens) || !alone || len(o.Refusals) != 2 || o.Stale != nil {
		t.Errorf("refusals = %+v, opens at %s (alone %v), want the finding and the condition until %s", o.Refusals, at, alone, opens)
	}
	for _, x := range Options(s, opens, judge("lock")) {
		if x.Kind == DoPreview && x.Step == unlock && !slices.Equal(x.Stale, []string{lock}) {
			t.Errorf("once its time has come: stale = %v, want the lock", x.Stale)
		}
	}
}

// TestRefusedUntil: a floor of the gate itself, which time meets, is tried again only
// once it has.
func TestRefusedUntil(t *testing.T) {
	t.Parallel()
	opens := t0.Add(3 * time.Hour)
	s := tell(t, State{}, append(ready(), GateClosed{Step: unlock, Why: "the lock is 2m old", Refused: true, Opens: opens})...)
	if got := s.Gates[unlock].Opens; !got.Equal(opens) {
		t.Fatalf("opens = %s, want %s", got, opens)
	}
	for at, want := range map[time.Time]bool{opens.Add(-time.Second): true, opens: false, opens.Add(time.Hour): false} {
		if got := refusedSince(&s, unlock, at); got != want {
			t.Errorf("at %s: refused still = %v, want %v", at, got, want)
		}
	}
	s = tell(t, s, GateClosed{Step: unlock, Why: "the run lives", Refused: true})
	if !refusedSince(&s, unlock, opens.Add(time.Hour)) {
		t.Error("a refusal that time does not meet is tried again")
	}
	i := slices.IndexFunc(s.Steps, func(st Step) bool { return st.ID == unlock })
	s.Steps[i].Moved = s.Gates[unlock].ClosedSeq + 1
	if refusedSince(&s, unlock, opens.Add(time.Hour)) {
		t.Error("a gate that was given another parameter since is passed over")
	}
}
