package tui

import (
	"fmt"
	"testing"

	tea "charm.land/bubbletea/v2"
)

// TestSeverityOfTwo: a lower severity waits for its second person beside the incident,
// and their answer is taken wherever it is pasted.
func TestSeverityOfTwo(t *testing.T) {
	t.Parallel()
	for name, give := range map[string]func(*stage){
		"pasted": func(s *stage) { s.approve(goodApproval) },
		"in the sheet": func(s *stage) {
			s.press("S")
			s.want(t, "SEV-4 is waiting for a second person", "bo@example.org")
			s.write(goodApproval)
			s.press("enter")
		},
		"over an armed gate": func(s *stage) {
			s.bench.second = nil
			s.toGate()
			s.bench.second = twoPersons("")
			s.approve(goodApproval)
		},
		"after a wrong one": func(s *stage) {
			s.approve("handrail-approval-v1 x")
			s.want(t, "does not belong to an approver")
			s.approve(goodApproval)
		},
		"asked for once more": func(s *stage) {
			s.press("S", "enter", "4", "enter")
			s.write("as before")
			s.press("enter")
			s.approve(goodApproval)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := onStage(t, 100, 30, true, "")
			s.bench.second = twoPersons("")
			s.press("S", "4", "enter")
			s.write("no user sees it")
			s.press("enter")
			s.want(t, "SEV-3 › SEV-4?", "SEV-4 is waiting for a second person", "C copies the request")
			if _, cmd := s.Update(keyPress("C")); cmd == nil || fmt.Sprint(cmd()) != fmt.Sprint(tea.SetClipboard("REQUEST\n")()) {
				t.Error("C does not hand the request to the clipboard")
			}
			give(s)
			if got := s.bench.state.Severity; got != "SEV-4" {
				t.Errorf("it is %s\n%s", got, s.screen())
			}
			s.press("esc")
		})
	}
}
