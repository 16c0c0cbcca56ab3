package session_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"handrail/session"
	"handrail/session/audit"
	"handrail/session/index"
	"handrail/session/report"
	"handrail/session/walk"
	"handrail/steps"
	"handrail/triage"
)

const byHand = `by_hand:
  - {what: "rm lock token=hunter2hunter2", object: lock l-1, person: ada, proof: lock, shows: the lock is free}
`

// untilGate walks up to the gate, with all that the loop asks before it.
func untilGate(t *testing.T, s *session.Session) {
	t.Helper()
	ready(t, s)
	for _, topic := range []triage.Topic{triage.TopicDomain, triage.TopicOwner} {
		do(t, s, triage.Intent{Kind: triage.DoConclude, Topic: topic, Value: triage.Unknown, Text: "not looked at"})
	}
	do(t, s, triage.Intent{Kind: triage.DoAnswer, Step: "test-lock/retry", Value: triage.Unknown, Text: "not asked"})
}

// unserved is a stage whose one gate a floor keeps shut, in a world in which the lock
// goes by hand.
func unserved(t *testing.T) *stage {
	t.Helper()
	st := scripted(t)
	st.w.unmet = []steps.Need{{Why: "the holder cannot be looked at"}}
	return st
}

// TestRepairByHand walks to a gate that does not serve, records the repair by hand, and
// closes once a read after it shows it: the report and the search name who did it.
func TestRepairByHand(t *testing.T) {
	t.Parallel()
	st := unserved(t)
	s := st.start(t)
	untilGate(t, s)
	if _, list, none := s.Snapshot().NoGate(); none {
		t.Fatalf("before the gate was tried: %v", list)
	}
	refused := func() {
		t.Helper()
		if err := s.Do(t.Context(), preview()); err == nil {
			t.Fatal("the gate opens")
		}
	}
	refused()
	if i := slices.IndexFunc(s.Snapshot().Options, func(o triage.Option) bool { return o.Recommended }); s.Snapshot().Options[i].Kind != triage.DoProbe {
		t.Errorf("after the refusal %+v is next, want that what the gate stands on is read again", s.Snapshot().Options[i])
	}
	do(t, s, triage.Intent{Kind: triage.DoProbe, Step: "test-lock/lock"})
	refused()
	_, list, none := s.Snapshot().NoGate()
	if !none || len(list) != 1 || !strings.HasSuffix(list[0], ": the holder cannot be looked at") {
		t.Fatalf("no gate serves: %v, %v", none, list)
	}
	st.w.lock = ""
	do(t, s, triage.Intent{Kind: triage.DoHand, Hand: triage.HandAct{What: "rm lock", Object: "lock l-1", Person: "ada", Proof: "test-lock/free"}})
	if _, _, none := s.Snapshot().NoGate(); none {
		t.Error("it is said again after the repair was recorded")
	}
	script := `apiVersion: handrail/v1
kind: Answers
runbook: test-lock
conclude: {consistent: {value: 'no', why: the lock was removed by hand, person: ada}}
skip: {unlock: it was done by hand}
debts: {proof: {paid: {proof: the lock is free}}, unfinished: {carry: {owner: platform, until: "2026-12-01"}}}
`
	var talk bytes.Buffer
	got, err := walk.Play(t.Context(), s, says(t, script, &talk))
	if err != nil || got.Code != walk.CodeDone {
		t.Fatalf("Play() = %+v, %v\n%s", got, err, talk.String())
	}
	path := s.Snapshot().Bundle
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if rep, err := audit.Bundle(path, st.w, audit.Verifier{}); err != nil || !rep.OK() {
		t.Errorf("the audit says %+v, %v", rep.Lines, err)
	}
	page, err := os.ReadFile(report.Path(path))
	if want := "**lock l-1: by hand, outside handrail**"; err != nil || !strings.Contains(string(page), want) || !strings.Contains(string(page), "by ada, recorded by op") || !strings.Contains(string(page), "Shown by test-lock/free: the lock is free") {
		t.Errorf("the report has no %q, %v:\n%s", want, err, page)
	}
	store := index.At(st.cfg.Dir, t.TempDir())
	found, err := store.Search(index.Query{Kind: []string{index.Acts}, Text: []string{"rm lock"}})
	if err != nil || len(found.Hits) != 1 {
		t.Fatalf("the search finds %+v, %v", found, err)
	}
	if h := found.Hits[0]; h.Who != "ada" || !strings.HasPrefix(h.Line, "by hand: rm lock") || len(h.Evidence) != 2 || !strings.Contains(h.Evidence[1].Text, "the lock is free") {
		t.Errorf("the act is %+v", h)
	}
}

