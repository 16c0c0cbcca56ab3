package evidence

import (
	"context"
	"strings"
	"testing"

	"handrail/evidence/redact"
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
	defer r.Close()
	if got, err := r.Leaks(nil, nil); err != nil || len(got) != 0 {
		t.Fatalf("Leaks with the rules it was written by = %+v, %v; want none", got, err)
	}
	got, err := r.Leaks([]string{"known-value-x"}, []redact.TeamRule{{Kind: "acme", Literal: "acme_", Expr: `acme_[a-z]{10,}`}})
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

func TestBadTeamRule(t *testing.T) {
	t.Parallel()
	o := testOptions("")
	o.Team = []redact.TeamRule{{Kind: "Bad", Literal: "x", Expr: "x"}}
	if b, err := Create(t.TempDir(), "i1", o); err == nil {
		_ = b.Close()
		t.Error("a bundle was made without the team's rules")
	}
}

func TestEventData(t *testing.T) {
	t.Parallel()
	b := create(t, testOptions(""))
	b.Secret("known-lock-id")
	e, err := b.Append(t.Context(), Draft{Type: "note", Actor: "r", Data: map[string]any{
		"a": `<&> "q"` + "\u202e", "id": map[string]any{"t": "ident", "v": "glpat-zX9yW8vU7tS6rQ5pO4nM"},
		"k": map[string]any{"t": "ident", "v": "known-lock-id"}, "n": 1.5, "t": "glpat-zX9yW8vU7tS6rQ5pO4nM", "password": "hunter2hunter2",
	}})
	if err != nil {
		t.Fatal(err)
	}
	got := string(e.Data)
	if !strings.HasPrefix(got, `{"a":"<&> \"q\"\u202e","id":{"t":"ident","v":"glpat-zX9yW8vU7tS6rQ5pO4nM"},"k":{"t":"ident","v":"<redacted:known:`) ||
		!strings.Contains(got, `"t":"<redacted:gitlab:`) || strings.Contains(got, "hunter2") {
		t.Errorf("data = %s", got)
	}
}
