package runbooks

import (
	"strings"
	"testing"
	"time"

	"handrail/steps"
	"handrail/steps/catalog"
	"handrail/triage"
)

const matrix = `preserve:
  - {id: lock, uses: terraform/lock}
  - {id: state, uses: terraform/state}
  - {id: log, uses: terraform/log, with: {file: x.log}}
compare:
  - id: sides
    compare: What is recorded, beside what was done?
    rows:
      address:
        log: facts.log.completed_addresses
        actual: facts.state.addresses
        desired: facts.log.completed_addresses
      lock ID: {actual: facts.lock.id, recorded: "'x' + facts.lock.who"}
  - conclude: consistent
    cases:
      - {when: facts.sides.agree, is: 'yes'}
      - {when: "facts.sides.drift == 'two_differ'", is: 'no'}
`

func TestRowsAreEvaluated(t *testing.T) {
	t.Parallel()
	b := mustParse(t, head+matrix)
	s, _ := b.Step("sides")
	if got := strings.Join(s.Sources(), " "); got != "desired recorded actual log" {
		t.Errorf("Sources() = %s", got)
	}
	v := Vars{Facts: map[string]map[string]steps.Value{
		"lock":  lockFacts(true, time.Hour),
		"state": {"addresses": steps.StringsOf([]string{"b", "a"})},
		"log":   {"completed_addresses": steps.StringsOf([]string{"a", "b"})},
	}}
	rows := b.Rows("sample/sides", v)
	if len(rows) != 2 || rows[0].Field != "address" || len(rows[0].Cells) != 3 {
		t.Fatalf("Rows() = %+v", rows)
	}
	if c := rows[0].Cells[0]; c.Source != "desired" || c.Value.Text() != `["a","b"]` && len(c.Value.Strings()) != 2 || len(c.Steps) != 1 || c.Steps[0] != "sample/log" {
		t.Errorf("the first cell is %+v", c)
	}
	if c := rows[1].Cells[1]; c.Source != "actual" || c.Value.Type() != steps.Ident {
		t.Errorf("an identifier is recorded as %s", c.Value.Type())
	}
	// What was not read is unknown, with its reason, and so is what is stale.
	delete(v.Facts, "log")
	v.Stale = map[string]string{"state": "read 20m ago"}
	for i, want := range []string{"facts.log.completed_addresses is unknown: not read yet", "facts.state.addresses is unknown: read 20m ago"} {
		if c := b.Rows("sides", v)[0].Cells[i]; c.Value.Known() || c.Value.Why() != want {
			t.Errorf("%s is %q, want %q", c.Source, c.Value.Why(), want)
		}
	}
	if got := b.Rows("lock", v); got != nil {
		t.Errorf("a probe has rows: %+v", got)
	}
}

func TestComparisonFacts(t *testing.T) {
	t.Parallel()
	row := func(field, a, b string) triage.Compared {
		side := func(source, s string) triage.Side {
			v := steps.Unknown(steps.String, "not read")
			if s != "?" {
				v = steps.StringOf(s)
			}
			return triage.Side{Source: source, Value: v}
		}
		return triage.Compared{Field: field, Sides: []triage.Side{side("desired", a), side("actual", b)}}
	}
	same, other, untold := row("same", "a", "a"), row("other", "a", "b"), row("untold", "a", "?")
	cases := []struct {
		name                 string
		rows                 []triage.Compared
		agree, differ, drift string
	}{
		{"agree", []triage.Compared{same, same}, "true", "", "none"},
		{"differ", []triage.Compared{same, other}, "false", "other", "two_differ"},
		{"one unread", []triage.Compared{same, untold}, "?", "?", "?"},
		{"one unread, one differs", []triage.Compared{other, untold}, "false", "?", "?"},
	}
	for _, tc := range cases {
		got := ComparisonFacts(tc.rows)
		text := func(name string) string {
			v := got[name]
			if !v.Known() {
				return "?"
			}
			if v.Type() == steps.Strings {
				return strings.Join(v.Strings(), " ")
			}
			return v.Text()
		}
		if text("agree") != tc.agree || text("differ") != tc.differ || text("drift") != tc.drift {
			t.Errorf("%s: agree %s, differ %s, drift %s", tc.name, text("agree"), text("differ"), text("drift"))
		}
	}
}

func TestRowsAreRefused(t *testing.T) {
	t.Parallel()
	rows := func(text string) string {
		return head + "preserve:\n  - {id: lock, uses: terraform/lock}\ncompare:\n  - id: sides\n    compare: q\n    rows:\n" + text
	}
	cases := []struct{ name, src, want string }{
		{"a list", rows("      - a\n"), "f:13:7: rows must be a mapping of fields"},
		{"empty", rows("      {}\n"), "f:13:7: rows must be a mapping of fields"},
		{"one source", rows("      held: {actual: facts.lock.held}\n"), `f:13:13: field "held" needs two sources at least`},
		{"no sources", rows("      held: facts.lock.held\n"), `field "held" needs two sources`},
		{"a field twice", rows("      held: {a: facts.lock.held, b: facts.lock.held}\n      held: {a: facts.lock.held, b: facts.lock.held}\n"), `key "held" again`},
		{"a source twice", rows("      held: {a: facts.lock.held, a: facts.lock.held}\n"), `key "a" again`},
		{"a field with signs", rows("      'held|x': {a: facts.lock.held, b: facts.lock.held}\n"), `f:13:7: field "held|x" cannot be shown`},
		{"a source with a hyphen", rows("      held: {git-sha: facts.lock.held, b: facts.lock.held}\n"), `f:13:14: source "git-sha"`},
		{"typo in a fact", rows("      held: {a: facts.lock.hold, b: facts.lock.held}\n"), `f:13:17: expression "facts.lock.hold": nothing here gives facts.lock.hold (did you mean "facts.lock.held"?)`},
		{"types that cannot agree", rows("      held:\n        desired: facts.lock.held\n        actual: facts.lock.age\n"), `f:15:17: actual of field "held" is a duration, desired is a bool (convert one of them`},
		{"a type that has no form", rows("      held: {a: 1.5, b: 2.5}\n"), `a of field "held" is a double, which cannot be compared`},
		{"itself", rows("      held: {a: facts.sides.agree, b: facts.lock.held}\n"), `what this comparison gives itself`},
		{"empty expression", rows("      held: {a: '', b: facts.lock.held}\n"), "f:13:17: a is empty"},
		{"in a probe", head + "preserve:\n  - {id: lock, uses: terraform/lock, rows: {}}\n", `has no key "rows"`},
		{"a fact that a comparison lacks", rows("      held: {a: facts.lock.held, b: facts.lock.own}\n  - conclude: consistent\n    cases:\n      - {when: facts.sides.agrees, is: 'yes'}\n"), `did you mean "facts.sides.agree"?`},
		{"a drift that there is not", rows("      held: {a: facts.lock.held, b: facts.lock.own}\n  - conclude: consistent\n    cases:\n      - {when: \"facts.sides.drift == 'drifted'\", is: 'no'}\n"), `facts.sides.drift is never "drifted"`},
		{"too many sources", rows("      held: {a: 'true', b: 'true', c: 'true', d: 'true', e: 'true', f: 'true', g: 'true'}\n"), "more than 6 sources"},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			_, err := Parse("f", []byte(tc.src), catalog.New())
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("Parse() =\n%v\nwant it to contain\n%s", err, tc.want)
			}
		})
	}
}
