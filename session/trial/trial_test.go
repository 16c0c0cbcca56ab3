package trial

import (
	"strings"
	"testing"

	"handrail/runbooks"
	"handrail/steps/catalog"
)

const book = `apiVersion: handrail/v1
kind: Runbook
id: sample
title: A sample
domain: state-backend
severity: SEV-3
params:
  max: {type: duration, default: 30m}
preserve:
  - {id: lock, uses: terraform/lock, required: true, findings: [{when: facts.lock.own, level: warning, say: it is our own}]}
mutation:
  - {id: holder, ask: 'does it run?', answers: {alive: it does, dead: it is gone}, propose: [{when: '!facts.lock.held', is: dead, say: no run holds it}]}
  - conclude: mutation
    cases:
      - {when: "facts.lock.operation == 'OperationTypePlan'", is: 'no', say: a plan never writes}
      - {when: "answers.holder == 'dead'", is: 'yes', say: it died}
classify:
  - conclude: class
    cases: [{when: facts.lock.held, is: MutationNotStarted}]
recover:
  - id: unlock
    gate: terraform/force-unlock
    with: {lock_id: "${facts.lock.id}"}
    require: [{when: "answers.holder == 'dead'", else: its holder may run}, {when: facts.lock.age >= params.max, else: "it is ${facts.lock.age} old"}]
verify:
  - {id: free, watch: terraform/lock, when: '!facts.free.held', greens: 1}
next:
  - {runbook: partial-apply, when: "answers.holder == 'dead'"}
`

const head = "apiVersion: handrail/v1\nkind: RunbookTest\nrunbook: sample\n"

// killed is a case in which all of it follows.
const killed = `cases:
- name: killed
  facts:
    lock: {held: true, id: l-1, age: 40m, operation: OperationTypeApply, own: true}
    free: {held: false}
  answers: {holder: dead}
  conclude: {consistent: 'yes'}
  acts: [unlock]
  expect:
    conclude: {mutation: 'yes', class: MutationNotStarted}
    facts: {lock.held: 'true', lock.who: unknown}
    findings: {lock: [our own]}
    armed: [unlock]
    next: [partial-apply]
    phase: verify
`

func sample(t *testing.T) *runbooks.Runbook {
	t.Helper()
	rb, err := runbooks.Parse("sample.yaml", []byte(book), catalog.New())
	if err != nil {
		t.Fatal(err)
	}
	return rb
}

