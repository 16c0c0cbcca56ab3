package triage

import (
	"slices"
	"strings"
	"testing"
)

// recovers is a state that may be closed as recovered: all agrees, nothing stands.
func recovers(edits ...func(*State)) State {
	return lawful(append([]func(*State){func(s *State) {
		s.Phase = Verify
		s.Topics[TopicConsistent] = Conclusion{Value: "yes", Seq: 10}
		s.Topics[TopicClass] = Conclusion{Value: "LiveStateDiverged", Seq: 10}
		s.Steps = append(s.Steps,
			Step{PlanStep: PlanStep{ID: mutates, Phase: Mutation, Kind: ConcludeStep, Uses: "mutation"}, Status: Settled},
			Step{PlanStep: PlanStep{ID: unlock, Phase: Recover, Kind: GateStep, Class: Release}},
			Step{PlanStep: PlanStep{ID: fix, Phase: Recover, Kind: GateStep, Class: Repair}},
			Step{PlanStep: PlanStep{ID: again, Phase: Recover, Kind: GateStep, Class: Rerun}},
			Step{PlanStep: PlanStep{ID: "demo/byhand", Phase: Recover, Kind: ManualStep, Pays: "reconcile"}})
	}}, edits...)...)
}

func did(gate string, seq int64, edits ...func(*GateState)) func(*State) {
	return func(s *State) {
		g := GateState{Step: gate, Phase: GateDone, EndSeq: seq}
		for _, edit := range edits {
			edit(&g)
		}
		s.Gates[gate] = g
	}
}

func finds(step string, f Finding) func(*State) {
	return func(s *State) {
		for i := range s.Steps {
			if s.Steps[i].ID == step {
				s.Steps[i].Findings, s.Steps[i].EndSeq = append(s.Steps[i].Findings, f), 5
			}
		}
	}
}

func all(edits ...func(*State)) func(*State) {
	return func(s *State) {
		for _, edit := range edits {
			edit(s)
		}
	}
}

