package tui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/exp/golden"
)

// clockwork is the clock of a test.
type clockwork struct{ at time.Time }

func (c *clockwork) now() time.Time { return c.at }

// stage is a model with its clock and its incident.
type stage struct {
	*model
	clock *clockwork
	bench *bench
}

// onStage shows the home screen, or the run screen of the fixture incident.
func onStage(t *testing.T, w, h int, incident bool, hostile string) *stage {
	t.Helper()
	s := &stage{clock: &clockwork{opened()}}
	c := configFixture(s.clock.now, hostile)
	if incident {
		s.bench = newBench(s.clock.now, hostile)
		c.Open = s.bench
	}
	s.model = newModel(t.Context(), c)
	s.Update(tea.WindowSizeMsg{Width: w, Height: h})
	s.pass(0)
	return s
}

// pass lets time go by; the tick after it is not waited for.
func (s *stage) pass(d time.Duration) {
	s.clock.at = s.clock.at.Add(d)
	s.model.now = s.clock.at
}

// press sends keys and runs what each of them starts. What a key starts beside
// the loop sends one message back, except a batch, which the caller runs.
func (s *stage) press(keys ...string) {
	for _, k := range keys {
		_, cmd := s.Update(keyPress(k))
		s.settle(cmd)
	}
}

func (s *stage) settle(cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	msg := cmd()
	if _, more := msg.(tea.BatchMsg); more {
		return
	}
	if _, more := msg.(tea.QuitMsg); more {
		return
	}
	_, cmd = s.Update(msg)
	if _, opened := msg.(openedMsg); !opened {
		s.settle(cmd)
	}
}

// write types text, one key a rune.
func (s *stage) write(t string) {
	for _, r := range t {
		s.press(string(r))
	}
}

func keyPress(s string) tea.KeyPressMsg {
	named := map[string]rune{"enter": tea.KeyEnter, "esc": tea.KeyEscape, "up": tea.KeyUp, "down": tea.KeyDown, "tab": tea.KeyTab,
		"pgdown": tea.KeyPgDown, "pgup": tea.KeyPgUp, "backspace": tea.KeyBackspace,
		"left": tea.KeyLeft, "right": tea.KeyRight, "home": tea.KeyHome, "end": tea.KeyEnd}
	if r, ok := named[s]; ok {
		return tea.KeyPressMsg{Code: r}
	}
	if s == "ctrl+c" {
		return tea.KeyPressMsg{Code: 'c', Mod: tea.ModCtrl}
	}
	return tea.KeyPressMsg{Code: []rune(s)[0], Text: s}
}

func (s *stage) screen() string {
	c := lipgloss.NewCanvas(s.w, s.h).Compose(lipgloss.NewLayer(s.View().Content))
	rows := strings.Split(ansi.Strip(c.Render()), "\n")
	for i := range rows {
		rows[i] = strings.TrimRight(rows[i], " ")
	}
	return strings.Join(rows, "\n") + "\n"
}

func (s *stage) want(t *testing.T, parts ...string) {
	t.Helper()
	got := s.screen()
	for _, p := range parts {
		if !strings.Contains(got, p) {
			t.Errorf("the screen does not say %q:\n%s", p, got)
		}
	}
}

// The ways to each screen, from the stage on.

func (s *stage) toHome() {
	s.settle(s.loadHome())
}

func (s *stage) toMatch() {
	s.toHome()
	_, cmd := s.Update(tea.PasteMsg{Content: "╷\n│ Error: Error acquiring the state lock\n│\n│ Lock Info:\n│   Who:  runner@ci-7f9c\n╵\n"})
	s.settle(cmd)
}

func (s *stage) toEvidence() { s.toFinding(); s.press("e") }

func (s *stage) toFinding() { s.pass(47 * time.Second); s.press("enter", "enter") }

func (s *stage) toConclusion() {
	s.toFinding()
	s.press("enter", "enter", "enter")
	s.press("n")
	s.run.front(id("changed"))
	s.run.decide()
}

