package tui

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"unicode"
)

// attack is what a log, a server or a runbook may try on a terminal.
const attack = "\x1b[2J\x1b]0;owned\x07\x1b]8;;http://x\x1b\\click\x1b]8;;\x1b\\\x1b[8mhidden\u009b31m\u202egnp.exe\u2066\u200b\r\x00\x7f\x1b]52;c;aGk=\tend\xff\x1b["

var ours = regexp.MustCompile(`\x1b\[[0-9;:]*m`)

// TestHostileText: whatever stands in any outside field, a screen holds
// graphic characters, newlines and our own colours, and is of the right size.
func TestHostileText(t *testing.T) {
	t.Parallel()
	screens := map[string]func(*stage){
		"run": func(*stage) {}, "finding": (*stage).toFinding, "ask": (*stage).toAsk, "form": (*stage).toForm, "gate": (*stage).toGate,
		"done": (*stage).toDone, "watch": (*stage).toWatch, "debrief": (*stage).toDebrief, "evidence": (*stage).toEvidence,
		"artifact":   func(s *stage) { s.toEvidence(); s.press("enter") },
		"conclusion": (*stage).toConclusion, "facts": func(s *stage) { s.toAsk(); s.press("f") },
		"matrix":  func(s *stage) { s.toAsk(); s.run.front(id("serials")) },
		"dead":    func(s *stage) { s.run.snap.Dead = "disk" + attack },
		"notice":  func(s *stage) { s.did(didMsg{err: fmt.Errorf("boom%s", attack)}) },
		"fault":   func(s *stage) { s.Update(faultMsg{attack}) },
		"typed":   func(s *stage) { s.press("t"); s.form.fields[0].edit.insert(attack) },
		"phrase":  func(s *stage) { s.toGate(); s.gate.edit.insert(attack) },
		"search":  func(s *stage) { s.toEvidence(); s.press("/"); s.evidence.find.insert(attack) },
		"home":    func(s *stage) { s.inc, s.at = nil, atHome; s.toHome() },
		"match":   func(s *stage) { s.inc, s.at = nil, atHome; s.toMatch(); s.settle(s.match.add(attack, s.model)) },
		"opening": func(s *stage) { s.inc, s.at = nil, atWait; s.wait.lines = append(s.wait.lines, shown(attack)) },
		"failed": func(s *stage) {
			s.at, s.wait.cancel = atWait, func() {}
			s.opened(openedMsg{s.wait.seq, nil, fmt.Errorf("%s", attack)})
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
					if w := cells(drawn(r)); w > size[0] {
						t.Errorf("a row is %d cells wide, the terminal %d: %q", w, size[0], r)
					}
				}
			})
		}
	}
}
