package triage

import (
	"slices"
	"strings"
	"testing"

	"handrail/triage/record"
)

const (
	resume = "demo/resume"
	rest   = "demo/rest"
	order  = "demo/order"
)

// behindPlan is the plan of most tests with a read, a task and a resume behind its repair.
func behindPlan() Plan {
	p := demoPlan()
	at := len(p.Steps) - 2 // before again and clean
	p.Steps = append(p.Steps[:at:at], append([]PlanStep{
		{ID: rest, Phase: Recover, Kind: ProbeStep, Required: true},
		{ID: order, Phase: Recover, Kind: ManualStep, Required: true},
		{ID: resume, Phase: Recover, Kind: GateStep, Class: Repair, Uses: "terraform/resume"},
	}, p.Steps[at:]...)...)
	return p
}

// settledBehind is the story up to the gates, with what stands in no gate's way done.
func settledBehind() []Body {
	b := ready()
	b[1] = behindPlan()
	return append(b, begin(extra), read(extra, 1, "ok", "true"), begin(heavy), read(heavy, 1, "ok", "true"),
		begin(diff), read(diff, 1, "ok", "true"), Manual{Step: page, Proof: "link"}, Skip{Step: pause, Why: "no writer"},
		begin(rest), read(rest, 1, "ok", "true"), Manual{Step: order, Proof: "link"})
}

// TestResumeWaitsForTheRepair: what was paused for a repair does not go on before it: a gate
// that stays shut is passed by a word first, and a read that shuts it is made once more
// before that, for what it found may be over.
func TestResumeWaitsForTheRepair(t *testing.T) {
	t.Parallel()
	result := "false"
	judge := func(id string) []Verdict {
		switch id {
		case fix:
			return []Verdict{{Result: result, Why: "the owner was not asked"}}
		case unlock, again:
			return []Verdict{{Result: "false", Aside: true}}
		}
		return nil
	}
	next := func(s State) string { return recommended(s, judge) }
	s := tell(t, State{}, settledBehind()...)
	if got := next(s); got != "skip "+fix {
		t.Errorf("shut by its condition: recommended %q", got)
	}
	if got := next(tell(t, s, Skip{Step: fix, Why: "the owner does it"})); got != "preview "+resume {
		t.Errorf("passed by word: recommended %q", got)
	}
	result = "true"
	again := func(n int, fs ...Finding) []Body {
		end := read(extra, n, "ok", "true")
		end.Findings = fs
		return []Body{ProbeStart{Step: extra, N: n}, end}
	}
	found := Finding{Level: record.Critical, Say: "2 processes live", Against: []string{fix}}
	s = tell(t, State{}, append(settledBehind(), append(again(2, found), Note{Text: "x"}, Answer{Step: holder, Value: "dead", How: "looked"})...)...)
	if got := next(s); got != "probe "+extra {
		t.Errorf("shut by a finding from before the newest word: recommended %q", got)
	}
	if got := next(tell(t, s, again(3, found)...)); got != "skip "+fix {
		t.Errorf("found again: recommended %q", got)
	}
	if got := next(tell(t, s, again(3)...)); got != "preview "+fix {
		t.Errorf("no longer found: recommended %q", got)
	}
}

// TestWorkByHandIsLookedAtAgain: a first read in recover that speaks against what was said to be done by hand is made once
// more before the gate that it shuts is passed; a program runs for that too.
func TestWorkByHandIsLookedAtAgain(t *testing.T) {
	t.Parallel()
	story := func(heavyRead bool, phase Phase) State {
		p := demoPlan()
		at := slices.IndexFunc(p.Steps, func(st PlanStep) bool { return st.ID == fix })
		p.Steps = append(p.Steps[:at:at], append([]PlanStep{
			{ID: order, Phase: phase, Kind: ManualStep, Required: true},
			{ID: rest, Phase: phase, Kind: ProbeStep, Heavy: heavyRead},
		}, p.Steps[at:]...)...)
		b := ready()
		b[1] = p
		end := read(rest, 1, "ok", "true")
		end.Findings = []Finding{{Level: record.Critical, Say: "it is not merged", Against: []string{fix}}}
		return tell(t, State{}, append(b, begin(extra), read(extra, 1, "ok", "true"), begin(heavy), read(heavy, 1, "ok", "true"),
			begin(diff), read(diff, 1, "ok", "true"), Manual{Step: page, Proof: "link"}, Skip{Step: pause, Why: "no writer"},
			Manual{Step: order, Proof: "PR 42"}, begin(rest), end)...)
	}
	judge := func(id string) []Verdict {
		if id == unlock || id == again {
			return []Verdict{{Result: "false", Aside: true}}
		}
		return nil
	}
	for _, heavyRead := range []bool{false, true} {
		s := story(heavyRead, Recover)
		if got := recommended(s, judge); got != "probe "+rest {
			t.Errorf("heavy %t: recommended %q", heavyRead, got)
		}
		aged := func(id string) []Verdict {
			if id == rest {
				return []Verdict{{Result: Unknown, Aside: true, Aged: []string{"holder"}}}
			}
			return judge(id)
		}
		if got := recommended(s, aged); !strings.HasPrefix(got, "answer "+holder) {
			t.Errorf("heavy %t, and whether it applies is too old: recommended %q", heavyRead, got)
		}
		end := read(rest, 2, "ok", "true")
		end.Findings = []Finding{{Level: record.Critical, Say: "it is not merged", Against: []string{fix}}}
		if got := recommended(tell(t, s, ProbeStart{Step: rest, N: 2}, end), judge); got != "skip "+fix {
			t.Errorf("heavy %t, found again: recommended %q", heavyRead, got)
		}
	}
}

