package triage

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// These tables say of each law, one deviation at a time, whom it refuses and whom it
// lets pass. They state the laws a second time and ask no function of laws.go for it.

func TestCapturesAndProofsByKind(t *testing.T) {
	t.Parallel()
	kinds := []StepKind{ProbeStep, AskStep, ManualStep, ConcludeStep, CompareStep, GateStep, WatchStep, NoteStep}
	for _, phase := range Phases() {
		for _, kind := range kinds {
			for _, required := range []bool{true, false} {
				st := Step{PlanStep: PlanStep{ID: "demo/x", Phase: phase, Kind: kind, Required: required}}
				capture := fmt.Sprint(phase) == "preserve" && required && string(kind) != "gate"
				if isCapture(&st) != capture {
					t.Errorf("%s %s required %v is a capture: %v", phase, kind, required, !capture)
				}
				proof := fmt.Sprint(phase) == "verify" && (string(kind) == "watch" || required && string(kind) != "note")
				if isProof(&st) != proof {
					t.Errorf("%s %s required %v is a proof: %v", phase, kind, required, !proof)
				}
			}
		}
	}
}

// question is one of verify that was answered.
func question(green []string, answer string, edits ...func(*Step)) Step {
	st := Step{PlanStep: PlanStep{ID: "demo/served", Phase: Verify, Kind: AskStep, Answers: []string{"yes", "no"}, Green: green}, Answer: answer, Status: Settled, EndSeq: 10}
	for _, edit := range edits {
		edit(&st)
	}
	return st
}

func TestWhichAnswersDeny(t *testing.T) {
	t.Parallel()
	green := []string{"yes"}
	for name, tc := range map[string]struct {
		st   Step
		want bool
	}{
		"green":            {question(green, "yes"), false},
		"not green":        {question(green, "no"), true},
		"unknown":          {question(green, Unknown), true},
		"no answer":        {question(green, ""), false},
		"skipped":          {question(green, "no", func(st *Step) { st.Status = Skipped }), false},
		"none is green":    {question(nil, "no"), false},
		"of another phase": {question(green, "no", func(st *Step) { st.Phase = Recover }), false},
		"not asked":        {question(green, "no", func(st *Step) { st.Kind = ProbeStep }), false},
	} {
		if got := tc.st.Denies(); got != tc.want {
			t.Errorf("%s: denies %v, want %v", name, got, tc.want)
		}
	}
}

func waiver(law int, subject string, seq int64) Waiver {
	return Waiver{Waive: Waive{Law: law, Subject: subject}, Seq: seq}
}

func TestWaiversAreOfTheirLawAndSubject(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		w    []Waiver
		want bool
	}{
		"none":                     {nil, false},
		"its own":                  {[]Waiver{waiver(1, lock, 1)}, true},
		"another law":              {[]Waiver{waiver(8, lock, 1)}, false},
		"another subject":          {[]Waiver{waiver(1, heavy, 1)}, false},
		"law and subject of two":   {[]Waiver{waiver(1, heavy, 1), waiver(8, lock, 2)}, false},
		"the second":               {[]Waiver{waiver(8, lock, 1), waiver(1, lock, 2)}, true},
		"of the other subject too": {[]Waiver{waiver(1, "also", 1)}, true},
	} {
		if got := waived(&State{Waivers: tc.w}, 1, lock, "also"); got != tc.want {
			t.Errorf("%s: waived %v, want %v", name, got, tc.want)
		}
	}
	denial := question([]string{"yes"}, "no")
	for name, tc := range map[string]struct {
		st   Step
		w    []Waiver
		want bool
	}{
		"green":           {question([]string{"yes"}, "yes"), nil, false},
		"denied":          {denial, nil, true},
		"waived since":    {denial, []Waiver{waiver(8, denial.ID, 11)}, false},
		"at that entry":   {denial, []Waiver{waiver(8, denial.ID, 10)}, true},
		"waived before":   {denial, []Waiver{waiver(8, denial.ID, 9)}, true},
		"another law":     {denial, []Waiver{waiver(1, denial.ID, 11)}, true},
		"another subject": {denial, []Waiver{waiver(8, lock, 11)}, true},
	} {
		if got := denied(&State{Waivers: tc.w}, &tc.st); got != tc.want {
			t.Errorf("%s: denied %v, want %v", name, got, tc.want)
		}
	}
}

