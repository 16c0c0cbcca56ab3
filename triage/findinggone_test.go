package triage

import (
	"slices"
	"testing"

	"handrail/triage/record"
)

const (
	hook  = "demo/hook"  // the first reading
	serve = "demo/serve" // the watch of the same thing
)

// hooked is a state in which hook found what shuts no gate, and serve watches the same.
func hooked(t *testing.T, of string) State {
	t.Helper()
	plan := demoPlan()
	plan.Steps = append(plan.Steps, PlanStep{ID: hook, Phase: Preserve, Kind: ProbeStep, Uses: "kube/webhook"},
		PlanStep{ID: serve, Phase: Verify, Kind: WatchStep, Uses: of})
	end := read(hook, 1, "ok", "true")
	end.Findings = []Finding{{Level: record.Critical, Say: "it refuses all", Rule: 1}}
	told := ready()
	told[1] = plan
	return tell(t, State{}, append(told, ProbeStart{Step: hook, N: 1, With: thing("a")}, end)...)
}

func thing(name string) map[string]Value { return map[string]Value{"name": record.StringOf(name)} }

func judged(list ...Finding) FindingsSet {
	return FindingsSet{Step: hook, N: 1, Findings: list, Gone: []GoneBy{{Finding: "it refuses all", By: serve}}}
}

func telling(s State, step string) []string {
	var out []string
	st, _ := s.Step(step)
	for _, f := range st.Telling() {
		out = append(out, f.Say)
	}
	return out
}

// TestAgainIsOfTheSameThing: only a whole reading of the same kind, with the same
// parameters, that began after the first had ended, says anything of what that found.
func TestAgainIsOfTheSameThing(t *testing.T) {
	t.Parallel()
	ok := []Body{ProbeStart{Step: serve, N: 1, With: thing("a")}, read(serve, 1, "ok", "false")}
	for name, tc := range map[string]struct {
		of   string
		told []Body
		same bool
	}{
		"read":            {"kube/webhook", ok, true},
		"not read":        {"kube/webhook", nil, false},
		"begun":           {"kube/webhook", ok[:1], false},
		"another kind":    {"kube/get", ok, false},
		"another name":    {"kube/webhook", []Body{ProbeStart{Step: serve, N: 1, With: thing("b")}, ok[1]}, false},
		"fewer words":     {"kube/webhook", []Body{ProbeStart{Step: serve, N: 1}, ok[1]}, false},
		"an unknown name": {"kube/webhook", []Body{ProbeStart{Step: serve, N: 1, With: map[string]Value{"name": record.Unknown(record.String, "x")}}, ok[1]}, false},
		"failed":          {"kube/webhook", []Body{ok[0], read(serve, 1, "failed", "false")}, false},
		"being read":      {"kube/webhook", append(slices.Clip(ok), ProbeStart{Step: serve, N: 2, With: thing("a")}), false},
		"the first anew":  {"kube/webhook", append(slices.Clip(ok), ProbeStart{Step: hook, N: 2, With: thing("a")}, read(hook, 2, "ok", "true")), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := tell(t, hooked(t, tc.of), tc.told...)
			st, _ := s.Step(hook)
			if by, got := Again(s, st); got != tc.same || got && by.ID != serve {
				t.Errorf("Again() = %q, %v, want %v", by.ID, got, tc.same)
			}
		})
	}
	before := tell(t, hooked(t, "kube/webhook"), ok...)
	anew := tell(t, before, ProbeStart{Step: hook, N: 2, With: thing("a")}, read(hook, 2, "ok", "true"))
	if Follows(anew, next(anew, FindingsSet{Step: hook, N: 2, Gone: []GoneBy{{Finding: "it refuses all", By: serve}}})) == nil {
		t.Error("a reading from before the finding takes it away")
	}
}

// TestLaterReadingResolves: what a later reading of the same does not find is asked of no
// person, and the record keeps by which; where it is found again, it is asked again.
func TestLaterReadingResolves(t *testing.T) {
	t.Parallel()
	s := tell(t, hooked(t, "kube/webhook"), ProbeStart{Step: serve, N: 1, With: thing("a")})
	for name, b := range map[string]FindingsSet{
		"before it was read": judged(),
	} {
		if Follows(s, next(s, b)) == nil {
			t.Errorf("%s: it folds", name)
		}
	}
	s = tell(t, s, read(serve, 1, "ok", "false"))
	if got := telling(s, hook); len(got) != 1 {
		t.Fatalf("before it is judged: %v", got)
	}
	other := judged()
	other.Gone = []GoneBy{{Finding: "something else", By: serve}}
	itself := judged()
	itself.Gone = []GoneBy{{Finding: "it refuses all", By: hook}}
	for name, b := range map[string]FindingsSet{
		"what was not found": other, "by itself": itself,
		"what stands": judged(Finding{Level: record.Critical, Say: "it refuses all", Rule: 1}),
	} {
		if Follows(s, next(s, b)) == nil {
			t.Errorf("%s: it folds", name)
		}
	}
	gone := tell(t, s, judged())
	serving, _ := gone.Step(serve)
	if got := telling(gone, hook); len(got) != 0 || len(gone.Gone) != 1 || gone.Gone[0].By != serve || gone.Gone[0].Seq != serving.EndSeq {
		t.Errorf("after it: %v, kept %+v", got, gone.Gone)
	}
	back := tell(t, gone, FindingsSet{Step: hook, N: 1, Findings: []Finding{gone.Gone[0].Finding}})
	if got := telling(back, hook); len(got) != 1 || len(back.Gone) != 0 {
		t.Errorf("found again: %v, kept %+v", got, back.Gone)
	}
}

