package triage

import (
	"strings"
	"testing"
	"time"

	"handrail/triage/record"
)

func bodies(groups ...[]Body) []Body {
	var out []Body
	for _, g := range groups {
		out = append(out, g...)
	}
	return out
}

func TestFoldRefuses(t *testing.T) {
	t.Parallel()
	opened := []Body{Open{Incident: "i", Severity: Sev3}}
	planned := append(opened[:1:1], demoPlan())
	armed := bodies(ready(), []Body{shown(unlock, Release)})
	confirmed := append(armed[:len(armed):len(armed)], answered(unlock))
	acting := append(confirmed[:len(confirmed):len(confirmed)], start(unlock))
	closed := append(opened[:1:1], Close{Outcome: "open"})
	expired := shown(unlock, Release)
	expired.Until = t0
	short := shown(unlock, Release)
	short.Until = t0.Add(8*time.Minute + 30*time.Second)
	owned := shown(unlock, Release)
	owned.Owners = []Owner{{Name: "argo", Paused: "unknown"}}
	with := func(v ...Verdict) GateShown {
		b := shown(unlock, Release)
		b.Verdicts = v
		return b
	}
	twice := demoPlan()
	twice.Steps = append(twice.Steps, twice.Steps[0])
	stranger := demoPlan()
	stranger.Steps[0].Refs = []string{"demo/nowhere"}
	tests := []struct {
		name string
		told []Body
		body Body
		want string
		law  int
	}{
		{"before open", nil, Note{Text: "x"}, "not open", 0},
		{"person before open", nil, Person{ID: "a", Proof: "os"}, "not open", 0},
		{"second open", opened, Open{Incident: "j", Severity: Sev1}, "already open", 0},
		{"no severity", nil, Open{Incident: "i", Severity: "SEV-9"}, "not a severity", 0},
		{"unknown proof", opened, Person{ID: "a", Proof: "trust me"}, "not a proof", 0},
		{"unknown phase", opened, PhaseSet{To: "panic"}, "not a phase", 0},
		{"empty note", opened, Note{Text: " "}, "empty", 0},
		{"correct the future", opened, Correct{Seq: 9, Text: "x"}, "no earlier entry", 0},
		{"plan with a step twice", opened, twice, "twice", 0},
		{"plan with a lost reference", opened, stranger, "no plan has", 0},
		{"foreign step id", opened, Plan{Runbook: "a", Steps: []PlanStep{{ID: "b/x", Phase: Preserve, Kind: ProbeStep}}}, "does not begin", 0},
		{"gate without class", opened, Plan{Runbook: "a", Steps: []PlanStep{{ID: "a/x", Phase: Recover, Kind: GateStep}}}, "not a class", 0},
		{"watch with a wrong pace", opened, Plan{Runbook: "a", Steps: []PlanStep{{ID: "a/x", Phase: Verify, Kind: WatchStep, Apart: "soon"}}}, "pace", 0},
		{"start of a missing step", planned, begin("demo/none"), "no step", 0},
		{"start of an ask", planned, begin(holder), "is a ask", 0},
		{"end without start", planned, read(lock, 1, "ok", "true"), "not running", 0},
		{"strange outcome", append(planned[:2:2], begin(lock)), read(lock, 1, "great", "true"), "not an outcome", 0},
		{"end of another attempt", append(planned[:2:2], begin(lock)), read(lock, 2, "ok", "true"), "not running", 0},
		{"strange answer", planned, Answer{Step: holder, Value: "perhaps"}, "not an answer", 0},
		{"manual without proof", planned, Manual{Step: page}, "proof", 0},
		{"skip a capture", planned, Skip{Step: lock, Why: "busy"}, "required capture", 1},
		{"skip a watch", planned, Skip{Step: clean, Why: "busy"}, "proves", 8},
		{"skip without reason", planned, Skip{Step: holder}, "reason", 0},
		{"unknown topic", opened, concluded("mood", "yes"), "not a topic", 0},
		{"value outside the set", opened, concluded(TopicMutation, "perhaps"), "not a value", 0},
		{"class outside the table", opened, concluded(TopicClass, "Broken"), "not a value", 0},
		{"away from caution, no person", opened, Conclude{Topic: TopicMutation, Value: "no", Proposed: Unknown, Why: "x"}, "names no person", 11},
		{"away from caution, no reason", opened, Conclude{Topic: TopicConsistent, Value: "yes", Proposed: "no", Person: "a"}, "reason", 11},
		{"another class, no reason", opened, Conclude{Topic: TopicClass, Value: partial, Proposed: "EvidenceIncomplete"}, "reason", 11},
		{"waive law 2", planned, Waive{Law: 2, Subject: lock, Person: "a", Why: "b"}, "cannot be waived", 0},
		{"waive without person", planned, Waive{Law: 1, Subject: lock, Why: "b"}, "named person", 0},
		{"waive without why", planned, Waive{Law: 1, Subject: lock, Person: "a"}, "reason", 0},
		{"waive what is no capture", planned, Waive{Law: 1, Subject: extra, Person: "a", Why: "b"}, "not a required capture", 0},
		{"law 1", bodies(planned, ready()[5:]), shown(pause, Contain), "not recorded", 1},
		{"law 1 after a later failure", bodies(ready(), []Body{ProbeStart{Step: lock, N: 2}, read(lock, 2, "timeout", "true")}), shown(pause, Contain), "could not be read", 1},
		{"law 2 mutation", ready()[:5], shown(pause, Contain), "mutation", 2},
		{"law 2 class", ready()[:6], shown(pause, Contain), "classified", 2},
		{"class unknown is none", bodies(ready(), []Body{concluded(TopicClass, Unknown)}), shown(pause, Contain), "classified", 2},
		{"law 3", bodies(ready(), []Body{concluded(TopicMutation, Unknown)}), shown(fix, Repair), "unknown is not no", 3},
		{"provisional class", bodies(ready(), []Body{Conclude{Topic: TopicClass, Value: partial, Provisional: true}}), shown(fix, Repair), "provisional", 2},
		{"reverts", bodies(ready(), []Body{concluded(TopicReverts, "yes")}), shown(fix, Repair), "reverts", 12},
		{"rerun without compare", ready()[:7], shown(again, Rerun), "agree", 3},
		{"law 7", ready(), shown(pauseUp, Contain), "affects more", 7},
		{"no commander", bodies(ready(), []Body{SeveritySet{Level: Sev1}}), shown(fix, Repair), "commander", 0},
		{"false verdict", ready(), with(Verdict{Result: "false", Why: "too young"}), "too young", 0},
		{"unknown verdict", ready(), with(Verdict{Expr: "a", Result: "unknown"}), "unknown", 11},
		{"one bad verdict of two", ready(), with(good("a")[0], Verdict{Expr: "b", Result: "stale"}), "stale", 11},
		{"unjudged", ready(), with(), "not evaluated", 11},
		{"wrong class", ready(), shown(unlock, Contain), "of class", 0},
		{"expired preview", ready(), expired, "expired", 0},
		{"answer unarmed", ready(), answered(unlock), "not armed", 0},
		{"other digest", armed, GateAnswered{Step: unlock, Digest: "x", Typed: "do " + unlock}, "another preview", 0},
		{"other phrase", armed, GateAnswered{Step: unlock, Digest: "d-" + unlock, Typed: "y"}, "not the one shown", 0},
		{"answered late", bodies(ready(), []Body{short}), answered(unlock), "expired", 0},
		{"owner not paused", bodies(ready(), []Body{owned}), answered(unlock), "argo", 12},
		{"act from idle", ready(), start(unlock), "not confirmed", 0},
		{"act from armed", armed, start(unlock), "not confirmed", 0},
		{"act of another digest", confirmed, ActStart{Step: unlock, Digest: "x"}, "not the one confirmed", 0},
		{"end without act", confirmed, end(unlock, "done"), "no act", 0},
		{"end of another act", acting, ActEnd{Step: unlock, Digest: "x", Outcome: "done"}, "not of the act", 0},
		{"strange end", acting, end(unlock, "fine"), "not an outcome", 0},
		{"preview while acting", acting, shown(pause, Contain), "is acting", 0},
		{"close a gate that acts", acting, GateClosed{Step: unlock, Why: "x"}, "acting", 0},
		{"plan while acting", acting, demoPlan(), "is acting", 0},
		{"close while acting", acting, Close{Outcome: "aborted"}, "is acting", 0},
		{"preview after unknown end", bodies(acting, []Body{end(unlock, Unknown)}), shown(pause, Contain), "it is unknown how", 11},
		{"arm the unknown gate", bodies(acting, []Body{end(unlock, Unknown)}), shown(unlock, Release), "it is unknown how", 11},
		{"approve nothing", ready(), Approve{Digest: "d", Person: "a", Sig: "s"}, "no armed gate", 0},
		{"settle nothing", ready(), Settle{Debt: "d1", How: "paid", Proof: "x"}, "no debt", 0},
		{"debt of nothing", ready(), DebtOpened{ID: "d", Kind: "resume", Of: "demo/none"}, "no plan has", 0},
		{"close recovered too early", ready(), Close{Outcome: "recovered"}, "not green", 8},
		{"close as fine", opened, Close{Outcome: "fine"}, "not an outcome", 0},
		{"phase after close", closed, PhaseSet{To: Learn}, "closed as open", 0},
		{"second close", closed, Close{Outcome: "open"}, "closed as open", 0},
		{"nil payload", opened, (*Note)(nil), "no such event", 0},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			got := refused(t, tell(t, State{}, tc.told...), tc.body)
			if !strings.Contains(got.Why, tc.want) || got.Law != tc.law {
				t.Errorf("Fold() = %q (law %d), want %q (law %d)", got.Why, got.Law, tc.want, tc.law)
			}
		})
	}
}