func TestOpenCapturesAndProofs(t *testing.T) {
	t.Parallel()
	capture := func(status Status, outcome string, retired bool) Step {
		return Step{PlanStep: PlanStep{ID: lock, Phase: Preserve, Kind: ProbeStep, Required: true}, Status: status, Outcome: outcome, Retired: retired}
	}
	for name, tc := range map[string]struct {
		st   Step
		w    []Waiver
		open bool
	}{
		"pending":              {capture(Pending, "", false), nil, true},
		"settled":              {capture(Settled, "ok", false), nil, false},
		"read once more":       {capture(Running, "ok", false), nil, false},
		"runs the first time":  {capture(Running, "", false), nil, true},
		"failed, read again":   {capture(Running, "failed", false), nil, true},
		"pending, ok once":     {capture(Pending, "ok", false), nil, true},
		"could not be read":    {capture(CannotTell, "failed", false), nil, true},
		"stale":                {capture(Stale, "ok", false), nil, true},
		"of an earlier plan":   {capture(Pending, "", true), nil, false},
		"waived":               {capture(Pending, "", false), []Waiver{waiver(1, lock, 1)}, false},
		"another one's waiver": {capture(Pending, "", false), []Waiver{waiver(1, heavy, 1)}, true},
		"another law's waiver": {capture(Pending, "", false), []Waiver{waiver(8, lock, 1)}, true},
		"not required":         {Step{PlanStep: PlanStep{ID: lock, Phase: Preserve, Kind: ProbeStep}}, nil, false},
	} {
		got := State{Steps: []Step{tc.st}, Waivers: tc.w}.OpenCaptures()
		if (len(got) == 1) != tc.open {
			t.Errorf("capture %s: open %v, want %v", name, !tc.open, tc.open)
		}
	}
	watch := func(status Status, retired bool) Step {
		return Step{PlanStep: PlanStep{ID: clean, Phase: Verify, Kind: WatchStep}, Status: status, Retired: retired}
	}
	acted := map[string]GateState{"demo/old": {StartSeq: 1}}
	for name, tc := range map[string]struct {
		st    Step
		w     []Waiver
		gates map[string]GateState
		open  bool
	}{
		"pending":                           {watch(Pending, false), nil, nil, true},
		"running":                           {watch(Running, false), nil, nil, true},
		"settled":                           {watch(Settled, false), nil, nil, false},
		"waived":                            {watch(Pending, false), []Waiver{waiver(8, clean, 1)}, nil, false},
		"another law's waiver":              {watch(Pending, false), []Waiver{waiver(1, clean, 1)}, nil, true},
		"another one's waiver":              {watch(Pending, false), []Waiver{waiver(8, lock, 1)}, nil, true},
		"of an earlier plan":                {watch(Pending, true), nil, nil, false},
		"of an earlier plan that acted":     {watch(Pending, true), nil, acted, true},
		"of an earlier plan, another acted": {watch(Pending, true), nil, map[string]GateState{"other/gate": {StartSeq: 5}}, false},
		"of an earlier plan whose gate was only shown": {watch(Pending, true), nil, map[string]GateState{"demo/old": {ShownSeq: 5}}, false},
		"denied":                               {question([]string{"yes"}, "no"), nil, nil, true},
		"denied and waived before":             {question([]string{"yes"}, "no"), []Waiver{waiver(8, "demo/served", 9)}, nil, true},
		"denied by an earlier plan":            {question([]string{"yes"}, "no", func(st *Step) { st.Retired = true }), nil, nil, false},
		"denied by an earlier plan that acted": {question([]string{"yes"}, "no", func(st *Step) { st.Retired = true }), nil, acted, true},
		"a note":                               {Step{PlanStep: PlanStep{ID: clean, Phase: Verify, Kind: NoteStep, Required: true}}, nil, nil, false},
	} {
		got := State{Steps: []Step{tc.st}, Waivers: tc.w, Gates: tc.gates}.OpenProofs()
		if (len(got) == 1) != tc.open {
			t.Errorf("proof %s: open %v, want %v", name, !tc.open, tc.open)
		}
	}
}