// TestOwnReadingResolves: what a step itself does not find any more is kept as resolved by
// that reading, unless it read something else.
func TestOwnReadingResolves(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		with map[string]Value
		end  ProbeEnd
		gone int
	}{
		"gone":            {thing("a"), read(hook, 2, "ok", "false"), 1},
		"of another name": {thing("b"), read(hook, 2, "ok", "false"), 0},
		"failed":          {thing("a"), read(hook, 2, "failed", "false"), 0},
		"in other words":  {thing("a"), finding(read(hook, 2, "ok", "true"), Finding{Level: record.Critical, Say: "it refuses most", Rule: 1}), 0},
		"another one":     {thing("a"), finding(read(hook, 2, "ok", "true"), Finding{Level: record.Critical, Say: "it is old", Rule: 2}), 1},
	} {
		s := tell(t, hooked(t, "kube/webhook"), ProbeStart{Step: hook, N: 2, With: tc.with}, tc.end)
		if len(s.Gone) != tc.gone {
			t.Errorf("%s: kept %+v", name, s.Gone)
		}
	}
}

func finding(b ProbeEnd, list ...Finding) ProbeEnd {
	b.Findings = list
	return b
}

// TestUnreadFindingStaysOwed: neither a reading that failed nor one that cannot tell takes
// away what has to be answered before the close.
func TestUnreadFindingStaysOwed(t *testing.T) {
	t.Parallel()
	unsure := func(rule int) ProbeEnd {
		return finding(read(hook, 2, "ok", "true"), Finding{Level: record.Warning, Say: "cannot tell: it refuses all", Unsure: true, Rule: rule})
	}
	for name, tc := range map[string]struct {
		end  ProbeEnd
		owed int
	}{
		"failed":               {read(hook, 2, "failed", "true"), 1},
		"denied":               {read(hook, 2, "denied", "true"), 1},
		"cancelled":            {read(hook, 2, "cancelled", "true"), 1},
		"cannot tell":          {unsure(1), 1},
		"cannot tell another":  {unsure(2), 0},
		"read and not there":   {read(hook, 2, "ok", "false"), 0},
		"read and still there": {finding(read(hook, 2, "ok", "true"), Finding{Level: record.Critical, Say: "it refuses all", Rule: 1}), 1},
	} {
		s := tell(t, hooked(t, "kube/webhook"), ProbeStart{Step: hook, N: 2, With: thing("a")}, tc.end)
		if got := telling(s, hook); len(got) != tc.owed {
			t.Errorf("%s: owed %v, want %d", name, got, tc.owed)
		}
	}
}

// TestRestates: a finding is the same one by its rule; what a kind found by itself by its
// words, whatever the numbers.
func TestRestates(t *testing.T) {
	t.Parallel()
	kind := func(say string) Finding { return Finding{Level: record.Critical, Say: say, Rule: record.ByKind} }
	for name, tc := range map[string]struct {
		now, was Finding
		want     bool
	}{
		"the same rule":     {Finding{Rule: 2, Say: "x"}, Finding{Rule: 2, Say: "y"}, true},
		"another rule":      {Finding{Rule: 1, Say: "x"}, Finding{Rule: 2, Say: "x"}, false},
		"other numbers":     {kind("2 of 3 Pods are refused"), kind("1 of 3 Pods are refused"), true},
		"other words":       {kind("no Pods are left"), kind("1 of 3 Pods are refused"), false},
		"a rule, no kind":   {Finding{Rule: 1, Say: "x", Level: record.Critical}, kind("x"), false},
		"no more critical":  {Finding{Rule: record.ByKind, Say: "x", Level: record.Warning}, kind("x"), false},
		"not told, and bad": {Finding{Say: "x", Level: record.Critical}, kind("y"), true},
		"not told, a word":  {Finding{Say: "x", Level: record.Info}, kind("x"), false},
	} {
		if got := tc.now.Restates(tc.was); got != tc.want {
			t.Errorf("%s: Restates() = %v", name, got)
		}
	}
}
