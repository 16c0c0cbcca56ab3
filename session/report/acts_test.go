package report

import (
	"strings"
	"testing"
	"time"

	"handrail/triage"
)

// twice is the story with a second act of its gate, a batch that stopped.
func twice(t *testing.T) triage.State {
	t.Helper()
	bodies := story(itself)
	bodies = bodies[:len(bodies)-4]
	var shown triage.GateShown
	for _, b := range bodies {
		if g, ok := b.(triage.GateShown); ok {
			shown = g
		}
	}
	shown.Digest, shown.Effect, shown.Phrase = "dig-2", "takes two more locks away", "unlock 2 ab12cd34"
	shown.Target = []triage.KV{{Key: "item 1", Value: "l-2"}, {Key: "item 2", Value: "l-3"}}
	return fold(t, append(bodies, shown,
		triage.GateAnswered{Step: "demo/unlock", Digest: "dig-2", Typed: shown.Phrase},
		triage.ActStart{Step: "demo/unlock", Digest: "dig-2", Request: "DELETE leases"},
		triage.ActEnd{Step: "demo/unlock", Digest: "dig-2", Outcome: "failed", Response: "1 of 2 are done.", Items: []triage.Item{
			{Object: "lock/l-2", Effect: "delete l-2", Outcome: "done", Response: "l-2 is gone."}, {Object: "lock/l-3", Effect: "delete l-3", Outcome: "refused", Response: "l-3 has another holder."}}},
	), -1)
}

// TestReportHasEveryActOfAGate: a gate that acted twice was used twice, and each item of
// a batch is told by itself.
func TestReportHasEveryActOfAGate(t *testing.T) {
	t.Parallel()
	st := twice(t)
	d := New(st)
	var md, html strings.Builder
	if err := WriteMarkdown(&md, d); err != nil {
		t.Fatal(err)
	}
	if err := WriteHTML(&html, d); err != nil {
		t.Fatal(err)
	}
	story, _, _ := strings.Cut(md.String(), "## Timeline")
	for _, want := range []string{"takes the lock away", "takes two more locks away", "lock/l-2: **done**: l-2 is gone.", "lock/l-3: **refused**: l-3 has another holder."} {
		if !strings.Contains(story, want) {
			t.Errorf("what was done lacks %q:\n%s", want, story)
		}
	}
	for _, want := range []string{"takes the lock away", "takes two more locks away", "lock/l-3"} {
		if !strings.Contains(html.String(), want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	line := changed(st)
	if !strings.Contains(line, "takes the lock away") || !strings.Contains(line, "takes two more locks away") {
		t.Errorf("status says changed: %q", line)
	}
	if len(d.Gates) != 2 || !d.Gates[0].ActedAt.Before(d.Gates[1].ActedAt.Add(-time.Second)) {
		t.Errorf("gates = %d", len(d.Gates))
	}
}

// TestReportSaysWhatCameByItself: a gate that stayed shut says whether a person had asked for it.
func TestReportSaysWhatCameByItself(t *testing.T) {
	t.Parallel()
	bodies := story(itself)
	for i, b := range bodies {
		if _, ok := b.(triage.GateShown); ok {
			bodies = bodies[:i]
			break
		}
	}
	shut := triage.GateClosed{Step: "demo/unlock", Why: "the lock is 2m old", Refused: true, ByItself: true}
	const says = "stayed shut, and nothing was done. Its preview began by itself: the lock is 2m old"
	for name, tc := range map[string]struct {
		then []triage.Body
		want bool
	}{
		"by itself": {nil, true},
		"asked for": {[]triage.Body{triage.GateClosed{Step: "demo/unlock", Why: "the lock is 2m old", Refused: true}}, false},
	} {
		d := New(fold(t, append(append(bodies[:len(bodies):len(bodies)], shut), tc.then...), -1))
		var md strings.Builder
		if err := WriteMarkdown(&md, d); err != nil {
			t.Fatal(err)
		}
		if len(d.Gates) != 1 || d.Gates[0].ByItself != tc.want || strings.Contains(md.String(), says) != tc.want {
			t.Errorf("%s: %+v\n%s", name, d.Gates, md.String())
		}
	}
}