func TestSequence(t *testing.T) {
	t.Parallel()
	s, err := Fold(State{}, Event{Seq: 0, At: t0})
	if err != nil {
		t.Fatalf("Fold(entry 0 of the store) = %v", err)
	}
	s = tell(t, s, Open{Incident: "i", Severity: Sev4})
	for _, seq := range []int64{-1, 0, 1} {
		if _, err := Fold(s, Event{Seq: seq, At: t0}); err == nil {
			t.Errorf("Fold(entry %d after 1) = nil, want an error", seq)
		}
	}
	got, err := Fold(s, Event{Seq: 5, At: t0.Add(time.Hour)})
	if err != nil || got.Seq != 5 || !got.Updated.Equal(t0.Add(time.Hour)) || len(got.Timeline) != 1 {
		t.Errorf("Fold(the store's own) = %+v, %v, want only Seq and Updated moved", got, err)
	}
}

func TestGateLife(t *testing.T) {
	t.Parallel()
	s := tell(t, State{}, ready()...)
	phase := func(want GatePhase, acting string) {
		t.Helper()
		if g := s.Gates[unlock]; g.Phase != want || s.Acting != acting {
			t.Fatalf("gate is %q, acting %q, want %q, %q (%s)", g.Phase, s.Acting, want, acting, g.Why)
		}
	}
	s = tell(t, s, shown(unlock, Release))
	phase(GateArmed, "")
	s = tell(t, s, Approve{Digest: "d-" + unlock, Person: "b", Sig: "s"}, answered(unlock))
	phase(GateConfirmed, "")
	s = tell(t, s, start(unlock))
	phase(GateActing, unlock)
	s = tell(t, s, end(unlock, Unknown))
	phase(GateUnknown, "")
	if got := s.Unresolved(); got != unlock {
		t.Errorf("Unresolved() = %q, want %q", got, unlock)
	}
	s = tell(t, s, end(unlock, "done"), DebtOpened{ID: "d1", Kind: "unfinished", Of: unlock, Text: "four left"})
	phase(GateDone, "")
	s = tell(t, s, ProbeStart{Step: clean, N: 1}, watched(1, "true"), ProbeStart{Step: clean, N: 2}, watched(2, "true"))
	if bad := refused(t, s, Close{Outcome: "recovered"}); bad.Law != 9 {
		t.Errorf("close over an open debt: law %d, want 9", bad.Law)
	}
	s = tell(t, s, Settle{Debt: "d1", How: "carried", Owner: "platform", Until: "2026-12-01"}, Close{Outcome: "recovered"})
	s = tell(t, s, Note{Text: "after"}, Correct{Seq: 1, Text: "typo"}, Settle{Debt: "d1", How: "paid", Proof: "PR 4"})
	refused(t, s, Settle{Debt: "d1", How: "paid", Proof: "PR 4"})
}

