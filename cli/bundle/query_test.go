package bundle

import (
	"bytes"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"handrail/cli/process"
	"handrail/session/index"
	"handrail/triage"
)

func TestQueryAnswerIsPrinted(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 21, 2, 14, 7, 0, time.UTC)
	var out, talk bytes.Buffer
	p := &process.Program{Stdout: &out, Stderr: &talk}
	err := PrintHits(p, index.Answer{Bundles: 3, AtMost: 3, More: true, Incidents: []index.Found{{Incident: "one", Lines: 1, Shown: 1}, {Incident: "two", Lines: 5, Shown: 1}}, Hits: []index.Hit{
		{Incident: "one", Seq: 4, At: at, Type: "note", Who: "ada", Line: "text: a \x1b[31mred\x1b[0m note"},
		{Incident: "two", Seq: 12, At: at.Add(time.Hour), Type: "artifact", Who: "bob", Artifact: "ab", Role: "log", Line: "Error: timed out", Fingerprint: "0123456789abcdef"},
	}, Problems: []index.Problem{{Path: "/x/three.hrb", Why: "journal is \x07damaged"}}})
	if err != nil {
		t.Fatal(err)
	}
	want := `WHEN                  WHO  INCIDENT  ENTRY  WHERE  FINGERPRINT       LINE
2026-11-21T02:14:07Z  ada  one       4      note   -                 text: a red note
2026-11-21T03:14:07Z  bob  two       12     log    0123456789abcdef  Error: timed out
-                     -    two       -      -      -                 … and 4 more lines
`
	got := out.String()
	if strings.ContainsAny(got+talk.String(), "\x1b\x07") {
		t.Errorf("a control character is printed: %q %q", got, talk.String())
	}
	if got != want {
		t.Errorf("printed:\n%s\nwant:\n%s", got, want)
	}
	for _, w := range []string{"not searched, or not whole: /x/three.hrb", "the first 2 lines, of 2 incidents and the newest; up to 3 of 3 bundles can hold more"} {
		if !strings.Contains(talk.String(), w) {
			t.Errorf("stderr %q lacks %q", talk.String(), w)
		}
	}
}

// TestQueryPrintsWhatAnActStoodOn: who, on what target, and on what evidence, from one
// command.
func TestQueryPrintsWhatAnActStoodOn(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 21, 2, 14, 7, 0, time.UTC)
	act := index.Act{Outcome: "done", Effect: "removes the finalizer from Pod web-0. What then?", Target: []triage.KV{{Key: "Pod", Value: "web-0"}}, Actor: "ada", As: "admin@prod"}
	var out bytes.Buffer
	err := PrintHits(&process.Program{Stdout: &out, Stderr: io.Discard}, index.Answer{Incidents: []index.Found{{Incident: "one", Lines: 1, Shown: 1}}, Hits: []index.Hit{
		{Incident: "one", Seq: 20, At: at, Type: index.Acts, Step: "held/remove", Who: act.Who(), Line: act.Line(),
			Evidence: []index.Ground{{Step: "held/owner", Seq: 12, Who: "bob", Text: "gone, the team says so"}}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	want := `WHEN                  WHO                INCIDENT  ENTRY  WHERE        FINGERPRINT  LINE
2026-11-21T02:14:07Z  ada as admin@prod  one       20     held/remove  -            done: removes the finalizer from Pod web-0
-                     bob                one       12     held/owner   -              evidence: gone, the team says so
`
	if got := out.String(); got != want {
		t.Errorf("printed:\n%s\nwant:\n%s", got, want)
	}
}

func TestQueryTextIsWords(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args []string
		want []string // nil for a wrong usage
	}{
		{[]string{"finalizer web-0"}, []string{"finalizer", "web-0"}},
		{[]string{"finalizer", "web-0"}, []string{"finalizer", "web-0"}},
		{[]string{`lock "timed out after" 30s`}, []string{"lock", "timed out after", "30s"}},
		{[]string{"a", " "}, nil}, {[]string{"a\nb"}, nil}, {[]string{`an "open quote`}, nil},
	} {
		got, err := textParts(c.args)
		if !slices.Equal(got, c.want) || (err != nil) != (c.want == nil) {
			t.Errorf("textParts(%q) = %q, %v, want %q", c.args, got, err, c.want)
		}
	}
}

func TestTimeFlag(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		given string
		end   bool
		want  string
	}{
		{"2026-11-20", false, "2026-11-20T00:00:00Z"}, {"2026-11-20", true, "2026-11-20T23:59:59.999999999Z"},
		{"2026-11-20T10:00Z", false, "2026-11-20T10:00:00Z"}, {"2026-11-20T10:00:05+02:00", true, "2026-11-20T08:00:05Z"},
		{"7d", false, "2026-11-14T12:00:00Z"}, {"90m", true, "2026-11-21T10:30:00Z"}, {"", false, "0001-01-01T00:00:00Z"},
		{"soon", false, ""}, {"-3h", false, ""}, {"-1d", false, ""}, {"2026-13-01", false, ""}, {"99999999d", false, ""},
	} {
		got, err := TimeFlag("--since", c.given, now, c.end)
		if (err != nil) != (c.want == "") || err == nil && got.Format(time.RFC3339Nano) != c.want {
			t.Errorf("timeFlag(%q) = %v, %v, want %q", c.given, got, err, c.want)
		}
	}
}
