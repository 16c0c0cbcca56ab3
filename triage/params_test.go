package triage

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"handrail/triage/record"
)

// anyUses draws a plan whose steps use parameters and each other.
func anyUses(t *rapid.T) Plan {
	p := Plan{Runbook: "demo", Digest: "p1", Params: map[string]Value{}}
	names := []string{"dir", "log", "limit"}
	for _, n := range names {
		p.Params[n] = record.StringOf(rapid.SampledFrom([]string{"", "a", "b"}).Draw(t, n))
	}
	p.Params["limit"] = record.IntOf(int64(rapid.IntRange(1, 3).Draw(t, "limit")))
	kinds := []StepKind{ProbeStep, ProbeStep, AskStep, ManualStep, CompareStep, ConcludeStep, WatchStep}
	all := topics()
	for i := range rapid.IntRange(2, 9).Draw(t, "steps") {
		st := PlanStep{ID: fmt.Sprintf("demo/s%d", i), Phase: rapid.SampledFrom(Phases()[1:]).Draw(t, "phase"), Kind: rapid.SampledFrom(kinds).Draw(t, "kind")}
		if st.Kind == ConcludeStep {
			if len(all) == 0 {
				st.Kind = ProbeStep
			} else {
				st.Uses, all = string(all[0]), all[1:]
			}
		}
		st.Params = rapid.SliceOfNDistinct(rapid.SampledFrom(names), 0, 2, rapid.ID[string]).Draw(t, "params")
		for range rapid.IntRange(0, 2).Draw(t, "refs") {
			if to := fmt.Sprintf("demo/s%d", rapid.IntRange(0, i).Draw(t, "ref")); to != st.ID {
				st.Refs = append(st.Refs, to)
			}
		}
		p.Steps = append(p.Steps, st)
	}
	p.Steps[0].Params = []string{"dir"}
	return p
}

// worked is a state in which steps of the plan were read, answered, concluded,
// passed over, or are being read.
func worked(t *rapid.T, p Plan) State {
	bodies := []Body{Open{Incident: "i1", Severity: Sev3}, p}
	values := map[Topic]string{TopicDomain: Domains()[0].Slug, TopicClass: partial, TopicOwner: "platform"}
	for _, st := range p.Steps {
		switch how := rapid.SampledFrom([]string{"done", "done", "running", "skipped", "left"}).Draw(t, "how"); {
		case how == "left":
		case how == "skipped":
			bodies = append(bodies, Skip{Step: st.ID, Why: "not now"})
		case st.Kind == AskStep:
			bodies = append(bodies, Answer{Step: st.ID, Value: "yes", How: "asked"})
		case st.Kind == ManualStep:
			bodies = append(bodies, Manual{Step: st.ID, Proof: "seen"})
		case st.Kind == ConcludeStep:
			v := values[Topic(st.Uses)]
			if v == "" {
				v = "no"
			}
			bodies = append(bodies, concluded(Topic(st.Uses), v))
		case how == "running":
			bodies = append(bodies, begin(st.ID))
		default:
			green := boolean("true")
			end := read(st.ID, 1, "ok", "true")
			if st.Kind == WatchStep {
				end.Green = &green
			}
			bodies = append(bodies, begin(st.ID), end)
		}
	}
	var s State
	for _, b := range bodies {
		if to, err := Fold(s, next(s, b)); err == nil {
			s = to
		}
	}
	return s
}

// standsOn are the steps that use a parameter of a set, or a step that does: worked
// out by walking up from each step, and not as the fold does.
func standsOn(p Plan, changed []string, id string, seen map[string]bool) bool {
	if seen[id] {
		return false
	}
	seen[id] = true
	for _, st := range p.Steps {
		if st.ID != id {
			continue
		}
		if slices.ContainsFunc(st.Params, func(n string) bool { return slices.Contains(changed, n) }) {
			return true
		}
		return slices.ContainsFunc(st.Refs, func(ref string) bool { return standsOn(p, changed, ref, seen) })
	}
	return false
}