// TestRecoveredMeansRecovered says of each thing that recovery wants what lacks it.
func TestRecoveredMeansRecovered(t *testing.T) {
	t.Parallel()
	differ := topic(TopicConsistent, Conclusion{Value: "no", Seq: 10})
	inPart := topic(TopicClass, Conclusion{Value: partial, Seq: 10})
	owes := func(kind string, seq int64) func(*State) {
		return func(s *State) {
			s.Debts = append(s.Debts, Debt{DebtOpened: DebtOpened{ID: kind, Kind: kind, Of: mutates}, Seq: seq, Settled: Settle{How: "carried"}})
		}
	}
	orphan := Finding{Level: "critical", Say: "an orphan is alive", Against: []string{fix}}
	byHand := func(s *State) {
		st := &s.Steps[len(s.Steps)-1]
		st.Status, st.EndSeq = Settled, 12
	}
	for name, tc := range map[string]struct {
		edit func(*State)
		want []int
	}{
		"recovered":                       {func(*State) {}, []int{}},
		"never compared":                  {noTopic(TopicConsistent), []int{3}},
		"unknown":                         {topic(TopicConsistent, Conclusion{Value: Unknown}), []int{3}},
		"agrees for now":                  {topic(TopicConsistent, Conclusion{Value: "yes", Provisional: true}), []int{3}},
		"differs":                         {differ, []int{3}},
		"differs, repaired":               {all(differ, did(fix, 11)), []int{}},
		"differs, run again":              {all(differ, did(again, 11)), []int{}},
		"differs, repaired before":        {all(differ, did(fix, 9)), []int{3}},
		"differs, and green since":        {all(differ, did(fix, 9), func(s *State) { s.Steps[1].EndSeq = 12 }), []int{}},
		"differs, green, not repaired":    {all(differ, func(s *State) { s.Steps[1].EndSeq = 12 }), []int{3}},
		"differs, only unlocked":          {all(differ, did(unlock, 11)), []int{3}},
		"differs, the repair failed":      {all(differ, did(fix, 11, func(g *GateState) { g.Phase = GateFailed })), []int{3}},
		"differs, the repair was undone":  {all(differ, did(fix, 11, func(g *GateState) { g.Again.Outcome = Undone })), []int{3}},
		"differs, repaired by hand":       {all(differ, byHand), []int{}},
		"differs, a pause was taken back": {all(differ, func(s *State) { s.Steps[4].Uses = "terraform/resume" }, did(fix, 11)), []int{3}},
		"differs, something else by hand": {all(differ, byHand, func(s *State) { s.Steps[len(s.Steps)-1].Pays = "" }), []int{3}},
		"differs, carried by an owner":    {all(differ, owes("reconcile", 11)), []int{}},
		"differs, a pause is carried":     {all(differ, owes("resume", 11)), []int{3}},
		"differs, an older debt":          {all(differ, owes("reconcile", 9)), []int{3}},
		"in part":                         {inPart, []int{9}},
		"in part, unknown whether at all": {all(inPart, topic(TopicMutation, Conclusion{Value: Unknown})), []int{9}},
		"in part, and not begun":          {all(inPart, topic(TopicMutation, Conclusion{Value: "no"})), []int{}},
		"in part, run again":              {all(inPart, did(again, 11)), []int{}},
		"in part, run again before":       {all(inPart, did(again, 9)), []int{9}},
		"in part, only imported":          {all(inPart, did(fix, 11)), []int{9}},
		"in part, owed":                   {all(inPart, owes("unfinished", 11)), []int{}},
		"in part, another debt":           {all(inPart, owes("reconcile", 11)), []int{9}},
		"found":                           {finds(lock, orphan), []int{0}},
		"found, not critical":             {finds(lock, Finding{Level: "warning", Say: "x", Against: []string{fix}}), []int{}},
		"found, against no gate":          {finds(lock, Finding{Level: "critical", Say: "x"}), []int{0}},
		"found, against no gate, twice":   {all(finds(lock, Finding{Level: "critical", Say: "x"}), finds(lock, Finding{Level: "critical", Say: "y"}), finds(lock, Finding{Level: "critical", Say: "y"})), []int{0, 0}},
		"told, and answered":              {all(finds(lock, Finding{Level: "critical", Say: "x"}), func(s *State) { s.Steps[0].Answered = []string{"x"} }), []int{}},
		"told, not critical":              {finds(lock, Finding{Level: "warning", Say: "x"}), []int{}},
		"told, not sure":                  {finds(lock, Finding{Level: "critical", Say: "x", Unsure: true}), []int{}},
		"told by an earlier plan":         {all(finds(lock, Finding{Level: "critical", Say: "x"}), func(s *State) { s.Steps[0].Retired = true }), []int{}},
		"found, not sure":                 {finds(lock, Finding{Level: "critical", Say: "x", Against: []string{fix}, Unsure: true}), []int{}},
		"found, overruled":                {all(finds(lock, orphan), func(s *State) { s.Steps[0].Overruled = []string{orphan.Say} }), []int{}},
		"found, by an earlier plan":       {all(finds(lock, orphan), func(s *State) { s.Steps[0].Retired = true }), []int{}},
		"found, by one that acted":        {all(finds(lock, orphan), did(fix, 11), func(s *State) { s.Gates[fix] = GateState{StartSeq: 1}; s.Steps[0].Retired = true }), []int{0}},
		"found, the gate was passed":      {all(finds(lock, orphan), skipped(fix)), []int{0}},
		"found, another repair was made":  {all(finds(lock, orphan), skipped(fix), did(again, 11)), []int{}},
		"found, the gate still waits":     {all(finds(lock, orphan), did(again, 11)), []int{0}},
		"found, an early repair was made": {all(finds(lock, orphan), skipped(fix), did(again, 1)), []int{}},
		"found, for a gate of no plan":    {all(finds(lock, Finding{Level: "critical", Say: "x", Against: []string{"demo/nowhere"}}), did(again, 11)), []int{}},
		"found, against the close":        {finds(lock, Finding{Level: "critical", Say: "x", Against: []string{Closing}}), []int{}},
		"differs, green, repaired early":  {all(differ, did(fix, 1), func(s *State) { s.Steps[1].EndSeq = 12 }), []int{}},
		"found for the gate, passed":      {all(finds(lock, orphan), skipped(fix), func(s *State) { s.Steps[0].Phase = Recover }), []int{0}},
		"all of it":                       {all(differ, inPart, finds(lock, orphan)), []int{0, 3, 9}},
	} {
		s := recovers(tc.edit)
		if got := laws(t, recoveryLaws(&s, nil)); !slices.Equal(got, tc.want) {
			t.Errorf("%s: laws %v, want %v", name, got, tc.want)
		}
	}
}

