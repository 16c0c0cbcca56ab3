package runbooks

import (
	"strings"
	"testing"
	"time"

	"handrail/steps"
	"handrail/steps/catalog"
)

func shows(list string) string {
	return head + `preserve:
  - {id: lock, uses: terraform/lock}
mutation:
  - id: holder
    ask: Who holds it?
    show: ` + list + `
    answers: {dead: nobody}
`
}

// TestShowIsLabelled: a value is put before the person by its label, else by its
// own name, and by that also while it is unknown.
func TestShowIsLabelled(t *testing.T) {
	t.Parallel()
	b := mustParse(t, shows("[facts.lock.who, {held for: facts.lock.age}]"))
	v := Vars{Facts: map[string]map[string]steps.Value{"lock": lockFacts(true, time.Hour)}}
	got := b.Say("holder", v).Show
	if len(got) != 2 || got[0].Name != "facts.lock.who" || got[0].Value != "ci@runner" || got[1].Name != "held for" || got[1].Expr != "facts.lock.age" || !got[1].Known {
		t.Errorf("Say() shows %+v", got)
	}
	got = b.Say("holder", Vars{}).Show
	if len(got) != 2 || got[1].Name != "held for" || got[1].Known || got[1].Why == "" {
		t.Errorf("before it is read Say() shows %+v, want it unknown with its reason", got)
	}
}

func TestShowIsRefused(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ list, want string }{
		{"[{held for: facts.lock.age, by: facts.lock.who}]", "a label of what is shown has letters"},
		{"[{'held|for': facts.lock.age}]", "a label of what is shown has letters"},
		{"[{" + strings.Repeat("a", 49) + ": facts.lock.age}]", "at most 48"},
		{"[{held for: facts.lock.nothing}]", "nothing"},
		{"[{held for: [facts.lock.age]}]", "show"},
	} {
		if _, err := Parse("f", []byte(shows(tc.list)), catalog.New()); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, want %q", tc.list, err, tc.want)
		}
	}
}
