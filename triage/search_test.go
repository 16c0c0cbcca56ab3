package triage

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

// readBeforeAct: it was read, then something was changed, and only then it could not be read.
func readBeforeAct(s State, x Step) bool {
	if x.Status != CannotTell {
		return false
	}
	var began []int64
	for _, g := range append(slices.Collect(maps.Values(s.Gates)), s.Past...) {
		if g.EndSeq > 0 && g.Phase != GateRefused {
			began = append(began, g.StartSeq)
		}
	}
	for _, h := range s.Hands {
		began = append(began, h.Seq)
	}
	return x.KeptSeq > 0 && slices.ContainsFunc(began, func(seq int64) bool { return seq > x.KeptSeq && seq < x.EndSeq })
}

// oracle says, from the words of the laws alone and apart from laws.go, why the
// gate must not be open in s; "" when it may.
func oracle(s State, gate string) string {
	st, _ := s.Step(gate)
	waivers := map[string]bool{}
	for _, w := range s.Waivers {
		waivers[fmt.Sprint(w.Law, w.Subject)] = true
	}
	for _, x := range s.Steps {
		fine := x.Status == Settled || (x.Status == Running && x.Outcome == "ok") || waivers["1"+x.ID]
		if x.Required && x.Phase == Preserve && !fine && !readBeforeAct(s, x) {
			return "law 1: " + x.ID
		}
	}
	for _, x := range s.Steps {
		for _, f := range x.Findings {
			if !f.Unsure && slices.Contains(f.Against, gate) && !slices.Contains(x.Overruled, f.Say) {
				return "finding: " + f.Say
			}
		}
	}
	m, concluded := s.Topics[TopicMutation]
	c := s.Topics[TopicClass]
	if !concluded || c.Value == "" || c.Value == Unknown {
		return "law 2"
	}
	for id, g := range s.Gates {
		if id != gate && (g.Phase == GateActing || g.Phase == GateUnknown) {
			return "an act is open: " + id
		}
	}
	if st.Class == Contain || st.Class == Release {
		return ""
	}
	commander := false
	for _, p := range s.People {
		commander = commander || strings.Join(p.Roles, " ") == "commander"
	}
	switch {
	case m.Value == Unknown:
		return "law 3"
	case c.Provisional:
		return "provisional class"
	case s.Topics[TopicReverts].Value == "yes":
		return "reverts"
	case wasUndone(s):
		return "an act was undone"
	case s.Severity == Sev1 && !commander:
		return "no commander"
	}
	if v := s.Topics[TopicConsistent].Value; st.Class == Rerun && v != "yes" && v != "no" {
		return "rerun without compare"
	}
	return ""
}

func wasUndone(s State) bool {
	for _, g := range s.Gates {
		if g.Again.Outcome == Undone && g.AgainSeq > s.Topics[TopicReverts].Seq {
			return true
		}
	}
	return false
}

// breach says which law the step from one state to the next broke, "" for none.
func breach(before, after State) string {
	acting := 0
	for id, g := range after.Gates {
		switch g.Phase {
		case GateArmed, GateConfirmed:
			if why := oracle(after, id); why != "" {
				return id + " is " + string(g.Phase) + " against " + why
			}
			for _, v := range g.Shown.Verdicts {
				if v.Result != "true" {
					return id + " is armed on a condition that is " + v.Result
				}
			}
		case GateActing:
			acting++
			was := before.Gates[id]
			if was.Phase == GateActing {
				continue
			}
			if was.Phase != GateConfirmed || was.Digest != g.Digest || oracle(before, id) != "" {
				return id + " acts from " + string(was.Phase) + ", " + oracle(before, id)
			}
		}
		if g.Phase == GateConfirmed || g.Phase == GateActing {
			for _, o := range g.Shown.Owners {
				if o.Paused != "yes" && len(after.Waivers) == 0 {
					return id + " is confirmed over owner " + o.Name
				}
			}
		}
	}
	if acting > 1 || (acting == 1) != (after.Acting != "") {
		return fmt.Sprintf("%d gates act, Acting is %q", acting, after.Acting)
	}
	return ""
}

// small is the runbook of the search: few steps, each law in play.
func small() Plan {
	return Plan{Runbook: "demo", Digest: "p1", Steps: []PlanStep{
		{ID: lock, Phase: Preserve, Kind: ProbeStep, Required: true},
		{ID: holder, Phase: Mutation, Kind: AskStep, Answers: []string{"alive", "dead"}},
		{ID: unlock, Phase: Recover, Kind: GateStep, Class: Release, Refs: []string{lock, holder}},
		{ID: again, Phase: Recover, Kind: GateStep, Class: Rerun},
	}}
}