func TestVagueAnswers(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		st   Step
		w    []Waiver
		want bool
	}{
		"the second answer":       {question(nil, "no"), nil, true},
		"the first answer":        {question(nil, "yes"), nil, false},
		"it says what is green":   {question([]string{"yes"}, "no"), nil, false},
		"not settled":             {question(nil, "no", func(st *Step) { st.Status = Skipped }), nil, false},
		"no answers to choose":    {question(nil, "no", func(st *Step) { st.PlanStep.Answers = nil }), nil, false},
		"none but the first":      {question(nil, "no", func(st *Step) { st.PlanStep.Answers = []string{"yes"} }), nil, true},
		"of another phase":        {question(nil, "no", func(st *Step) { st.Phase = Recover }), nil, false},
		"not asked":               {question(nil, "no", func(st *Step) { st.Kind = ManualStep }), nil, false},
		"of an earlier plan":      {question(nil, "no", func(st *Step) { st.Retired = true }), nil, false},
		"waived":                  {question(nil, "no"), []Waiver{waiver(8, "demo/served", 1)}, false},
		"waived for another step": {question(nil, "no"), []Waiver{waiver(8, lock, 1)}, true},
		"waived of another law":   {question(nil, "no"), []Waiver{waiver(1, "demo/served", 1)}, true},
	} {
		s := State{Steps: []Step{tc.st}, Waivers: tc.w}
		got := vagueLaws(&s)
		if (len(got) == 1) != tc.want || tc.want && (got[0].Law != 8 || got[0].Cure == "" || !strings.Contains(got[0].Why, tc.st.Answer)) {
			t.Errorf("%s: %+v, want one: %v", name, got, tc.want)
		}
	}
}

// lawful is a state in which no law shuts a gate or a close as recovered.
func lawful(edits ...func(*State)) State {
	s := State{
		Severity: Sev3, Worst: Sev3, Plans: []Plan{demoPlan()},
		Topics: map[Topic]Conclusion{TopicMutation: {Value: "yes"}, TopicClass: {Value: partial}, TopicConsistent: {Value: "no"}},
		Gates:  map[string]GateState{},
		Steps: []Step{
			{PlanStep: PlanStep{ID: lock, Phase: Preserve, Kind: ProbeStep, Required: true}, Status: Settled},
			{PlanStep: PlanStep{ID: clean, Phase: Verify, Kind: WatchStep}, Status: Settled},
		},
	}
	for _, edit := range edits {
		edit(&s)
	}
	return s
}

func topic(name Topic, c Conclusion) func(*State) {
	return func(s *State) { s.Topics[name] = c }
}

func noTopic(name Topic) func(*State) { return func(s *State) { delete(s.Topics, name) } }

// laws are the numbers of refusals, each of which must say why and, but for a law
// that nothing cures, what to do.
func laws(t *testing.T, refusals []Refusal) []int {
	t.Helper()
	out := []int{}
	for _, r := range refusals {
		if r.Why == "" {
			t.Errorf("a refusal of law %d says no reason", r.Law)
		}
		out = append(out, r.Law)
	}
	slices.Sort(out)
	return out
}

