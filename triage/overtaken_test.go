package triage

import (
	"slices"
	"testing"

	"handrail/triage/record"
)

// overtakePlan is the demo, with what concludes domain, class and consistent standing on a read.
func overtakePlan() Plan {
	p := demoPlan()
	for i := range p.Steps {
		switch st := &p.Steps[i]; {
		case st.ID == agrees || st.ID == kind || st.ID == mutates:
			st.Refs = []string{lock}
		case st.ID == diff:
			st.Refs = []string{lock, extra}
		}
	}
	return p
}

// TestOvertaken: what was read before an act is no ground of a proposal after it. An act that
// pauses, resumes or was refused overtakes nothing, a release only whether the states agree, and
// what the failure changed is asked of the past.
func TestOvertaken(t *testing.T) {
	t.Parallel()
	acts := func(step string, class Class, outcome string) []Body {
		return []Body{shown(step, class), answered(step), start(step), end(step, outcome)}
	}
	rereads := []Body{ProbeStart{Step: lock, N: 2}, read(lock, 2, "ok", "false")}
	for name, tc := range map[string]struct {
		told              []Body
		consistent, class bool
	}{
		"nothing acted":         {nil, false, false},
		"a repair":              {acts(fix, Repair, "done"), true, true},
		"a repair that fails":   {acts(fix, Repair, "failed"), true, true},
		"one with no known end": {acts(fix, Repair, Unknown), true, true},
		"a refused one":         {acts(fix, Repair, "refused"), false, false},
		"a rerun":               {acts(again, Rerun, "done"), true, true},
		"a release":             {acts(unlock, Release, "done"), true, false},
		"a pause":               {acts(pause, Contain, "done"), false, false},
		"read since":            {bodies(acts(fix, Repair, "done"), rereads), false, false},
		"shown again since":     {bodies(acts(fix, Repair, "done"), []Body{shown(fix, Repair)}), true, true},
		"begun before it":       {bodies([]Body{rereads[0]}, acts(fix, Repair, "done"), []Body{rereads[1]}), true, true},
		"in vain since":         {bodies(acts(fix, Repair, "done"), []Body{rereads[0], read(lock, 2, "failed", "x")}), false, false},
	} {
		told := ready()
		told[1] = overtakePlan()
		s := tell(t, State{}, bodies(told, tc.told)...)
		for topic, want := range map[Topic]bool{TopicConsistent: tc.consistent, TopicClass: tc.class, TopicMutation: false, TopicOwner: false} {
			reads, by := s.Overtaken(topic)
			if slices.Contains(reads, lock) != want || slices.Contains(reads, extra) || (by == "") != (len(reads) == 0) {
				t.Errorf("%s: %s: overtaken by %q is %q, want the read among them: %t", name, topic, by, reads, want)
			}
		}
	}
}

// TestOvertakenIsReadFirst: once it is asked again whether the states agree, what an act overtook
// is read first, then compared, then asked.
func TestOvertakenIsReadFirst(t *testing.T) {
	t.Parallel()
	told := ready()
	told[1] = overtakePlan()
	s := tell(t, State{}, bodies(told, []Body{
		shown(fix, Repair), answered(fix), start(fix), end(fix, "done"),
		ProbeStart{Step: heavy, N: 1}, read(heavy, 1, "ok", "true"), ProbeStart{Step: extra, N: 1}, read(extra, 1, "ok", "true"),
		concluded(TopicReverts, "no"), ProbeStart{Step: clean, N: 1}, watched(1, "false"),
	})...)
	for _, want := range []struct {
		kind IntentKind
		step string
		then []Body
	}{
		{DoProbe, lock, []Body{ProbeStart{Step: lock, N: 2}, read(lock, 2, "ok", "true")}},
		{DoProbe, diff, []Body{ProbeStart{Step: diff, N: 1}, read(diff, 1, "ok", "true")}},
		{DoConclude, agrees, nil},
	} {
		i := slices.IndexFunc(Options(s, s.Updated, nil), func(o Option) bool { return o.Recommended })
		if i < 0 {
			t.Fatalf("nothing is recommended, want %s %s", want.kind, want.step)
		}
		if o := Options(s, s.Updated, nil)[i]; o.Kind != want.kind || o.Step != want.step {
			t.Fatalf("%s %s is recommended, want %s %s", o.Kind, o.Step, want.kind, want.step)
		}
		s = tell(t, s, want.then...)
	}
}