// toAsk has everything before the question settled.
func (s *stage) toAsk() {
	for _, name := range []string{"lock", "state", "process", "log", "serials"} {
		s.run.front(id(name))
		s.press("r")
	}
	for _, name := range []string{"whose", "changed", "class"} {
		s.run.front(id(name))
		s.press("a")
	}
	s.run.front(id("holder"))
	s.run.decide()
	s.pass(3 * time.Minute)
}

func (s *stage) toForm() { s.toAsk(); s.press("2") }

func (s *stage) toReady() {
	s.toForm()
	s.write("no process on the runner")
	s.press("enter")
	s.pass(time.Minute)
}

func (s *stage) toGate() {
	s.toReady()
	s.press("g")
	s.pass(grace)
}

// toDiff is a gate with a rehearsed change, look-alikes and owners.
func (s *stage) toDiff() {
	s.bench.preview = strip("")
	s.toGate()
}

func (s *stage) toDone() {
	s.toGate()
	_, cmd := s.Update(tea.PasteMsg{Content: s.bench.preview.Phrase + "\n"})
	s.settle(cmd)
	s.press("enter")
}

func (s *stage) toWatch() {
	s.toDone()
	s.pass(grace)
	s.press("enter")
	s.run.front(id("clean"))
	s.press("r")
	s.pass(12 * time.Second)
}

func (s *stage) toVerified() {
	s.toWatch()
	s.pass(8 * time.Second)
	s.settle(s.sampleWhenDue())
}

func (s *stage) toSettle() {
	s.toVerified()
	s.press("d", "2", "enter")
}

func (s *stage) toDebrief() {
	s.toSettle()
	s.write("platform")
	s.press("enter")
	s.write("2026-12-01")
	s.press("enter")
	s.press("c", "1", "enter", "enter")
}

func TestScreens(t *testing.T) {
	t.Parallel()
	screens := map[string]struct {
		incident bool
		to       func(*stage)
	}{
		"home":       {false, (*stage).toHome},
		"loading":    {false, func(*stage) {}},
		"empty":      {false, func(s *stage) { s.Update(homeMsg{}) }},
		"match":      {false, (*stage).toMatch},
		"params":     {false, func(s *stage) { s.toMatch(); s.press("down", "enter") }},
		"run":        {true, func(s *stage) { s.pass(12 * time.Second) }},
		"finding":    {true, (*stage).toFinding},
		"facts":      {true, func(s *stage) { s.toAsk(); s.press("f") }},
		"conclusion": {true, (*stage).toConclusion},
		"matrix":     {true, func(s *stage) { s.toAsk(); s.run.front(id("serials")); s.run.decide() }},
		"ask":        {true, (*stage).toAsk},
		"form":       {true, (*stage).toForm},
		"gateshut":   {true, func(s *stage) { s.run.front(id("unlock")); s.press("g"); s.pass(grace) }},
		"gate":       {true, (*stage).toGate},
		"gatediff":   {true, (*stage).toDiff},
		"gatemore":   {true, func(s *stage) { s.toDiff(); s.press("pgdown") }},
		"gatedone":   {true, (*stage).toDone},
		"watch":      {true, (*stage).toWatch},
		"settle":     {true, (*stage).toSettle},
		"debrief":    {true, (*stage).toDebrief},
		"evidence":   {true, (*stage).toEvidence},
		"artifact":   {true, func(s *stage) { s.toEvidence(); s.press("enter") }},
		"help":       {true, func(s *stage) { s.press("?") }},
	}
	for _, size := range [][2]int{{80, 24}, {140, 45}, {60, 18}, {59, 17}} {
		for name, sc := range screens {
			if size[0] == 59 && name != "run" && name != "gate" {
				continue
			}
			t.Run(fmt.Sprintf("%s_%dx%d", name, size[0], size[1]), func(t *testing.T) {
				t.Parallel()
				s := onStage(t, max(60, size[0]), max(18, size[1]), sc.incident, "")
				sc.to(s)
				s.Update(tea.WindowSizeMsg{Width: size[0], Height: size[1]})
				golden.RequireEqual(t, s.screen())
			})
		}
	}
}
