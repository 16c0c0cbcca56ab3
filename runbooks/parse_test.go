package runbooks

import (
	"errors"
	"strings"
	"testing"

	"handrail/steps/strict"

	"handrail/steps/catalog"
)

const head = `apiVersion: handrail/v1
kind: Runbook
id: sample
title: A sample
domain: state-backend
severity: SEV-3
`

// TestMisspeltKey is the promise of the linter to an author: the place, and the
// right key.
func TestMisspeltKey(t *testing.T) {
	t.Parallel()
	src := strings.Replace(head, "domain:", "domian:", 1)
	_, err := Parse("team.yaml", []byte(src), catalog.New())
	if err == nil || !strings.Contains(err.Error(), "team.yaml:5:1: a runbook has no key \"domian\" (did you mean \"domain\"?)") {
		t.Fatalf("Parse() = %v", err)
	}
	var ps Problems
	if !errors.As(err, &ps) {
		t.Fatalf("the error is a %T, want Problems", err)
	}
}

const gated = `preserve:
  - {id: lock, uses: terraform/lock, required: true}
mutation:
  - conclude: mutation
classify:
  - conclude: class
verify:
  - {id: gone, watch: terraform/lock, when: '!facts.gone.held'}
recover:
  - id: unlock
    gate: terraform/force-unlock
    with: {lock_id: "${facts.lock.id}"}
`