// TestActThatDidNotHappenIsStillToDo: one that was cut off and is found not to
// have happened is recommended again, one that failed is not.
func TestActThatDidNotHappenIsStillToDo(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name string
		ends []Body
		want bool
	}{
		{"cut off, and not done", []Body{end(unlock, Unknown), end(unlock, "failed")}, true},
		{"cut off, and done", []Body{end(unlock, Unknown), end(unlock, "done")}, false},
		{"failed", []Body{end(unlock, "failed")}, false},
	} {
		s := tell(t, tell(t, State{}, ready()...), shown(unlock, Release), answered(unlock), start(unlock))
		s = tell(t, s, tc.ends...)
		st, _ := s.Step(unlock)
		if got := gateWanted(&s, &st, nil); got != tc.want {
			t.Errorf("%s: wanted again = %v, want %v", tc.name, got, tc.want)
		}
	}
}

func watched(n int, green string) ProbeEnd {
	v := boolean(green)
	return ProbeEnd{Step: clean, N: n, Outcome: "ok", Green: &v}
}

func TestDisarm(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		body []Body
		gate string
		want GatePhase
		why  string
	}{
		{"closed", []Body{GateClosed{Step: unlock, Why: "esc"}}, unlock, GateIdle, "esc"},
		{"a fact changed", []Body{ProbeStart{Step: lock, N: 2}, read(lock, 2, "ok", "false")}, unlock, GateIdle, "held"},
		{"the same fact again", []Body{ProbeStart{Step: lock, N: 2}, read(lock, 2, "ok", "true")}, unlock, GateArmed, ""},
		{"the fact became unknown", []Body{ProbeStart{Step: lock, N: 2}, read(lock, 2, "failed", "true")}, unlock, GateIdle, "held"},
		{"another step's fact", []Body{begin(extra), read(extra, 1, "ok", "false")}, unlock, GateArmed, ""},
		{"an answer changed", []Body{Answer{Step: holder, Value: "alive"}}, unlock, GateIdle, "alive"},
		{"the same answer", []Body{Answer{Step: holder, Value: "dead"}}, unlock, GateArmed, ""},
		{"a new plan", []Body{demoPlan()}, unlock, GateIdle, "plan"},
		{"mutation unknown lets a release be", []Body{concluded(TopicMutation, Unknown)}, unlock, GateArmed, ""},
		{"mutation unknown shuts a repair", []Body{concluded(TopicMutation, Unknown)}, fix, GateIdle, "not certain"},
		{"class unknown shuts all", []Body{concluded(TopicClass, Unknown)}, unlock, GateIdle, "classified"},
		{"SEV-1 without commander", []Body{SeveritySet{Level: Sev1}}, fix, GateIdle, "commander"},
		{"SEV-1 lets a release be", []Body{SeveritySet{Level: Sev1}}, unlock, GateArmed, ""},
		{"another act", []Body{answered(fix), start(fix)}, unlock, GateIdle, "began to act"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			s := tell(t, State{}, ready()...)
			s = tell(t, s, shown(unlock, Release), shown(fix, Repair))
			s = tell(t, s, tc.body...)
			g := s.Gates[tc.gate]
			if g.Phase != tc.want || !strings.Contains(g.Why, tc.why) {
				t.Errorf("gate is %q (%q), want %q (%q)", g.Phase, g.Why, tc.want, tc.why)
			}
		})
	}
}

