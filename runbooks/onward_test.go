package runbooks

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"handrail/steps"
)

// TestEveryRunbookThatIsNamedIsOffered: where the text of a runbook sends a person to
// another one, the way there is one of its links, with what was found carried along.
func TestEveryRunbookThatIsNamedIsOffered(t *testing.T) {
	t.Parallel()
	all, err := theLibrary()
	if err != nil {
		t.Fatal(err)
	}
	domains := regexp.MustCompile(`(?m)^ *(?:domain|is): \S+$`) // one of them is called as its runbook is
	for _, rb := range all {
		body, _, _ := strings.Cut(string(rb.Source), "\nnext:")
		body = domains.ReplaceAllString(body, "")
		for _, other := range all {
			named := regexp.MustCompile(`(^|[^\w./-])` + regexp.QuoteMeta(other.ID) + `($|[^\w-])`)
			linked := slices.ContainsFunc(rb.next, func(l nextCase) bool { return l.runbook == other.ID })
			if other.ID != rb.ID && named.MatchString(body) && !linked {
				t.Errorf("%s names %s and offers no way there", rb.ID, other.ID)
			}
		}
	}
}

// TestPartialApplyLeadsOn: what would be destroyed leads to late-destroy, although the
// other reading that the link looks at is not known.
func TestPartialApplyLeadsOn(t *testing.T) {
	t.Parallel()
	all, err := theLibrary()
	if err != nil {
		t.Fatal(err)
	}
	rb := all[slices.IndexFunc(all, func(r *Runbook) bool { return r.ID == "partial-apply" })]
	v := Vars{Params: steps.Params{"dir": steps.PathOf("envs/prod"), "log": steps.PathOf("run.log")},
		Facts: map[string]map[string]steps.Value{"left": {"doomed": steps.TableOf(map[string]string{"a.b": "delete"})}}}
	next := rb.Next(v)
	if len(next) != 1 || next[0].Runbook != "late-destroy" || next[0].With["dir"] != "envs/prod" || next[0].With["log"] != "run.log" {
		t.Errorf("Next() = %+v", next)
	}
	v.Facts["left"]["doomed"] = steps.TableOf(nil)
	if next := rb.Next(v); len(next) != 0 {
		t.Errorf("Next() of nothing to destroy = %+v", next)
	}
}
