package triage

import (
	"slices"
	"strings"
	"testing"
	"time"
)

const adopt = "demo/adopt"

// recordPlan is the demo with a gate that writes the record.
func recordPlan(kind string) Plan {
	p := demoPlan()
	i := slices.IndexFunc(p.Steps, func(st PlanStep) bool { return st.ID == fix })
	p.Steps = slices.Insert(p.Steps, i, PlanStep{ID: adopt, Phase: Recover, Kind: GateStep, Class: Repair, Uses: kind})
	return p
}

func preview(t *testing.T, s State, step string, judge func(string) []Verdict) Option {
	t.Helper()
	all := Options(s, t0, judge)
	i := slices.IndexFunc(all, func(o Option) bool { return o.Kind == DoPreview && o.Step == step })
	if i < 0 {
		t.Fatalf("no preview of %s is offered", step)
	}
	return all[i]
}

func lawsOf(o Option) (out []int) {
	for _, r := range o.Refusals {
		out = append(out, r.Law)
	}
	return out
}

// TestNoBlindRefresh walks through all that can be known of a difference: no gate that
// writes the record opens while one of the four questions has no answer, and none is kept
// shut by this law once all have one.
func TestNoBlindRefresh(t *testing.T) {
	t.Parallel()
	base := tell(t, State{}, append([]Body{Open{Incident: "i1", Title: "stuck", Severity: Sev3}, recordPlan("terraform/import")}, ready()[2:]...)...)
	classes := []string{"", Unknown}
	for _, f := range FailureStates() {
		classes = append(classes, f.Name)
	}
	topic := func(t Topic, v string, provisional bool) Conclusion {
		return Conclusion{Topic: t, Value: v, Provisional: provisional, Seq: 5}
	}
	compared := func(want, is string) []Compared {
		return []Compared{{Field: "f", Sides: []Side{{Source: Desired, Value: boolean(want)}, {Source: Actual, Value: boolean(is)}}}}
	}
	opened, shut := 0, 0
	for _, class := range classes {
		for _, provisional := range []bool{false, true} {
			for _, consistent := range []string{"", "yes", "no", Unknown} {
				for _, owner := range []string{"", Unknown, "platform"} {
					for _, agreed := range []string{"", Unknown, "yes"} {
						for _, rows := range [][]Compared{nil, compared("true", "true"), compared("true", "false"), compared("true", "x")} {
							for _, said := range []string{"", "git", "authorised", "differs git authorised"} {
								s := base
								s.Topics = map[Topic]Conclusion{
									TopicMutation: topic(TopicMutation, "yes", false), TopicClass: topic(TopicClass, class, provisional),
									TopicConsistent: topic(TopicConsistent, consistent, false), TopicOwner: topic(TopicOwner, owner, false),
								}
								s.Steps = slices.Clone(base.Steps)
								for i := range s.Steps {
									switch st := &s.Steps[i]; st.ID {
									case diff:
										if st.Rows = rows; rows != nil {
											st.Status = Settled
										}
									case holder: // an answer in another phase authorises nothing
									case page:
										st.Kind, st.Answer = AskStep, agreed
										if agreed != "" {
											st.Status = Settled
										}
									}
								}
								for _, id := range strings.Fields(said) {
									s.Drift = append(s.Drift, DriftSaid{DriftAnswer{[]KV{{Key: id, Value: "x"}}, "ana"}, 9})
								}
								o := preview(t, s, adopt, func(string) []Verdict { return good("x") })
								laws := lawsOf(o)
								lacking := 0
								for _, d := range s.Drifted() {
									if (d.Answer == "") != (d.From == "") {
										t.Fatalf("%+v is answered by nothing", d)
									}
									if d.Answer == "" {
										lacking++
									}
								}
								if slices.Contains(laws, 13) != (lacking > 0) || o.Available() && lacking > 0 {
									t.Fatalf("class %q, consistent %q, owner %q, agreed %q, said %q: %d questions open, the gate says %v", class, consistent, owner, agreed, said, lacking, laws)
								}
								if lacking > 0 {
									shut++
								} else {
									opened++
								}
							}
						}
					}
				}
			}
		}
	}
	if opened == 0 || shut == 0 {
		t.Errorf("%d opened, %d shut: the walk saw one side only", opened, shut)
	}
}

// TestEveryRecordGateIsHeld: the law holds each kind that writes the record, and no other.
func TestEveryRecordGateIsHeld(t *testing.T) {
	t.Parallel()
	for _, k := range append(RecordKinds(), "terraform/apply-plan", "kube/patch", "") {
		s := tell(t, State{}, Open{Incident: "i1", Title: "stuck", Severity: Sev3}, recordPlan(k))
		want := slices.Contains(RecordKinds(), k)
		if got := slices.Contains(lawsOf(preview(t, s, adopt, nil)), 13); got != want {
			t.Errorf("%q is held by law 13: %v, want %v", k, got, want)
		}
	}
}