func TestGateLawsOneAtATime(t *testing.T) {
	t.Parallel()
	all := []Class{Contain, Release, Repair, Rerun}
	for name, tc := range map[string]struct {
		edit func(*State)
		want map[Class][]int // nil for a class: it opens
	}{
		"lawful":                  {func(*State) {}, nil},
		"an act is running":       {func(s *State) { s.Acting = fix }, map[Class][]int{Contain: {0}, Release: {0}, Repair: {0}, Rerun: {0}}},
		"an act has no known end": {func(s *State) { s.Gates[fix] = GateState{Phase: GateUnknown} }, map[Class][]int{Contain: {11}, Release: {11}, Repair: {11}, Rerun: {11}}},
		"an act failed":           {func(s *State) { s.Gates[fix] = GateState{Phase: GateFailed} }, nil},
		"a capture is open":       {func(s *State) { s.Steps[0].Status = Pending }, map[Class][]int{Contain: {1}, Release: {1}, Repair: {1}, Rerun: {1}}},
		"mutation not concluded":  {noTopic(TopicMutation), map[Class][]int{Contain: {2}, Release: {2}, Repair: {2}, Rerun: {2}}},
		"mutation unknown":        {topic(TopicMutation, Conclusion{Value: Unknown}), map[Class][]int{Repair: {3}, Rerun: {3}}},
		"mutation provisional":    {topic(TopicMutation, Conclusion{Value: "no", Provisional: true}), map[Class][]int{Repair: {3}, Rerun: {3}}},
		"mutation no":             {topic(TopicMutation, Conclusion{Value: "no"}), nil},
		"not classified":          {noTopic(TopicClass), map[Class][]int{Contain: {2}, Release: {2}, Repair: {2}, Rerun: {2}}},
		"class unknown":           {topic(TopicClass, Conclusion{Value: Unknown}), map[Class][]int{Contain: {2}, Release: {2}, Repair: {2}, Rerun: {2}}},
		"class provisional":       {topic(TopicClass, Conclusion{Value: partial, Provisional: true}), map[Class][]int{Repair: {2}, Rerun: {2}}},
		"states not compared":     {noTopic(TopicConsistent), map[Class][]int{Rerun: {3}}},
		"states unknown":          {topic(TopicConsistent, Conclusion{Value: Unknown}), map[Class][]int{Rerun: {3}}},
		"states agree":            {topic(TopicConsistent, Conclusion{Value: "yes"}), nil},
		"reverted":                {topic(TopicReverts, Conclusion{Value: "yes"}), map[Class][]int{Repair: {12}, Rerun: {12}}},
		"not reverted":            {topic(TopicReverts, Conclusion{Value: "no"}), nil},
		"SEV-1, no commander":     {func(s *State) { s.Severity = Sev1 }, map[Class][]int{Repair: {0}, Rerun: {0}}},
		"SEV-1, a scribe":         {func(s *State) { s.Severity = Sev1; s.People = []Person{{Roles: []string{"scribe"}}} }, map[Class][]int{Repair: {0}, Rerun: {0}}},
		"SEV-1, a commander":      {func(s *State) { s.Severity = Sev1; s.People = []Person{{Roles: []string{"scribe", "commander"}}} }, nil},
		"SEV-2, no commander":     {func(s *State) { s.Severity = Sev2 }, nil},
	} {
		for _, class := range all {
			s := lawful(tc.edit)
			got := laws(t, gateLaws(&s, &Step{PlanStep: PlanStep{ID: "demo/gate", Kind: GateStep, Class: class}}))
			if want := tc.want[class]; !slices.Equal(got, append([]int{}, want...)) {
				t.Errorf("%s, %s: laws %v, want %v", name, class, got, want)
			}
		}
	}
	s := lawful()
	if got := gateLaws(&s, &Step{PlanStep: PlanStep{ID: "demo/gate", Class: Contain}, Retired: true}); len(got) != 1 || !strings.Contains(got[0].Why, "earlier plan") {
		t.Errorf("a gate of an earlier plan: %+v", got)
	}
	// The rule asks of the severity that it is given, which may be worse than the present one.
	if got := commandLaws(&s, Repair, Sev1); len(got) != 1 || !strings.Contains(got[0].Why, "the incident was there") {
		t.Errorf("SEV-1 once, SEV-3 now: %+v", got)
	}
	s.Severity = Sev1
	if got := commandLaws(&s, Repair, Sev1); len(got) != 1 || strings.Contains(got[0].Why, "was there") {
		t.Errorf("SEV-1 now: %+v", got)
	}
}

