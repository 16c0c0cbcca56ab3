package writers

import (
	"errors"
	"fmt"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"handrail/steps"
	"handrail/steps/cluster"
)

func TestParseMayAccount(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"runner": "system:serviceaccount:shop:runner", "ci/runner": "system:serviceaccount:ci:runner", "serviceaccount/ci/runner": "system:serviceaccount:ci:runner",
		"system:serviceaccount:ci:runner": "system:serviceaccount:ci:runner", "user/alice": "alice", "user/system:serviceaccount:ci:runner": "system:serviceaccount:ci:runner",
	} {
		if got := parseMayAccount(text, "shop").user; got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
	if d := cmp.Diff([]string{"oncall", "system:authenticated"}, parseMayAccount("group/oncall", "shop").groups); d != "" {
		t.Error(d)
	}
}

// TestMayTells is every way in which the server, the roles and what could be read
// of them come together: where they do not agree it is said, and what is unknown
// is unknown.
func TestMayTells(t *testing.T) {
	t.Parallel()
	for _, allowed := range []bool{true, false} {
		for _, granted := range []bool{true, false} {
			for _, whole := range []bool{true, false} {
				for _, asked := range []bool{true, false} {
					r := &mayRun{facts: steps.NewFacts(mayFacts()), c: &cluster.Client{}}
					var err error
					if granted {
						r.grants = []string{"rolebinding/a/b to role/c"}
					}
					if !whole {
						r.unread = []string{"clusterroles: permission denied"}
					}
					if !asked {
						err = errors.New("no answer")
					}
					r.tell(allowed, granted, whole, "because", err)
					agree, told, f := r.facts.Got("agree"), r.facts.Got("allowed"), fmt.Sprintf("allowed %v, granted %v, whole %v, asked %v", allowed, granted, whole, asked)
					switch {
					case !asked && (agree.Known() || told.Known() && !granted):
						t.Errorf("%s: agree %s, allowed %s", f, spelt(agree), spelt(told))
					case !asked:
					case told.Bool() != allowed:
						t.Errorf("%s: allowed %s is not the word of the server", f, spelt(told))
					case agree.Known() && agree.Bool() != (allowed == granted):
						t.Errorf("%s: agree %s", f, spelt(agree))
					case agree.Known() && !agree.Bool() && len(r.Obs.Findings) == 0:
						t.Errorf("%s: nobody is told", f)
					case whole && !agree.Known():
						t.Errorf("%s: agree %s, with all read", f, spelt(agree))
					}
				}
			}
		}
	}
}

func spelt(v steps.Value) string {
	if !v.Known() {
		return fmt.Sprintf("unknown (%s)", v.Why())
	}
	return strconv.Quote(v.Text())
}
