package cli

import (
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"html"
	"image"
	"image/color"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/ansi"
)

var update = flag.Bool("update", false, "draw the moving picture of the README anew")

// moving is the picture of the README, made from demo.tape.
const moving = "../docs/demo.svg"

// mostMoving bounds its size: a README loads it whole.
const mostMoving = 600 << 10

// shot is what the screen shows while the tape sleeps.
type shot struct {
	cells [][]uv.Cell
	lasts time.Duration
	still bool // shown where nothing moves
}

// shoot keeps the screen as it is.
func (s *screen) shoot(lasts time.Duration, still bool) shot {
	s.mu.Lock()
	defer s.mu.Unlock()
	cells := make([][]uv.Cell, s.term.Height())
	for y := range cells {
		for x := range s.term.Width() {
			cell := uv.EmptyCell
			if c := s.term.CellAt(x, y); c != nil {
				cell = *c
			}
			cells[y] = append(cells[y], cell)
		}
	}
	return shot{cells, lasts, still}
}

func (f shot) text() string {
	var b strings.Builder
	for _, row := range f.cells {
		for _, c := range row {
			b.WriteString(c.Content)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

const (
	movingWide, movingHigh = 8.4, 18
	movingPen, movingPaper = "#D8DCE4", "#16181D"
)

// drawMoving draws the shots one after the other, without end. Text stays text; what no
// style animates shows the still one.
func drawMoving(shots []shot) string {
	var total, at time.Duration
	for _, f := range shots {
		total += f.lasts
	}
	inks := map[string]string{}
	var frames, turns strings.Builder
	for i, f := range shots {
		id := fmt.Sprintf("f%d", i)
		attr := ""
		if f.still {
			attr = ` id="still"`
		}
		fmt.Fprintf(&frames, "<g class=\"f %s\"%s>\n", id, attr)
		for y, row := range f.cells {
			drawMovingRow(&frames, inks, y, row)
		}
		frames.WriteString("</g>\n")
		from, to := 100*float64(at)/float64(total), 100*float64(at+f.lasts)/float64(total)
		fmt.Fprintf(&turns, "@keyframes %s{0%%{visibility:hidden}%.3f%%{visibility:visible}%.3f%%{visibility:hidden}}\n.%s{animation-name:%s}\n", id, from, to, id, id)
		at += f.lasts
	}
	var b strings.Builder
	wide, high := float64(len(shots[0].cells[0]))*movingWide+24, len(shots[0].cells)*movingHigh+24
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %d" role="img" aria-labelledby="t d" font-family="DejaVu Sans Mono, Menlo, Consolas, monospace" font-size="14" fill="%s" xml:space="preserve">`+"\n", wide, high, movingPen)
	b.WriteString(`<title id="t">handrail walks a killed apply, from its lock to the released lock</title>` + "\n" +
		`<desc id="d">A terminal. Three reads show that the apply changed something and that its holder is dead. People agree on what failed. A gate shows what it will do and takes a typed phrase. The lock is released, and a plan shows what is left.</desc>` + "\n")
	b.WriteString("<style>\n.f{visibility:hidden;animation-duration:" + fmt.Sprintf("%.1fs", total.Seconds()) + ";animation-timing-function:step-end;animation-iteration-count:infinite}\n#still{visibility:visible}\n")
	b.WriteString(turns.String())
	b.WriteString("@media (prefers-reduced-motion:reduce){.f{animation:none}}\n.b{font-weight:bold}.d{opacity:.55}\n")
	for _, ink := range slices.Sorted(maps.Keys(inks)) {
		fmt.Fprintf(&b, ".%s{fill:%s}\n", inks[ink], ink)
	}
	b.WriteString("</style>\n")
	// The border keeps the dark terminal apart from a page of any colour.
	fmt.Fprintf(&b, `<rect x="1" y="1" width="%.0f" height="%d" rx="8" fill="%s" stroke="#6E7681" stroke-width="1.5"/>`+"\n", wide-2, high-2, movingPaper)
	b.WriteString(frames.String())
	b.WriteString("</svg>\n")
	return b.String()
}

func drawMovingRow(b *strings.Builder, inks map[string]string, y int, row []uv.Cell) {
	for x := 0; x < len(row); {
		from, style, run := x, row[x].Style, ""
		for x < len(row) && (row[x].Width == 0 || row[x].Style.Equal(&style)) {
			run += row[x].Content
			x++
		}
		pen, paper := inkOf(style.Fg), inkOf(style.Bg)
		if style.Attrs&uv.AttrReverse != 0 {
			pen, paper = movingPaper, movingPen
		}
		left, top := 12+float64(from)*movingWide, 12+y*movingHigh
		if paper != "" {
			fmt.Fprintf(b, `<rect class="%s" x="%.1f" y="%d" width="%.1f" height="%d"/>`+"\n", inkClass(inks, paper), left, top, float64(x-from)*movingWide, movingHigh)
		}
		for _, part := range movingParts.FindAllStringIndex(run, -1) {
			text := run[part[0]:part[1]]
			var class []string
			if pen != "" {
				class = append(class, inkClass(inks, pen))
			}
			if style.Attrs&uv.AttrBold != 0 {
				class = append(class, "b")
			}
			if style.Attrs&uv.AttrFaint != 0 {
				class = append(class, "d")
			}
			attr := ""
			if class != nil {
				attr = ` class="` + strings.Join(class, " ") + `"`
			}
			fmt.Fprintf(b, `<text x="%.1f" y="%d" textLength="%.1f"%s>%s</text>`+"\n", left+float64(ansi.StringWidth(run[:part[0]]))*movingWide, top+14,
				float64(ansi.StringWidth(text))*movingWide, attr, html.EscapeString(strings.ReplaceAll(text, " ", "\u00a0")))
		}
	}
}

// movingParts are what is placed by itself: words, and what stands one space apart.
var movingParts = regexp.MustCompile(`[^ ]+(?: [^ ]+)*`)

func inkClass(inks map[string]string, ink string) string {
	if inks[ink] == "" {
		inks[ink] = "c" + strings.TrimPrefix(ink, "#")
	}
	return inks[ink]
}

func inkOf(c color.Color) string {
	if c == nil {
		return ""
	}
	r, g, b, _ := c.RGBA()
	return fmt.Sprintf("#%02X%02X%02X", r>>8, g>>8, b>>8)
}

// readMoving is the text of each frame of the picture, as a terminal shows it, and how
// often it has each element.
func readMoving(t *testing.T) (frames []string, elements map[string]int) {
	t.Helper()
	src, err := os.ReadFile(moving)
	if err != nil {
		t.Fatal(err)
	}
	if len(src) > mostMoving {
		t.Errorf("%s has %d bytes, more than %d", moving, len(src), mostMoving)
	}
	elements = map[string]int{}
	dec := xml.NewDecoder(strings.NewReader(string(src)))
	var rows [][]string // of cells
	var at image.Point
	inText := false
	for {
		token, err := dec.Token()
		if errors.Is(err, io.EOF) {
			return frames, elements
		}
		if err != nil {
			t.Fatalf("%s: %v", moving, err)
		}
		switch e := token.(type) {
		case xml.StartElement:
			elements[e.Name.Local]++
			inText = e.Name.Local == "text"
			for _, a := range e.Attr {
				v, _ := strconv.ParseFloat(a.Value, 64)
				switch name := a.Name.Local; {
				case name == "href" || name == "src" || strings.HasPrefix(name, "on"):
					t.Errorf("%s: %s has %s, which loads or runs something", moving, e.Name.Local, name)
				case name == "x":
					at.X = int((v-12)/movingWide + 0.5)
				case name == "y":
					at.Y = (int(v) - 12) / movingHigh
				}
			}
			if e.Name.Local == "g" {
				rows = nil
			}
		case xml.CharData:
			if inText {
				for len(rows) <= at.Y {
					rows = append(rows, nil)
				}
				for len(rows[at.Y]) < at.X {
					rows[at.Y] = append(rows[at.Y], " ")
				}
				for _, r := range string(e) {
					rows[at.Y] = append(rows[at.Y], strings.ReplaceAll(string(r), "\u00a0", " "))
				}
			}
		case xml.EndElement:
			inText = false
			if e.Name.Local == "g" {
				text := ""
				for _, row := range rows {
					text += strings.Join(row, "") + "\n"
				}
				frames = append(frames, text)
			}
		}
	}
}

// TestMovingPicture holds the picture of the README against demo.tape: it has a frame for
// each sleep, as long as that, and shows what the tape waits for.
// TestDemoTape holds its words against the program.
func TestMovingPicture(t *testing.T) {
	t.Parallel()
	tape := readTape(t)
	frames, elements := readMoving(t)
	for _, banned := range []string{"script", "image", "use", "foreignObject", "a"} {
		if elements[banned] > 0 {
			t.Errorf("the picture has %d <%s>", elements[banned], banned)
		}
	}
	if elements["title"] != 1 || elements["desc"] != 1 {
		t.Errorf("%d titles and %d descriptions, want one of each", elements["title"], elements["desc"])
	}
	src, err := os.ReadFile(moving)
	if err != nil {
		t.Fatal(err)
	}
	if bad := regexp.MustCompile(`@import|@font-face|url\(|https?://[^" ]*\.(?:css|woff|js)`).FindString(string(src)); bad != "" {
		t.Errorf("the picture loads %q", bad)
	}
	clone, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(src), clone+"/") {
		t.Errorf("the picture names %s", clone)
	}
	n, waits := 0, 0
	var total time.Duration
	for i, c := range tape {
		if c.verb != "sleep" {
			continue
		}
		total += c.pause
		if n < len(frames) {
			if before := tape[i-1]; before.verb == "wait" {
				waits++
				if !before.re.MatchString(frames[n]) {
					t.Errorf("frame %d does not show /%s/, which demo.tape:%d waits for:\n%s", n, before.re, before.line, frames[n])
				}
			}
		}
		n++
	}
	if n != len(frames) || 3*waits < 2*n {
		t.Errorf("the picture has %d frames, the tape %d sleeps, %d of them after a wait; `make pictures` draws it anew", len(frames), n, waits)
	}
	if want := fmt.Sprintf("animation-duration:%.1fs", total.Seconds()); !strings.Contains(string(src), want) {
		t.Errorf("the picture has no %s", want)
	}
	if strings.Count(string(src), `id="still"`) != 1 {
		t.Error("no frame stays where nothing moves")
	}
}

// sameWords holds a frame of the picture against a frame of the program, by the words that
// do not change from one run to the next.
func sameWords(picture, program string) (missing []string, share float64) {
	there := map[string]int{}
	for _, w := range stableWords(picture) {
		there[w]++
	}
	want := stableWords(program)
	for _, w := range want {
		if there[w] == 0 {
			missing = append(missing, w)
			continue
		}
		there[w]--
	}
	if len(want) == 0 {
		return nil, 1
	}
	return missing, 1 - float64(len(missing))/float64(len(want))
}

var stableWord = regexp.MustCompile(`^[A-Za-z][A-Za-z-]*[a-z]$`)

// newest is the column at the right, which begins with what was read last.
var newest = regexp.MustCompile(`(?m)^( [^│\n]*│[^│\n]*)│.*$`)

// stableWords leaves out ids, times, paths, what was cut off and what was read last.
func stableWords(text string) []string {
	var out []string
	for _, w := range strings.Fields(newest.ReplaceAllString(text, "$1")) {
		if w = strings.Trim(w, "│║.,:;()"); stableWord.MatchString(w) {
			out = append(out, w)
		}
	}
	return out
}

// sharedWords is how much of a frame has to be as it was drawn: three reads run side by
// side, and the one that ends last is shown on top.
const sharedWords = 0.8

// compareMoving holds what a tape showed against the picture, or draws it anew.
func compareMoving(t *testing.T, shots []shot) {
	t.Helper()
	if *update {
		if err := os.WriteFile(moving, []byte(drawMoving(shots)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	frames, _ := readMoving(t)
	if len(frames) != len(shots) {
		t.Fatalf("the picture has %d frames, the tape showed %d; `make pictures` draws it anew", len(frames), len(shots))
	}
	for i, f := range shots {
		missing, share := sameWords(frames[i], f.text())
		if share < sharedWords {
			t.Errorf("frame %d of the picture is not what the program shows (%.0f %% of its words); it lacks %q; `make pictures` draws it anew\n%s", i, 100*share, missing, f.text())
		}
		t.Logf("frame %d: %.0f %%", i, 100*share)
	}
}

// TestSameWords: what changes with each run does not count, all else does.
func TestSameWords(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		picture, program string
		all              bool
	}{
		"ids, times and paths": {"lock d1738473 held since 17:18:47Z in /tmp/a", "lock 99aa0011 held since 09:00:01Z in /tmp/b", true},
		"a word":               {"the lock is held", "the lock is free", false},
		"a word once more":     {"read all", "read all read", false},
		"what has gone":        {"read all three", "read all", true},
		"what was read last":   {" ✓ lock │ held │ FACTS lock", " ✓ lock │ held │ FACTS process", true},
	} {
		if missing, share := sameWords(tc.picture, tc.program); (share == 1) != tc.all {
			t.Errorf("%s: sameWords() = %v, %.2f", name, missing, share)
		}
	}
}