func TestGatedLoads(t *testing.T) {
	t.Parallel()
	if _, err := Parse("f", []byte(head+gated), catalog.New()); err != nil {
		t.Fatal(err)
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	probe := "preserve:\n  - id: lock\n    uses: terraform/lock\n"
	finding := func(when string) string {
		return head + probe + "    findings:\n      - when: " + when + "\n        say: x\n"
	}
	ask := probe + "  - id: holder\n    ask: alive?\n    answers: {alive: a, dead: b}\n"
	without := func(part string) string { return head + strings.Replace(gated, part, "", 1) }
	cases := []struct {
		name, src, want string
	}{
		{"empty document", "", "f:1: the document is empty"},
		{"not YAML", "a: [", "f:1: not YAML"},
		{"syntax error on a later line", head + "doc: \"x\n", "f:"},
		{"a list", "- a\n", "f:1:1: a runbook is a mapping"},
		{"second document", head + "---\na: b\n", "a second document"},
		{"alias", "id: &x a\ntitle: *x\n", "f:2:8: an alias"},
		{"anchor", "id: &x a\n", "f:1:5: an anchor"},
		{"tag", finding("!facts.lock.held"), "f:11:15: a YAML tag \"!facts.lock.held\""},
		{"merge key", head + "params:\n  <<: {a: b}\n", "f:8:3: a merge key"},
		{"duplicate key", head + "id: other\n", "f:7:1: key \"id\" again, first on line 3"},
		{"deep", head + "doc: " + strings.Repeat("[", 40) + strings.Repeat("]", 40), "nested more than 32 deep"},
		{"big", head + "#" + strings.Repeat("x", strict.MaxSize), "bytes, more than"},
		{"empty expression", finding("''"), "f:11:15: when is empty"},
		{"null expression", finding(""), "f:11:14: when is empty"},
		{"blank interpolation", head + "authority:\n  - note: \"a ${ } b\"\n", "f:8:16: an empty expression"},
		{"open interpolation", head + "authority:\n  - note: \"a ${ b\"\n", "f:8:14: a ${ without its }"},
		{"wrong version", strings.Replace(head, "/v1", "/v2", 1), "f:1:13: apiVersion cannot be \"handrail/v2\""},
		{"declare", head + "declare: []\n", "f:7:1: a runbook has no key \"declare\""},
		{"missing title", strings.Replace(head, "title: A sample\n", "", 1), "a runbook needs the key \"title\""},
		{"two kinds of step", head + "preserve:\n  - {id: a, ask: x, uses: terraform/lock}\n", "f:8:5: a step is \"uses\" or \"ask\", not both"},
		{"no kind of step", head + "preserve:\n  - {id: a, use: terraform/lock}\n", "f:8:13: a step has no key \"use\" (did you mean \"uses\"?)"},
		{"key of another kind", head + probe + "    greens: 2\n", "f:10:5: a uses step has no key \"greens\""},
		{"phrase", head + gated + "    phrase: y\n", "f:19:5: the phrase to type is built by the kind"},
		{"hyphen in id", head + "preserve:\n  - {id: a-b, uses: terraform/lock}\n", "f:8:10: id \"a-b\""},
		{"repeated id", head + probe + "  - {id: lock, uses: terraform/state}\n", "f:10:10: id \"lock\" again, first on line 8"},
		{"reserved id", head + "preserve:\n  - {id: mutation, uses: terraform/state}\n", "kept for a step of the loop"},
		{"unknown kind", head + "preserve:\n  - {id: a, uses: terraform/lok}\n", "f:8:19: there is no kind \"terraform/lok\" (did you mean \"terraform/lock\"?)"},
		{"uses of a gate", head + "preserve:\n  - {id: a, uses: terraform/force-unlock}\n", "\"terraform/force-unlock\" changes things, it is a gate (write gate)"},
		{"gate of a probe", head + strings.Replace(gated, "gate: terraform/force-unlock", "gate: terraform/lock", 1), "reads, it is not a gate (write uses)"},
		{"watch of a heavy kind", head + "verify:\n  - {id: a, watch: terraform/plan, when: facts.a.clean}\n", "cannot be watched"},
		{"watch without when", head + "verify:\n  - {id: a, watch: terraform/lock}\n", "a watch needs the key \"when\""},
		{"context of a gate", head + strings.Replace(gated, "terraform/force-unlock\n    with: {lock_id:", "kube/delete\n    with: {context: b, lock_id:", 1), "f:18:12: kube/delete takes no context: a gate acts in the incident's own context alone"},
		{"context that is an option", head + "preserve:\n  - {id: a, uses: kube/get, with: {resource: pod, name: x, context: -b}}\n", "begins with a hyphen"},
		{"several contexts", head + "preserve:\n  - {id: a, uses: kube/get, with: {resource: pod, name: x, context: [a, b]}}\n", "context takes one string, not a list"},
		{"context of a kind that reads none", head + "preserve:\n  - {id: a, uses: terraform/lock, with: {context: b}}\n", "has no key \"context\""},
		{"unknown parameter", head + probe + "    with: {dri: x}\n", "f:10:12: terraform/lock has no key \"dri\" (did you mean \"dir\"?)"},
		{"required parameter", without("    with: {lock_id: \"${facts.lock.id}\"}\n"), "gives terraform/force-unlock no \"lock_id\""},
		{"parameter of a wrong type", head + "recover:\n  - {id: p, uses: terraform/plan, with: {refresh_only: perhaps}}\n", "is not true or false"},
		{"parameter of a wrong expression", head + probe + "  - {id: p, uses: terraform/plan, with: {refresh_only: \"${facts.lock.age}\"}}\n", "refresh_only takes a bool, and ${facts.lock.age} is a duration"},
		{"what a repair may open from a parameter", head + "params:\n  p: {type: string, help: h}\nrecover:\n  - {id: p, gate: kube/patch, with: {resource: cm, name: x, uid: u, patch: \"[]\", widens: [\"${params.p}\"]}}\n", "widens takes no ${…}"},
		{"what a repair may open, not a path", head + "recover:\n  - {id: p, gate: kube/patch, with: {resource: cm, name: x, uid: u, patch: \"[]\", widens: [spec/hard]}}\n", "does not look like"},
		{"what a repair may take away from a fact", head + probe + "  - {id: p, gate: kube/patch, with: {resource: cm, name: x, uid: u, patch: \"[]\", removes: \"${facts.lock.who}\"}}\n", "removes takes no ${…}"},
		{"bool put together", head + probe + "  - {id: p, uses: terraform/plan, with: {refresh_only: \"x${facts.lock.held}\"}}\n", "cannot be put together from texts"},
		{"argument that is an option", head + "preserve:\n  - {id: a, uses: terraform/lock, with: {dir: -help}}\n", "begins with a hyphen"},
		{"typo in a fact", finding("facts.lock.hold"), "f:11:15: expression \"facts.lock.hold\": nothing here gives facts.lock.hold (did you mean \"facts.lock.held\"?)"},
		{"typo in quotes", finding("'true && facts.lock.hold'"), "f:11:24: expression"},
		{"typo in a literal block", finding("|\n          true &&\n            facts.lock.hold"), "f:13:13: expression"},
		{"step that does not exist", finding("facts.lok.held"), "nothing here gives facts.lok.held (did you mean \"facts.lock.held\"?)"},
		{"CEL syntax", finding("facts.lock.held &&"), "it ends too early (close what is open"},
		{"CEL of another language", finding("facts.lock.held and facts.lock.own"), "f:11:31: expression \"facts.lock.held and facts.lock.own\": mismatched input 'and' (write && for and)"},
		{"a word of another language in a text", finding("facts.lock.who == 'a and b' &&"), "it ends too early"},
		{"one sign of equality", finding("facts.lock.who = 'a'"), "(write == to compare)"},
		{"interpolation in an expression", finding("\"${facts.lock.held} == true\""), "(an expression names a fact as it is, without ${ and })"},
		{"tab", head + "preserve:\n\t- id: a\n", "(indent with spaces, "},
		{"colon in a text", head + "doc: a: b\n", "f:7: not YAML: mapping values are not allowed in this context (put a text with a colon and a space in it in quotes)"},
		{"not a condition", finding("facts.lock.age"), "is a duration, not true or false"},
		{"mixed types", finding("facts.lock.age < 3"), "< takes no duration with an int (write the duration as in duration('30m'))"},
		{"number in quotes", head + "params:\n  n: {type: int, default: 3}\nnext:\n  - {runbook: other, when: params.n == '3'}\n", "== takes no int with a string (write the int as in 3, without quotes)"},
		{"a text as a condition", finding("facts.lock.held && facts.lock.who"), "f:11:34: expression \"facts.lock.held && facts.lock.who\": string where true or false must stand (compare it with something)"},
		{"has", finding("has(facts.lock.held)"), "expression \"has(facts.lock.held)\""},
		{"dyn", finding("dyn(facts.lock.held) == 1"), "f:11:18: dyn() is not available"},
		{"enum literal", finding("facts.lock.backend == 'locl'"), "f:11:37: facts.lock.backend is never \"locl\" (did you mean \"local\"?)"},
		{"enum literal in a list", finding("facts.lock.backend in ['local', 'cubernetes']"), "facts.lock.backend is never \"cubernetes\""},
		{"answer literal", head + ask + "mutation:\n  - conclude: mutation\n    cases:\n      - {when: \"'ded' == answers.holder\", is: 'yes'}\n", "answers.holder is never \"ded\""},
		{"compared with unknown", head + ask + "mutation:\n  - conclude: mutation\n    cases:\n      - {when: \"answers.holder != 'unknown'\", is: 'yes'}\n", "never 'unknown' in an expression"},
		{"answer unknown declared", head + "mutation:\n  - {id: a, ask: q, answers: {unknown: x}}\n", "the answer unknown is always there"},
		{"ask without answers", head + "mutation:\n  - {id: a, ask: q}\n", "an ask needs the key \"answers\""},
		{"manual without proof", head + "preserve:\n  - {id: a, manual: do it}\n", "a manual step needs the key \"evidence\""},
		{"required and conditional", head + probe + "    required: true\n    when: 'true'\n", "f:11:11: step \"lock\" is required"},
		{"value outside the topic", head + "classify:\n  - {conclude: class, cases: [{is: Broken}]}\n", "is cannot be \"Broken\""},
		{"otherwise before the end", head + "classify:\n  - {conclude: class, cases: [{is: unknown}, {is: unknown}]}\n", "only the last case may go without"},
		{"bounds of a text", head + "params:\n  a: {type: string, min: 1m}\n", "f:8:26: min is for the types int and duration"},
		{"default outside bounds", head + "params:\n  a: {type: duration, default: 1s, min: 1m}\n", "less than the least"},
		{"int without default", head + "params:\n  a: {type: int}\n", "needs a default or required"},
		{"pattern", head + "recognise:\n  - pattern: '('\n", "f:8:14: pattern \"(\" is not a regular expression"},
		{"pattern that matches nothing", head + "recognise:\n  - pattern: 'a*'\n", "matches an empty text"},
		{"gate in preserve", head + strings.Replace(gated, "recover:", "compare:", 1), "gates stand in authority and recover only"},
		{"gate without a capture", head + strings.Replace(gated, ", required: true", "", 1), "needs a required step in preserve"},
		{"gate without mutation", without("mutation:\n  - conclude: mutation\n"), "f:14:5: gate \"unlock\" needs a conclusion of the topic mutation"},
		{"gate without class", without("classify:\n  - conclude: class\n"), "needs a conclusion of the topic class"},
		{"gate without watch", without("verify:\n  - {id: gone, watch: terraform/lock, when: '!facts.gone.held'}\n"), "needs a watch in verify"},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			_, err := Parse("f", []byte(tc.src), catalog.New())
			if err == nil {
				t.Fatal("Parse() = nil, want a refusal")
			}
			if !strings.Contains(err.Error(), tc.want) {
				t.Errorf("Parse() =\n%v\nwant it to contain\n%s", err, tc.want)
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	entries, err := library.ReadDir("library")
	if err != nil {
		f.Fatal(err)
	}
	for _, e := range entries {
		src, err := library.ReadFile("library/" + e.Name())
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(src))
	}
	f.Add(head + gated)
	f.Add(head + "doc: |\n  a ${ b\n")
	cat := catalog.New()
	f.Fuzz(func(t *testing.T, src string) {
		b, err := Parse("f", []byte(src), cat)
		var ps Problems
		switch {
		case err == nil:
			b.Plan(nil)
			for _, s := range b.Steps {
				b.Say(s.ID, Vars{})
				b.Rows(s.ID, Vars{})
				for _, v := range b.Judge(s.ID, Vars{}) {
					if v.Result == "true" && len(v.Refs) > 0 && len(v.Missing) > 0 {
						t.Errorf("%s opens on what is missing: %v", v.Expr, v.Missing)
					}
				}
			}
		case !errors.As(err, &ps):
			t.Errorf("Parse() = %v, want Problems", err)
		default:
			for _, p := range ps {
				if p.Line < 0 || p.Message == "" {
					t.Errorf("a problem without a place or message: %+v", p)
				}
			}
		}
	})
}
