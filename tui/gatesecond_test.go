package tui

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"

	"handrail/triage"
	"handrail/tui/gate"
	"handrail/tui/ink"
)

// approvalsSent are the approvals that reached the incident.
func (s *stage) approvalsSent() []string {
	var out []string
	for _, in := range s.bench.sent {
		if in.Kind == triage.DoApprove {
			out = append(out, in.Sig)
		}
	}
	return out
}

// TestGateOfTwoHolds tries to get past a gate that waits for a second person.
func TestGateOfTwoHolds(t *testing.T) {
	t.Parallel()
	phrase := func(s *stage) { s.write(s.bench.preview.Phrase); s.press("enter") }
	for name, tc := range map[string]struct {
		try  func(*stage)
		sent int // phrases that may reach the incident
		says string
	}{
		"enter alone":        {func(s *stage) { s.press("enter") }, 0, "The gate is waiting for a second person."},
		"the phrase":         {phrase, 0, "Not accepted:"},
		"the phrase pasted":  {func(s *stage) { s.Update(tea.PasteMsg{Content: s.bench.preview.Phrase}); s.press("enter") }, 0, "Not accepted:"},
		"a bad approval":     {func(s *stage) { s.approve("handrail-approval-v1 x"); phrase(s) }, 0, "does not belong to an approver"},
		"after it lapsed":    {func(s *stage) { s.approve(goodApproval); s.pass(11 * time.Minute); phrase(s) }, 0, "expired"},
		"within the grace":   {func(s *stage) { s.gate.Quiet = s.Now.Add(gate.Grace); s.approve(goodApproval); phrase(s) }, 0, "Not accepted"},
		"esc":                {func(s *stage) { s.press("esc") }, 0, "Disarmed. Nothing was changed."},
		"a wrong phrase":     {func(s *stage) { s.approve(goodApproval); s.write("y"); s.press("enter") }, 1, "differs at character 1"},
		"seen, not approved": {func(*stage) {}, 0, "They run handrail approve"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := onStage(t, 80, 24, true, "")
			s.toTwo()
			tc.try(s)
			if got := len(s.confirms()); got != tc.sent || s.acted() {
				t.Errorf("%d phrases reached the incident, want %d; it acted: %t", got, tc.sent, s.acted())
			}
			s.want(t, tc.says)
		})
	}
}

func TestApprovalReachesTheIncident(t *testing.T) {
	t.Parallel()
	for name, give := range map[string]func(*stage){
		"pasted":                 func(s *stage) { s.approve(goodApproval) },
		"pasted with a new line": func(s *stage) { s.approve("\n " + goodApproval + "\n") },
		"from the screen behind": func(s *stage) {
			s.press("enter", "t")
			s.write("asked grace")
			s.press("enter")
			s.approve(goodApproval)
		},
		"without bracketed paste": func(s *stage) { s.write(goodApproval); s.press("enter"); s.pass(gate.Grace) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := onStage(t, 80, 24, true, "")
			s.toTwo()
			give(s)
			if got := s.approvalsSent(); len(got) != 1 || strings.TrimSpace(got[0]) != goodApproval {
				t.Fatalf("the incident was given %q", got)
			}
			s.want(t, "✓ approved  grace@example.org", "expires in", "phrase ▸")
			s.pass(gate.Grace)
			s.write(s.bench.preview.Phrase)
			s.press("enter")
			if !s.acted() {
				t.Error("an approved gate does not act on its phrase")
			}
		})
	}
}

func TestRequestIsCopied(t *testing.T) {
	t.Parallel()
	s := onStage(t, 80, 24, true, "")
	s.toTwo()
	want := fmt.Sprint(tea.SetClipboard("REQUEST\n")())
	_, cmd := s.Update(keyPress("C"))
	if cmd == nil || fmt.Sprint(cmd()) != want {
		t.Error("C does not hand the request to the clipboard")
	}
	s.want(t, "sent to the terminal's clipboard", "handrail approve")
	if s.gate.Edit.Value() != "" {
		t.Error("C was typed into the line of the approval")
	}
	// A request lies behind the gate as well, and where none is, the key says so.
	s.gate = nil
	if _, cmd := s.Update(keyPress("C")); cmd == nil || fmt.Sprint(cmd()) != want {
		t.Error("C does nothing on the screen behind the gate")
	}
	other := onStage(t, 80, 24, true, "")
	other.press("C")
	other.want(t, "No gate is waiting for a second person.")
}