// TestChangedParametersMakeStale: once a parameter has another value, nothing that was
// read with the old one counts, whatever stood on it fell, and the rest stays.
func TestChangedParametersMakeStale(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p := anyUses(t)
		s := worked(t, p)
		fresh := p
		fresh.From, fresh.Params = "demo", map[string]Value{}
		for n, v := range p.Params {
			fresh.Params[n] = v
		}
		fresh.Params[rapid.SampledFrom([]string{"dir", "log"}).Draw(t, "name")] = record.StringOf(rapid.SampledFrom([]string{"", "a", "c"}).Draw(t, "value"))
		fresh.Params["limit"] = record.IntOf(int64(rapid.IntRange(1, 3).Draw(t, "more")))
		changed := s.Reparamed("demo", fresh.Params)
		to, err := Fold(s, next(s, fresh))
		if err != nil {
			t.Fatalf("Fold() = %v", err)
		}
		replaced := slices.ContainsFunc(changed, func(n string) bool {
			return n != "limit" && p.Params[n].Text() != "" && slices.ContainsFunc(s.Steps, func(st Step) bool {
				return st.Kind == ProbeStep && st.Attempts > 0 && slices.Contains(st.PlanStep.Params, n)
			})
		})
		for _, was := range s.Steps {
			now, _ := to.Step(was.ID)
			on := standsOn(p, changed, was.ID, map[string]bool{})
			// What a person said of nothing in particular may be kept only where the incident
			// is still about the same.
			word := was.Kind == AskStep || was.Kind == ManualStep || was.Kind == ConcludeStep
			if !on && !(replaced && word) && was.Status != now.Status && !dependsOnWord(p, was.ID, map[string]bool{}) {
				t.Fatalf("%s uses nothing that changed (%v) and went from %s to %s", was.ID, changed, was.Status, now.Status)
			}
			if !on {
				continue
			}
			if now.Status == Settled || now.Status == Skipped || now.Answer != "" {
				t.Fatalf("%s stood on %v and is %s, answered %q", was.ID, changed, now.Status, now.Answer)
			}
			for name, v := range now.Facts {
				if v.Known() {
					t.Fatalf("%s.%s is still known", was.ID, name)
				}
			}
			if c := to.Topics[Topic(was.Uses)]; was.Kind == ConcludeStep && c.Value != "" && !c.Lapsed {
				t.Fatalf("%s still concludes %s", was.ID, c.Value)
			}
			if was.Status == Running { // its reading is of the old value
				to := foldEach(t, to, []Event{next(to, read(was.ID, 1, "ok", "true"))})
				if now, _ := to.Step(was.ID); now.Status == Settled || now.Facts["held"].Known() {
					t.Fatalf("%s was read with the old value and is %s: %v", was.ID, now.Status, now.Facts)
				}
			}
		}
	})
}

// dependsOnWord reports whether a step depends on what a person said of nothing in
// particular.
func dependsOnWord(p Plan, id string, seen map[string]bool) bool {
	if seen[id] {
		return false
	}
	seen[id] = true
	for _, st := range p.Steps {
		if st.ID == id {
			free := st.Kind == AskStep || st.Kind == ManualStep || st.Kind == ConcludeStep
			return free && len(st.Params)+len(st.Refs) == 0 || slices.ContainsFunc(st.Refs, func(ref string) bool { return dependsOnWord(p, ref, seen) })
		}
	}
	return false
}

// paramPlan is the plan of most tests whose steps say what they use.
func paramPlan(dir string) Plan {
	p := demoPlan()
	p.Params = map[string]Value{"dir": record.StringOf(dir)}
	for i := range p.Steps {
		if p.Steps[i].ID == lock || p.Steps[i].ID == fix || p.Steps[i].ID == clean {
			p.Steps[i].Params = []string{"dir"}
		}
	}
	return p
}

func elsewhere(t *testing.T, bodies ...Body) State {
	t.Helper()
	story := ready()
	story[1] = paramPlan("a")
	return tell(t, State{}, append(story, bodies...)...)
}

// TestParametersShutGates: a gate that was armed on the old value is disarmed and none
// opens until what it stands on is read, answered and concluded again.
func TestParametersShutGates(t *testing.T) {
	t.Parallel()
	s := tell(t, elsewhere(t, shown(fix, Repair)), paramPlan("b"))
	if g := s.Gates[fix]; g.Phase != GateIdle {
		t.Errorf("the gate stayed %s", g.Phase)
	}
	refused(t, s, shown(fix, Repair))
	for _, topic := range []Topic{TopicMutation, TopicClass, TopicConsistent} {
		if c := s.Topics[topic]; !c.Lapsed || c.Value != Unknown {
			t.Errorf("%s still stands: %+v", topic, c)
		}
	}
	s = tell(t, s, ProbeStart{Step: lock, N: 2}, read(lock, 2, "ok", "true"), Answer{Step: holder, Value: "dead", How: "again"},
		concluded(TopicMutation, "yes"), concluded(TopicClass, partial), concluded(TopicConsistent, "no"))
	tell(t, s, shown(fix, Repair))
}