func TestCloseLawsOneAtATime(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		edit func(*State)
		want []int
	}{
		"lawful":                     {func(*State) {}, []int{}},
		"mutation not concluded":     {noTopic(TopicMutation), []int{2}},
		"mutation provisional":       {topic(TopicMutation, Conclusion{Value: "yes", Provisional: true}), []int{2}},
		"mutation unknown":           {topic(TopicMutation, Conclusion{Value: Unknown}), []int{}},
		"class not concluded":        {noTopic(TopicClass), []int{2}},
		"class unknown":              {topic(TopicClass, Conclusion{Value: Unknown}), []int{2}},
		"class provisional":          {topic(TopicClass, Conclusion{Value: partial, Provisional: true}), []int{2}},
		"an act has no known end":    {func(s *State) { s.Gates[fix] = GateState{Phase: GateUnknown} }, []int{11}},
		"a gate is armed":            {func(s *State) { s.Gates[fix] = GateState{Phase: GateArmed} }, []int{0}},
		"a gate is confirmed":        {func(s *State) { s.Gates[fix] = GateState{Phase: GateConfirmed} }, []int{0}},
		"a gate is done":             {func(s *State) { s.Gates[fix] = GateState{Phase: GateDone} }, []int{}},
		"a target is to be reread":   {func(s *State) { s.Rereads = []Reread{{Step: fix}} }, []int{8}},
		"reverted":                   {topic(TopicReverts, Conclusion{Value: "yes"}), []int{12}},
		"a watch is not green":       {func(s *State) { s.Steps[1].Status = Running }, []int{8}},
		"a debt is open":             {func(s *State) { s.Debts = []Debt{{DebtOpened: DebtOpened{ID: "d1"}}} }, []int{9}},
		"a debt is settled":          {func(s *State) { s.Debts = []Debt{{DebtOpened: DebtOpened{ID: "d1"}, Settled: Settle{How: "paid"}}} }, []int{}},
		"a question denies":          {func(s *State) { s.Steps = append(s.Steps, question([]string{"yes"}, "no")) }, []int{8}},
		"an act is running, as well": {func(s *State) { s.Acting = fix }, []int{0}},
	} {
		s := lawful(tc.edit)
		if got := laws(t, closeLaws(&s, "recovered")); !slices.Equal(got, tc.want) {
			t.Errorf("%s: laws %v, want %v", name, got, tc.want)
		}
		for _, outcome := range []string{"open", "aborted"} {
			want := []int{}
			if s.Acting != "" {
				want = []int{0}
			}
			if got := laws(t, closeLaws(&s, outcome)); !slices.Equal(got, want) {
				t.Errorf("%s, closed as %s: laws %v, want %v", name, outcome, got, want)
			}
		}
	}
	s := lawful()
	if got := closeLaws(&s, "fine"); len(got) != 1 || !strings.Contains(got[0].Why, "fine") {
		t.Errorf(`closed as "fine": %+v`, got)
	}
	denial, missing := question([]string{"yes"}, "no"), Step{PlanStep: PlanStep{ID: clean}}
	if r := proofRefusal(denial); r.Law != 8 || !strings.Contains(r.Why, "answered no") {
		t.Errorf("a denial is refused with %+v", r)
	}
	if r := proofRefusal(missing); r.Law != 8 || !strings.Contains(r.Why, "not green") {
		t.Errorf("a missing proof is refused with %+v", r)
	}
}

func TestFirstGateByName(t *testing.T) {
	t.Parallel()
	gates := func(p GatePhase) State {
		return State{Gates: map[string]GateState{"demo/b": {Phase: p}, "demo/a": {Phase: p}, "demo/c": {Phase: p}, "demo/0": {Phase: GateDone}}}
	}
	for range 20 { // maps are walked in another order each time
		s := gates(GateUnknown)
		if got := s.Unresolved(); got != "demo/a" {
			t.Fatalf("Unresolved() = %q, want demo/a", got)
		}
		for _, p := range []GatePhase{GateArmed, GateConfirmed} {
			if s := gates(p); armedGate(&s) != "demo/a" {
				t.Fatalf("armedGate() = %q, want demo/a", armedGate(&s))
			}
		}
	}
	for _, p := range []GatePhase{GateIdle, GateActing, GateDone, GateRefused, GateFailed} {
		if s := gates(p); armedGate(&s) != "" || s.Unresolved() != "" {
			t.Errorf("%q counts as armed (%q) or without end (%q)", p, armedGate(&s), s.Unresolved())
		}
	}
}

func TestVerdictLawsOneAtATime(t *testing.T) {
	t.Parallel()
	st := &Step{PlanStep: PlanStep{ID: unlock, Refs: []string{lock}}}
	free := &Step{PlanStep: PlanStep{ID: pause}}
	for name, tc := range map[string]struct {
		st   *Step
		v    []Verdict
		law  int // -1 for none
		cure string
	}{
		"none was evaluated": {st, nil, 11, ""},
		"none is there":      {free, nil, -1, ""},
		"true":               {st, []Verdict{{Expr: "a", Result: "true"}}, -1, ""},
		"false":              {st, []Verdict{{Expr: "a", Result: "false"}}, 0, "Make it true: a"},
		"stale":              {st, []Verdict{{Expr: "a", Result: "stale"}}, 11, "It is stale: read it again."},
		"unknown":            {st, []Verdict{{Expr: "a", Result: "unknown", Missing: []string{"x", "y"}}}, 11, "Find out: x, y"},
		"unknown, and why":   {st, []Verdict{{Expr: "a", Result: "unknown"}}, 11, "Make it true: a"},
		"false, and missing": {st, []Verdict{{Expr: "a", Result: "false", Missing: []string{"x"}}}, 11, "Find out: x"},
		"without expression": {st, []Verdict{{Result: "unknown", Why: "said"}}, 11, ""},
	} {
		got := verdictLaws(tc.st, tc.v)
		if tc.law < 0 {
			if len(got) != 0 {
				t.Errorf("%s: %+v, want none", name, got)
			}
			continue
		}
		if len(got) != 1 || got[0].Law != tc.law || got[0].Cure != tc.cure || got[0].Why == "" {
			t.Errorf("%s: %+v, want law %d, %q", name, got, tc.law, tc.cure)
		}
	}
	if got := verdictLaws(st, []Verdict{{Expr: "a", Result: "false", Why: "the runbook's own words"}}); got[0].Why != "the runbook's own words" {
		t.Errorf("the reason is %q", got[0].Why)
	}
	if got := verdictLaws(st, []Verdict{{Result: "true"}, {Expr: "b", Result: "false"}}); len(got) != 1 || !strings.Contains(got[0].Why, `"b"`) {
		t.Errorf("one of two: %+v", got)
	}
}