// TestParamsWanted: what a gate lacks comes before what it refused, and what an earlier try refused
// is over once the gate was armed.
func TestParamsWanted(t *testing.T) {
	t.Parallel()
	refused := tell(t, State{}, append(ready(), GateClosed{Step: fix, Why: "it opens all", Refused: true, Params: []string{"patch"}})...)
	armed := tell(t, refused, shown(fix, Repair))
	lacks := []Option{{Kind: DoPreview, Step: fix, Refusals: []Refusal{{Why: "none was given", Params: []string{"quota", "policy"}}}}}
	for name, tc := range map[string]struct {
		s       State
		options []Option
		want    []string
	}{
		"refused":       {refused, nil, []string{"patch"}},
		"lacks another": {refused, lacks, []string{"quota", "policy"}},
		"armed since":   {armed, nil, nil},
		"of another":    {refused, []Option{{Kind: DoPreview, Step: unlock, Refusals: lacks[0].Refusals}}, []string{"patch"}},
	} {
		if got := tc.s.ParamsWanted(fix, tc.options); !slices.Equal(got, tc.want) {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
}

// TestDoubtedAnswerIsAskedAgain: a reading that speaks against an answer leads to its question,
// not past the gate that it keeps shut; an answer that was given twice stands.
func TestDoubtedAnswerIsAskedAgain(t *testing.T) {
	t.Parallel()
	judge := func(id string) []Verdict {
		if id == unlock || id == again {
			return []Verdict{{Result: "false", Aside: true}}
		}
		return good("ok")
	}
	against := func(n int) []Body {
		end := read(extra, n, "ok", "true")
		end.Findings = []Finding{{Level: record.Critical, Say: "the token has another key", Against: []string{fix}, Doubts: []string{holder}}}
		return []Body{ProbeStart{Step: extra, N: n}, end}
	}
	s := tell(t, State{}, append(settledBehind(), against(2)...)...)
	if got := recommended(s, judge); !strings.HasPrefix(got, "answer "+holder) {
		t.Errorf("recommended %q, want the question", got)
	}
	s = tell(t, s, append([]Body{Answer{Step: holder, Value: "dead", How: "asked again"}}, against(3)...)...)
	if got := recommended(s, judge); got != "skip "+fix {
		t.Errorf("after it was answered again: recommended %q", got)
	}
}

// TestNoRowBeginsWithAResume: where the matrix would begin with none of the gates, what was paused
// does not go on before the repair either.
func TestNoRowBeginsWithAResume(t *testing.T) {
	t.Parallel()
	judge := func(id string) []Verdict {
		if id == unlock || id == again {
			return []Verdict{{Result: "false", Aside: true}}
		}
		return nil
	}
	for name, tc := range map[string]struct {
		row  int
		uses string
		want string
	}{
		"a row that begins with a look":   {6, "terraform/resume", fix},
		"one that begins with a resume":   {10, "kube/resume", resume},
		"of another world than the row's": {10, "terraform/resume", fix},
	} {
		bodies := settledBehind()
		bodies = bodies[:len(bodies)-1] // what is done by hand is a transition
		bodies = append(bodies, concluded(TopicConsistent, "no"))
		for i, b := range bodies {
			if p, ok := b.(Plan); ok {
				p.Matrix, p.Steps = tc.row, slices.Clone(p.Steps)
				for j := range p.Steps {
					if p.Steps[j].ID == resume {
						p.Steps[j].Uses = tc.uses
					}
				}
				bodies[i] = p
			}
		}
		s := tell(t, State{}, bodies...)
		if got := recommended(s, judge); got != "preview "+tc.want {
			t.Errorf("%s: recommended %q, want the preview of %s", name, got, tc.want)
		}
	}
}

// TestAnActOutdatesWhatStandsBehindIt: a read behind a gate is of what the gate leaves, so
// one from before its act is made again; what stands before the gate is as it was, and a
// pause changes nothing of what is read.
func TestAnActOutdatesWhatStandsBehindIt(t *testing.T) {
	t.Parallel()
	for outcome, want := range map[string]Status{"done": Stale, "failed": Stale, Unknown: Stale, "refused": Settled} {
		s := tell(t, State{}, append(settledBehind(), shown(fix, Repair), answered(fix), start(fix), end(fix, outcome))...)
		if st, _ := s.Step(rest); st.Status != want {
			t.Errorf("%s: the read behind is %s, want %s", outcome, st.Status, want)
		}
		for _, id := range []string{lock, extra, order} {
			if st, _ := s.Step(id); st.Status != Settled {
				t.Errorf("%s: %s is %s", outcome, id, st.Status)
			}
		}
	}
	up := shown(resume, Repair)
	s := tell(t, State{}, append(settledBehind(), up, answered(resume), start(resume), end(resume, "done"))...)
	if st, _ := s.Step(rest); st.Status != Settled {
		t.Errorf("after a resume: %s", st.Status)
	}
	s = tell(t, State{}, append(settledBehind(), shown(fix, Repair), answered(fix), start(fix), end(fix, "done"))...)
	s = tell(t, s, ProbeStart{Step: rest, N: 2}, read(rest, 2, "ok", "true"))
	if st, _ := s.Step(rest); st.Status != Settled {
		t.Errorf("read after the act: %s", st.Status)
	}
}

// TestTaskThatDoesNotApply: a task that is required where its condition holds is not asked
// for where it is known not to.
func TestTaskThatDoesNotApply(t *testing.T) {
	t.Parallel()
	for result, want := range map[string]string{"true": "manual " + order, Unknown: "manual " + order, "false": "skip"} {
		judge := func(id string) []Verdict {
			switch id {
			case order:
				return []Verdict{{Result: result, Aside: true}}
			case unlock, again:
				return []Verdict{{Result: "false", Aside: true}}
			case fix:
				return []Verdict{{Result: "false"}}
			}
			return nil
		}
		b := settledBehind()
		s := tell(t, State{}, b[:len(b)-1]...)
		if got := recommended(s, judge); !strings.HasPrefix(got, want) {
			t.Errorf("%s: recommended %q, want %q", result, got, want)
		}
	}
}

// TestNothingIsAskedAboutAReadThatDoesNotApply: a question and a task whose condition stands
// on such a read are passed over, and are asked once it was made or may be.
func TestNothingIsAskedAboutAReadThatDoesNotApply(t *testing.T) {
	t.Parallel()
	for result, want := range map[string]string{"false": "preview " + resume, Unknown: "manual " + order, "true": "probe " + rest} {
		judge := func(id string) []Verdict {
			switch id {
			case order:
				return []Verdict{{Result: Unknown, Aside: true}}
			case rest:
				return []Verdict{{Result: result, Aside: true}}
			case unlock, again, fix:
				return []Verdict{{Result: "false", Aside: true}}
			}
			return nil
		}
		b := settledBehind()
		p := behindPlan()
		for i := range p.Steps {
			switch p.Steps[i].ID {
			case order:
				p.Steps[i].Refs = []string{rest}
			case rest:
				p.Steps[i].Required = false
			}
		}
		b[1] = p
		s := tell(t, State{}, b[:len(b)-3]...)
		if got := recommended(s, judge); got != want {
			t.Errorf("the read's condition is %s: recommended %q, want %q", result, got, want)
		}
	}
}

// TestAWordForAGateThatActedIsNotAsked: a question for a gate alone is not asked once that
// acted, because what its condition stands on grew old.
func TestAWordForAGateThatActedIsNotAsked(t *testing.T) {
	t.Parallel()
	judge := func(id string) []Verdict {
		switch id {
		case holder:
			return []Verdict{{Result: "stale", Aside: true}}
		case unlock, again:
			return []Verdict{{Result: "false", Aside: true}}
		}
		return nil
	}
	for name, refs := range map[string][]string{"answer " + holder: {fix, clean}, "probe " + clean: {fix}} {
		b := settledBehind()
		p := demoPlan()
		for i := range p.Steps {
			p.Steps[i].Refs = nil
			if slices.Contains(refs, p.Steps[i].ID) {
				p.Steps[i].Refs = []string{holder}
			}
		}
		b[1] = p
		b = slices.DeleteFunc(b, func(x Body) bool {
			_, said := x.(Answer)
			m, task := x.(Manual)
			return said || task && m.Step == order || typeOf(x) == "probe.start" && x.(ProbeStart).Step == rest || typeOf(x) == "probe.end" && x.(ProbeEnd).Step == rest
		})
		s := tell(t, State{}, append(b, lookedAfter(fix, Repair), answered(fix), start(fix), end(fix, "done"))...)
		if got := recommended(s, judge); got != name {
			t.Errorf("recommended %q, want %q", got, name)
		}
	}
}

// TestHeldGateIsNotLookedBehind: what would show what a gate did is not read while it is held,
// by its conditions or by a refusal at its preview; what another gate did is.
func TestHeldGateIsNotLookedBehind(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		fix, unlock []Verdict
		told        []Body
		want        string
	}{
		"held by a condition":     {fix: []Verdict{{Result: "false"}}, want: "skip " + fix},
		"refused at its preview":  {fix: good("ok"), told: []Body{GateClosed{Step: fix, Why: "the object is protected", Refused: true}}, want: "skip " + fix},
		"a parameter is refused":  {fix: good("ok"), told: []Body{GateClosed{Step: fix, Why: "the patch opens it to all", Refused: true, Params: []string{"policy_patch"}}}, want: "plan " + fix + "   demo"},
		"passed by a word":        {fix: []Verdict{{Result: "false"}}, told: []Body{Skip{Step: fix, Why: "the owner does it"}}, want: "probe " + rest},
		"it does not apply":       {fix: []Verdict{{Result: "false", Aside: true}}, want: "probe " + rest},
		"another one is held":     {fix: good("ok"), unlock: []Verdict{{Result: "false"}}, told: []Body{shown(fix, Repair), answered(fix), start(fix), end(fix, "done")}, want: "probe " + rest},
		"another one, not before": {fix: []Verdict{{Result: "false"}}, unlock: []Verdict{{Result: "false"}}, want: "skip " + unlock},
	} {
		judge := func(id string) []Verdict {
			switch id {
			case fix:
				return tc.fix
			case unlock:
				if tc.unlock != nil {
					return tc.unlock
				}
				return []Verdict{{Result: "false", Aside: true}}
			case again:
				return []Verdict{{Result: "false", Aside: true}}
			}
			return nil
		}
		b := settledBehind()
		s := tell(t, State{}, append(b[:len(b)-3:len(b)-3], tc.told...)...)
		if got := recommended(s, judge); got != tc.want {
			t.Errorf("%s: recommended %q, want %q", name, got, tc.want)
		}
	}
}

// TestUnknownIsAskedAgain: a question that shuts a gate because no one knew is asked again once
// something was learned, and once only.
func TestUnknownIsAskedAgain(t *testing.T) {
	t.Parallel()
	judge := func(id string) []Verdict {
		switch id {
		case fix:
			return []Verdict{{Result: Unknown}}
		case unlock, again:
			return []Verdict{{Result: "false", Aside: true}}
		}
		return nil
	}
	b := settledBehind()
	p := behindPlan()
	for i := range p.Steps {
		if p.Steps[i].ID == fix {
			p.Steps[i].Refs = []string{holder}
		}
	}
	b[1] = p
	unknown := Answer{Step: holder, Value: Unknown, How: "asked: the platform"}
	s := tell(t, State{}, append(b, unknown)...)
	if got := recommended(s, judge); got != "skip "+fix {
		t.Errorf("nothing was learned: recommended %q", got)
	}
	s = tell(t, s, ProbeStart{Step: lock, N: 2}, read(lock, 2, "ok", "true"))
	if got := recommended(s, judge); got != "skip "+fix {
		t.Errorf("the same was read again: recommended %q", got)
	}
	s = tell(t, s, Manual{Step: order, Proof: "a newer link"})
	if got := recommended(s, judge); !strings.HasPrefix(got, "answer "+holder) {
		t.Errorf("something was learned since: recommended %q", got)
	}
	if got := recommended(tell(t, s, unknown), judge); got != "skip "+fix {
		t.Errorf("asked again, and still unknown: recommended %q", got)
	}
	if got := recommended(tell(t, s, Answer{Step: holder, Value: "dead", How: "seen"}), judge); got != "skip "+fix {
		t.Errorf("known by now: recommended %q", got)
	}
}