// TestParametersEndWaivers: a capture that was waived is wanted again of the new value.
func TestParametersEndWaivers(t *testing.T) {
	t.Parallel()
	story := ready()
	story[1] = paramPlan("a")
	s := tell(t, State{}, append(story[:2:2], begin(lock), read(lock, 1, "failed", "false"), Waive{Law: 1, Subject: lock, Person: "p", Why: "w"})...)
	if n := len(s.OpenCaptures()); n != 0 {
		t.Fatalf("%d captures are open after the waiver", n)
	}
	s = tell(t, s, paramPlan("b"))
	if n := len(s.OpenCaptures()); n != 1 {
		t.Errorf("%d captures are open after the change, want the one that was waived", n)
	}
	s = tell(t, s, Waive{Law: 1, Subject: lock, Person: "p", Why: "w"})
	if n := len(s.OpenCaptures()); n != 0 {
		t.Errorf("%d captures are open after the second waiver", n)
	}
}

// TestParametersWaitForTheTarget: while it is not known how an act ended, or its
// target is to be read again, nothing may lead the reading elsewhere.
func TestParametersWaitForTheTarget(t *testing.T) {
	t.Parallel()
	for name, s := range map[string]State{
		"unknown end": elsewhere(t, shown(fix, Repair), answered(fix), start(fix), end(fix, Unknown)),
		"read again":  elsewhere(t, lookedAfter(fix, Repair), answered(fix), start(fix), end(fix, "done")),
	} {
		refused(t, s, paramPlan("b"))
		tell(t, s, paramPlan("a"))
		in := Intent{Kind: DoPlan, Value: "demo", Params: map[string]string{"dir": "b"}}
		if r := Check(s, in, s.Updated, nil); r == nil {
			t.Errorf("%s: the parameters may change", name)
		}
		if in.Params["dir"] = "a"; Check(s, in, s.Updated, nil) != nil {
			t.Errorf("%s: parameters that stay are refused", name)
		}
	}
}

// TestRevertingStays: that something reverts every fix does not fall by itself, and an
// act that was undone stays undone.
func TestRevertingStays(t *testing.T) {
	t.Parallel()
	s := tell(t, elsewhere(t, concluded(TopicReverts, "yes")), paramPlan("b"))
	if c := s.Topics[TopicReverts]; c.Value != "yes" {
		t.Errorf("reverts = %+v", c)
	}
	s = elsewhere(t, lookedAfter(fix, Repair), answered(fix), start(fix), end(fix, "done"), reread(fix, Undone))
	if s = tell(t, s, paramPlan("b")); len(s.Undone()) != 1 {
		t.Errorf("Undone() = %v after the change", s.Undone())
	}
}

// TestParametersAreTold: the timeline names what changed, from what to what.
func TestParametersAreTold(t *testing.T) {
	t.Parallel()
	p := paramPlan("b")
	p.From, p.Params["log"] = p.Runbook, record.StringOf("run.log")
	s := tell(t, elsewhere(t), p)
	if got, want := s.Timeline[len(s.Timeline)-1].Text, `parameters of demo changed: dir is "b", was "a"; log is "run.log", was ""`; got != want {
		t.Errorf("said %q, want %q", got, want)
	}
}