func planOf(list ...PlanStep) State { return State{Plans: []Plan{{Steps: list}}} }

func TestWideningAndOwners(t *testing.T) {
	t.Parallel()
	s := lawful()
	gate := func(id string, class Class) *Step {
		return &Step{PlanStep: PlanStep{ID: id, Kind: GateStep, Class: class}}
	}
	for name, tc := range map[string]struct {
		s    State
		st   *Step
		why  string
		want bool
	}{
		"the narrowest":                 {s, gate(pause, Contain), "", false},
		"a wider one":                   {s, gate(pauseUp, Contain), "", true},
		"a wider one, blank":            {s, gate(pauseUp, Contain), " \n", true},
		"a wider one, with reason":      {s, gate(pauseUp, Contain), "it writes from two places", false},
		"no containment":                {s, gate(fix, Repair), "", false},
		"no plan":                       {State{}, gate(pauseUp, Contain), "", false},
		"after a gate of another class": {planOf(PlanStep{ID: fix, Kind: GateStep, Class: Repair}, PlanStep{ID: pause, Kind: GateStep, Class: Contain}), gate(pause, Contain), "", false},
		"after a step that is no gate":  {planOf(PlanStep{ID: fix, Kind: AskStep, Class: Contain}, PlanStep{ID: pause, Kind: GateStep, Class: Contain}), gate(pause, Contain), "", false},
	} {
		got := wideningLaws(&tc.s, tc.st, tc.why)
		if (len(got) == 1) != tc.want || tc.want && (got[0].Law != 7 || !strings.Contains(got[0].Why, pause)) {
			t.Errorf("%s: %+v, want one: %v", name, got, tc.want)
		}
	}
	owned := func(paused string) GateState {
		return GateState{Step: fix, Shown: GateShown{Owners: []Owner{{Name: "flux", Paused: paused}}}}
	}
	for name, tc := range map[string]struct {
		g    GateState
		w    []Waiver
		want bool
	}{
		"none":                 {GateState{Step: fix}, nil, false},
		"paused":               {owned("yes"), nil, false},
		"not paused":           {owned("no"), nil, true},
		"unknown":              {owned("unknown"), nil, true},
		"waived":               {owned("no"), []Waiver{waiver(12, "flux", 1)}, false},
		"waived for the gate":  {owned("no"), []Waiver{waiver(12, fix, 1)}, false},
		"waived for another":   {owned("no"), []Waiver{waiver(12, again, 1)}, true},
		"waived, another law":  {owned("no"), []Waiver{waiver(8, "flux", 1)}, true},
		"paused, waived twice": {owned("yes"), []Waiver{waiver(12, "flux", 1)}, false},
	} {
		s := lawful(func(s *State) { s.Waivers = tc.w })
		got := ownerLaws(&s, tc.g)
		if (len(got) == 1) != tc.want || tc.want && (got[0].Law != 12 || !strings.Contains(got[0].Why, "flux")) {
			t.Errorf("owner %s: %+v, want one: %v", name, got, tc.want)
		}
	}
}