// TestUnfinishedChangeIsOwed by the change itself, once no repair is ahead of it.
func TestUnfinishedChangeIsOwed(t *testing.T) {
	t.Parallel()
	inPart := topic(TopicClass, Conclusion{Value: partial, Seq: 10})
	for name, tc := range map[string]struct {
		edit func(*State)
		want bool
	}{
		"in part":            {inPart, true},
		"not in part":        {func(*State) {}, false},
		"finished":           {all(inPart, did(again, 11)), false},
		"closed":             {all(inPart, func(s *State) { s.Outcome = "open" }), false},
		"owed already":       {all(inPart, func(s *State) { s.Debts = []Debt{{DebtOpened: DebtOpened{Kind: "unfinished"}}} }), false},
		"before the repair":  {all(inPart, func(s *State) { s.Phase, s.Steps[1].Status = Recover, Pending }), false},
		"at verify, not all": {all(inPart, func(s *State) { s.Steps[1].Status = Pending }), true},
		"nothing to verify":  {all(inPart, func(s *State) { s.Phase = Recover }), true},
		"nothing to name it": {all(inPart, func(s *State) { s.Steps[2].Retired = true }), false},
	} {
		d, got := recovers(tc.edit).Owing()
		if got != tc.want || got && (d.Kind != "unfinished" || d.Of != mutates || d.Text == "") {
			t.Errorf("%s: owes %v (%+v), want %v", name, got, d, tc.want)
		}
	}
}

// TestOtherClosesSayWhatIsLeft, and who says so.
func TestOtherClosesSayWhatIsLeft(t *testing.T) {
	t.Parallel()
	s := tell(t, State{}, append(ready(), read2(lock, Finding{Level: "critical", Say: "an orphan is alive", Against: []string{fix}})...)...)
	for _, outcome := range []string{"open", "aborted"} {
		body, _ := Draft(s, Intent{Kind: DoClose, Value: outcome, Text: "the night shift continues"})
		c, _ := body.(Close)
		if said := strings.Join(c.Left, "\n"); c.Person != "robot" || !strings.Contains(said, "an orphan is alive") || !strings.Contains(said, "nothing was repaired") || !strings.Contains(said, clean) {
			t.Errorf("closed as %s: %+v", outcome, c)
		}
		line := tell(t, s, c).Timeline
		if text := line[len(line)-1].Text; !strings.Contains(text, "by robot") || !strings.Contains(text, "left: ") || !strings.Contains(text, "more") {
			t.Errorf("the timeline says %q", text)
		}
		named, _ := Draft(s, Intent{Kind: DoClose, Value: outcome, Person: "ana"})
		if c, _ := named.(Close); c.Person != "ana" {
			t.Errorf("closed by %q, want ana", c.Person)
		}
	}
	if body, _ := Draft(s, Intent{Kind: DoClose, Value: "recovered", Person: "ana"}); body.(Close).Left != nil {
		t.Errorf("%+v", body)
	}
}

// read2 is another attempt at a step, which finds something.
func read2(step string, f Finding) []Body {
	end := read(step, 2, "ok", "true")
	end.Findings = []Finding{f}
	return []Body{ProbeStart{Step: step, N: 2}, end}
}

// TestEnterEndsHonestly: what an act may have dealt with is read again, and what is
// not recovered is never offered to be closed as that.
func TestEnterEndsHonestly(t *testing.T) {
	t.Parallel()
	judge := func(id string) []Verdict {
		switch id {
		case unlock:
			return good("x")
		case again:
			return []Verdict{{Result: "false", Why: "not this one", Aside: true}}
		}
		return nil
	}
	found := Finding{Level: "critical", Say: "an orphan is alive", Against: []string{fix}}
	s := tell(t, State{}, append(ready(), read2(lock, found)...)...)
	s = tell(t, s, begin(extra), read(extra, 1, "ok", "true"), begin(heavy), read(heavy, 1, "ok", "true"), begin(diff), read(diff, 1, "ok", "true"),
		concluded(TopicConsistent, "yes"), concluded(TopicClass, "LiveStateDiverged"), Manual{Step: page, Proof: "link"}, Skip{Step: pause, Why: "no writer"},
		shown(unlock, Release), answered(unlock), start(unlock), end(unlock, "done"), Skip{Step: fix, Why: "the owner does it"},
		ProbeStart{Step: clean, N: 1}, watched(1, "true"), ProbeStart{Step: clean, N: 2}, watched(2, "true"))
	next := func(s State) string { return strings.Join(strings.Fields(recommended(s, judge)), " ") }
	if got := next(s); got != "probe "+lock {
		t.Fatalf("recommended %q, want another look at what was found before the act", got)
	}
	third := func(fs ...Finding) []Body {
		end := read(lock, 3, "ok", "true")
		end.Findings = fs
		return []Body{ProbeStart{Step: lock, N: 3}, end}
	}
	if got := next(tell(t, s, third(found)...)); got != "close open" {
		t.Errorf("it still stands: recommended %q", got)
	}
	if got := next(tell(t, s, third()...)); got != "close recovered" {
		t.Errorf("it is gone: recommended %q", got)
	}
}

