package cli

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"handrail/cli/process"
)

// TestWalkWhileResizing practises a drill from the home screen while the window
// is pulled at between the keys, also to sizes at which nothing can be shown.
func TestWalkWhileResizing(t *testing.T) {
	t.Parallel()
	p := newPractice(t, demoHome(t))
	p.run(process.ExitDone, "", "lab", "up")
	p.stops("killed-runner")
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	s, _ := p.tty(30, 90)
	w := &walker{screen: s, p: p, answers: killedRunnerAnswers}
	pull := &pull{screen: s, p: p, rand: rand.New(rand.NewPCG(seed, 0)), cols: 90}
	w.between = pull.storm
	w.shows(`command centre`)
	w.practises("killed-runner")
	w.key("\r")
	w.until("the sheet of the variants", func(text string) bool { return sheet(text) != "" })
	w.choose("as it is")
	w.key("\r")
	w.begins()
	w.between = nil
	w.until("the incident", func(text string) bool { return strings.Contains(move(text), "Read") })
	pull.redrawn("the start")
	n := 0
	w.between = func() {
		if n++; n%6 == 0 {
			pull.redrawn(fmt.Sprintf("key %d", n))
		}
		pull.storm()
	}
	w.walk(func(string) string { return "force-unlock " + w.lockID() })
	w.between = nil
	pull.to(34, 110)
	w.shows(`RECOVERED`)
	pull.redrawn("the end")
	if st := p.folded(p.bundle()); st.Outcome != "recovered" {
		t.Errorf("the incident ended as %q", st.Outcome)
	}
	w.key("\r")
	w.until("the home screen at rest", func(text string) bool {
		return strings.Contains(text, "command centre") && !strings.Contains(text, "loading")
	})
	pull.redrawn("the home screen")
	w.key("q")
	<-s.ended
	p.sound(p.bundle())
	t.Logf("%d sizes", pull.n)
}

// pull changes the size of a window.
type pull struct {
	*screen
	p    *practice // whose incident is seen
	rand *rand.Rand
	cols int
	n    int
}

// storm pulls the window to some sizes, and leaves it at one in which keys count.
func (p *pull) storm() {
	p.t.Helper()
	p.heard()
	for range p.rand.IntN(3) {
		p.resize(5+p.rand.IntN(56), 20+p.rand.IntN(181))
		p.n++
	}
	cols := p.cols
	for cols == p.cols {
		cols = 60 + p.rand.IntN(141)
	}
	p.to(18+p.rand.IntN(43), cols)
}

// to makes the window another size and waits until the program has drawn at it.
func (p *pull) to(rows, cols int) string {
	p.t.Helper()
	p.resize(rows, cols)
	p.cols = cols
	p.n++
	return p.until(fmt.Sprintf("a frame of %d×%d", cols, rows), func(text string) bool { return fills(text, rows, cols) })
}

// fills says that a picture is drawn for a terminal of this size.
func fills(text string, rows, cols int) bool {
	lines := strings.Split(text, "\n")
	if len(lines) < rows-2 { // what is empty below is cut off
		return false
	}
	box := min(cols, 104)
	// A gate lies over the screen behind it, which is seen beside it.
	left, top := (cols-box)/2, "╔"+strings.Repeat("═", box-2)+"╗"
	drawn, chip := false, ansi.StringWidth(strings.TrimRight(lines[0], " "))
	// A picture of a wider terminal that was on its way ends where this one does.
	headed := chip < cols && chip > cols-4 && capital.MatchString(strings.TrimRight(lines[0], " "))
	for _, l := range lines {
		l = strings.TrimRight(l, " ")
		if strings.Contains(l, "▒") {
			return false
		}
		if headed && (l == strings.Repeat("─", cols) || l == strings.Repeat("━", cols)) || ansi.Cut(l, left, left+box) == top {
			drawn = true
		}
	}
	return drawn
}

// capital ends the line that says what the program can do now.
var capital = regexp.MustCompile(`[A-Z]$`)

// redrawn compares what is on the screen after all that was drawn over it with
// what is drawn on an empty one, as after a change of the size. Where something
// was read or written down meanwhile the two are of different moments, and what
// is there then is compared.
func (p *pull) redrawn(when string) {
	p.t.Helper()
	const rows, cols = 30, 100
	for {
		entries := p.p.recorded()
		p.to(rows, cols)
		p.to(rows+7, cols+21)
		before := p.to(rows, cols)
		p.resize(rows+5, cols-20)
		p.resize(rows, cols-20)
		p.to(rows, cols-21)
		p.to(rows+1, cols)
		p.to(rows+1, cols-9) // whose frame is told apart by its width
		after := p.to(rows, cols)
		if was, is := still(before), still(after); was == is {
			return
		}
		if !inFlight(before) && !inFlight(after) && entries == p.p.recorded() {
			p.t.Errorf("at %s the screen was\n%s\nand after the window was pulled at\n%s", when, before, after)
			return
		}
	}
}

var running = regexp.MustCompile(`(?:\d+[dhms] ?)+|\d+:\d+:\d+Z`)

// still is a picture without what moves by itself.
func still(text string) string {
	return strings.Join(strings.Fields(running.ReplaceAllString(text, "#")), " ")
}

// TestShellAndBack gives the terminal back to bash and takes it again, at
// another size, as after fg in a window that was pulled at meanwhile.
func TestShellAndBack(t *testing.T) {
	t.Parallel()
	p := newPractice(t, demoHome(t))
	q := p.elsewhere("PS1=$ ", "PATH="+p.home+"/bin:"+strings.TrimPrefix(p.env[1], "PATH="))
	s := q.shell(t.TempDir(), 30, 100)
	s.shows(prompt)
	s.send("handrail start state-lock\r")
	s.until("the incident", func(text string) bool { return strings.HasPrefix(move(text), "Read") })
	pull := &pull{screen: s}
	pull.to(30, 101)
	s.send("?") // the notice of the start goes with the first key
	s.shows(`(?s)A STEP.*↑ ↓ scroll`)
	s.send("\x1b")
	before := s.until("the last line", func(text string) bool {
		return strings.HasSuffix(strings.TrimSpace(text), "leave") && !strings.Contains(text, "age recipient")
	})
	for _, cols := range []int{101, 77, 120} {
		s.send("\x1a")
		s.shows(`(?s)Stopped.*` + prompt)
		s.send("echo $((6*7))\r")
		s.shows(`(?m)^42`)
		s.resize(30, cols)
		s.send("fg\r")
		s.until("the screen again", func(text string) bool {
			return fills(text, 30, cols) && strings.HasPrefix(move(text), "Read")
		})
	}
	if after := pull.to(30, 101); still(after) != still(before) {
		t.Errorf("before\n%s\nand after\n%s", before, after)
	}
	s.send("?")
	s.shows(`(?s)A STEP.*↑ ↓ scroll`)
	s.send("\x1b")
	s.until("the incident", func(text string) bool { return strings.HasPrefix(move(text), "Read") })
	s.send("q")
	s.shows(`(?s)stays open.*` + prompt)
}