// TestAnotherWayOutOfTheSame: a text that is read only on the way out is not what the
// incident is about. With another one what was said up to the class stands, and so does its
// conclusion; what stood on that text, or was said on that way, does not.
func TestAnotherWayOutOfTheSame(t *testing.T) {
	t.Parallel()
	with := func(values string) Plan {
		p := paramPlan("a")
		p.Params["values"] = record.StringOf(values)
		p.Steps = append(p.Steps,
			PlanStep{ID: "demo/fresh", Phase: Recover, Kind: ProbeStep, Params: []string{"values"}},
			PlanStep{ID: "demo/void", Phase: Authority, Kind: ManualStep},
			PlanStep{ID: "demo/policy", Phase: Recover, Kind: ManualStep})
		return p
	}
	story := ready()
	story[1] = with("one")
	s := tell(t, State{}, append(story, begin("demo/fresh"), read("demo/fresh", 1, "ok", "true"), Manual{Step: "demo/void", Proof: "a note"}, Manual{Step: "demo/policy", Proof: "passed"})...)
	to := tell(t, s, with("two"))
	for _, was := range s.Steps {
		now, _ := to.Step(was.ID)
		way := was.ID == "demo/fresh" || was.ID == "demo/policy"
		if fell := now.Status != was.Status; fell != way {
			t.Errorf("%s went from %s to %s", was.ID, was.Status, now.Status)
		}
	}
	if c := to.Topics[TopicMutation]; c.Lapsed {
		t.Error("whether anything was changed is asked again")
	}
}

// TestWordsBeforeTheFirstReadStand: a text that is first read in the middle, such as a list that
// a person adds, leaves what was said before that phase; what is said from there on falls.
func TestWordsBeforeTheFirstReadStand(t *testing.T) {
	t.Parallel()
	with := func(list string) Plan {
		p := paramPlan("a")
		p.Params["list"] = record.StringOf(list)
		p.Steps = append(p.Steps,
			PlanStep{ID: "demo/truth", Phase: Preserve, Kind: ManualStep},
			PlanStep{ID: "demo/progress", Phase: Locate, Kind: ManualStep},
			PlanStep{ID: "demo/subtract", Phase: Mutation, Kind: ProbeStep, Params: []string{"list"}},
			PlanStep{ID: "demo/sets", Phase: Mutation, Kind: ManualStep},
			PlanStep{ID: "demo/agreed", Phase: Authority, Kind: ManualStep})
		return p
	}
	story := ready()
	story[1] = with("one.txt")
	s := tell(t, State{}, append(story, begin("demo/subtract"), read("demo/subtract", 1, "ok", "true"), Manual{Step: "demo/truth", Proof: "kept"},
		Manual{Step: "demo/progress", Proof: "counted"}, Manual{Step: "demo/sets", Proof: "named"}, Manual{Step: "demo/agreed", Proof: "a note"})...)
	to := tell(t, s, with("two.txt"))
	for id, stands := range map[string]bool{"demo/truth": true, "demo/progress": true, "demo/subtract": false, "demo/sets": false, "demo/agreed": false} {
		was, _ := s.Step(id)
		if now, _ := to.Step(id); (now.Status == was.Status) != stands {
			t.Errorf("%s went from %s to %s", id, was.Status, now.Status)
		}
	}
}

// TestAnActStandsWhereItsWordsFall: a parameter of another step voids what people agreed to. A
// gate that acted and read nothing of it is not to be done again.
func TestAnActStandsWhereItsWordsFall(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		read  []string // parameters of what the gate reads
		wants Status
	}{
		{"it read something else", []string{"dir"}, Settled},
		{"its target is another one now", []string{"log"}, Stale},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			f := &folder{s: State{Plans: []Plan{{Runbook: "demo", Params: map[string]Value{"log": record.StringOf("a"), "dir": record.StringOf("d")}}}}}
			b := Plan{Runbook: "demo", Steps: []PlanStep{
				{ID: "demo/seen", Kind: ProbeStep, Phase: Preserve, Params: []string{"log"}},
				{ID: "demo/target", Kind: ProbeStep, Phase: Preserve, Params: c.read},
				{ID: "demo/agreed", Kind: AskStep, Phase: Authority, Refs: []string{"demo/seen"}},
				{ID: "demo/act", Kind: GateStep, Phase: Recover, Refs: []string{"demo/target", "demo/agreed"}},
			}}
			for _, p := range b.Steps {
				f.s.Steps = append(f.s.Steps, Step{PlanStep: p, Status: Settled, Attempts: 1})
			}
			f.reparam(b, f.fallen(b, []string{"log"}), false)
			if got, _ := f.s.Step("demo/agreed"); got.Status != Stale {
				t.Errorf("what was agreed is %s", got.Status)
			}
			if got, _ := f.s.Step("demo/act"); got.Status != c.wants {
				t.Errorf("the act is %s, want %s", got.Status, c.wants)
			}
		})
	}
}