// TestLookingOnAtTwo: a replay shows the missing approval, and the approver.
func TestLookingOnAtTwo(t *testing.T) {
	t.Parallel()
	r := recorded(t, "", func(s *stage) { s.toTwo(); s.approve(goodApproval) })
	for _, size := range [][2]int{{80, 24}, {140, 45}, {60, 18}} {
		s := onTape(t, r, size[0], size[1])
		s.jump(find(t, r, "gate.shown"))
		s.want(t, "PERSONS", "! missing", "who may", "bo@example.org")
		s.jump(find(t, r, "approve"))
		s.want(t, "✓ approved", "grace@example.org")
		if got := s.screen(); strings.Contains(got, "approval ▸") || strings.Contains(got, "copies the request") {
			t.Errorf("the replay asks for something:\n%s", got)
		}
		s.press("C", "enter")
		s.approve(goodApproval)
		if at, _ := r.Place(); at != find(t, r, "approve") {
			t.Error("a key moved the replay")
		}
	}
}

// TestNothingBehindAGateLooksAlive: beside the frame is one ink, and it is that of
// the veil.
func TestNothingBehindAGateLooksAlive(t *testing.T) {
	t.Parallel()
	sgr := regexp.MustCompile(`\x1b\[[0-9;:]*m`)
	for _, name := range append(ink.Themes(), "") {
		for _, ground := range []ink.Ground{ink.UnknownGround, ink.DarkGround, ink.LightGround} {
			s := onStage(t, 140, 45, true, "")
			s.toTwo()
			s.Theme = ink.NewTheme(name, ground)
			allowed := map[string]bool{"\x1b[m": true, "\x1b[0m": true}
			for _, code := range sgr.FindAllString(string(s.Theme.Veil.On("x")), -1) {
				allowed[code] = true
			}
			rows := strings.Split(s.View().Content, "\n")
			words, framed := 0, 0
			for _, row := range rows[3:] { // the head of the incident stays as it is
				outside := []string{row}
				if l, r := strings.IndexAny(row, "╔║╚"), strings.LastIndexAny(row, "╗║╝"); l >= 0 {
					framed++
					outside = []string{row[:strings.LastIndex(row[:l], "\x1b")], row[r:]}
				}
				for i, part := range outside {
					for _, code := range sgr.FindAllString(part, -1) {
						if !allowed[code] {
							t.Fatalf("%s: beside the gate is the ink %q: %q", name, code, part)
						}
					}
					if i == 0 && len(strings.Fields(ansi.Strip(part))) > 1 {
						words++
					}
				}
			}
			if words == 0 || framed == 0 {
				t.Errorf("%s: the gate stands over nothing: %d rows with words, %d with a frame", name, words, framed)
			}
		}
	}
}

// TestOverKeepsColumns: whatever is behind, a box stands where it is put and the
// row is as wide as before.
func TestOverKeepsColumns(t *testing.T) {
	t.Parallel()
	veil := ink.NewTheme(ink.ThemeMono, ink.DarkGround).Veil
	rapid.Check(t, func(t *rapid.T) {
		behind := rapid.StringOf(rapid.SampledFrom([]rune("ab 支付🙂e\u0301│👩\u200d🚀é"))).Draw(t, "behind")
		w := rapid.IntRange(10, 60).Draw(t, "w")
		wide := rapid.IntRange(1, w).Draw(t, "wide")
		left := rapid.IntRange(0, w-wide).Draw(t, "left")
		box := ink.Drawn(strings.Repeat("#", wide))
		rows := ink.Over([]ink.Drawn{ink.Drawn(behind), ink.Drawn(behind)}, []ink.Drawn{box}, veil, left, 1, w, 3)
		if len(rows) != 3 {
			t.Fatalf("%d rows, want 3", len(rows))
		}
		for i, r := range rows {
			plain := ansi.Strip(string(r))
			if got := ansi.StringWidth(plain); got != w {
				t.Fatalf("row %d is %d cells wide, want %d: %q", i, got, w, plain)
			}
			if i == 1 {
				head, _, _ := strings.Cut(plain, "#")
				if got := ansi.StringWidth(head); got != left || !strings.Contains(plain, string(box)) {
					t.Fatalf("the box stands at %d, want %d: %q", got, left, plain)
				}
			}
		}
	})
}