func TestMovedTarget(t *testing.T) {
	t.Parallel()
	s := tell(t, State{}, ready()...)
	s = tell(t, s, shown(unlock, Release), GateClosed{Step: unlock, Why: "moved", Moved: []string{"serial"}})
	for _, id := range []string{lock, holder} {
		if st, _ := s.Step(id); st.Status != Stale {
			t.Errorf("step %s is %s, want stale", id, st.Status)
		}
	}
	if got := s.Topics[TopicConsistent].Value; got != Unknown || s.Return != Compare {
		t.Errorf("consistent is %q, return %q, want unknown, compare", got, s.Return)
	}
	if bad := refused(t, s, shown(unlock, Release)); bad.Law != 1 {
		t.Errorf("arming on a stale capture: law %d, want 1", bad.Law)
	}
}

func TestWatch(t *testing.T) {
	t.Parallel()
	type sample struct {
		after   time.Duration
		outcome string
		green   string
	}
	tests := []struct {
		name    string
		samples []sample
		streak  int
		status  Status
	}{
		{"two far apart", []sample{{0, "ok", "true"}, {20 * time.Second, "ok", "true"}}, 2, Settled},
		{"two too close", []sample{{0, "ok", "true"}, {19 * time.Second, "ok", "true"}}, 1, Pending},
		{"close ones do not push back", []sample{{0, "ok", "true"}, {15 * time.Second, "ok", "true"}, {5 * time.Second, "ok", "true"}}, 2, Settled},
		{"red resets", []sample{{0, "ok", "true"}, {time.Minute, "ok", "false"}, {time.Minute, "ok", "true"}}, 1, Pending},
		{"unknown resets", []sample{{0, "ok", "true"}, {time.Minute, "timeout", "true"}}, 0, CannotTell},
		{"red after green", []sample{{0, "ok", "true"}, {time.Minute, "ok", "true"}, {time.Minute, "ok", "false"}}, 0, Pending},
		{"a null is unknown", []sample{{0, "ok", "null"}}, 0, CannotTell},
		{"clock runs back", []sample{{0, "ok", "true"}, {-time.Hour, "ok", "true"}}, 1, Pending},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			s := tell(t, State{}, ready()...)
			at := s.Updated
			for i, x := range tc.samples {
				s = tell(t, s, ProbeStart{Step: clean, N: i + 1})
				at = at.Add(x.after)
				v := boolean(x.green)
				var err error
				s, err = Fold(s, Event{Seq: s.Seq + 1, At: at, Body: ProbeEnd{Step: clean, N: i + 1, Outcome: x.outcome, Green: &v}})
				if err != nil {
					t.Fatalf("Fold() = %v", err)
				}
			}
			if st, _ := s.Step(clean); st.Streak != tc.streak || st.Status != tc.status {
				t.Errorf("watch is %s with streak %d, want %s with %d", st.Status, st.Streak, tc.status, tc.streak)
			}
		})
	}
}

