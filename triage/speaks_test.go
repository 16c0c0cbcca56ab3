package triage

import (
	"strings"
	"testing"

	"handrail/triage/record"
)

// speaks is a read of the lock that found something against gates.
func speaks(n int, say string, against ...string) ProbeEnd {
	b := read(lock, n, "ok", "true")
	b.Findings = []Finding{{Level: "critical", Say: say, Against: against}}
	return b
}

func overruled(person, why string, texts ...string) Waive {
	return Waive{Law: LawNone, Subject: lock, Findings: texts, Person: person, Why: why}
}

func another(n int) ProbeStart { return ProbeStart{Step: lock, N: n} }

// TestFindingShutsItsGates: only those that it speaks against, and with a way out.
func TestFindingShutsItsGates(t *testing.T) {
	t.Parallel()
	s := tell(t, State{}, append(ready(), another(2), speaks(2, "it is empty", fix, again))...)
	for gate, class := range map[string]Class{fix: Repair, again: Rerun} {
		if bad := refused(t, s, shown(gate, class)); !strings.Contains(bad.Why, lock+" found: it is empty") {
			t.Errorf("%s is refused because %q", gate, bad.Why)
		}
		o := option(t, s, DoPreview, gate)
		if len(o.Refusals) != 1 || !strings.Contains(o.Refusals[0].Cure, "overrule") || !strings.Contains(o.Refusals[0].Cure, "read "+lock) {
			t.Errorf("%s: %+v", gate, o.Refusals)
		}
	}
	tell(t, s, shown(unlock, Release))
	if got := s.SpeaksAgainst(fix); len(got) != 1 || got[0] != lock {
		t.Errorf("SpeaksAgainst = %v", got)
	}
	if w := option(t, s, DoWaive, lock); w.Value != "0" || !w.Available() {
		t.Errorf("waiver on offer: %+v", w)
	}
}

func option(t *testing.T, s State, kind IntentKind, step string) Option {
	t.Helper()
	for _, o := range Options(s, s.Updated, func(string) []Verdict { return good("ok") }) {
		if o.Kind == kind && o.Step == step {
			return o
		}
	}
	t.Fatalf("no option %s %s", kind, step)
	return Option{}
}

// TestFindingDisarms: a gate that is armed or confirmed falls back when something is
// found against it, and one that was confirmed does not act.
func TestFindingDisarms(t *testing.T) {
	t.Parallel()
	for name, before := range map[string][]Body{
		"armed":     {shown(fix, Repair)},
		"confirmed": {shown(fix, Repair), answered(fix)},
	} {
		s := tell(t, tell(t, State{}, ready()...), before...)
		s = tell(t, s, another(2), speaks(2, "it is empty", fix))
		if g := s.Gates[fix]; g.Phase != GateIdle || !strings.Contains(g.Why, "it is empty") {
			t.Errorf("%s: gate is %q (%s)", name, g.Phase, g.Why)
		}
		refused(t, s, start(fix))
	}
}

// TestFindingIsReadAway: by a read that does not find it, and by nothing less.
func TestFindingIsReadAway(t *testing.T) {
	t.Parallel()
	found := tell(t, State{}, append(ready(), another(2), speaks(2, "it is empty", fix))...)
	unsure := read(lock, 3, "ok", "true")
	unsure.Findings = []Finding{{Level: "warning", Say: "cannot tell: it is empty", Against: []string{fix}, Unsure: true}}
	other := speaks(3, "it is torn", fix)
	bare := read(lock, 3, "failed", "true")
	bare.Findings = []Finding{{Level: "warning", Say: "cannot tell any"}}
	for name, tc := range map[string]struct {
		told []Body
		open bool
	}{
		"read and gone":          {[]Body{another(3), read(lock, 3, "ok", "true")}, true},
		"read and there":         {[]Body{another(3), speaks(3, "it is empty", fix)}, false},
		"another one":            {[]Body{another(3), other}, false},
		"reading":                {[]Body{another(3)}, false},
		"failed":                 {[]Body{another(3), bare}, false},
		"denied":                 {[]Body{another(3), read(lock, 3, "denied", "true")}, false},
		"cancelled":              {[]Body{another(3), read(lock, 3, "cancelled", "true")}, false},
		"timed out, then unsure": {[]Body{another(3), read(lock, 3, "timeout", "true"), another(4), with(unsure, 4)}, false},
		"cannot be read":         {[]Body{another(3), unsure}, false},
		"unsure, then gone":      {[]Body{another(3), unsure, another(4), read(lock, 4, "ok", "true")}, true},
		"skipped":                {[]Body{Skip{Step: extra, Why: "x"}}, false},
		"the same runbook":       {[]Body{demoPlan()}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := tell(t, found, tc.told...)
			if got := len(findingLaws(&s, fix)) == 0; got != tc.open {
				t.Errorf("open %v, want %v: %+v", got, tc.open, findingLaws(&s, fix))
			}
		})
	}
	fresh := tell(t, State{}, append(ready(), another(2), with(unsure, 2))...)
	if rs := findingLaws(&fresh, fix); len(rs) > 0 {
		t.Errorf("what was never found shuts the gate: %+v", rs)
	}
}

func with(b ProbeEnd, n int) ProbeEnd { b.N = n; return b }

