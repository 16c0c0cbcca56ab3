package tui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"handrail/triage"
	"handrail/tui/home"
	"handrail/tui/ink"
	"handrail/tui/screen"
)

// names are what people call things: from right to left, of several letters in one, wide, and with marks.
const names = " שלום מרחבא قاعدة البيانات 👩‍👩‍👧‍👦 🇩🇪🏳️‍🌈 支払い 결제 e\u0301a\u0308 नमस्ते"

// aligned fails where a row is wider than the screen, or a screen has another number of rows.
func (s *stage) aligned(t *testing.T) {
	t.Helper()
	rows := strings.Split(s.View().Content, "\n")
	if len(rows) != s.H {
		t.Errorf("%d rows of %d", len(rows), s.H)
	}
	for _, r := range rows {
		if w := ink.Cells(ink.Drawn(r)); w > s.W {
			t.Errorf("%d cells of %d: %q", w, s.W, r)
		}
	}
}

// TestNamesOfTheWorld: every list keeps its columns whatever the things in it are called.
func TestNamesOfTheWorld(t *testing.T) {
	if testing.Short() {
		t.Skip("too long for -short")
	}
	t.Parallel()
	for name, sc := range shots() {
		for _, size := range [][2]int{{60, 18}, {80, 24}, {140, 45}} {
			t.Run(fmt.Sprintf("%s_%d", name, size[0]), func(t *testing.T) {
				t.Parallel()
				s := onStage(t, size[0], size[1], sc.incident, names)
				sc.to(s)
				s.aligned(t)
				s.Config.ASCII = true
				s.aligned(t)
			})
		}
	}
}

// TestColumnsOfNames: what stands at the right end of a row stays there, whatever the name on its left is.
func TestColumnsOfNames(t *testing.T) {
	t.Parallel()
	s := onStage(t, 80, 24, false, "")
	var rows []screen.IncidentRow
	for i, n := range append(strings.Fields(names), "plain") {
		rows = append(rows, screen.IncidentRow{ID: fmt.Sprint(i), Title: n, Severity: "SEV-3", Phase: "mutation"})
	}
	s.Update(home.HomeMsg{Data: screen.Home{Incidents: rows}})
	n := 0
	for _, r := range strings.Split(s.View().Content, "\n") {
		if plain := ours.ReplaceAllString(r, ""); strings.HasSuffix(strings.TrimRight(plain, " "), "mutation") {
			n++
			if w := ink.Cells(ink.Drawn(strings.TrimRight(plain, " "))); w != 78 {
				t.Errorf("the phase ends at cell %d: %q", w, plain)
			}
		}
	}
	if n < 8 {
		t.Errorf("%d rows are seen", n)
	}
}

// TestLongLists goes through lists of 100,000 rows: every screen is whole, and what is looked for is found.
func TestLongLists(t *testing.T) {
	if testing.Short() {
		t.Skip("too long for -short")
	}
	t.Parallel()
	const many = 100_000
	called := func(i int) string { // some of them in the letters of the world
		if i%97 == 0 || i == 77777 {
			return fmt.Sprintf("row %d of%s", i, names)
		}
		return fmt.Sprintf("row %d of many", i)
	}
	s := onStage(t, 80, 24, true, "")
	s.toDebrief()
	snap := s.bench.Snapshot()
	for i := range many {
		snap.State.Timeline = append(snap.State.Timeline, triage.Moment{Seq: int64(i + 100), At: opened().Add(time.Duration(i) * time.Second), Actor: "ana", Type: "note", Text: called(i)})
	}
	s.run.Snap = snap
	s.press("e")
	for _, k := range []string{"up", "pgup", "home", "pgdown", "end", "v", "esc", "/"} {
		s.press(k)
		s.aligned(t)
	}
	s.Update(tea.PasteMsg{Content: "row 77777 "})
	s.aligned(t)
	s.want(t, "1 of 100031 entries", "row 77777 of")

	h := onStage(t, 80, 24, false, "")
	var rows []screen.IncidentRow
	for i := range many {
		rows = append(rows, screen.IncidentRow{ID: fmt.Sprintf("inc-%d", i), Title: called(i), Severity: "SEV-3", Phase: "learn", Opened: opened()})
	}
	h.Update(home.HomeMsg{Data: screen.Home{Incidents: rows}})
	for _, k := range []string{"down", "pgdown", "end", "up", "/"} {
		h.press(k)
		h.aligned(t)
	}
	h.write("77777")
	h.aligned(t)
	h.want(t, "row 77777 of")
	h.press("esc", ":")
	h.Update(tea.PasteMsg{Content: "inc-99999"})
	h.Update(tea.WindowSizeMsg{Width: 60, Height: 18})
	h.aligned(t)
	h.want(t, "Resume inc-99")
}

// TestMouseIsTheTerminals: no screen takes the mouse, so that text can be selected.
func TestMouseIsTheTerminals(t *testing.T) {
	if testing.Short() {
		t.Skip("too long for -short")
	}
	t.Parallel()
	for name, sc := range shots() {
		s := onStage(t, 80, 24, sc.incident, "")
		sc.to(s)
		if v := s.View(); v.MouseMode != tea.MouseModeNone || v.OnMouse != nil {
			t.Errorf("%s takes the mouse", name)
		}
	}
}
