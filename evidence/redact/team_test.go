package redact

import (
	"strings"
	"testing"
)

func TestTeamRules(t *testing.T) {
	t.Parallel()
	for name, rule := range map[string]TeamRule{
		"kind": {"Acme Key", "acme_", `acme_[a-z]+`}, "short literal": {"acme", "ac", `ac[a-z]+`}, "not RE2": {"acme", "acme_", `acme_(?=x)`},
		"other beginning": {"acme", "acme_", `[a-z]+acme_`}, "two groups": {"acme", "acme_", `acme_(a)(b)`}, "over lines": {"acme", "acme_", `(?s)acme_.*`},
		"no secret": {"acme", "acme_", `acme_`}, "huge repeat": {"acme", "acme_", `acme_(?:[a-z]{900}){900}`},
	} {
		if err := rule.Check(); err == nil {
			t.Errorf("%s: %+v is taken", name, rule)
		}
	}
	rules := []TeamRule{{"acme", "acme_", `(?i)acme_[a-z]{10,}`}, {"badge", "badge no ", `badge no ([0-9]{4,})`}}
	r := testRedactor(rules...)
	if got := r.Text("ACME_abcdefghijklm, badge no 123456!"); !strings.Contains(got, "<redacted:acme:") || !strings.Contains(got, "badge no <redacted:badge:") {
		t.Errorf("team rules give %q", got)
	}
	if a, b := testRedactor().rules.digest, r.rules.digest; a == b {
		t.Error("the digest does not cover the team's rules")
	}
}