// TestClosedGateIsPassedByWord: a gate that applies and stays shut is not gone past to
// the verification of an act that did not happen, and one that was refused at its
// preview is not offered again before something was learned.
func TestClosedGateIsPassedByWord(t *testing.T) {
	t.Parallel()
	verdict := Verdict{Result: "false", Why: "the owner was not asked"}
	judge := func(id string) []Verdict {
		switch id {
		case fix:
			return []Verdict{verdict}
		case unlock, again:
			return []Verdict{{Result: "false", Aside: true}}
		}
		return nil
	}
	next := func(s State) string { return strings.Join(strings.Fields(recommended(s, judge)), " ") }
	s := tell(t, State{}, append(ready(), begin(extra), read(extra, 1, "ok", "true"), begin(heavy), read(heavy, 1, "ok", "true"),
		begin(diff), read(diff, 1, "ok", "true"), Manual{Step: page, Proof: "link"}, Skip{Step: pause, Why: "no writer"})...)
	if got := next(s); got != "skip "+fix {
		t.Errorf("shut by its condition: recommended %q", got)
	}
	if got := next(tell(t, s, Skip{Step: fix, Why: "the owner does it"})); got != "probe "+clean {
		t.Errorf("passed by word: recommended %q", got)
	}
	verdict.Aside = true
	if got := next(s); got != "probe "+clean {
		t.Errorf("it does not apply: recommended %q", got)
	}
	verdict = Verdict{Result: "true"}
	if got := next(s); got != "preview "+fix {
		t.Errorf("open: recommended %q", got)
	}
	s = tell(t, s, GateClosed{Step: fix, Why: "the object is protected", Refused: true})
	if got := next(s); got != "skip "+fix {
		t.Errorf("refused at its preview: recommended %q", got)
	}
	if got := next(tell(t, s, Waive{Law: 12, Subject: "flux", Person: "ana", Why: "it is off"})); got != "preview "+fix {
		t.Errorf("something was learned since: recommended %q", got)
	}
}

func skipped(step string) func(*State) {
	return func(s *State) {
		for i := range s.Steps {
			if s.Steps[i].ID == step {
				s.Steps[i].Status = Skipped
			}
		}
	}
}

