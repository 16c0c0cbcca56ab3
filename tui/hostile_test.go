package tui

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"handrail/session"
	"handrail/triage"
	"handrail/tui/ink"
)

// attack is what a log, a server or a runbook may try on a terminal.
const attack = "\x1b[2J\x1b]0;owned\x07\x1b]8;;http://x\x1b\\click\x1b]8;;\x1b\\\x1b[8mhidden\u009b31m\u202egnp.exe\u2066\u200b\r\x00\x7f\x1b]52;c;aGk=\tend\xff\x1b["

var ours = regexp.MustCompile(`\x1b\[[0-9;:]*m`)

// TestHostileText: whatever stands in any outside field, a screen holds
// graphic characters, newlines and our own colours, and is of the right size.
func TestHostileText(t *testing.T) {
	t.Parallel()
	screens := map[string]func(*stage){
		"run": func(*stage) {}, "finding": (*stage).toFinding, "ask": (*stage).toAsk, "form": (*stage).toForm, "gate": (*stage).toGate, "waits": (*stage).toTwo,
		"approved": func(s *stage) { s.toTwo(); s.approve(goodApproval) }, "not taken": func(s *stage) { s.toTwo(); s.approve("handrail-approval-v1 " + attack) },
		"done": (*stage).toDone, "watch": (*stage).toWatch, "debrief": (*stage).toDebrief, "evidence": (*stage).toEvidence,
		"lost":     func(s *stage) { s.lose(attack) },
		"artifact": func(s *stage) { s.toEvidence(); s.press("enter") },
		"viewer": func(s *stage) {
			s.bench.holds(strings.Repeat(attack, 3000) + "\n" + attack)
			s.toEvidence()
			s.press("enter", "enter", "w", "/")
			s.evidence.view.find.edit.insert(attack)
			s.settle(s.evidence.findTyped(s.Env))
		},
		"reads":  (*stage).toReads,
		"cutoff": func(s *stage) { s.toReads(); s.press("x") },
		"live": func(s *stage) {
			s.toReads()
			s.bench.print(id("lock"), strings.Repeat(attack, 300)+"\n"+attack, attack)
			s.hear()
			s.press("v", "w")
		},
		"samples":  (*stage).toHistory,
		"skipped":  func(s *stage) { s.run.front(id("log")); s.press("s", "x", "enter") },
		"gatenote": func(s *stage) { s.toGate(); s.press("ctrl+t", "x", "enter") },
		"barred": func(s *stage) {
			c := s.run.snap.Cards[id("log")]
			c.Shut = []triage.Refusal{{Why: attack, Cure: attack}}
			s.run.snap.Cards[id("log")] = c
			s.run.front(id("log"))
		},
		"unreadable": func(s *stage) {
			s.bench.body = func() (session.Artifact, error) { return nil, fmt.Errorf("%s", attack) }
			s.toEvidence()
			s.press("enter")
		},
		"symptoms": func(s *stage) {
			s.inc, s.at = nil, atHome
			s.toSymptoms()
			s.press("/")
			s.symptoms.find.insert(attack)
		},
		"handover":   (*stage).toHandOver,
		"report":     (*stage).toReport,
		"seal":       (*stage).toSeal,
		"seal-form":  (*stage).toSealForm,
		"sealed":     (*stage).toSealed,
		"conclusion": (*stage).toConclusion, "facts": func(s *stage) { s.toAsk(); s.press("f") },
		"matrix":  (*stage).toMatrix,
		"picked":  func(s *stage) { s.toMatrix(); s.press("down", "down", "down") },
		"dead":    func(s *stage) { s.run.snap.Dead = "disk" + attack },
		"notice":  func(s *stage) { s.did(didMsg{err: fmt.Errorf("boom%s", attack)}) },
		"fault":   func(s *stage) { s.Update(faultMsg{attack}) },
		"typed":   func(s *stage) { s.press("t"); s.form.fields[0].edit.insert(attack) },
		"phrase":  func(s *stage) { s.toGate(); s.gate.edit.insert(attack) },
		"search":  func(s *stage) { s.toEvidence(); s.press("/"); s.evidence.find.insert(attack) },
		"home":    func(s *stage) { s.inc, s.at = nil, atHome; s.toHome() },
		"match":   func(s *stage) { s.inc, s.at = nil, atHome; s.toMatch(); s.settle(s.match.add(attack, s.model.Env)) },
		"opening": func(s *stage) { s.inc, s.at = nil, atWait; s.wait.lines = append(s.wait.lines, ink.Shown(attack)) },
		"failed": func(s *stage) {
			s.at, s.wait.cancel = atWait, func() {}
			s.wait.opened(s.Env, openedMsg{s.wait.seq, nil, fmt.Errorf("%s", attack)})
		},
	}
	for name, to := range screens {
		for _, size := range [][2]int{{80, 24}, {140, 45}, {60, 18}, {20, 3}} {
			t.Run(fmt.Sprintf("%s_%d", name, size[0]), func(t *testing.T) {
				t.Parallel()
				s := onStage(t, max(60, size[0]), max(18, size[1]), true, attack)
				to(s)
				s.w, s.h = size[0], size[1]
				v := s.View()
				for _, got := range []string{v.Content, v.WindowTitle} {
					for _, r := range ours.ReplaceAllString(got, "") {
						if r != '\n' && !unicode.IsGraphic(r) {
							t.Fatalf("the screen holds %q:\n%q", r, got)
						}
					}
				}
				rows := strings.Split(v.Content, "\n")
				if len(rows) != size[1] {
					t.Errorf("the screen has %d rows, want %d", len(rows), size[1])
				}
				for _, r := range rows {
					if w := ink.Cells(ink.Drawn(r)); w > size[0] {
						t.Errorf("a row is %d cells wide, the terminal %d: %q", w, size[0], r)
					}
				}
			})
		}
	}
}
