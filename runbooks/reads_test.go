package runbooks

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"handrail/steps"
	"handrail/steps/catalog"
	"handrail/triage"
)

// TestEveryReadingIsRead: each probe of each runbook that comes with the program is made for
// something: another step or what comes next stands on what it reads, what it finds keeps a
// gate or the close shut, it is evidence that preserve is to keep, or it is drawn. And after
// the evidence is kept the loop comes to each: it is required, something stands on it, or it
// says when it is made.
func TestEveryReadingIsRead(t *testing.T) {
	t.Parallel()
	cat := catalog.New()
	for _, b := range compiledLibrary(t) {
		for i := range b.Steps {
			s := &b.Steps[i]
			if s.Kind == triage.ProbeStep && !b.isRead(s, cat) {
				t.Errorf("%s:%d: %s reads %s, and nothing stands on it", b.File, s.Line, s.ID, s.Uses)
			}
			if (s.Kind == triage.ProbeStep || s.Kind == triage.WatchStep && s.Phase != triage.Verify) && !b.isReached(s) {
				t.Errorf("%s:%d: no walk reads %s: nothing that decides stands on it", b.File, s.Line, s.ID)
			}
		}
	}
	for name, tc := range map[string]struct {
		says          string
		read, reached bool
	}{
		"it only tells of itself":     {"findings: [{when: facts.idle.exists, level: warning, say: it exists}]", false, false},
		"its finding shuts a gate":    {"findings: [{when: facts.idle.exists, level: critical, against: [unlock], say: it exists}]", true, false},
		"it says when it is made":     {"when: facts.lock.held, findings: [{when: facts.idle.exists, level: critical, against: [unlock], say: it exists}]", true, true},
		"it shuts nothing by its own": {"required: true, findings: [{when: facts.idle.exists, level: critical, against: [], say: it exists}]", false, true},
	} {
		b, err := Parse("f", []byte(head+strings.Replace(gated, "verify:\n", "  - {id: idle, uses: terraform/state, "+tc.says+"}\nverify:\n", 1)), cat)
		if err == nil {
			err = b.Check()
		}
		if err != nil {
			t.Fatal(err)
		}
		s := b.step("idle")
		if read, reached := b.isRead(s, cat), b.isReached(s); read != tc.read || reached != tc.reached {
			t.Errorf("%s: read is %t and reached %t, want %t and %t", name, read, reached, tc.read, tc.reached)
		}
	}
}

// isRead says whether something stands on what a probe reads.
func (r *Runbook) isRead(s *Step, cat steps.Catalog) bool {
	if k, _ := cat.Lookup(s.Uses); k.Drawing != nil || s.Phase == triage.Preserve && len(s.Covers) > 0 {
		return true
	}
	own := map[*expr]bool{}
	for _, f := range s.findings {
		if f.level == steps.Critical && len(r.opposes(s, f)) > 0 {
			return true
		}
		own[f.when] = true
		for _, p := range f.say.parts {
			own[p.expr] = true
		}
	}
	return slices.ContainsFunc(r.exprs, func(e *expr) bool {
		return !own[e] && slices.ContainsFunc(e.refs, func(ref string) bool { return strings.HasPrefix(ref, "facts."+s.ID+".") })
	})
}

// isReached says whether a walk comes to a probe by itself.
func (r *Runbook) isReached(s *Step) bool {
	if s.Required || s.Kind == triage.ProbeStep && s.when != nil || s.Phase == triage.Preserve || s.Phase == triage.Locate {
		return true
	}
	return slices.ContainsFunc(r.Steps, func(o Step) bool { return o.ID != s.ID && slices.Contains(r.refs(&o), r.full(s.ID)) })
}

func compiledLibrary(t *testing.T) []*Runbook {
	t.Helper()
	lib, err := theLibrary()
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range lib {
		if err := b.Check(); err != nil {
			t.Fatal(err)
		}
	}
	return lib
}

// moduleOf is the directory and the workspace that a step plans.
func moduleOf(s Step) string {
	var out []string
	for _, a := range s.with {
		if a.field.Name == "dir" || a.field.Name == "workspace" {
			out = append(out, a.field.Name+"="+a.value[0].written())
		}
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

// narrow reports whether a parameter makes a plan read few objects, or none but the record.
func narrow(a argument) bool {
	return a.field.Name == "targets" || a.field.Name == "refresh" && a.value[0].written() == "false"
}

// TestNoPlanTwice: a plan reads every object of a module. Between two of a walk something
// changes, by a gate or by a commit (E2), so that the second can say something else.
func TestNoPlanTwice(t *testing.T) {
	t.Parallel()
	for _, b := range compiledLibrary(t) {
		last, of := "", ""
		for _, s := range b.Steps {
			switch {
			case s.Kind == triage.GateStep && s.Class != triage.Contain && s.Uses != "terraform/resume",
				s.Kind == triage.ManualStep && s.Phase == triage.Recover && slices.Contains(s.Covers, "E2"):
				last = ""
			case s.Uses != "terraform/plan" && s.Uses != "terraform/saved-plan" || slices.ContainsFunc(s.with, narrow):
			case last != "" && of == moduleOf(s): // another environment is another plan
				t.Errorf("%s:%d: %s makes the plan that %s made: nothing between them changes anything", b.File, s.Line, s.ID, last)
			default:
				last, of = s.ID, moduleOf(s)
			}
		}
	}
}

// TestNoWatchTwice: where something is looked at twice, half a minute apart, until it is
// settled, it is not watched for the same a second time.
func TestNoWatchTwice(t *testing.T) {
	t.Parallel()
	for _, b := range compiledLibrary(t) {
		by := map[string]string{}
		for _, s := range b.Steps {
			if s.Kind != triage.WatchStep || s.Greens < 2 {
				continue
			}
			if other, ok := by[s.Uses]; ok {
				t.Errorf("%s:%d: %s and %s both watch by %s", b.File, s.Line, other, s.ID, s.Uses)
			}
			by[s.Uses] = s.ID
		}
	}
}

// TestListsHaveAnOrder: what is kept is worked out anew by an audit. The keys of a table come
// in any order, so a list made of them would not be the same twice.
func TestListsHaveAnOrder(t *testing.T) {
	t.Parallel()
	over := regexp.MustCompile(`((?:facts|params)\.[a-z0-9_.]+)\.(?:filter|map)\(`)
	for _, b := range compiledLibrary(t) {
		for _, e := range b.exprs {
			for _, m := range over.FindAllStringSubmatch(e.src, -1) {
				if b.scope.vars[m[1]].field.Type == steps.Table && !strings.Contains(e.src, ".size()") {
					t.Errorf("%s:%d: %s makes a list of the keys of a table", b.File, e.node.Line, e.src)
				}
			}
		}
	}
}
