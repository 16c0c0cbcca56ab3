package order

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"handrail/steps"
)

func made(t *testing.T, faults []string, also ...string) Plan {
	t.Helper()
	var edges []Edge
	for _, text := range also {
		e, err := ParseEdge(text)
		if err != nil {
			t.Fatal(err)
		}
		edges = append(edges, e)
	}
	p, err := Make(faults, edges, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestTable: every edge is between faults that are known, has a reason, and the
// table by itself goes round nowhere.
func TestTable(t *testing.T) {
	t.Parallel()
	var names []string
	for _, f := range Known() {
		if slices.Contains(names, f.Name) || f.What == "" || !nameText.MatchString(f.Name) {
			t.Errorf("%+v", f)
		}
		names = append(names, f.Name)
	}
	seen := map[[2]string]bool{}
	for _, e := range Table() {
		if !slices.Contains(names, e.Before) || !slices.Contains(names, e.After) || e.Before == e.After || e.Why == "" || seen[[2]string{e.Before, e.After}] {
			t.Errorf("%+v", e)
		}
		seen[[2]string{e.Before, e.After}] = true
	}
	p := made(t, names)
	if len(p.Cycles) > 0 || len(p.Against) > 0 {
		t.Errorf("cycles %v, against %v", p.Cycles, p.Against)
	}
}

// TestHardening: eight faults of one hardening pass, told in any order.
func TestHardening(t *testing.T) {
	t.Parallel()
	want := []string{"quota", "rbac", "pvc", "egress_dns", "egress_db", "lock", "orphan_hook", "script", "migration", "schema", "init", "reconciler"}
	told := slices.Clone(want)
	slices.Reverse(told)
	p := made(t, told)
	if d := cmp.Diff(want, p.Order); d != "" {
		t.Error(d)
	}
	if got := p.Blockers("migration"); !slices.Equal(got, []string{"quota", "rbac", "pvc", "egress_dns", "egress_db", "lock", "script"}) {
		t.Errorf("migration waits for %q", got)
	}
	if got := p.Blockers("quota"); len(got) != 0 {
		t.Errorf("quota waits for %q", got)
	}
}

func TestCycle(t *testing.T) {
	t.Parallel()
	p := made(t, []string{"init", "webhook", "quota"}, "quota before  webhook because its Pods are refused")
	if d := cmp.Diff([][]string{{"webhook", "quota"}}, p.Cycles); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"webhook", "quota", "init"}, p.Order); d != "" {
		t.Error(d)
	}
	if len(p.Against) != 1 || p.Against[0].Before != "quota" || !p.Against[0].Own {
		t.Errorf("against %v", p.Against)
	}
	for _, bad := range []string{"", "quota before quota because x", "quota webhook", "Quota before webhook because x", "a before b because "} {
		if _, err := ParseEdge(bad); err == nil {
			t.Errorf("%q was read", bad)
		}
	}
}

func TestChoice(t *testing.T) {
	t.Parallel()
	faults := []string{"quota", "migration", "schema"}
	p, err := Make(faults, nil, "schema", nil)
	if err != nil || !slices.Equal(p.Order, []string{"schema", "quota", "migration"}) || !slices.Equal(p.Proposed, faults) || len(p.Against) != 1 {
		t.Errorf("%+v %v", p, err)
	}
	p, err = Make(faults, nil, "", []string{"migration", "quota", "schema"})
	if err != nil || len(p.Against) != 1 || p.Against[0].After != "migration" {
		t.Errorf("%+v %v", p, err)
	}
	for name, try := range map[string]func() (Plan, error){
		"nothing":      func() (Plan, error) { return Make(nil, nil, "", nil) },
		"no name":      func() (Plan, error) { return Make([]string{"a b"}, nil, "", nil) },
		"one missing":  func() (Plan, error) { return Make(faults, nil, "", faults[:2]) },
		"one twice":    func() (Plan, error) { return Make(faults, nil, "", []string{"quota", "quota", "schema"}) },
		"first absent": func() (Plan, error) { return Make(faults, nil, "rbac", nil) },
	} {
		if p, err := try(); err == nil {
			t.Errorf("%s: %+v", name, p)
		}
	}
	if p := made(t, []string{"gremlins", "quota", "quota"}); !slices.Equal(p.Strange, []string{"gremlins"}) || !slices.Equal(p.Order, []string{"quota", "gremlins"}) {
		t.Errorf("%+v", p)
	}
}