// TestSinceIsAfter: what ended in the very entry of a conclusion was known to it, and
// only what it wants counts: the kind of step, that it ended, what it pays.
func TestSinceIsAfter(t *testing.T) {
	t.Parallel()
	byHand := func(edit func(*Step)) State {
		st := Step{PlanStep: PlanStep{ID: "demo/byhand", Kind: ManualStep, Pays: "reconcile"}, Status: Settled, EndSeq: 11}
		edit(&st)
		return State{Steps: []Step{st}}
	}
	for name, tc := range map[string]struct {
		edit func(*Step)
		want bool
	}{
		"after":              {func(*Step) {}, true},
		"in the same entry":  {func(st *Step) { st.EndSeq = 10 }, false},
		"before":             {func(st *Step) { st.EndSeq = 9 }, false},
		"not done":           {func(st *Step) { st.Status = Pending }, false},
		"for what is undone": {func(st *Step) { st.Pays = "unfinished" }, true},
		"for a pause":        {func(st *Step) { st.Pays = "resume" }, false},
		"a question":         {func(st *Step) { st.Kind = AskStep }, false},
		"a gate, not acted":  {func(st *Step) { st.Kind, st.Class = GateStep, Repair }, false},
	} {
		if s := byHand(tc.edit); repaired(&s, 10) != tc.want {
			t.Errorf("repaired() by hand, %s: want %v", name, tc.want)
		}
	}
	watch := func(edit func(*Step)) State {
		st := Step{PlanStep: PlanStep{ID: "demo/watch", Phase: Verify, Kind: WatchStep}, Status: Settled, EndSeq: 11}
		edit(&st)
		return State{Steps: []Step{st}}
	}
	for name, tc := range map[string]struct {
		edit func(*Step)
		want bool
	}{
		"after":             {func(*Step) {}, true},
		"in the same entry": {func(st *Step) { st.EndSeq = 10 }, false},
		"before":            {func(st *Step) { st.EndSeq = 9 }, false},
		"not settled":       {func(st *Step) { st.Status = Running }, false},
		"of another phase":  {func(st *Step) { st.Phase = Recover }, false},
		"no watch":          {func(st *Step) { st.Kind = ProbeStep }, false},
	} {
		if s := watch(tc.edit); greenSince(&s, 10) != tc.want {
			t.Errorf("greenSince(), %s: want %v", name, tc.want)
		}
	}
	if done := (GateState{Phase: GateDone, EndSeq: 10}); acted(done, 10) || !acted(done, 9) {
		t.Error("acted() takes an act of the very entry for a later one")
	}
	for kind, want := range map[string]bool{"unfinished": true, "reconcile": true, "resume": false} {
		s := State{Debts: []Debt{{DebtOpened: DebtOpened{Kind: kind}, Seq: 11}}}
		if owed(&s, 10) != want || owed(&s, 11) {
			t.Errorf("owed() of %s = %v after, %v in the same entry", kind, owed(&s, 10), owed(&s, 11))
		}
	}
}

// TestUnfinishedWantsARerun: no other gate finishes a change, and where nothing is
// concluded of the mutation there is none.
func TestUnfinishedWantsARerun(t *testing.T) {
	t.Parallel()
	inPart := topic(TopicClass, Conclusion{Value: partial, Seq: 10})
	if s := recovers(inPart, noTopic(TopicMutation)); s.Unfinished() {
		t.Error("a change of which nothing is known is unfinished")
	}
	if s := recovers(inPart, did(again, 11), func(s *State) {
		for i := range s.Steps {
			if s.Steps[i].ID == again {
				s.Steps[i].Kind = ManualStep
			}
		}
	}); !s.Unfinished() {
		t.Error("a step that is no gate finishes a change")
	}
}

// TestOwingNamesTheMutation: the debt is of the conclusion about the mutation, wherever
// it stands, and of no other step that speaks of it.
func TestOwingNamesTheMutation(t *testing.T) {
	t.Parallel()
	inPart := topic(TopicClass, Conclusion{Value: partial, Seq: 10})
	first := func(list ...Step) func(*State) {
		return func(s *State) { s.Steps = append(list, s.Steps...) }
	}
	for name, edit := range map[string]func(*State){
		"a question of the mutation": first(Step{PlanStep: PlanStep{ID: "demo/x", Kind: AskStep, Uses: "mutation"}}),
		"another conclusion":         first(Step{PlanStep: PlanStep{ID: "demo/x", Kind: ConcludeStep, Uses: "class"}}),
		"the first of all":           func(s *State) { s.Steps = []Step{s.Steps[2]} },
	} {
		if d, ok := recovers(inPart, edit).Owing(); !ok || d.Of != mutates {
			t.Errorf("%s: owes %+v, %v, want it of %s", name, d, ok, mutates)
		}
	}
}

// TestUnansweredSaysHow: a finding of an earlier plan cannot be read away.
func TestUnansweredSaysHow(t *testing.T) {
	t.Parallel()
	orphan := Finding{Level: "critical", Say: "an orphan is alive", Against: []string{fix}}
	now := recovers(finds(lock, orphan))
	if got := standingLaws(&now, nil); len(got) != 1 || !strings.Contains(got[0].Cure, "Read "+lock+" again") {
		t.Errorf("standingLaws() = %+v", got)
	}
	old := recovers(finds(lock, orphan), func(s *State) { s.Gates[fix] = GateState{StartSeq: 1}; s.Steps[0].Retired = true })
	if got := standingLaws(&old, nil); len(got) != 1 || !strings.Contains(got[0].Cure, "no longer read") {
		t.Errorf("standingLaws() of an earlier plan = %+v", got)
	}
	// A gate that does not apply is passed.
	apart := recovers(finds(lock, orphan), did(again, 11))
	for result, want := range map[string]int{"false": 0, "true": 1, "unknown": 1} {
		judge := func(string) []Verdict { return []Verdict{{Aside: true, Result: result}} }
		if got := standingLaws(&apart, judge); len(got) != want {
			t.Errorf("a gate whose condition is %s: %+v, want %d", result, got, want)
		}
	}
}

