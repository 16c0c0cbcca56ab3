package evidence

import (
	"context"
	"strings"
	"testing"
)

func TestLeaks(t *testing.T) {
	t.Parallel()
	b := create(t, testOptions(""))
	clean := putBlob(t, b, "text/plain", "password=hunter2hunter2 and ghp_16C7e42F292c6912E7710c838347Ae178B4a\n")
	late := putBlob(t, b, "text/plain", strings.Repeat("a line\n", 50_000)+"acme_abcdefghijklmnop and known-value-x\n")
	if _, err := b.Append(context.Background(), Draft{Type: "probe.end", Actor: "robin", Data: map[string]any{"outcome": "acme_abcdefghijklmnop"}, Blobs: []Blob{clean, late}}); err != nil {
		t.Fatal(err)
	}
	r, err := OpenReadOnly(b.Path())
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close() //nolint:errcheck // a test reads only
	if got, err := r.Leaks(nil, nil); err != nil || len(got) != 0 {
		t.Fatalf("Leaks with the rules it was written by = %+v, %v; want none", got, err)
	}
	got, err := r.Leaks([]string{"known-value-x"}, []TeamRule{{Kind: "acme", Literal: "acme_", Expr: `acme_[a-z]{10,}`}})
	if err != nil {
		t.Fatal(err)
	}
	want := map[Leak]bool{
		{Entry: 1, Offset: -1, Kind: "acme"}:                          true,
		{Entry: 1, Blob: late.SHA256, Offset: 350_000, Kind: "acme"}:  true,
		{Entry: 1, Blob: late.SHA256, Offset: 350_026, Kind: "known"}: true,
	}
	for _, l := range got {
		if !want[l] {
			t.Errorf("unexpected %+v", l)
		}
		delete(want, l)
	}
	for l := range want {
		t.Errorf("missing %+v in %+v", l, got)
	}
}

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
	if got := r.text("ACME_abcdefghijklm, badge no 123456!"); !strings.Contains(got, "<redacted:acme:") || !strings.Contains(got, "badge no <redacted:badge:") {
		t.Errorf("team rules give %q", got)
	}
	if a, b := testRedactor().rules.digest, r.rules.digest; a == b {
		t.Error("the digest does not cover the team's rules")
	}
	o := testOptions("")
	o.Team = []TeamRule{{"Bad", "x", "x"}}
	if b, err := Create(t.TempDir(), "i1", o); err == nil {
		_ = b.Close()
		t.Error("a bundle was made without the team's rules")
	}
}