// alphabet is every move of the search in a state; attempts follow the state so
// that they fold.
func alphabet(s State) []Body {
	st, _ := s.Step(lock)
	owned := shown(unlock, Release)
	owned.Owners = []Owner{{Name: "argo", Paused: "unknown"}}
	doubtful := shown(unlock, Release)
	doubtful.Verdicts = []Verdict{{Result: "unknown"}}
	out := []Body{
		ProbeStart{Step: lock, N: st.Attempts + 1}, read(lock, st.Attempts, "ok", "true"), read(lock, st.Attempts, "failed", "true"),
		Waive{Law: 1, Subject: lock, Person: "a", Why: "b"}, Waive{Law: 12, Subject: "argo", Person: "a", Why: "b"},
		Answer{Step: holder, Value: "dead"}, Answer{Step: holder, Value: Unknown},
		concluded(TopicMutation, "yes"), concluded(TopicMutation, Unknown),
		concluded(TopicClass, partial), concluded(TopicClass, Unknown), Conclude{Topic: TopicClass, Value: partial, Provisional: true},
		concluded(TopicConsistent, "no"), concluded(TopicReverts, "yes"), concluded(TopicReverts, "no"),
		SeveritySet{Level: Sev1}, Person{ID: "c", Proof: "os", Roles: []string{"commander"}}, Person{ID: "c", Proof: "os"},
		owned, doubtful, small(), Close{Outcome: "recovered"},
		GateClosed{Step: unlock, Why: "moved", Moved: []string{"uid"}},
		HandAct{ID: "proof", What: "w", Object: "o", Person: "p", Proof: lock},
	}
	for id, class := range map[string]Class{unlock: Release, again: Rerun} {
		out = append(out, shown(id, class), answered(id), GateClosed{Step: id, Why: "esc"}, start(id),
			end(id, "done"), end(id, "failed"), end(id, Unknown))
	}
	return out
}

// shape is a state without what grows for ever: numbers, times and texts.
func shape(s State) string {
	var b strings.Builder
	fmt.Fprint(&b, s.Severity, s.Acting, s.Outcome, s.Return, len(s.Plans) > 0)
	for _, p := range s.People {
		fmt.Fprint(&b, p.ID, p.Roles)
	}
	for _, st := range s.Steps {
		fmt.Fprint(&b, "|", st.Status, st.Outcome, st.Answer, st.Facts["held"].Known(), st.Streak)
	}
	for _, t := range topics() {
		fmt.Fprint(&b, "|", s.Topics[t].Value, s.Topics[t].Provisional)
	}
	for _, id := range []string{unlock, again} {
		g := s.Gates[id]
		fmt.Fprint(&b, "|", g.Phase, len(g.Shown.Owners), g.StartSeq > 0)
	}
	laws := map[int]bool{}
	for _, w := range s.Waivers {
		laws[w.Law] = true
	}
	fmt.Fprint(&b, laws)
	return b.String()
}

// TestNoGateOpensAgainstALaw walks every state within some moves of several
// beginnings and looks for a gate that is open against a law. In each state it
// also asks Options with judges of every mind.
func TestNoGateOpensAgainstALaw(t *testing.T) {
	t.Parallel()
	opened := []Body{Open{Incident: "i", Severity: Sev3}, small()}
	lawful := bodies(opened, []Body{
		begin(lock), read(lock, 1, "ok", "true"), Answer{Step: holder, Value: "dead"},
		concluded(TopicMutation, "yes"), concluded(TopicClass, partial), concluded(TopicConsistent, "no"),
	})
	armed := append(lawful[:len(lawful):len(lawful)], shown(unlock, Release), shown(again, Rerun))
	acting := append(armed[:len(armed):len(armed)], answered(unlock), start(unlock))
	tests := []struct {
		name  string
		told  []Body
		depth int
	}{
		{"opened", opened, 5},
		{"lawful", lawful, 4},
		{"armed", armed, 4},
		{"acting", acting, 4},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			root := tell(t, State{}, tc.told...)
			seen, open := map[string]bool{shape(root): true}, 0
			level := []State{root}
			for range tc.depth {
				var deeper []State
				for _, s := range level {
					for _, b := range alphabet(s) {
						to, err := Fold(s, next(s, b))
						if err != nil {
							continue
						}
						if why := breach(s, to); why != "" {
							t.Fatalf("%s: %s", story(to), why)
						}
						if key := shape(to); !seen[key] {
							seen[key] = true
							deeper = append(deeper, to)
							open += offers(t, to)
						}
					}
				}
				level = deeper
			}
			if open == 0 || len(seen) < 100 {
				t.Errorf("the search saw %d states and %d open gates: too few to prove anything", len(seen), open)
			}
		})
	}
}

// offers checks what Options says of the gates in s, whatever the judge
// answers, and returns how many were open.
func offers(t *testing.T, s State) int {
	t.Helper()
	open := 0
	for _, result := range []string{"true", "false", Unknown, "error", "stale", ""} {
		judge := func(string) []Verdict { return []Verdict{{Expr: "x", Result: result}} }
		recommended := 0
		for _, o := range Options(s, s.Updated, judge) {
			if o.Recommended {
				recommended++
			}
			doubt := s.Gates[o.Step].Phase == GateUnknown
			if (o.Kind != DoPreview && o.Kind != DoConfirm) || doubt {
				continue
			}
			if o.Available() {
				open++
				if why := oracle(s, o.Step); why != "" || result != "true" || s.Acting != "" {
					t.Fatalf("%s: %s %s is offered against %q with verdict %q", story(s), o.Kind, o.Step, why, result)
				}
				continue
			}
			if o.Kind == DoPreview && result == "true" {
				b := shown(o.Step, map[string]Class{unlock: Release, again: Rerun}[o.Step])
				if _, err := Fold(s, next(s, b)); err == nil {
					t.Fatalf("%s: preview of %s is refused (%s) and its event folds", story(s), o.Step, o.Refusals[0].Why)
				}
			}
		}
		if recommended > 1 {
			t.Fatalf("%s: %d options are recommended", story(s), recommended)
		}
	}
	return open
}

func story(s State) string {
	var out []string
	for _, m := range s.Timeline {
		out = append(out, m.Text)
	}
	return strings.Join(out, " > ")
}