// TestBlindRuleKeepsNothing: a rule that no reading can tell does not keep what another one found, and what
// could be told then and cannot now does.
func TestBlindRuleKeepsNothing(t *testing.T) {
	t.Parallel()
	empty := Finding{Level: record.Critical, Say: "it is empty", Against: []string{fix}, Rule: 1}
	byKind := Finding{Level: record.Critical, Say: "a plugin is left", Against: []string{fix}, Rule: record.ByKind}
	unsure := func(rule int) Finding {
		return Finding{Level: record.Warning, Say: "cannot tell " + strings.Repeat("x", rule), Against: []string{fix}, Unsure: true, Rule: rule}
	}
	ends := func(n int, list ...Finding) ProbeEnd { b := read(lock, n, "ok", "true"); b.Findings = list; return b }
	failed := read(lock, 3, "failed", "true")
	for name, tc := range map[string]struct {
		told []Body
		open bool
	}{
		"as blind as before":            {[]Body{another(3), ends(3, unsure(2))}, true},
		"its own rule":                  {[]Body{another(3), ends(3, unsure(1), unsure(2))}, false},
		"another rule, told before":     {[]Body{another(3), ends(3, unsure(2), unsure(3))}, false},
		"failed, then as blind":         {[]Body{another(3), failed, another(4), ends(4, unsure(2))}, true},
		"told before, and twice unsure": {[]Body{another(3), ends(3, unsure(2), unsure(3)), another(4), ends(4, unsure(3))}, false},
		"then told":                     {[]Body{another(3), ends(3, unsure(3)), another(4), ends(4, unsure(2))}, true},
	} {
		s := tell(t, tell(t, State{}, append(ready(), another(2), ends(2, empty, byKind, unsure(2)))...), tc.told...)
		if got := len(findingLaws(&s, fix)) == 0; got != tc.open {
			t.Errorf("%s: open %v, want %v: %+v", name, got, tc.open, findingLaws(&s, fix))
		}
	}
}

// TestFindingIsOverruled: by a person, by name, with a reason, for the very text,
// and for as long as it stands.
func TestFindingIsOverruled(t *testing.T) {
	t.Parallel()
	s := tell(t, State{}, append(ready(), another(2), speaks(2, "it is empty", fix))...)
	for why, w := range map[string]Waive{
		"named person":      overruled("", "we know", "it is empty"),
		"a reason":          overruled("ada", " ", "it is empty"),
		"did not find what": overruled("ada", "we know", "it is torn"),
		"no finding of":     {Law: LawNone, Subject: extra, Person: "ada", Why: "we know"},
		"no step":           {Law: LawNone, Subject: "demo/none", Person: "ada", Why: "we know"},
	} {
		if bad := refused(t, s, w); !strings.Contains(bad.Why, why) {
			t.Errorf("refused because %q, want %q", bad.Why, why)
		}
	}
	in := Intent{Kind: DoWaive, Step: lock, Person: "ada", Text: "it is a new workspace", Findings: []string{"it is empty"}}
	if r := Check(s, in, s.Updated, nil); r != nil {
		t.Fatalf("Check = %v", r)
	}
	blind := in
	blind.Findings = nil
	if r := Check(s, blind, s.Updated, nil); r == nil || !strings.Contains(r.Error(), "did not find what") {
		t.Errorf("what was not seen can be overruled: %v", r)
	}
	body, _ := Draft(s, in)
	free := tell(t, s, body, shown(fix, Repair), answered(fix))
	if last := free.Waivers[len(free.Waivers)-1]; last.Person != "ada" || last.Findings[0] != "it is empty" {
		t.Errorf("recorded %+v", last)
	}
	if open := tell(t, free, another(3), speaks(3, "it is empty", fix)); len(findingLaws(&open, fix)) > 0 || open.Gates[fix].Phase != GateConfirmed {
		t.Error("the same finding, read again, wants another word")
	}
	gone := tell(t, free, another(3), read(lock, 3, "ok", "true"), another(4), speaks(4, "it is empty", fix))
	if len(findingLaws(&gone, fix)) == 0 {
		t.Error("a finding that came back is still overruled")
	}
	moved := demoPlan()
	moved.Params = map[string]Value{"dir": boolean("true")}
	elsewhere := tell(t, free, moved, another(3), speaks(3, "it is empty", fix))
	if len(findingLaws(&elsewhere, fix)) == 0 {
		t.Error("what was said of one target counts for another")
	}
	twice := speaks(3, "it is empty", fix)
	twice.Findings = append(twice.Findings, Finding{Level: "critical", Say: "it is torn", Against: []string{fix}})
	if more := tell(t, free, another(3), twice); len(findingLaws(&more, fix)) != 1 {
		t.Error("a second finding goes with the word about the first")
	}
}

// TestRetiredFindingCanBeOverruled: it cannot be read again, so there must be a way on.
func TestRetiredFindingCanBeOverruled(t *testing.T) {
	t.Parallel()
	s := tell(t, State{}, append(ready(), another(2), speaks(2, "it is empty", fix))...)
	less := demoPlan()
	less.Digest, less.Steps = "p2", less.Steps[1:]
	for i := range less.Steps {
		less.Steps[i].Refs = nil
	}
	s = tell(t, s, less)
	if rs := findingLaws(&s, fix); len(rs) != 1 || !strings.Contains(rs[0].Cure, "earlier plan") {
		t.Fatalf("refusals %+v", rs)
	}
	s = tell(t, s, overruled("ada", "we know", "it is empty"))
	if rs := findingLaws(&s, fix); len(rs) > 0 {
		t.Errorf("refusals %+v", rs)
	}
}

// TestOldFindingsShutNothing: a journal from before findings spoke against gates
// folds as it did.
func TestOldFindingsShutNothing(t *testing.T) {
	t.Parallel()
	s := tell(t, State{}, append(ready(), another(2), speaks(2, "it is empty"), shown(fix, Repair), answered(fix))...)
	if s.Gates[fix].Phase != GateConfirmed {
		t.Error("it does not fold as before")
	}
}
