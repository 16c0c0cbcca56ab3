package runbooks

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"handrail/steps"
	"handrail/steps/catalog"
)

const ownSteps = head + `params: {queue: {type: string, default: applies, help: x}}
preserve:
  - id: queue
    uses: own/exec
    with: {argv: [queuectl, "a b", "--queue=${params.queue}", "${params.queue}", "$${HOME}"], env: [Q_TOKEN], exits: [0, 2], network: none}
    facts:
      depth: {type: int, cel: doc.depth, help: jobs that wait}
      state: {type: enum, values: [open, paused], regexp: 'state=(\w+)'}
    findings:
      - {when: "facts.queue.state == 'paused' && facts.queue.exit == 0", say: "${facts.queue.depth} wait."}
verify:
  - id: version
    watch: own/http
    with: {url: "https://status.example.com/v1/${params.queue}", headers: ["Authorization: Bearer $S_TOKEN"], statuses: [200, 404]}
    facts: {version: {type: string, cel: doc.version}}
    when: facts.version.version == '1'
`

// TestDeclaredFactsAreTyped: expressions know the facts of a step, their types and values.
func TestDeclaredFactsAreTyped(t *testing.T) {
	t.Parallel()
	b := mustParse(t, ownSteps)
	k, ok := b.Kind("queue", catalog.New())
	if names := fieldNames(k.Facts); !ok || !slices.Equal(names, []string{"exit", "sandboxed", "sandbox", "depth", "state"}) {
		t.Errorf("the step tells %v", names)
	}
	if k, _ := catalog.New().Lookup("own/exec"); len(k.Facts) != 3 {
		t.Errorf("the kind itself changed: %v", fieldNames(k.Facts))
	}
	for _, tc := range []struct{ old, now, want string }{
		{"facts.queue.depth}", "facts.queue.dpth}", `nothing here gives facts.queue.dpth (did you mean "facts.queue.depth"?)`},
		{"== 'paused'", "== 'pausd'", `facts.queue.state is never "pausd" (did you mean "paused"?)`},
		{"facts.queue.exit == 0", "facts.queue.depth == 'x'", "== takes no int with a string"},
		{"      depth:", "      exit:", `own/exec tells a fact "exit" by itself`},
		{"      depth:", "      Depth:", "must be small letters"},
		{"cel: doc.depth", "cel: doc.depth, regexp: '(x)'", `and one of "cel" and "regexp"`},
		{"type: int, cel: doc.depth", "type: int, cel: doc.depth == 1", "it gives a bool"},
		{"params: {", "params: {log: {type: path, matched: true, help: x}, plan: {type: path, matched: true, help: x}, ", `the matched text names one file, and parameter "log" is it`},
		{"values: [open, paused], ", "", "values and the type enum belong together"},
		{"cel: doc.depth,", "cel: doc.depth, chomp: true,", `a fact has no key "chomp"`},
		{"[queuectl,", "[\"${params.queue}\",", "the program itself takes no ${…}"},
		{`argv: [queuectl, "a b", "--queue=${params.queue}", "${params.queue}", "$${HOME}"]`, "argv: queuectl", "argv is a list that the runbook itself writes"},
		{"network: none", "timeout: 1h", "1h is not between 1s and 10m"},
		{"env: [Q_TOKEN]", "env: ['A=b']", "env:"},
		{"exits: [0, 2]", "exits: [no]", "exits:"},
		{"Bearer $S_TOKEN", "Bearer abcdef", "headers:"},
		{"https://status.example.com/v1/", "https://169.254.169.254/", "never asks"},
		{"https://status.example.com/v1/", "http://status.example.com/", "over https alone"},
		{"https://status.example.com/v1/", "https://", "which server is asked is the runbook's to say"},
		{"watch: own/http", "watch: own/exec", "so it cannot be watched"},
	} {
		if !strings.Contains(ownSteps, tc.old) {
			t.Fatalf("%q is not there", tc.old)
		}
		if _, err := Parse("f", []byte(strings.Replace(ownSteps, tc.old, tc.now, 1)), catalog.New()); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, want %q", tc.now, err, tc.want)
		}
	}
}

func fieldNames(fields []steps.Field) []string {
	var out []string
	for _, f := range fields {
		out = append(out, f.Name)
	}
	return out
}

// TestNoValueBecomesAnOption: what a parameter holds stays one word of the argument list.
func TestNoValueBecomesAnOption(t *testing.T) {
	t.Parallel()
	b := mustParse(t, ownSteps)
	for value, want := range map[string]string{"applies": "", "a; rm -rf /": "", "$(id)": "", "--force": "begins with a hyphen", "-": "begins with a hyphen", "a\nb": "control character"} {
		in, err := b.With("queue", Vars{Params: steps.Params{"queue": steps.StringOf(value)}})
		bad := (*ArgumentError)(nil)
		switch {
		case want != "" && (!errors.As(err, &bad) || !strings.Contains(err.Error(), want)):
			t.Errorf("%q: %v, want %q", value, err, want)
		case want == "" && (err != nil || !slices.Equal(in["argv"].Strings(), []string{"queuectl", "a b", "--queue=" + value, value, "${HOME}"})):
			t.Errorf("%q: %q, %v", value, in["argv"].Strings(), err)
		}
	}
}

// TestReachTellsOwnSteps: to the letter of the argument list, with what goes along.
func TestReachTellsOwnSteps(t *testing.T) {
	t.Parallel()
	b := mustParse(t, ownSteps)
	got := b.Reach(catalog.New())
	if want := "queue runs queuectl 'a b' '--queue=${params.queue}' '${params.queue}' '$${HOME}' in an empty private directory, for at most 30s; gives it of your environment Q_TOKEN; keeps it off the network"; !slices.Equal(got.Runs, []string{want}) {
		t.Errorf("it runs %q, want %q", got.Runs, want)
	}
	if want := "version asks GET https://status.example.com/v1/${params.queue}, with the headers Authorization: Bearer $S_TOKEN of your environment"; !slices.Equal(got.Reads, []string{want}) {
		t.Errorf("it reads %q, want %q", got.Reads, want)
	}
	if !b.Runs(catalog.New()) || mustParse(t, head+gated).Runs(catalog.New()) {
		t.Error("whether a program of the author's choice runs is told wrongly")
	}
	page := b.Page(catalog.New())
	for _, want := range []string{"tells `depth` (int): `doc.depth`, jobs that wait", "tells `state` (enum of open, paused): what matches `state=(\\w+)`"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not say %q:\n%s", want, page)
		}
	}
}

// TestSchemaTakesOwnSteps, and refuses in them what an editor can tell.
func TestSchemaTakesOwnSteps(t *testing.T) {
	t.Parallel()
	for _, of := range []*Runbook{nil, mustParse(t, ownSteps)} {
		s := asJSON(t, Schema(catalog.New(), of))
		for old, now := range map[string]string{"": "", "type: int": "type: ident", "help: jobs": "halp: jobs", "{argv:": "{args:", "exits: [0, 2]": "exit: [0]"} {
			var doc map[string]any
			if err := yaml.Unmarshal([]byte(strings.Replace(ownSteps, old, now, 1)), &doc); err != nil {
				t.Fatal(err)
			}
			if bad := againstSchema(s, s, "f", doc); (len(bad) > 0) != (old != "") {
				t.Errorf("%q: %v", now, bad)
			}
		}
	}
}
