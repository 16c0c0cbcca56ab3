package triage

import (
	"strings"
	"testing"
)

// TestBeforeActAsksAllThatTheGateAsked: of the state before an act the laws say
// what they said when it was recorded, and what was learned since counts.
func TestBeforeActAsksAllThatTheGateAsked(t *testing.T) {
	t.Parallel()
	good := func(string) []Verdict { return good("ok") }
	ask := func(s State, step string) string {
		b := s.BeforeAct()
		if b.Gates[step].Phase != GateConfirmed || b.Acting != "" {
			t.Errorf("gate = %s, acting %q, want it confirmed", b.Gates[step].Phase, b.Acting)
		}
		r := Check(b, Intent{Kind: DoPreview, Step: step}, s.Updated, good)
		if r == nil {
			return ""
		}
		return r.Error()
	}
	for name, tc := range map[string]struct {
		since []Body
		want  string // "" for nothing
	}{
		"nothing":             {nil, ""},
		"a note":              {[]Body{Note{Text: "still waiting"}}, ""},
		"no commander":        {[]Body{SeveritySet{Level: Sev1, Why: "customers see it"}}, "commander"},
		"a commander as well": {[]Body{SeveritySet{Level: Sev1, Why: "customers see it"}, Person{ID: "ann", Name: "ann", Proof: "claimed", Roles: []string{"commander"}}}, ""},
		"class unknown":       {[]Body{Conclude{Topic: TopicClass, Value: Unknown, Why: "it was another"}}, "not classified"},
		"mutation unknown":    {[]Body{concluded(TopicMutation, Unknown)}, "unknown is not no"},
		"something reverts":   {[]Body{concluded(TopicReverts, "yes")}, "reverts every fix"},
		"capture read anew":   {[]Body{ProbeStart{Step: lock, N: 2}, read(lock, 2, "failed", "true")}, "could not be read"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := tell(t, State{}, ready()...)
			s = tell(t, s, shown(fix, Repair), answered(fix))
			before := s
			s = tell(t, s, start(fix))
			if got := ask(s, fix); got != "" {
				t.Fatalf("the act that just began is refused: %s", got)
			}
			if Digest(before) == Digest(s) || s.Acting != fix {
				t.Fatal("it did not begin")
			}
			kept := Digest(s)
			s2 := tell(t, s, tc.since...)
			if got := ask(s2, fix); (got != "") != (tc.want != "") || !strings.Contains(got, tc.want) {
				t.Errorf("Check() = %q, want %q", got, tc.want)
			}
			if Digest(s) != kept {
				t.Error("asking changed the state")
			}
		})
	}
	if s := (State{}).BeforeAct(); s.Acting != "" {
		t.Error("a state without an act is another one")
	}
}