// TestCaptureOfWhatAnActRemoved: a capture that was made stays made where the object is gone after an act, and its facts are
// unknown. One that could not be read again although nothing acted is missing.
func TestCaptureOfWhatAnActRemoved(t *testing.T) {
	t.Parallel()
	gone := []Body{ProbeStart{Step: lock, N: 2}, read(lock, 2, "failed", "x")}
	acted := []Body{shown(fix, Repair), answered(fix), start(fix), end(fix, "done")}
	for name, tc := range map[string]struct {
		told []Body
		open bool
	}{
		"nothing acted":            {gone, true},
		"removed by an act":        {bodies(acted, gone), false},
		"a refused act":            {bodies(acted[:3], []Body{end(fix, "refused")}, gone), true},
		"read in vain before it":   {bodies(gone[:1], acted[:0], gone[1:]), true},
		"read elsewhere before it": {bodies(acted, []Body{ProbeStart{Step: lock, N: 2, With: map[string]Value{"name": record.StringOf("other")}}, gone[1]}), true},
	} {
		s := tell(t, State{}, bodies(ready(), tc.told)...)
		open := slices.ContainsFunc(s.OpenCaptures(), func(st Step) bool { return st.ID == lock })
		if open != tc.open {
			t.Errorf("%s: the capture is open: %t, want %t", name, open, tc.open)
		}
		st, _ := s.Step(lock)
		if !tc.open && st.Facts["held"].Known() {
			t.Errorf("%s: its facts are known", name)
		}
		if _, wanted := stepWant(&s, &st, nil); wanted != tc.open {
			t.Errorf("%s: it is wanted: %t, want %t", name, wanted, tc.open)
		}
	}
}

// TestFailedActIsReadAnew: what a gate stands on in recover is read again after its act failed, and stays as it is after one
// that did what it is for.
func TestFailedActIsReadAnew(t *testing.T) {
	t.Parallel()
	const now = "demo/now"
	for outcome, want := range map[string]Status{"done": Settled, "failed": Stale, "refused": Settled} {
		p := demoPlan()
		at := slices.IndexFunc(p.Steps, func(st PlanStep) bool { return st.ID == fix })
		p.Steps[at].Refs = append(slices.Clone(p.Steps[at].Refs), now)
		p.Steps = slices.Insert(p.Steps, at, PlanStep{ID: now, Phase: Recover, Kind: ProbeStep})
		told := ready()
		told[1] = p
		s := tell(t, State{}, bodies(told, []Body{ProbeStart{Step: now, N: 1}, read(now, 1, "ok", "true"), shown(fix, Repair), answered(fix), start(fix), end(fix, outcome)})...)
		if st, _ := s.Step(now); st.Status != want {
			t.Errorf("after an act that was %s it is %s, want %s", outcome, st.Status, want)
		}
		s = tell(t, s, ProbeStart{Step: now, N: 2}, read(now, 2, "ok", "true"))
		for result, allowed := range map[string]bool{"true": true, "false": false} {
			judge := func(string) []Verdict { return []Verdict{{Expr: "facts.now.held", Result: result}} }
			st, _ := s.Step(fix)
			if got := gateWanted(&s, &st, judge); got != (allowed && outcome == "failed" || outcome == "refused") {
				t.Errorf("read anew after an act that was %s, its condition %s: the gate is wanted: %t", outcome, result, got)
			}
		}
	}
}
