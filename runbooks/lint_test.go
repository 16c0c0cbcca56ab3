package runbooks

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"handrail/steps/catalog"
)

// claimed is a document that Lint takes.
func claimed(src string) string {
	return strings.Replace(head, "severity", "recognise: [{pattern: no space left, weight: 9}]\nmatrix: 8\nproves: {PC2: gone}\nseverity", 1) + src
}

// TestNoAuthorLoosensALaw: what does not come with handrail passes Lint before its first
// step, and whatever would take something off a law or a floor is refused there.
func TestNoAuthorLoosensALaw(t *testing.T) {
	t.Parallel()
	if _, err := Lint("f", []byte(claimed(gated)), catalog.New()); err != nil {
		t.Fatal(err)
	}
	without := func(part string) string { return strings.Replace(gated, part, "", 1) }
	with := func(old, now string) string {
		if !strings.Contains(gated, old) {
			t.Fatalf("%q is not there", old)
		}
		return strings.Replace(gated, old, now, 1)
	}
	const gate = "    gate: terraform/force-unlock\n"
	for name, tc := range map[string]struct{ src, want string }{
		"law 1, nothing is captured":            {with(", required: true", ""), `needs a required step in preserve`},
		"law 2, mutation is not asked":          {without("mutation:\n  - conclude: mutation\n"), `needs a conclusion of the topic mutation`},
		"law 2, the failure is not classified":  {without("classify:\n  - conclude: class\n"), `needs a conclusion of the topic class`},
		"law 2, mutation is no, whatever is":    {with("conclude: mutation\n", "conclude: mutation\n    cases: [{is: 'no', say: x}]\n"), "mutation would be concluded as no whatever is found"},
		"law 2, mutation is no from nothing":    {with("conclude: mutation\n", "conclude: mutation\n    cases: [{when: 1 < 2, is: 'no', say: x}]\n"), `f:14:20: mutation would be concluded as no from "1 < 2", which looks at nothing`},
		"law 8, nothing proves the recovery":    {without("verify:\n  - {id: gone, watch: terraform/lock, when: '!facts.gone.held'}\n"), "needs a watch in verify"},
		"law 8, two looks at once":              {with("'!facts.gone.held'", "'!facts.gone.held', apart: 1ms"), `the looks of "gone" are 1ms apart, which is one look`},
		"law 8, no look":                        {with("'!facts.gone.held'", "'!facts.gone.held', greens: 0"), "greens must be a whole number from 1"},
		"law 11, the type check is off":         {with(gate, gate+"    require: [{when: 'dyn(facts.lock.held)', else: x}]\n"), "dyn() is not available"},
		"law 11, unknown is compared":           {with("conclude: class\n", "conclude: class\n    cases: [{when: \"facts.lock.unlock == 'unknown'\", is: MutationNotStarted}]\n"), "never 'unknown'"},
		"a gate that is early":                  {with("recover:\n", "compare:\n"), "gates stand in authority and recover only"},
		"a phrase":                              {with(gate, gate+"    phrase: y\n"), "the phrase to type is built by the kind"},
		"a requirement that looks at nothing":   {with(gate, gate+"    require: [{when: 'true', else: x}]\n"), "looks at nothing"},
		"old evidence":                          {with(gate, gate+"    fresh: 8760h\n"), "evidence that old opens no gate"},
		"a kind that is none":                   {with("force-unlock", "force-unlock-all"), "force-unlock"},
		"a gate as a probe":                     {with("uses: terraform/lock", "uses: terraform/force-unlock"), "terraform/force-unlock"},
		"a required step that may be left away": {with("required: true", "required: true, when: '!facts.gone.held'"), "cannot depend on a condition"},
		"a finding against no gate of it":       {with("required: true", "required: true, findings: [{say: x, against: [other]}]"), `has no gate "other"`},
	} {
		if _, err := Lint("f", []byte(claimed(tc.src)), catalog.New()); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, want %q", name, err, tc.want)
		}
	}
}

// TestEveryProblemHasACure: each refusal of a runbook says what to write instead. The one
// without is a fault of handrail itself.
func TestEveryProblemHasACure(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	bare := regexp.MustCompile(`\.(?:Fail|FailAt)\([^"]*, "", `)
	for _, f := range files {
		src, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Split(string(src), "\n") {
			if bare.MatchString(line) && !strings.Contains(line, "declaring the variables") && !strings.HasSuffix(f, "_test.go") {
				t.Errorf("%s:%d: %s", f, i+1, strings.TrimSpace(line))
			}
		}
	}
}

// TestReach: what a runbook could do is told by kind and object, and what its author took
// off of what is usual.
func TestReach(t *testing.T) {
	t.Parallel()
	src := strings.NewReplacer("'!facts.gone.held'", "'!facts.gone.held', greens: 1",
		"required: true", "required: true, against: [], findings: [{say: it is old, level: critical, against: []}]",
		"    with: {lock_id", "    fresh: 1h\n    with: {lock_id").Replace(gated) + "  - {id: plan, uses: terraform/plan}\n"
	b := mustParse(t, claimed(src))
	got := b.Reach(catalog.New())
	has := func(list []string, part string) {
		t.Helper()
		if !slices.ContainsFunc(list, func(l string) bool { return strings.Contains(l, part) }) {
			t.Errorf("%q is not in %q", part, list)
		}
	}
	has(got.Reads, "terraform/lock of dir .: ")
	has(got.Runs, "terraform/plan of dir .")
	has(got.Changes, "unlock (release), terraform/force-unlock of dir ., lock_id ${facts.lock.id}, max_apply 30m: ")
	for _, part := range []string{"gone proves the recovery by one look", "what unlock says counts for 1h", "what terraform/lock finds critical by itself keeps no gate shut", "a critical finding of lock keeps no gate shut: it is old"} {
		has(got.Eases, part)
	}
	if len(got.Reads) != 1 || len(got.Changes) != 1 {
		t.Errorf("%+v, want each thing once", got)
	}
	if got := mustParse(t, claimed(gated)).Reach(catalog.New()).Eases; len(got) != 0 {
		t.Errorf("a usual runbook eases %q", got)
	}
}