// TestOutread: a finding from before the newest act is worth another read, where a
// read can be made.
func TestOutread(t *testing.T) {
	t.Parallel()
	orphan := Finding{Level: "critical", Say: "an orphan is alive", Against: []string{fix}}
	step := func(edit func(*Step)) func(*State) { return func(s *State) { edit(&s.Steps[0]) } }
	for name, tc := range map[string]struct {
		edit func(*State)
		want bool
	}{
		"read before the act":     {did(unlock, 9), true},
		"first of all, and acted": {all(did(unlock, 9), step(func(st *Step) { st.EndSeq = 1 })), true},
		"never read":              {all(did(unlock, 9), step(func(st *Step) { st.EndSeq = 0 })), false},
		"read since":              {did(unlock, 4), false},
		"in the same entry":       {did(unlock, 5), false},
		"no act":                  {func(*State) {}, false},
		"an act that failed":      {did(unlock, 9, func(g *GateState) { g.Phase = GateFailed }), false},
		"a comparison":            {all(did(unlock, 9), step(func(st *Step) { st.Kind = CompareStep })), true},
		"a question":              {all(did(unlock, 9), step(func(st *Step) { st.Kind = AskStep })), false},
		"of an earlier plan":      {all(did(unlock, 9, func(g *GateState) { g.StartSeq = 8 }), step(func(st *Step) { st.Retired = true })), false},
		"overruled":               {all(did(unlock, 9), step(func(st *Step) { st.Overruled = []string{orphan.Say} })), false},
	} {
		s := recovers(finds(lock, orphan), tc.edit)
		if got := outread(&s, nil); slices.Contains(got, lock) != tc.want {
			t.Errorf("%s: outread() = %q, want %s: %v", name, got, lock, tc.want)
		}
	}
}

// TestWhatIsLeftIsShort: three are named, and more are counted.
func TestWhatIsLeftIsShort(t *testing.T) {
	t.Parallel()
	for want, list := range map[string][]string{"": nil, "a; b; c": {"a", "b", "c"}, "a; b; c; and 1 more": {"a", "b", "c", "d"}} {
		if got := whatIsLeft(list); got != want {
			t.Errorf("whatIsLeft(%q) = %q, want %q", list, got, want)
		}
	}
}

// TestPaidBy: a debt is shown paid by the newest step by hand of its kind that came after it.
func TestPaidBy(t *testing.T) {
	t.Parallel()
	byHand := func(seq int64, pays, proof string, status Status) Step {
		return Step{PlanStep: PlanStep{ID: "demo/" + proof, Kind: ManualStep, Pays: pays}, Status: status, Summary: proof, EndSeq: seq}
	}
	owed := Debt{DebtOpened: DebtOpened{ID: "d1", Kind: "reconcile"}, Seq: 5}
	for name, tc := range map[string]struct {
		steps []Step
		want  string
	}{
		"none":           {nil, ""},
		"it paid":        {[]Step{byHand(7, "reconcile", "1a2b3c4", Settled)}, "1a2b3c4"},
		"the newest":     {[]Step{byHand(9, "reconcile", "newer", Settled), byHand(7, "reconcile", "older", Settled)}, "newer"},
		"before it":      {[]Step{byHand(4, "reconcile", "1a2b3c4", Settled)}, ""},
		"another kind":   {[]Step{byHand(7, "unfinished", "1a2b3c4", Settled)}, ""},
		"pays nothing":   {[]Step{byHand(7, "", "1a2b3c4", Settled)}, ""},
		"not done":       {[]Step{byHand(7, "reconcile", "1a2b3c4", Skipped)}, ""},
		"no manual step": {[]Step{{PlanStep: PlanStep{Kind: ProbeStep, Pays: "reconcile"}, Status: Settled, Summary: "1a2b3c4", EndSeq: 7}}, ""},
	} {
		if got := (State{Steps: tc.steps}).PaidBy(owed); got != tc.want {
			t.Errorf("%s: PaidBy() = %q, want %q", name, got, tc.want)
		}
	}
}