func TestActEndsStreak(t *testing.T) {
	t.Parallel()
	s := tell(t, State{}, ready()...)
	s = tell(t, s, ProbeStart{Step: clean, N: 1}, watched(1, "true"), ProbeStart{Step: clean, N: 2}, watched(2, "true"))
	s = tell(t, s, shown(unlock, Release), answered(unlock), start(unlock), end(unlock, "done"))
	if st, _ := s.Step(clean); st.Status != Stale || st.Streak != 0 {
		t.Errorf("watch is %s with streak %d, want stale with 0: it was green before the act", st.Status, st.Streak)
	}
}

func TestFailedProbeForgets(t *testing.T) {
	t.Parallel()
	s := tell(t, State{}, ready()...)
	s = tell(t, s, ProbeStart{Step: lock, N: 2}, ProbeEnd{Step: lock, N: 2, Outcome: "denied"})
	st, _ := s.Step(lock)
	if st.Facts["held"].Known() || st.Status != CannotTell {
		t.Errorf("after a denied attempt: %s, held known = %v, want unknown", st.Status, st.Facts["held"].Known())
	}
}

func TestWaiversOpen(t *testing.T) {
	t.Parallel()
	owned := shown(unlock, Release)
	owned.Owners = []Owner{{Name: "argo", Paused: "no"}}
	story := bodies(ready()[:2], []Body{Waive{Law: 1, Subject: lock, Person: "a", Why: "no CI"}}, ready()[4:])
	s := tell(t, State{}, story...)
	s = tell(t, s, owned, Waive{Law: 12, Subject: "argo", Person: "a", Why: "asleep"}, answered(unlock), start(unlock), end(unlock, "done"))
	s = tell(t, s, Waive{Law: 8, Subject: clean, Person: "a", Why: "no probe"}, Close{Outcome: "recovered"})
	if s.Outcome != "recovered" || len(s.Waivers) != 3 {
		t.Errorf("outcome %q, %d waivers, want recovered, 3", s.Outcome, len(s.Waivers))
	}
}

