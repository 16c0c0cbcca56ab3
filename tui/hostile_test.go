package tui

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"handrail/session/journal"
	"handrail/triage"
	"handrail/tui/ink"
	"handrail/tui/screen"
	"handrail/tui/wait"
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
			s.types(attack)
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
		"skipped":  func(s *stage) { s.run.Front(id("log")); s.press("s", "x", "enter") },
		"gatenote": func(s *stage) { s.toGate(); s.press("ctrl+t", "x", "enter") },
		"barred": func(s *stage) {
			c := s.run.Snap.Cards[id("log")]
			c.Shut = []triage.Refusal{{Why: attack, Cure: attack}}
			s.run.Snap.Cards[id("log")] = c
			s.run.Front(id("log"))
		},
		"unreadable": func(s *stage) {
			s.bench.body = func() (journal.Artifact, error) { return nil, fmt.Errorf("%s", attack) }
			s.toEvidence()
			s.press("enter")
		},
		"symptoms": func(s *stage) {
			s.Incident, s.At = nil, screen.AtHome
			s.toSymptoms()
			s.press("/")
			s.types(attack)
		},
		"handover":   (*stage).toHandOver,
		"report":     (*stage).toReport,
		"seal":       (*stage).toSeal,
		"seal-form":  (*stage).toSealForm,
		"sealed":     (*stage).toSealed,
		"conclusion": (*stage).toConclusion, "facts": func(s *stage) { s.toAsk(); s.press("f") },
		"matrix": (*stage).toMatrix,
		"picked": func(s *stage) { s.toMatrix(); s.press("down", "down", "down") },
		"dead":   func(s *stage) { s.run.Snap.Dead = "disk" + attack },
		"notice": func(s *stage) { s.did(screen.Answer{Err: fmt.Errorf("boom%s", attack)}) },
		"fault":  func(s *stage) { s.Update(screen.Fault{What: attack}) },
		"typed":  func(s *stage) { s.press("t"); s.types(attack) },
		"phrase": func(s *stage) { s.toGate(); s.types(attack) },
		"search": func(s *stage) { s.toEvidence(); s.press("/"); s.types(attack) },
		"home":   func(s *stage) { s.Incident, s.At = nil, screen.AtHome; s.toHome() },
		"match": func(s *stage) {
			s.Incident, s.At = nil, screen.AtHome
			s.toMatch()
			s.settle(s.match.Add(attack, s.model.Env))
		},
		"opening": func(s *stage) {
			s.Incident, s.At = nil, screen.AtWait
			s.wait.Lines = append(s.wait.Lines, ink.Shown(attack))
		},
		"failed": func(s *stage) {
			s.At, s.wait.Cancel = screen.AtWait, func() {}
			s.wait.Opened(s.Env, wait.OpenedMsg{Seq: s.wait.Seq, Inc: nil, Err: fmt.Errorf("%s", attack)})
		},
	}
	for name, to := range screens {
		for _, size := range [][2]int{{80, 24}, {140, 45}, {60, 18}, {20, 3}} {
			t.Run(fmt.Sprintf("%s_%d", name, size[0]), func(t *testing.T) {
				t.Parallel()
				s := onStage(t, max(60, size[0]), max(18, size[1]), true, attack)
				to(s)
				s.W, s.H = size[0], size[1]
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