// TestScriptRepairsByHand: a script's repair by hand is recorded once, where no gate
// serves, and no earlier; its secrets are not stored.
func TestScriptRepairsByHand(t *testing.T) {
	t.Parallel()
	src := strings.Replace(script, "gates:\n  unlock: {phrase: \"unlock ${drill.lock}\"}\n", byHand, 1) +
		"  proof: {paid: {proof: the lock is free}}\n"
	src = strings.Replace(src, "consistent: accept", "consistent: {value: 'no', why: it was held, person: ada}", 1)
	for name, tc := range map[string]struct {
		src   string
		hands int
		code  int
	}{
		"no gate serves":            {src + "skip: {unlock: it is done by hand}\n", 1, walk.CodeDone},
		"the script opens the gate": {strings.Replace(src, byHand, byHand+"gates: {unlock: {phrase: unlock l-1}}\n", 1), 0, walk.CodeRefused},
	} {
		st := unserved(t)
		s := st.start(t)
		var talk bytes.Buffer
		by := says(t, tc.src, &talk)
		if err := by.Answers.Check(st.rb); err != nil {
			t.Fatal(err)
		}
		if name == "no gate serves" {
			untilGate(t, s)
			if err := s.Do(t.Context(), preview()); err == nil {
				t.Fatal("the gate opens")
			}
			st.w.lock = ""
		}
		got, err := walk.Play(t.Context(), s, by)
		if err != nil {
			t.Fatal(err)
		}
		state := s.Snapshot().State
		if len(state.Hands) != tc.hands || got.Code != tc.code {
			t.Errorf("%s: %d repairs by hand, %+v\n%s", name, len(state.Hands), got, talk.String())
		}
		for _, h := range state.Hands {
			if strings.Contains(h.What, "hunter2") {
				t.Errorf("%s: %q is stored", name, h.What)
			}
		}
	}
}

// TestByHandIsPutInWords: an answers file that is made of the incident says it again,
// and one that names no read is refused before the first read.
func TestByHandIsPutInWords(t *testing.T) {
	t.Parallel()
	st := unserved(t)
	s := st.start(t)
	ready(t, s)
	do(t, s, triage.Intent{Kind: triage.DoHand, Hand: triage.HandAct{What: "rm lock", Object: "lock l-1", Person: "ada", Proof: "test-lock/lock"}})
	again := answers(t, walk.Recorded(s.Snapshot().State))
	if len(again.ByHand) != 1 || again.ByHand[0].What != "rm lock" || again.ByHand[0].Proof != "lock" || again.Check(st.rb) != nil {
		t.Errorf("it is put as %+v", again.ByHand)
	}
	bad := says(t, strings.Replace(script, "gates:", "by_hand: [{what: w, object: o, person: p, proof: unlock}]\ngates:", 1), io.Discard)
	if err := bad.Answers.Check(st.rb); err == nil || !strings.Contains(err.Error(), "by_hand.unlock") {
		t.Errorf("a gate as its proof: %v", err)
	}
}

// TestJournalSaysWhatBeganByItself: whether a person asked for a preview stands with what it
// came to.
func TestJournalSaysWhatBeganByItself(t *testing.T) {
	t.Parallel()
	st := unserved(t)
	s := st.start(t)
	untilGate(t, s)
	gate := func() triage.GateState { return s.Snapshot().State.Gates["test-lock/unlock"] }
	itself := preview()
	itself.ByItself = true
	for _, tc := range []struct {
		in   triage.Intent
		want bool
	}{{itself, true}, {preview(), false}, {itself, true}} {
		var no *triage.Refused
		if err := s.Do(t.Context(), tc.in); !errors.As(err, &no) || !gate().WasRefused || gate().ByItself != tc.want {
			t.Errorf("%+v: %v, recorded as %+v", tc.in, err, gate())
		}
	}
	st.w.mu.Lock()
	st.w.unmet = nil
	st.w.mu.Unlock()
	for _, want := range []bool{true, false} {
		in := preview()
		in.ByItself = want
		do(t, s, in)
		if g := gate(); g.Phase != triage.GateArmed || g.ByItself != want || g.Shown.ByItself != want {
			t.Errorf("shown by itself is %t, want %t", g.ByItself, want)
		}
	}
}