func TestWhatCannotBeSkipped(t *testing.T) {
	t.Parallel()
	plain := func(kind StepKind, status Status) Step {
		return Step{PlanStep: PlanStep{ID: "demo/x", Phase: Mutation, Kind: kind}, Status: status}
	}
	for name, tc := range map[string]struct {
		st   Step
		gate GatePhase
		law  int    // -1 for: it can be skipped
		why  string // a part of it
	}{
		"a probe":            {plain(ProbeStep, Pending), "", -1, ""},
		"a running probe":    {plain(ProbeStep, Running), "", 0, "running"},
		"a settled probe":    {plain(ProbeStep, Settled), "", 0, "settled already"},
		"a skipped probe":    {plain(ProbeStep, Skipped), "", 0, "skipped already"},
		"a capture":          {Step{PlanStep: PlanStep{ID: lock, Phase: Preserve, Kind: ProbeStep, Required: true}}, "", 1, "capture"},
		"a watch":            {Step{PlanStep: PlanStep{ID: clean, Phase: Verify, Kind: WatchStep}}, "", 8, "recovery"},
		"a denial":           {question([]string{"yes"}, "no"), "", 8, "answered no"},
		"unknown":            {question([]string{"yes"}, Unknown, func(st *Step) { st.Status = CannotTell }), "", -1, ""},
		"a gate":             {plain(GateStep, Pending), GateIdle, -1, ""},
		"a gate that is off": {plain(GateStep, Pending), GateRefused, -1, ""},
		"an armed gate":      {plain(GateStep, Pending), GateArmed, 0, "armed"},
		"a confirmed gate":   {plain(GateStep, Pending), GateConfirmed, 0, "confirmed"},
		"an acting gate":     {plain(GateStep, Pending), GateActing, 0, "acting"},
		"a gate of no end":   {plain(GateStep, Pending), GateUnknown, 0, "unknown"},
		"armed, but a probe": {plain(ProbeStep, Pending), GateArmed, -1, ""},
	} {
		s := State{Gates: map[string]GateState{tc.st.ID: {Phase: tc.gate}}}
		got := skipLaws(&s, &tc.st)
		switch {
		case tc.law < 0 && len(got) != 0, tc.law >= 0 && (len(got) != 1 || got[0].Law != tc.law || !strings.Contains(got[0].Why, tc.why)):
			t.Errorf("%s: %+v, want law %d, %q", name, got, tc.law, tc.why)
		}
	}
	for status, want := range map[Status]string{CannotTell: "could not be read", Stale: "stale", Pending: "not recorded"} {
		if got := captureLack(Step{Status: status}); !strings.Contains(got, want) {
			t.Errorf("a capture that is %s: %q, want %q", status, got, want)
		}
	}
}

func TestWhatASettlementLacks(t *testing.T) {
	t.Parallel()
	day := time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC).Format(time.DateOnly)
	for name, tc := range map[string]struct {
		b    Settle
		want bool
	}{
		"paid":                   {Settle{How: "paid", Proof: "PR"}, false},
		"paid without proof":     {Settle{How: "paid", Proof: " "}, true},
		"carried":                {Settle{How: "carried", Owner: "ana", Until: day}, false},
		"carried by no one":      {Settle{How: "carried", Until: day}, true},
		"carried without a date": {Settle{How: "carried", Owner: "ana", Until: "soon"}, true},
		"waived":                 {Settle{How: "waived", Person: "ana", Why: "moved"}, false},
		"waived by no one":       {Settle{How: "waived", Why: "moved"}, true},
		"waived without reason":  {Settle{How: "waived", Person: "ana"}, true},
		"forgotten":              {Settle{How: "forgotten", Proof: "x", Owner: "x", Until: day, Person: "x", Why: "x"}, true},
		"not at all":             {Settle{}, true},
	} {
		if got := settleLacks(tc.b); (got != "") != tc.want {
			t.Errorf("%s: lacks %q, want something: %v", name, got, tc.want)
		}
	}
}

// TestCautionAboutReverts: that something undoes every fix shuts the repairs, so no word
// takes that back without a name, and none is needed to say it.
func TestCautionAboutReverts(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		proposed, value string
		named           bool
	}{
		{"yes", Unknown, true}, {"yes", "no", true}, {Unknown, "no", true},
		{Unknown, "yes", false}, {"no", "yes", false}, {"no", Unknown, false},
	} {
		got := overrideLaws(Conclude{Topic: TopicReverts, Value: tc.value, Proposed: tc.proposed, Why: "seen"})
		if (len(got) > 0) != tc.named {
			t.Errorf("%s where %s is proposed: %v, want a name: %v", tc.value, tc.proposed, got, tc.named)
		}
	}
}
