package runbooks

import (
	"slices"
	"strings"
	"testing"

	"handrail/steps"
	"handrail/steps/catalog"
	"handrail/triage"
)

// opposed is a runbook with a gate of each kind that findings may speak against.
const opposed = head + `preserve:
  - id: lock
    uses: terraform/lock
    required: true
    AGAINST
    findings:
      - when: facts.lock.held
        level: LEVEL
        say: it is held
        SPEAKS
mutation:
  - conclude: mutation
classify:
  - conclude: class
recover:
  - id: unlock
    gate: terraform/force-unlock
    with: {lock_id: "${facts.lock.id}"}
  - id: forget
    gate: terraform/state-rm
    with: {addresses: ["a.b"]}
  - id: plan
    uses: terraform/saved-plan
  - id: apply
    gate: terraform/apply-plan
    with: {plan: "${facts.plan.file}", digest: "${facts.plan.digest}"}
    require:
      - {when: facts.lock.own, else: it is not ours}
verify:
  - id: gone
    watch: terraform/lock
    when: '!facts.gone.held'
    findings:
      - {when: facts.gone.held, level: critical, say: held again}
`

func opposedBook(level, against, speaks string) string {
	out := strings.NewReplacer("LEVEL", level, "AGAINST", against, "SPEAKS", speaks).Replace(opposed)
	return strings.ReplaceAll(strings.ReplaceAll(out, "\n    \n", "\n"), "\n        \n", "\n")
}

func TestWhatAFindingSpeaksAgainst(t *testing.T) {
	t.Parallel()
	held := Vars{Facts: map[string]map[string]steps.Value{"lock": {"held": steps.BoolOf(true)}, "gone": {"held": steps.BoolOf(true)}}}
	both := []string{"sample/forget", "sample/apply"}
	for name, tc := range map[string]struct {
		level, against, speaks string
		finding, kind          []string
	}{
		"a critical one, unsaid":     {level: "critical", finding: both, kind: []string{"sample/apply"}},
		"a warning, unsaid":          {level: "warning", kind: []string{"sample/apply"}},
		"named":                      {level: "critical", speaks: "against: [unlock]", finding: []string{"sample/unlock"}, kind: []string{"sample/apply"}},
		"a warning that is named":    {level: "warning", speaks: "against: [apply]", finding: []string{"sample/apply"}, kind: []string{"sample/apply"}},
		"none":                       {level: "critical", speaks: "against: []", kind: []string{"sample/apply"}},
		"of the kind, named":         {level: "critical", against: "against: [forget]", finding: both, kind: []string{"sample/forget"}},
		"of the kind, none":          {level: "critical", against: "against: []", finding: both},
		"against closing, by itself": {level: "critical", speaks: "against: [close]", finding: []string{triage.Closing}, kind: []string{"sample/apply"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := mustParse(t, opposedBook(tc.level, tc.against, tc.speaks))
			got := b.Findings("lock", held)
			if len(got) != 1 || !slices.Equal(got[0].Against, tc.finding) || got[0].Unsure {
				t.Errorf("Findings = %+v, want against %v", got, tc.finding)
			}
			if got := b.Opposes("lock"); !slices.Equal(got, tc.kind) {
				t.Errorf("Opposes = %v, want %v", got, tc.kind)
			}
			if unsure := b.Findings("lock", Vars{}); len(unsure) != 1 || !unsure[0].Unsure || unsure[0].Level == steps.Critical || !slices.Equal(unsure[0].Against, tc.finding) {
				t.Errorf("of nothing read: %+v", unsure)
			}
			if got := b.Findings("gone", held); !slices.Equal(got[0].Against, []string{triage.Closing}) || !slices.Equal(b.Opposes("gone"), []string{triage.Closing}) {
				t.Errorf("in verify: %+v", got)
			}
		})
	}
	for _, bad := range []string{"against: [unluck]", "against: [lock]", "against: unlock", "against: ['']"} {
		if _, err := Parse("f", []byte(opposedBook("critical", "", bad)), catalog.New()); err == nil {
			t.Errorf("%s loads", bad)
		}
		if _, err := Parse("f", []byte(opposedBook("critical", bad, "")), catalog.New()); err == nil {
			t.Errorf("%s loads at a step", bad)
		}
	}
}

// TestLibrarySaysWhatItsFindingsSpeakAgainst: where a gate stands, each critical
// finding before it names the gates, so that none shuts one by accident.
func TestLibrarySaysWhatItsFindingsSpeakAgainst(t *testing.T) {
	t.Parallel()
	lib, err := theLibrary()
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range lib {
		if len(b.gatesOf(func(*Step) bool { return true })) == 0 {
			continue
		}
		for _, s := range b.Steps {
			for i, f := range s.findings {
				if f.level == steps.Critical && f.against == nil && s.Phase != triage.Verify {
					t.Errorf("%s: critical finding %d of %s names no gates", b.ID, i+1, s.ID)
				}
			}
		}
	}
}

// TestStateShutsLateDestroy: from a state that is not sound no plan is applied, however
// little it destroys: an empty one would create all that is there.
func TestStateShutsLateDestroy(t *testing.T) {
	t.Parallel()
	b := named(t, "late-destroy")
	for _, condition := range []string{"empty", "truncated", "zero-bytes", "duplicate-instance"} {
		fs := b.Findings("state", Vars{Facts: map[string]map[string]steps.Value{"state": {"condition": steps.EnumOf(condition), "tainted": steps.IntOf(0)}}})
		if len(fs) != 1 || !slices.Equal(fs[0].Against, []string{"late-destroy/apply"}) {
			t.Errorf("%s: %+v", condition, fs)
		}
	}
}

// TestFindingNamesTheAnswersThatItDoubts: a side that is not what tokens are signed with is asked for again.
func TestFindingNamesTheAnswersThatItDoubts(t *testing.T) {
	t.Parallel()
	b := named(t, "split-hotfix")
	fs := b.Findings("now", Vars{Facts: map[string]map[string]steps.Value{"now": {"against_signed": steps.StringsOf([]string{"HS256 was chosen"}), "git_stale": steps.StringsOf(nil), "running": steps.TableOf(nil)}}})
	if len(fs) != 1 || !slices.Equal(fs[0].Doubts, []string{"split-hotfix/alg", "split-hotfix/kid"}) {
		t.Errorf("%+v", fs)
	}
}

// TestBehind names the parameters that a gate would have another value of, and no fact.
func TestBehind(t *testing.T) {
	t.Parallel()
	b := named(t, "hardening-cascade")
	for _, tc := range []struct {
		step, argument string
		want           []string
	}{
		{"way_out", "patch", []string{"policy_patch"}},
		{"rebind", "patch", []string{"role", "role_kind"}},
		{"way_out", "uid", nil},
		{"way_out", "nothing", nil},
		{"nowhere", "patch", nil},
	} {
		if got := b.Behind(tc.step, tc.argument); !slices.Equal(got, tc.want) {
			t.Errorf("%s %s: %q, want %q", tc.step, tc.argument, got, tc.want)
		}
	}
}

func named(t *testing.T, id string) *Runbook {
	t.Helper()
	lib, err := theLibrary()
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range lib {
		if b.ID == id {
			return b
		}
	}
	t.Fatalf("no runbook %s", id)
	return nil
}
