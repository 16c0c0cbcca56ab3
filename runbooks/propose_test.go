package runbooks

import (
	"strings"
	"testing"

	"handrail/steps"
	"handrail/steps/catalog"
	"handrail/triage"
)

// TestAnswersAreProposed: an answer is proposed only from what was read, and the case
// that cannot be told keeps those after it from being proposed.
func TestAnswersAreProposed(t *testing.T) {
	t.Parallel()
	rb := bookOf(t, "state-lock")
	facts := func(here, alive, orphans string) Vars {
		set := func(ty steps.Type, s string) steps.Value {
			if s == "" {
				return steps.Unknown(ty, "not read")
			}
			v, err := steps.ParseValue(ty, s)
			if err != nil {
				t.Fatal(err)
			}
			return v
		}
		return Vars{Facts: map[string]map[string]steps.Value{"process": {
			"here": set(steps.Bool, here), "alive": set(steps.Enum, alive), "orphans": set(steps.Int, orphans), "pids": set(steps.String, "17"),
		}}}
	}
	for _, tc := range []struct{ here, alive, orphans, want string }{
		{"true", "dead", "0", "dead"},
		{"true", "alive", "0", "alive"},
		{"true", "dead", "2", "alive"},
		{"true", "dead", "", triage.Unknown},
		{"false", "", "", triage.Unknown},
		{"", "", "", triage.Unknown},
	} {
		got, _, say := rb.ProposeAnswer("holder", facts(tc.here, tc.alive, tc.orphans))
		if got != tc.want {
			t.Errorf("here %q, alive %q, %q orphans: %s (%s), want %s", tc.here, tc.alive, tc.orphans, got, say, tc.want)
		}
	}
	if got, _, _ := rb.ProposeAnswer("events", facts("true", "dead", "0")); got != "" {
		t.Errorf("a question without proposals proposes %q", got)
	}
}

// TestProposalsAreRead: a proposal names an answer of its question, what must hold and
// the words that are recorded.
func TestProposalsAreRead(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"{when: 'true', is: maybe, say: x}":   "is cannot be",
		"{is: dead, say: x}":                  `needs the keys "when", "is" and "say"`,
		"{when: 'true', is: dead}":            `needs the keys "when", "is" and "say"`,
		"{when: 'true', is: unknown, say: x}": "is cannot be",
	} {
		_, err := Parse("f", []byte(head+"mutation:\n  - id: a\n    ask: x?\n    answers: {dead: gone}\n    propose: ["+text+"]\n"), catalog.New())
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}
