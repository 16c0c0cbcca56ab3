package runbooks

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"handrail/steps"
	"handrail/steps/catalog"
	"handrail/triage"
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
		"a finding that doubts no question":     {with("required: true", "required: true, findings: [{say: x, doubts: [other]}]"), `has no question "other"`},
		"a finding against no gate of it":       {with("required: true", "required: true, findings: [{say: x, against: [other]}]"), `has no gate "other"`},
	} {
		if _, err := Lint("f", []byte(claimed(tc.src)), catalog.New()); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, want %q", name, err, tc.want)
		}
	}
}

// TestGroupsFillParameters: a group that is one letter off leaves a parameter empty that must
// be given, and nothing says so during an incident. A group of its own is shown by match.
func TestGroupsFillParameters(t *testing.T) {
	t.Parallel()
	src := func(pattern string, required bool) string {
		out := strings.Replace(claimed(gated), "pattern: no space left", "pattern: '"+pattern+"'", 1)
		if required {
			out += "params: {job: {type: string, required: true, help: h}}\n"
		}
		return out
	}
	const want = `f:6:23: the group "job_name" fills no parameter, and nothing else fills "job", which must be given (name it (?P<job>…))`
	if _, err := Lint("f", []byte(src(`job (?P<job_name>\S+) failed`, true)), catalog.New()); err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	for _, ok := range []string{src(`job (?P<job>\S+) (?P<job_name>\S+)`, true), src(`(?P<job_name>\S+) failed`, false), src(`(?P<container>\S+) failed`, true)} {
		if _, err := Lint("f", []byte(ok), catalog.New()); err != nil {
			t.Errorf("%v\n%s", err, ok)
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

// TestTablesAreHeld: a runbook names its row, says why it begins otherwise, picks what shows
// its recovery, and leaves the owner to the domain or says why not.
func TestTablesAreHeld(t *testing.T) {
	t.Parallel()
	body := func(top, owner string) string {
		if owner != "" {
			owner = "locate:\n  - conclude: owner\n    cases: [{" + owner + ", say: x}]\n"
		}
		return strings.Replace(head, "severity", "recognise: [{pattern: no space left, weight: 9}]\n"+top+"severity", 1) + strings.Replace(gated, "mutation:\n", owner+"mutation:\n", 1)
	}
	const proves = "proves: {PC2: gone}\n"
	for name, tc := range map[string]struct{ src, want string }{
		"whole":                  {body("matrix: 8\n"+proves, ""), ""},
		"several rows":           {body("matrix: [8, 7]\n"+proves, ""), ""},
		"no row":                 {body(proves, ""), "names no row of the decision matrix"},
		"no such row":            {body("matrix: 14\n"+proves, ""), "from 1 to 13"},
		"a row twice":            {body("matrix: [8, 8]\n"+proves, ""), "is named twice"},
		"begins otherwise":       {body("matrix: 13\n"+proves, ""), `its first transition is "unlock" (terraform/force-unlock), and row 13`},
		"begins so with a why":   {body("matrix: 13\ndeparts: It burns.\n"+proves, ""), ""},
		"the main row counts":    {body("matrix: [13, 8]\n"+proves, ""), "row 13"},
		"no post-condition":      {body("matrix: 8\n", ""), "picks none of the post-conditions"},
		"nothing shows it":       {body("matrix: 8\nproves: {PC2: lock}\n", ""), `verify has no step "lock"`},
		"no such condition":      {body("matrix: 8\nproves: {PC9: gone}\n", ""), "PC9"},
		"the evidence by itself": {body("matrix: 8\nproves: {PC7: gone}\n", ""), "PC7"},
		"owner of the domain":    {body("matrix: 8\n"+proves, "is: owner of the domain"), ""},
		"an owner of its own":    {body("matrix: 8\n"+proves, "is: the storage team"), `"the storage team" gets the next transition`},
		"with a reason":          {body("matrix: 8\n"+proves, "is: the storage team, reason: they have the disks"), ""},
		"a reason for nothing":   {body("matrix: 8\n"+proves, "is: owner of the domain, reason: x"), "only an owner that the table of domains does not name"},
	} {
		_, err := Lint("f", []byte(tc.src), catalog.New())
		if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, want %q", name, err, tc.want)
		}
	}
	optional := strings.Replace(body("matrix: 8\nproves: {PC2: seen}\n", ""), "verify:\n", "verify:\n  - {id: seen, uses: terraform/lock}\n", 1)
	if _, err := Lint("f", []byte(optional), catalog.New()); err == nil || !strings.Contains(err.Error(), `"seen" proves nothing`) {
		t.Errorf("a read that nothing waits for proves: %v", err)
	}
}

// TestOwnerFollowsTheDomain: the proposed owner is that of the domain which was concluded,
// else of the one that the facts propose, else of the one that the runbook is for.
func TestOwnerFollowsTheDomain(t *testing.T) {
	t.Parallel()
	src := head + `preserve: [{id: lock, uses: terraform/lock}]
locate:
  - conclude: domain
    cases: [{when: facts.lock.held, is: runner, say: x}]
  - conclude: owner
    cases: [{is: owner of the domain, say: Involve them.}]
`
	b := mustParse(t, src)
	held := Vars{Facts: map[string]map[string]steps.Value{"lock": {"held": steps.BoolOf(true)}}}
	for _, d := range triage.Domains() {
		held.Domain = d.Slug
		if got, _, why := b.Propose(triage.TopicOwner, held); got != d.Owner || !strings.Contains(why, d.Slug) || !strings.Contains(why, "Involve them.") {
			t.Errorf("domain %s: %q (%s), want %q", d.Slug, got, why, d.Owner)
		}
	}
	for domain, want := range map[string]string{"": "platform runtime owner", triage.Unknown: "platform runtime owner"} {
		held.Domain = domain
		if got, _, _ := b.Propose(triage.TopicOwner, held); got != want {
			t.Errorf("domain %q: %q, want %q", domain, got, want)
		}
	}
	if got, _, _ := b.Propose(triage.TopicOwner, Vars{}); got != "infrastructure platform owner" {
		t.Errorf("nothing is known: %q", got)
	}
}
