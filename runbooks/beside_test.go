package runbooks

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"handrail/steps"
	"handrail/steps/catalog"
	"handrail/triage"
)

// TestProposalStandsBesideItsComparison: over random facts no runbook proposes that
// the states agree while a comparison of the same facts differs or is unknown, but
// for fields that the case names, and each such case can still be reached.
func TestProposalStandsBesideItsComparison(t *testing.T) {
	t.Parallel()
	lib, err := theLibrary()
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range lib {
		t.Run(b.ID, func(t *testing.T) {
			t.Parallel()
			_ = b.Check()
			i := slices.IndexFunc(b.Steps, func(s Step) bool { return s.Topic == triage.TopicConsistent })
			var but []string
			says := false
			for _, c := range b.Steps[i].cases {
				but, says = append(but, c.despite...), says || c.is == "yes"
			}
			draw := rand.New(rand.NewPCG(1, uint64(len(b.ID))))
			yes, tries := 0, 500
			if says {
				tries = 20000
			}
			for range tries {
				v := anyVars(b, draw)
				if is, _, _ := b.Propose(triage.TopicConsistent, v); is != "yes" {
					continue
				}
				yes++
				if differ, unread := b.disagreeing(but, v); len(differ)+len(unread) > 0 {
					t.Fatalf("yes beside %v %v", differ, unread)
				}
				if yes > 20 {
					break
				}
			}
			if says != (yes > 0) {
				t.Errorf("proposed yes %d times, and it has such a case: %v", yes, says)
			}
		})
	}
}

// anyVars draws what the conclusion and the comparisons of a runbook look at, from so
// few values that they often meet. One in eight is unknown.
func anyVars(b *Runbook, draw *rand.Rand) Vars {
	v := Vars{Params: steps.Params{}, Facts: map[string]map[string]steps.Value{}, Answers: map[string]string{}}
	for _, name := range lookedAt(b) {
		x := b.scope.vars[name]
		switch {
		case x.step == "":
			v.Params[x.field.Name] = anyValue(x.field, draw)
		case strings.HasPrefix(name, "answers."):
			v.Answers[x.step] = append(slices.Clone(x.field.Values), triage.Unknown)[draw.IntN(len(x.field.Values)+1)]
		default:
			if v.Facts[x.step] == nil {
				v.Facts[x.step] = map[string]steps.Value{}
			}
			if draw.IntN(8) > 0 {
				v.Facts[x.step][x.field.Name] = anyValue(x.field, draw)
			}
		}
	}
	return v
}

