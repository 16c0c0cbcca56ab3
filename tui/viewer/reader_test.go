package viewer

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"

	"handrail/session/journal"
	"handrail/session/view"
	"handrail/triage"
	"handrail/tui/incident"
	"handrail/tui/ink"
	"handrail/tui/keymap"
	"handrail/tui/longtext"
	"handrail/tui/screen"
)

// desk is the screen without the program around it: one entry with one artifact, and six rows for what stands around.
type desk struct {
	*Screen
	env *screen.Env
}

// shelf has one artifact and nothing else.
type shelf struct {
	screen.Incident
	body string
}

func (s shelf) OpenArtifact(string) (journal.Artifact, error) {
	return stored{bytes.NewReader([]byte(s.body))}, nil
}

type stored struct{ *bytes.Reader }

func (stored) Close() error { return nil }

// reading opens a text on the whole screen.
func reading(t *testing.T, w, h int, body string) *desk {
	t.Helper()
	env := &screen.Env{W: w, H: h, Keys: keymap.New(nil), Theme: ink.NewTheme(ink.ThemeAuto, ink.DarkGround), Tasks: &screen.Tasks{Ctx: t.Context()},
		Incident: shelf{body: body}, Case: &incident.Case{Snap: view.Snapshot{
			State: triage.State{Timeline: []triage.Moment{{Seq: 5, Type: "probe.end"}}},
			Blobs: map[int64][]view.BlobRef{5: {{SHA: "5e1c9a70", Role: "raw", Size: int64(len(body))}}}}}}
	env.Room = func() int { return env.H - 6 }
	d := &desk{&Screen{}, env}
	d.Open(env)
	d.press("enter", "enter")
	return d
}

func (d *desk) press(keys ...string) {
	for _, k := range keys {
		d.settle(d.Press(d.env, keyPress(k)))
	}
}

func (d *desk) write(t string) {
	for _, r := range t {
		d.press(string(r))
	}
}

func (d *desk) settle(cmd tea.Cmd) {
	for cmd != nil {
		cmd, _ = d.Hear(d.env, cmd())
	}
}

func (d *desk) resize(w, h int) {
	d.env.W, d.env.H = w, h
	d.settle(d.RefitText(d.env))
}

func (d *desk) want(t *testing.T, part string) {
	t.Helper()
	var b strings.Builder
	for _, r := range d.Draw(d.env, d.env.W-2*screen.Inset, d.env.Room()) {
		b.WriteString(ansi.Strip(string(r)) + "\n")
	}
	if !strings.Contains(b.String(), part) {
		t.Errorf("the screen does not say %q:\n%s", part, b.String())
	}
}

func keyPress(s string) tea.KeyPressMsg {
	named := map[string]rune{"enter": tea.KeyEnter, "esc": tea.KeyEscape, "up": tea.KeyUp, "down": tea.KeyDown, "pgdown": tea.KeyPgDown, "pgup": tea.KeyPgUp,
		"left": tea.KeyLeft, "right": tea.KeyRight, "home": tea.KeyHome, "end": tea.KeyEnd}
	if r, ok := named[s]; ok {
		return tea.KeyPressMsg{Code: r}
	}
	return tea.KeyPressMsg{Code: []rune(s)[0], Text: s}
}

// naiveRows is a whole text as rows: made visible at once, split, and cut or broken cell by cell. Pieces of very long lines
// are those of longtext, which has its own test.
func naiveRows(body string, w, right int, wrap bool) (rows []string, lines []int) {
	f := longtext.New(strings.NewReader(body), int64(len(body)))
	ps, _ := f.Forward(0, len(body)+1)
	line, at := 0, 0
	all := strings.Split(string(ink.Block(body)), "\n")
	for _, p := range ps {
		if p.First {
			line++
		}
		t := string(ink.Block(string(p.Text)))
		if p.First && p.Last { // an ordinary line is one of the whole
			t = all[at]
		}
		if p.Last {
			at++
		}
		no := 0
		if p.First {
			no = line
		}
		row, col := "", 0
		for t != "" {
			c, wide := ansi.FirstGraphemeCluster(t, ansi.GraphemeWidth)
			t = t[len(c):]
			switch {
			case wrap && col+wide > w:
				rows, lines = append(rows, row), append(lines, no)
				row, col, no = c, 0, 0
			case wrap || col >= right && col+wide <= right+w:
				row += c
			case col >= right:
				t = ""
			}
			col += wide
		}
		rows, lines = append(rows, row), append(lines, no)
	}
	return rows, lines
}