func runs(t *testing.T, src string) Report {
	t.Helper()
	rb := sample(t)
	d, err := Parse("sample.test.yaml", []byte(head+src), rb, catalog.New())
	if err != nil {
		t.Fatal(err)
	}
	r, err := Run(d, rb, catalog.New())
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestWhatFollowsIsHeldToWhatIsExpected: each expectation can fail, and says what is so
// instead.
func TestWhatFollowsIsHeldToWhatIsExpected(t *testing.T) {
	t.Parallel()
	if r := runs(t, killed); r.Failed() != 0 {
		t.Fatalf("%+v", r.Cases)
	}
	for name, tc := range map[string]struct{ old, now, want string }{
		"a conclusion":          {"mutation: 'yes'", "mutation: 'no'", `the facts propose "yes" for mutation, want "no"`},
		"a fact":                {"lock.held: 'true'", "lock.held: 'false'", `lock.held is "true", want "false"`},
		"what is unknown":       {"lock.who: unknown", "lock.who: ann", `lock.who is "unknown", want "ann"`},
		"a finding":             {"[our own]", "[of ann]", `lock finds nothing that says "of ann"`},
		"what comes next":       {"next: [partial-apply]", "next: []", `it goes on with ["partial-apply"], want []`},
		"the phase":             {"phase: verify", "phase: learn", "the call ends in verify, want learn"},
		"that it recovered":     {"phase: verify", "recovered: false", "recovered is true, want false"},
		"a gate that opens":     {"armed: [unlock]", "refused: {unlock: x}", "the gate unlock opens"},
		"a gate that is young":  {"age: 40m", "age: 20m", "the gate unlock stays shut: it is 20m old"},
		"a gate of one alive":   {"holder: dead", "holder: alive", "the gate unlock stays shut: its holder may run"},
		"a gate of what failed": {"answers:", "fails: {lock: denied}\n  waive: {lock: the backend is gone}\n  answers:", "the gate unlock stays shut"},
		"a proposal":            {"armed: [unlock]", "proposes: {holder: dead}", `the facts propose "unknown" to the question holder, want "dead"`},
		"what does not apply":   {"armed: [unlock]", "aside: [lock]", "lock applies"},
	} {
		r := runs(t, strings.Replace(killed, tc.old, tc.now, 1))
		if got := strings.Join(r.Cases[0].Wrong, "\n"); !strings.Contains(got, tc.want) {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
	// A gate that stays shut for another reason than the one expected is told apart.
	r := runs(t, strings.NewReplacer("age: 40m", "age: 20m", "armed: [unlock]", "refused: {unlock: may run}").Replace(killed))
	if got := strings.Join(r.Cases[0].Wrong, "\n"); !strings.Contains(got, "stays shut for another reason") {
		t.Errorf("%q", got)
	}
}

// TestLawsHoldInATest: a test cannot open a gate that an incident would not: here a capture
// that failed and is not waived, and a failure that is not classified.
func TestLawsHoldInATest(t *testing.T) {
	t.Parallel()
	for name, change := range map[string][2]string{
		"evidence before change": {"answers:", "fails: {lock: denied}\n  answers:"},
		"classify before acting": {"consistent: 'yes'", "class: unknown"},
	} {
		if r := runs(t, strings.Replace(killed, change[0], change[1], 1)); len(r.Cases[0].Armed) > 0 {
			t.Errorf("%s: %v armed", name, r.Cases[0].Armed)
		}
	}
}

// TestBranches: what a case goes is counted, and what it does not is named by its line.
func TestBranches(t *testing.T) {
	t.Parallel()
	r := runs(t, killed)
	var missed []string
	for _, m := range r.Missed() {
		missed = append(missed, m.String())
	}
	for _, want := range []string{
		"line 10: lock, finding is false: facts.lock.own", "line 12: holder, proposal 1: dead: !facts.lock.held",
		"line 15: mutation, case 1: no: facts.lock.operation == 'OperationTypePlan'",
		"line 24: unlock, require is false: answers.holder == 'dead'", "line 24: unlock, require is false: facts.lock.age >= params.max",
		"line 26: free, when is false: !facts.free.held",
	} {
		if !strings.Contains(strings.Join(missed, "\n"), want) {
			t.Errorf("%q is not missed; these are:\n%s", want, strings.Join(missed, "\n"))
		}
	}
	if len(missed) != 6 || len(r.Branches) != 13 {
		t.Errorf("%d of %d branches missed, want 6 of 13", len(missed), len(r.Branches))
	}
	more := strings.Replace(killed, "cases:\n", "cases:\n- {name: free, facts: {lock: {held: false, operation: OperationTypePlan, own: false, age: 1m}, free: {held: true}}, answers: {holder: alive}, expect: {proposes: {holder: dead}}}\n", 1)
	if r := runs(t, more); len(r.Missed()) != 0 || r.Failed() != 0 {
		t.Errorf("missed %v, %+v", r.Missed(), r.Cases)
	}
}

// TestBaseIsSharedByAllCases: a case puts its own over it, fact by fact.
func TestBaseIsSharedByAllCases(t *testing.T) {
	t.Parallel()
	r := runs(t, `base:
  facts: {lock: {held: true, id: l-1, age: 40m, who: ann}}
  answers: {holder: dead}
cases:
- {name: as it is, expect: {armed: [unlock], facts: {lock.who: ann}}}
- {name: with another age, facts: {lock: {age: 1m}}, expect: {refused: {unlock: it is 1m old}, facts: {lock.who: ann}}}
- {name: with an unknown one, facts: {lock: {age: null}}, expect: {refused: {unlock: facts.lock.age is unknown}}}
- {name: with another answer, answers: {holder: alive}, expect: {refused: {unlock: may run}}}
`)
	for _, c := range r.Cases {
		for _, wrong := range c.Wrong {
			t.Errorf("%s: %s", c.Name, wrong)
		}
	}
}

// TestSlipsAreNamed: an id, a fact or a value that the runbook lacks is found before
// anything is walked.
func TestSlipsAreNamed(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ old, now, want string }{
		"a step":          {"lock: {held", "lok: {held", `sample.test.yaml:7:5: facts: the runbook has no such step "lok" (did you mean "lock"?)`},
		"a fact":          {"own: true", "owned: true", `terraform/lock tells no fact "owned" (did you mean "own"?)`},
		"a type":          {"age: 40m", "age: old", `lock.age: "old" is not a duration`},
		"an answer":       {"holder: dead", "holder: deed", `the answer to holder cannot be "deed" (did you mean "dead"?)`},
		"a gate":          {"acts: [unlock]", "acts: [holder]", `acts: the runbook has no such step "holder"`},
		"a topic":         {"class: Mut", "klass: Mut", `a topic cannot be "klass" (did you mean "class"?)`},
		"a key":           {"armed:", "arms:", `expect has no key "arms" (did you mean "armed"?)`},
		"another runbook": {"runbook: sample", "runbook: other", `these are tests of the runbook "other", not of "sample"`},
		"a finding":       {"  acts:", "  findings: [{subject: lok, finding: it is our own, taken: ada}]\n  acts:", `findings: the runbook has no such step "lok"`},
		"a proof":         {"  acts:", "  by_hand: [{what: x, object: y, person: ada, proof: unlock}]\n  acts:", `by_hand: the runbook has no such step "unlock"`},
		"a parameter":     {"  answers:", "  params: {maxx: 1h}\n  answers:", `runbook sample has no parameter "maxx"`},
		"no expectation":  {killed[strings.Index(killed, "  expect:"):], "", "expect is missing"},
	} {
		_, err := Parse("sample.test.yaml", []byte(strings.Replace(head+killed, tc.old, tc.now, 1)), sample(t), catalog.New())
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, want %q", name, err, tc.want)
		}
	}
}

// telling is the sample with a critical finding that shuts no gate.
func telling(t *testing.T, src string) Report {
	t.Helper()
	from := "{when: facts.lock.own, level: warning, say: it is our own}"
	rb, err := runbooks.Parse("sample.yaml", []byte(strings.Replace(book, from, "{when: facts.lock.own, level: critical, against: [], say: it is our own lock}", 1)), catalog.New())
	if err != nil {
		t.Fatal(err)
	}
	d, err := Parse("sample.test.yaml", []byte(head+src), rb, catalog.New())
	if err != nil {
		t.Fatal(err)
	}
	r, err := Run(d, rb, catalog.New())
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestFindingsAreAnswered: a case is recovered only once it answers each critical finding
// that shuts no gate, by words of that finding.
func TestFindingsAreAnswered(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		says string
		want bool
	}{
		"none":               {"", false},
		"of another finding": {"  findings: [{subject: lock, finding: it is of ann, taken: ada}]\n", false},
		"resolved":           {"  findings: [{subject: lock, finding: it is our own, resolved: the job is gone}]\n", true},
		"taken":              {"  findings: [{subject: lock, finding: it is our own, taken: ada}]\n", true},
	} {
		r := telling(t, strings.Replace(killed, "  acts:", tc.says+"  acts:", 1))
		if got := r.Cases[0]; got.Recovered != tc.want || !tc.want && !strings.Contains(got.Stop, "does not answer what lock found: it is our own lock") {
			t.Errorf("%s: recovered is %t, want %t (%s)", name, got.Recovered, tc.want, got.Stop)
		}
	}
	base := "base:\n  findings: [{subject: lock, finding: it is our own, taken: ada}]\n"
	if r := telling(t, base+killed); !r.Cases[0].Recovered {
		t.Errorf("answered for all cases: %s", r.Cases[0].Stop)
	}
}

// TestRepairsByHand: where no gate serves, a repair by hand counts once its proof was read
// after it, and reads from then on tell what the case gives for them.
func TestRepairsByHand(t *testing.T) {
	t.Parallel()
	shut := strings.NewReplacer("holder: dead", "holder: alive", "  acts: [unlock]\n", "", "consistent: 'yes'", "consistent: 'no'", "free: {held: false}", "free: {held: true}",
		"armed: [unlock]", "refused: {unlock: may run}", "next: [partial-apply]", "next: []", "mutation: 'yes', ", "", "    phase: verify\n", "").Replace(killed)
	hand := "  by_hand: [{what: tofu force-unlock l-1, object: lock l-1, person: ada, proof: free}]\n"
	for name, tc := range map[string]struct {
		says string
		want bool
	}{
		"no repair":         {"  repaired: {free: {held: false}}\n", false},
		"one without proof": {hand, false},
		"one with proof":    {hand + "  repaired: {free: {held: false}}\n", true},
	} {
		r := runs(t, strings.Replace(shut, "  expect:", tc.says+"  expect:", 1))
		if got := r.Cases[0]; got.Recovered != tc.want || len(got.Wrong) > 0 {
			t.Errorf("%s: recovered is %t, want %t (%s) %q", name, got.Recovered, tc.want, got.Stop, got.Wrong)
		}
	}
}