func TestPlanKeepsAndOutdates(t *testing.T) {
	t.Parallel()
	s := tell(t, State{}, ready()...)
	same := tell(t, s, demoPlan())
	if st, _ := same.Step(lock); st.Status != Settled {
		t.Errorf("the same plan again: lock is %s, want settled", st.Status)
	}
	moved := demoPlan()
	moved.Params = map[string]Value{"dir": record.StringOf("other")}
	if st, _ := tell(t, s, moved).Step(lock); st.Status != Stale {
		t.Errorf("the same runbook elsewhere: lock is %s, want stale", st.Status)
	}
	other := tell(t, s, Plan{Runbook: "other", Digest: "p2", Steps: []PlanStep{{ID: "other/x", Phase: Preserve, Kind: ProbeStep, Required: true}}})
	if st, _ := other.Step(lock); !st.Retired || st.Status != Settled {
		t.Errorf("another runbook: lock is %s, retired %v, want its facts kept and retired", st.Status, st.Retired)
	}
	refused(t, other, begin(lock))
}

func TestMatrixContradiction(t *testing.T) {
	t.Parallel()
	s := tell(t, State{}, ready()[:2]...)
	for value, want := range map[string]bool{"no": true, "yes": false, Unknown: false} {
		got := tell(t, s, concluded(TopicMutation, value)).Topics[TopicMutation].Contradicts
		if (got != "") != want {
			t.Errorf("mutation %s against row 7: %q, want a contradiction: %v", value, got, want)
		}
	}
	for n := range 13 {
		if r, ok := Matrix(n + 1); !ok || r.Number != n+1 || r.Action == "" {
			t.Errorf("Matrix(%d) = %+v, %v", n+1, r, ok)
		}
	}
	for _, n := range []int{-1, 0, 14} {
		if _, ok := Matrix(n); ok {
			t.Errorf("Matrix(%d) has a row", n)
		}
	}
	if a, b := len(FailureStates()), len(Domains()); a != 10 || b != 14 || len(SeverityLevels()) != 4 {
		t.Errorf("tables have %d states and %d domains, want 10 and 14", a, b)
	}
}

// A read that began before an act had ended saw the world from before it.
func TestGreenThatBeganBeforeTheActEndedProvesNothing(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		outcome string
		streak  int
	}{{"done", 0}, {"failed", 0}, {Unknown, 0}, {"refused", 1}} {
		s := tell(t, State{}, ready()...)
		s = tell(t, s, shown(unlock, Release), answered(unlock), start(unlock))
		s = tell(t, s, ProbeStart{Step: clean, N: 1}, end(unlock, tc.outcome), watched(1, "true"))
		if st, _ := s.Step(clean); st.Streak != tc.streak || st.Status != Pending {
			t.Errorf("%s: watch is %s with streak %d, want pending with %d", tc.outcome, st.Status, st.Streak, tc.streak)
		}
		s = tell(t, s, ProbeStart{Step: clean, N: 2}, watched(2, "true"))
		if st, _ := s.Step(clean); st.Streak != tc.streak+1 {
			t.Errorf("%s: the next green gives streak %d, want %d", tc.outcome, st.Streak, tc.streak+1)
		}
	}
}

// TestAcceptedProposalIsNotContradicted: the table of usual cases holds against what
// a person says, not against what the evidence of the incident proposes.
func TestAcceptedProposalIsNotContradicted(t *testing.T) {
	t.Parallel()
	s := tell(t, State{}, ready()[:2]...)
	for proposed, against := range map[string]bool{"no": false, "": true, Unknown: true} {
		c := Conclude{Topic: TopicMutation, Value: "no", Proposed: proposed, Person: "ana", Why: "the log"}
		if got := tell(t, s, c).Topics[TopicMutation].Contradicts; (got != "") != against {
			t.Errorf("proposed %q: the matrix says %q", proposed, got)
		}
	}
}