// TestDriftIsAskedOnOneSheet: what is not known is asked once, of a person, and what was
// said before the difference was judged anew counts no more.
func TestDriftIsAskedOnOneSheet(t *testing.T) {
	t.Parallel()
	story := append([]Body{Open{Incident: "i1", Title: "stuck", Severity: Sev3}, recordPlan("terraform/state-rm")}, ready()[2:]...)
	s := tell(t, State{}, story...)
	s = tell(t, s, concluded(TopicClass, "LiveStateDiverged"))
	judge := func(string) []Verdict { return good("x") }
	var open []string
	for _, q := range s.Undrifted() {
		open = append(open, q.ID)
	}
	if got := strings.Join(open, " "); got != "authorised git" {
		t.Fatalf("open are %q, want authorised git", got)
	}
	for _, bad := range []DriftAnswer{{}, {Person: "ana"}, {Answers: []KV{{Key: "git", Value: " "}}, Person: "ana"}, {Answers: []KV{{Key: "mood", Value: "x"}}, Person: "ana"}, {Answers: []KV{{Key: "git", Value: "no"}}}} {
		refused(t, s, bad)
	}
	said := DriftAnswer{Answers: []KV{{Key: "git", Value: "no: reverted in the console"}, {Key: "authorised", Value: "bo, change 12"}}, Person: "ana"}
	s = tell(t, s, said)
	if o := preview(t, s, adopt, judge); !o.Available() {
		t.Errorf("all is answered, and the gate says %+v", o.Refusals)
	}
	s = tell(t, s, concluded(TopicClass, "LiveStateDiverged"))
	if o := preview(t, s, adopt, judge); !slices.Contains(lawsOf(o), 13) {
		t.Error("what was said of the difference as it was judged before still opens the gate")
	}
	if s = tell(t, s, said, concluded(TopicOwner, "platform")); len(s.Undrifted()) > 0 {
		t.Errorf("still open: %v", s.Undrifted())
	}
}

// TestDriftIsRecommended: where nothing but the difference keeps the gate shut, the loop
// asks for it, and goes to the gate after that.
func TestDriftIsRecommended(t *testing.T) {
	t.Parallel()
	s := State{}
	story := append([]Body{Open{Incident: "i1", Title: "stuck", Severity: Sev3}, recordPlan("terraform/import")}, ready()[2:]...)
	s = tell(t, s, story...)
	s = tell(t, s, begin(heavy), read(heavy, 1, "ok", "true"), begin(extra), read(extra, 1, "ok", "true"), begin(diff), ProbeEnd{Step: diff, N: 1, Outcome: "ok"}, Manual{Step: page, Proof: "told"},
		Skip{Step: pause, Why: "x"}, Skip{Step: unlock, Why: "x"})
	judge := func(string) []Verdict { return good("x") }
	next := func(s State) Option {
		for _, o := range Options(s, s.Updated.Add(time.Second), judge) {
			if o.Recommended {
				return o
			}
		}
		return Option{}
	}
	if o := next(s); o.Kind != DoDrift {
		t.Fatalf("the loop wants %s %s, want the sheet about the difference", o.Kind, o.Step)
	}
	s = tell(t, s, DriftAnswer{Answers: []KV{{Key: "authorised", Value: "bo"}}, Person: "ana"})
	if o := next(s); o.Kind != DoPreview || o.Step != adopt {
		t.Errorf("the loop wants %s %s, want the gate", o.Kind, o.Step)
	}
}

// TestSmallestPause walks through what can have become of the narrower pause: the wider one
// opens only once it was tried, passed over by a word, or does not apply.
func TestSmallestPause(t *testing.T) {
	t.Parallel()
	const narrow, wide = "demo/narrow", "demo/wide"
	for _, pair := range [][2]string{{"kube/suspend", "kube/stop-batch"}, {"kube/suspend-batch", "kube/stop-batch"}, {"kube/narrow-webhook", "kube/delete-webhook"}, {"kube/suspend", "kube/delete-webhook"}} {
		a, _ := ScopeOf(pair[0])
		b, _ := ScopeOf(pair[1])
		for name, tc := range map[string]struct {
			set  func(s *State, st *Step)
			shut bool
		}{
			"at hand":    {func(*State, *Step) {}, true},
			"armed only": {func(s *State, _ *Step) { s.Gates = map[string]GateState{narrow: {Step: narrow, Phase: GateArmed}} }, true},
			"acted": {func(s *State, _ *Step) {
				s.Gates = map[string]GateState{narrow: {Step: narrow, Phase: GateDone, StartSeq: 3}}
			}, false},
			"refused":       {func(s *State, _ *Step) { s.Gates = map[string]GateState{narrow: {Step: narrow, WasRefused: true}} }, false},
			"passed over":   {func(_ *State, st *Step) { st.Status = Skipped }, false},
			"of an old one": {func(_ *State, st *Step) { st.Retired = true }, false},
		} {
			for _, applies := range []string{"true", "false", Unknown} {
				s := State{Steps: []Step{
					{PlanStep: PlanStep{ID: narrow, Phase: Recover, Kind: GateStep, Uses: pair[0], Class: Contain}, Status: Pending},
					{PlanStep: PlanStep{ID: wide, Phase: Recover, Kind: GateStep, Uses: pair[1], Class: Repair}, Status: Pending},
				}}
				tc.set(&s, &s.Steps[0])
				judge := func(id string) []Verdict { return []Verdict{{Result: applies, Aside: id == narrow}} }
				want := tc.shut && applies != "false" && a.Loop == b.Loop
				rs := scopeLaws(&s, &s.Steps[1], judge)
				if (len(rs) > 0) != want {
					t.Errorf("%s before %s, %s, applies %s: %v, want shut: %v", pair[0], pair[1], name, applies, rs, want)
				}
				if len(scopeLaws(&s, &s.Steps[0], judge)) > 0 {
					t.Errorf("%s is kept shut by a wider one", pair[0])
				}
			}
		}
	}
	for _, sc := range PauseScopes() {
		if sc.Reach == "" || sc.Width < 1 || sc.Loop == "" {
			t.Errorf("%+v names no scope", sc)
		}
	}
}