// TestWindows: whatever keys lead to a page, it shows what a rendering of the whole text shows there.
func TestWindows(t *testing.T) {
	if testing.Short() {
		t.Skip("too long for -short")
	}
	t.Parallel()
	parts := []string{"a", "word ", "\n", "\n", "\r\n", "\r", "\t", "\x00", "\xff", "\x80", "支付", "\U0001F525", "e\u0301", "עברית", "\x1b[31;1m", "\x1b[2J", "\x1b]0;x\a", "\u202e", "Error\n", "{\"a\": [1, 2]}\n"}
	keys := strings.Fields("up down down pgup pgdown pgdown home end w left right / n N 1 7 enter")
	rapid.Check(t, func(r *rapid.T) {
		var b strings.Builder
		for range rapid.IntRange(0, 40).Draw(r, "parts") {
			n := 1
			if rapid.IntRange(0, 5).Draw(r, "long") == 0 {
				n = rapid.SampledFrom([]int{5, 100, 20_000}).Draw(r, "times")
			}
			b.WriteString(strings.Repeat(rapid.SampledFrom(parts).Draw(r, "part"), n))
		}
		body := b.String()
		s := reading(t, 80, 24, body)
		for range rapid.IntRange(1, 12).Draw(r, "keys") {
			switch k := rapid.SampledFrom(keys).Draw(r, "key"); k {
			case "/":
				s.press("/")
				s.write(rapid.SampledFrom([]string{"error", "付", "word w", "zzz"}).Draw(r, "find"))
				s.press("enter")
			case "enter":
				if s.View.Asking {
					s.press(k)
				}
			default:
				s.press(k)
			}
			if rapid.IntRange(0, 9).Draw(r, "resize") == 0 {
				s.resize(rapid.IntRange(60, 130).Draw(r, "w"), rapid.IntRange(18, 50).Draw(r, "h"))
			}
			v := s.View
			if v.Err != "" {
				r.Fatal(v.Err)
			}
			samePage(r, v, body)
		}
	})
}

func samePage(r *rapid.T, v *reader, body string) {
	rows, lines := naiveRows(body, v.Look.w, v.Look.right, v.Look.wrap)
	if len(v.Page.Rows) != min(len(rows), v.Look.h) {
		r.Fatalf("%d rows of %d in a room of %d", len(v.Page.Rows), len(rows), v.Look.h)
	}
	if len(rows) == 0 {
		return
	}
	// The page says which line it begins with; which row of it, only the naive rendering knows.
	fits := func(from int) string {
		for i, got := range v.Page.Rows {
			if want := rows[from+i]; string(got.body) != want || got.line != int64(lines[from+i]) {
				return fmt.Sprintf("row %d is %d %q, want %d %q", i, got.line, got.body, lines[from+i], want)
			}
		}
		return ""
	}
	first, n, why := -1, int64(0), ""
	for i := range rows {
		if lines[i] > 0 {
			n = int64(lines[i])
		}
		if n != v.Page.line || i+len(v.Page.Rows) > len(rows) {
			continue
		}
		if first < 0 {
			first = i
		}
		if why = fits(i); why == "" {
			return
		}
	}
	r.Fatalf("the page from line %d is nowhere in the text; last try: %s", v.Page.line, why)
}

// TestOldSearchIsDropped: a search that another one took the place of says nothing.
func TestOldSearchIsDropped(t *testing.T) {
	t.Parallel()
	s := reading(t, 80, 24, strings.Repeat(strings.Repeat("x", 99)+"\n", 200_000)+"ab\n")
	s.press("/")
	old := s.Press(s.env, keyPress("a"))
	h := s.View.Find.hunt
	if h == nil || old == nil {
		t.Fatal("nothing is searched")
	}
	s.Press(s.env, keyPress("c"))
	if h.ctx.Err() == nil {
		t.Error("the old search goes on")
	}
	s.settle(old)
	s.want(t, "no match for: ac")
}

// TestLateAnswersDoNothing: what comes for an artifact that was left is dropped, and what it opened is let go.
func TestLateAnswersDoNothing(t *testing.T) {
	t.Parallel()
	late := reading(t, 80, 24, "x\n")
	id := late.View.id
	late.press("esc", "esc")
	closed := &closing{stored: stored{bytes.NewReader(nil)}, done: make(chan struct{})}
	for _, msg := range []tea.Msg{artifactMsg{id: id, art: closed}, PageMsg{id: id}, countMsg{id: id}, huntMsg{id: id}, copiedMsg{id: id, body: "x"}} {
		if cmd, _ := late.Hear(late.env, msg); cmd != nil {
			t.Errorf("%T for an artifact that was left does something", msg)
		}
	}
	<-closed.done
}

type closing struct {
	stored
	done chan struct{}
}

func (c *closing) Close() error { close(c.done); return nil }
