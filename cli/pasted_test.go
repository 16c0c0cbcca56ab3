package cli

import (
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"handrail/runbooks"
	"handrail/triage"
)

// TestLongPipeKeepsBothEnds: whatever pieces it comes in, a text that is too long keeps its
// first lines and its last, and says what is missing.
func TestLongPipeKeepsBothEnds(t *testing.T) {
	t.Parallel()
	line := strings.Repeat("x", 9) + "\n"
	long := "first\n" + strings.Repeat(line, 500) + "last\n"
	for name, in := range map[string]io.Reader{"at once": strings.NewReader(long), "byte by byte": iotest.OneByteReader(strings.NewReader(long))} {
		got, err := bothEnds(in, 100, 200)
		if err != nil || len(got) > 400 || !strings.HasPrefix(got, "first\n") || !strings.HasSuffix(got, line+"last\n") || strings.Count(got, "[handrail: lines omitted, ") != 1 {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	for _, whole := range []string{"", "short\n", long[:300]} {
		if got, err := bothEnds(strings.NewReader(whole), 100, 200); err != nil || got != whole {
			t.Errorf("%d bytes become %d, %v", len(whole), len(got), err)
		}
	}
	if _, err := bothEnds(iotest.ErrReader(io.ErrUnexpectedEOF), 100, 200); err == nil {
		t.Error("a broken pipe is a whole text")
	}
}

// TestPastedIsTheLogOfARunbook: a text of several lines that a pattern claims stands for the
// log, where the runbook reads one; a line, a story and a notification do not, and the file
// that it names is more than what was copied of it.
func TestPastedIsTheLogOfARunbook(t *testing.T) {
	t.Parallel()
	lib := library(t)
	log := "terraform_data.a: Creating...\nterraform_data.a: Creation complete after 0s [id=1]\nterraform_data.b: Creating...\n\nError: creating b: refused\n"
	newer := "Planning failed.\n\nError: Resource instance managed by newer provider version\n\nThe current state of a.b was created by a newer provider version\n"
	for name, tc := range map[string]struct{ text, book, want string }{
		"another name":   {newer, "state-corruption", triage.Pasted},
		"a log":          {log, "partial-apply", triage.Pasted},
		"another run's":  {"Error: Error acquiring the state lock\n\nLock Info:\n  ID: 1\n", "state-lock", ""},
		"one line":       {"Error: Error acquiring the state lock", "state-lock", ""},
		"its own file":   {"$ tofu apply | tee /var/log/apply.log\n" + log, "partial-apply", "/var/log/apply.log"},
		"no log is read": {"Error from server: admission webhook\nObject is being deleted: no new finalizers can be added if the object is being deleted\n", "stuck-finalizer", ""},
		"a notification": {`{"alerts": [{"labels": {"alertname": "Creating..."}, "annotations": {"a": "b"}}]}` + "\n\n", "partial-apply", ""},
		"told in words":  {"we think the apply\nwas killed halfway", "partial-apply", ""},
	} {
		hit := runbooks.Hit{Runbook: tc.book, Pattern: "x"}
		if name == "told in words" {
			hit.Pattern = ""
		} else if hits := runbooks.Match(lib, tc.text); name != "a notification" && !slices.ContainsFunc(hits, func(h runbooks.Hit) bool { return h.Runbook == tc.book }) {
			t.Errorf("%s: not claimed by %s", name, tc.book)
		}
		param := "log"
		if tc.book == "state-corruption" {
			param = "said"
		}
		if got := spoken(lib, hit, tc.text, pasteOf(tc.text))[param]; got != tc.want {
			t.Errorf("%s: the log is %q, want %q", name, got, tc.want)
		}
	}
}