func TestDraw(t *testing.T) {
	t.Parallel()
	p := made(t, []string{"quota", "rbac", "pvc", "egress_dns", "migration", "schema", "init"})
	for name, tc := range map[string]struct {
		states map[string]string
		ascii  bool
		want   string
	}{
		"as it was found": {nil, false, `
┌──── 1 quota       a quota refuses Pods
├──── 2 rbac        an account lacks a right
├──── 3 pvc         a claim is not bound
├──── 4 egress_dns  policies block DNS
└─┬─▶ 5 migration   a migration is not complete
┌─┴─▶ 6 schema      the declared schema is not the one that is there
└───▶ 7 init        an init container does not get through
`},
		"as it stands, without Unicode": {map[string]string{"quota": steps.NodeDone, "egress_dns": steps.NodeUnsure}, true, `
.---- 1 quota       done     a quota refuses Pods
+---- 2 rbac                 an account lacks a right
+---- 3 pvc                  a claim is not bound
+---- 4 egress_dns  unknown  policies block DNS
'-.-> 5 migration            a migration is not complete
.-+-> 6 schema               the declared schema is not the one that is there
'---> 7 init                 an init container does not get through
`},
	} {
		got := Lines(p.Graph(tc.states), tc.ascii)
		if d := cmp.Diff(strings.Split(strings.Trim(tc.want, "\n"), "\n"), got); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
	chosen, err := Make([]string{"quota", "schema"}, nil, "schema", nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := Lines(chosen.Graph(nil), false); !strings.Contains(got[0], "schema  was 2  the declared") {
		t.Errorf("a changed order: %q", got)
	}
}

// TestReasons: what one fault holds up for one reason is one line.
func TestReasons(t *testing.T) {
	t.Parallel()
	want := []string{
		"quota before migration, init: the Pods that the repair needs are not made until then",
		"quota before schema: so says the team (added by the team)",
		"migration before schema: what is declared is read off what is there afterwards, never off what was meant",
		"schema before init: the init container compares it and does not let go",
	}
	if d := cmp.Diff(want, made(t, []string{"init", "quota", "schema", "migration"}, "quota before schema because so says the team").Reasons()); d != "" {
		t.Error(d)
	}
}

// TestOrderKeepsEdges: whatever faults are told in whatever order, each stands
// there once and after what it waits for; the order does not depend on the
// telling; only a cycle may be gone against, and then it is named.
func TestOrderKeepsEdges(t *testing.T) {
	t.Parallel()
	var names []string
	for _, f := range Known() {
		names = append(names, f.Name)
	}
	rapid.Check(t, func(t *rapid.T) {
		faults := rapid.SliceOfNDistinct(rapid.SampledFrom(names), 1, 12, rapid.ID).Draw(t, "faults")
		var also []Edge
		for range rapid.IntRange(0, 3).Draw(t, "own edges") {
			e := Edge{Before: rapid.SampledFrom(faults).Draw(t, "before"), After: rapid.SampledFrom(faults).Draw(t, "after"), Why: "so", Own: true}
			if e.Before != e.After {
				also = append(also, e)
			}
		}
		p, err := Make(faults, also, "", nil)
		if err != nil {
			t.Fatal(err)
		}
		if a, b := slices.Sorted(slices.Values(p.Order)), slices.Sorted(slices.Values(faults)); !slices.Equal(a, b) {
			t.Fatalf("%q of %q", p.Order, faults)
		}
		if len(p.Against) > 0 != (len(p.Cycles) > 0) {
			t.Fatalf("against %v, cycles %v", p.Against, p.Cycles)
		}
		for _, c := range p.Cycles {
			for i, f := range c {
				next := c[(i+1)%len(c)]
				if !slices.ContainsFunc(p.Edges, func(e Edge) bool { return e.Before == f && e.After == next }) {
					t.Fatalf("cycle %q is none: %s is not before %s", c, f, next)
				}
			}
		}
		again, err := Make(rapid.Permutation(faults).Draw(t, "told"), also, "", nil)
		if err != nil || !slices.Equal(again.Order, p.Order) {
			t.Fatalf("%q and %q", p.Order, again.Order)
		}
		for _, ascii := range []bool{false, true} {
			if got := Lines(p.Graph(nil), ascii); len(got) != len(p.Order) {
				t.Fatalf("%d lines for %d faults", len(got), len(p.Order))
			}
		}
	})
}

// TestDocument: the page for operators has every fault and every edge.
func TestDocument(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("../../../docs/repair-order.md")
	if err != nil {
		t.Fatal(err)
	}
	page := strings.Join(strings.Fields(string(raw)), " ")
	for _, f := range Known() {
		if !strings.Contains(page, "| "+f.Name+" | "+f.What+" |") {
			t.Errorf("docs/repair-order.md lacks the row of %s", f.Name)
		}
	}
	for _, row := range Rows() {
		if !strings.Contains(page, strings.Join(strings.Fields(row), " ")) {
			t.Errorf("docs/repair-order.md lacks:\n%s", row)
		}
	}
}