func lookedAt(b *Runbook) []string {
	var exprs []*expr
	for _, s := range b.Steps {
		if s.Topic == triage.TopicConsistent {
			for _, c := range s.cases {
				exprs = append(exprs, c.when)
			}
		}
		for _, row := range s.rows {
			for _, c := range row.cells {
				exprs = append(exprs, c.expr)
			}
		}
	}
	var out []string
	for _, e := range exprs {
		if e != nil {
			out = append(out, e.refs...)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func anyValue(f steps.Field, draw *rand.Rand) steps.Value {
	text := []string{"", "a"}[draw.IntN(2)]
	switch f.Type {
	case steps.Bool:
		return steps.BoolOf(draw.IntN(2) == 0)
	case steps.Int:
		return steps.IntOf(int64(draw.IntN(2)))
	case steps.Enum:
		return steps.EnumOf(f.Values[draw.IntN(len(f.Values))])
	case steps.Duration:
		return steps.DurationOf(time.Duration(draw.IntN(2)) * time.Hour)
	case steps.Time:
		return steps.TimeOf(time.Unix(int64(draw.IntN(2)), 0))
	case steps.Strings:
		return steps.StringsOf([][]string{nil, {"a"}, {"a", "b"}}[draw.IntN(3)])
	case steps.Table:
		return steps.TableOf([]map[string]string{nil, {"a": text}}[draw.IntN(2)])
	case steps.Ident:
		return steps.IdentOf(text)
	case steps.Path:
		return steps.PathOf(text)
	}
	return steps.StringOf(text)
}

// TestOneAnswerDoesNotOutweighTheRecord: that every address was looked up says
// nothing of what the state records.
func TestOneAnswerDoesNotOutweighTheRecord(t *testing.T) {
	t.Parallel()
	b := bookOf(t, "partial-apply")
	list := func(of ...string) steps.Value { return steps.StringsOf(of) }
	vars := func(recorded, addresses steps.Value) Vars {
		return Vars{
			Params: steps.Params{"plan": steps.PathOf(""), "log": steps.PathOf("run.log")}, Answers: map[string]string{"looked": "none"},
			Facts: map[string]map[string]steps.Value{
				"log":       {"present_objects": list("x.a [id=1]", "x.b [id=2]", "x.c"), "destroyed_addresses": list("x.d")},
				"state":     {"objects": recorded, "addresses": addresses},
				"inventory": {"ghosts": list(), "strangers": steps.TableOf(nil), "recorded": steps.IntOf(2), "present": steps.IntOf(2)},
			},
		}
	}
	unread := steps.Unknown(steps.Strings, "encrypted")
	for name, tc := range map[string]struct {
		recorded, addresses steps.Value
		want                string
	}{
		"recorded":                     {list("x.a [id=1]", "x.b [id=2]", "x.c [id=3]"), list("x.a", "x.b", "x.c"), "yes"},
		"one is missing":               {list("x.a [id=1]", "x.c"), list("x.a", "x.c"), "no"},
		"a stale record":               {list("x.a [id=1]", "x.b [id=old]", "x.c"), list("x.a", "x.b", "x.c"), "no"},
		"destroyed and still recorded": {list("x.a [id=1]", "x.b [id=2]", "x.c", "x.d [id=4]"), list("x.a", "x.b", "x.c", "x.d"), "no"},
		"not readable":                 {unread, unread, triage.Unknown},
	} {
		got, grounds, say := b.Propose(triage.TopicConsistent, vars(tc.recorded, tc.addresses))
		if words := strings.Join(grounds, " ") + say; got != tc.want || tc.want != "yes" && !strings.Contains(words, "completed") && !strings.Contains(words, "destroyed") && !strings.Contains(words, "encrypted") {
			t.Errorf("%s: proposed %s on %v: %s", name, got, grounds, say)
		}
	}
}

func bookOf(t *testing.T, id string) *Runbook {
	t.Helper()
	lib, err := theLibrary()
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(lib, func(b *Runbook) bool { return b.ID == id })
	if i < 0 {
		t.Fatalf("no %s in the library", id)
	}
	return lib[i]
}

// TestBesideTheComparison: what a case proposes, held against each comparison.
func TestBesideTheComparison(t *testing.T) {
	t.Parallel()
	const sides = `preserve:
  - {id: lock, uses: terraform/lock}
  - {id: state, uses: terraform/state}
  - {id: log, uses: terraform/log, with: {file: x.log}}
compare:
  - id: sides
    compare: q
    rows:
      address: {actual: facts.state.addresses, desired: facts.log.completed_addresses}
  - id: held
    compare: q
    when: facts.lock.held
    rows:
      again: {actual: facts.state.addresses, recorded: facts.log.completed_addresses}
  - conclude: consistent
    cases:
      - {when: facts.lock.held, is: 'yes', say: s}
`
	b := mustParse(t, head+sides)
	vars := func(held bool, actual steps.Value) Vars {
		return Vars{Facts: map[string]map[string]steps.Value{"lock": lockFacts(held, time.Hour),
			"state": {"addresses": actual}, "log": {"completed_addresses": steps.StringsOf([]string{"a", "b"})}}}
	}
	same, other, unread := steps.StringsOf([]string{"a", "b"}), steps.StringsOf([]string{"a"}), steps.Unknown(steps.Strings, "encrypted")
	for _, tc := range []struct {
		name    string
		topic   triage.Topic
		is      string
		despite []string
		v       Vars
		want    string
		stands  int // grounds, beside the one of the case
		say     string
	}{
		{"all agree", triage.TopicConsistent, "yes", nil, vars(true, same), "yes", 0, "s"},
		{"both differ", triage.TopicConsistent, "yes", nil, vars(true, other), "no", 2, "The comparison differs: address: "},
		{"one does not apply", triage.TopicConsistent, "yes", nil, vars(false, other), "no", 1, "The comparison differs: address: "},
		{"the one that applies is named", triage.TopicConsistent, "yes", []string{"address"}, vars(false, other), "yes", 0, "s"},
		{"one of two is named", triage.TopicConsistent, "yes", []string{"address"}, vars(true, other), "no", 1, "The comparison differs: again: "},
		{"unread", triage.TopicConsistent, "yes", nil, vars(true, unread), triage.Unknown, 2, "not every source of the comparison could be read: address: unknown; again"},
		{"one unread", triage.TopicConsistent, "yes", nil, vars(false, unread), triage.Unknown, 1, "not every source of the comparison could be read: address: unknown"},
		{"unread, and named", triage.TopicConsistent, "yes", []string{"address", "again"}, vars(true, unread), "yes", 0, "s"},
		{"a no", triage.TopicConsistent, "no", nil, vars(true, other), "no", 0, "s"},
		{"unknown", triage.TopicConsistent, triage.Unknown, nil, vars(true, other), triage.Unknown, 0, "s"},
		{"of another topic", triage.TopicMutation, "yes", nil, vars(true, other), "yes", 0, "s"},
	} {
		i := slices.IndexFunc(b.Steps, func(s Step) bool { return s.Topic == triage.TopicConsistent })
		c := b.Steps[i].cases[0]
		c.is, c.despite = tc.is, tc.despite
		is, stands, say := b.beside(tc.topic, c, []string{"a case"}, tc.v)
		if is != tc.want || len(stands) != 1+tc.stands || stands[0] != "a case" || !strings.HasPrefix(say, tc.say) {
			t.Errorf("%s: %s on %q: %q, want %s", tc.name, is, stands, say, tc.want)
		}
	}
}

func TestDespiteIsLinted(t *testing.T) {
	t.Parallel()
	const sides = `compare:
  - id: sides
    compare: q
    rows: {held: {here: facts.lock.held, there: facts.lock.own}}
  - conclude: consistent
    cases:
      - {when: facts.lock.held, is: %is, despite: [%field], say: s}
`
	for name, tc := range map[string]struct{ is, field, want string }{
		"a field twice": {"'yes'", "held, holder", `no comparison before has a field "holder"`},
		"a field":       {"'yes'", "held", ""},
		"no such field": {"'yes'", "holder", `no comparison before has a field "holder"`},
		"not of them":   {"'yes'", "held", "only a case that says the states agree"},
		"not a yes":     {"'no'", "held", "only a case that says the states agree"},
	} {
		src := head + gated + strings.NewReplacer("%is", tc.is, "%field", tc.field).Replace(sides)
		if name == "not of them" {
			src = strings.Replace(src, "conclude: consistent", "conclude: mutation", 1)
		}
		got, err := Parse("f", []byte(src), catalog.New())
		if tc.want == "" && err == nil {
			for _, step := range got.Steps {
				if step.Topic == triage.TopicConsistent && !slices.Equal(step.cases[0].despite, []string{"held"}) {
					t.Errorf("despite = %q", step.cases[0].despite)
				}
			}
		}
		if tc.want == "" && err != nil || tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
