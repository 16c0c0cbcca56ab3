package triage

import (
	"slices"
	"strings"
	"testing"
)

// TestOnSheet: on one sheet stand the words that are wanted with nothing to be read between
// them, in the order of the loop. A word that depends on another one waits for it, and what is
// to be done waits for the class.
func TestOnSheet(t *testing.T) {
	t.Parallel()
	ask := func(name string, p Phase, refs ...string) PlanStep {
		return PlanStep{ID: "demo/" + name, Phase: p, Kind: AskStep, Answers: []string{"yes", "no"}, Refs: refs}
	}
	say := func(topic Topic, p Phase, refs ...string) PlanStep {
		return PlanStep{ID: "demo/" + string(topic), Phase: p, Kind: ConcludeStep, Uses: string(topic), Refs: refs}
	}
	hand := func(name string, p Phase) PlanStep {
		return PlanStep{ID: "demo/" + name, Phase: p, Kind: ManualStep, Required: true}
	}
	read := func(name string, p Phase) PlanStep {
		return PlanStep{ID: "demo/" + name, Phase: p, Kind: ProbeStep, Required: true}
	}
	gate := PlanStep{ID: "demo/gate", Phase: Authority, Kind: GateStep, Class: Repair}
	for name, tc := range map[string]struct {
		steps []PlanStep
		aside string
		want  string
	}{
		"asks, proofs and conclusions":   {steps: []PlanStep{hand("run", Preserve), say(TopicDomain, Locate), ask("who", Mutation), say(TopicMutation, Mutation), say(TopicClass, Classify)}, want: "run domain who mutation class"},
		"what depends on a word waits":   {steps: []PlanStep{ask("a", Mutation), ask("b", Mutation, "demo/a"), ask("c", Mutation), say(TopicMutation, Mutation, "demo/c"), say(TopicClass, Classify)}, want: "a c mutation? class?"},
		"a deed waits for the class":     {steps: []PlanStep{ask("a", Mutation), say(TopicMutation, Mutation, "demo/a"), ask("b", Compare), say(TopicClass, Classify), hand("void", Authority), ask("c", Authority)}, want: "a mutation? b class?"},
		"a deed after the class":         {steps: []PlanStep{say(TopicMutation, Mutation), say(TopicClass, Classify), hand("void", Authority), ask("c", Authority)}, want: "mutation class void c"},
		"a reading ends it":              {steps: []PlanStep{ask("a", Mutation), say(TopicMutation, Mutation, "demo/x"), read("x", Compare), ask("b", Compare), say(TopicClass, Classify)}, want: "a mutation"},
		"a gate ends it":                 {steps: []PlanStep{say(TopicMutation, Mutation), say(TopicClass, Classify), hand("void", Authority), gate, hand("more", Recover)}, want: "mutation class void"},
		"a gate that does not apply":     {steps: []PlanStep{say(TopicMutation, Mutation), say(TopicClass, Classify), hand("void", Authority), gate, hand("more", Recover)}, aside: "demo/gate", want: "mutation class void more"},
		"a question that does not apply": {steps: []PlanStep{ask("a", Mutation), ask("b", Mutation), ask("c", Mutation), say(TopicMutation, Mutation), say(TopicClass, Classify)}, aside: "demo/b", want: "a c mutation class"},
		"nothing is said first":          {steps: []PlanStep{read("x", Preserve), ask("a", Mutation)}, want: ""},
	} {
		s := tell(t, State{}, Open{Incident: "i", Severity: Sev3}, Plan{Runbook: "demo", Title: "Demo", Digest: "p1", Matrix: 7, Steps: tc.steps})
		options := Options(s, s.Updated, func(step string) []Verdict {
			if step == tc.aside {
				return []Verdict{{Expr: "false", Result: "false", Aside: true}}
			}
			return good("ok")
		})
		var on []Option
		for _, o := range options {
			if o.Sheet > 0 {
				on = append(on, o)
			}
		}
		slices.SortFunc(on, func(a, b Option) int { return a.Sheet - b.Sheet })
		var got []string
		for _, o := range on {
			name := strings.TrimPrefix(o.Step, "demo/")
			if o.Leans {
				name += "?" // only where the facts propose it
			}
			got = append(got, name)
		}
		if strings.Join(got, " ") != tc.want {
			t.Errorf("%s: %q stand on the sheet, want %q", name, strings.Join(got, " "), tc.want)
		}
	}
}

// TestFollows: the heavy read that comes after the words of a sheet is named with them, once
// nothing else is wanted between; one that was tried is not. Behind a conclusion that waits for a
// word it leans on what the facts propose.
func TestFollows(t *testing.T) {
	t.Parallel()
	heavy := PlanStep{ID: "demo/plan", Phase: Recover, Kind: ProbeStep, Required: true, Heavy: true}
	light := PlanStep{ID: "demo/look", Phase: Recover, Kind: ProbeStep, Required: true}
	mutation := PlanStep{ID: "demo/mutation", Phase: Mutation, Kind: ConcludeStep, Uses: string(TopicMutation), Refs: []string{"demo/a"}}
	class := PlanStep{ID: "demo/class", Phase: Classify, Kind: ConcludeStep, Uses: string(TopicClass)}
	ask := PlanStep{ID: "demo/a", Phase: Mutation, Kind: AskStep, Answers: []string{"yes", "no"}}
	void := PlanStep{ID: "demo/void", Phase: Authority, Kind: ManualStep, Required: true}
	for name, tc := range map[string]struct {
		steps []PlanStep
		want  string
	}{
		"after the proof":          {steps: []PlanStep{class, {ID: "demo/m", Phase: Mutation, Kind: ConcludeStep, Uses: string(TopicMutation)}, void, heavy}, want: "demo/plan"},
		"what waits is proposed":   {steps: []PlanStep{ask, mutation, class, heavy}, want: "demo/plan?"},
		"a light one needs no key": {steps: []PlanStep{class, {ID: "demo/m", Phase: Mutation, Kind: ConcludeStep, Uses: string(TopicMutation)}, void, light}, want: ""},
		"nothing is said first":    {steps: []PlanStep{{ID: "demo/plan", Phase: Preserve, Kind: ProbeStep, Required: true, Heavy: true}}, want: ""},
	} {
		s := tell(t, State{}, Open{Incident: "i", Severity: Sev3}, Plan{Runbook: "demo", Title: "Demo", Digest: "p1", Matrix: 7, Steps: tc.steps})
		got := ""
		for _, o := range Options(s, s.Updated, func(string) []Verdict { return good("ok") }) {
			if o.Follows {
				if got += o.Step; o.Leans {
					got += "?" // only where the facts propose all before it
				}
			}
		}
		if got != tc.want {
			t.Errorf("%s: %q follows, want %q", name, got, tc.want)
		}
	}
}
