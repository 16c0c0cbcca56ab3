package tui

import (
	"flag"
	"fmt"
	"html"
	"image/color"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/ansi"

	"handrail/tui/ink"
)

// linked is a picture that a page of the documentation shows.
var linked = regexp.MustCompile(`pictures/(([a-z0-9-]+)-(\d+)x(\d+)-(dark|light|mono)\.svg)`)

// TestPictures holds the pictures that the documentation shows against what the program draws, and allows no other.
// `make pictures` draws them anew.
func TestPictures(t *testing.T) {
	if testing.Short() {
		t.Skip("too long for -short")
	}
	t.Parallel()
	dir := filepath.Join("..", "docs", "pictures")
	update := flag.Lookup("update").Value.String() == "true"
	pages, err := filepath.Glob(filepath.Join("..", "docs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, page := range append(pages, filepath.Join("..", "README.md")) {
		body, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range linked.FindAllStringSubmatch(string(body), -1) {
			if file := m[1]; !slices.Contains(want, file) {
				want = append(want, file)
				drawPicture(t, filepath.Join(dir, file), m[2], m[3], m[4], m[5], update)
			}
		}
	}
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range list {
		if slices.Contains(want, e.Name()) {
			continue
		}
		if update {
			if err := os.Remove(filepath.Join(dir, e.Name())); err != nil {
				t.Fatal(err)
			}
			continue
		}
		t.Errorf("no page shows %s", e.Name())
	}
}

// drawPicture holds a picture against its screen, or draws it anew.
func drawPicture(t *testing.T, file, name, wide, high, look string, update bool) {
	t.Helper()
	sc, ok := shots()[name]
	w, errW := strconv.Atoi(wide)
	h, errH := strconv.Atoi(high)
	if !ok || errW != nil || errH != nil {
		t.Errorf("%s is linked, and is a picture of no screen", file)
		return
	}
	s := onStage(t, w, h, sc.incident, "")
	sc.to(s)
	s.Update(tea.WindowSizeMsg{Width: w, Height: h})
	fg, bg := "#D8DCE4", "#16181D"
	switch look {
	case "dark":
		s.Theme = ink.NewTheme(ink.ThemeAuto, ink.DarkGround)
	case "light":
		s.Theme, fg, bg = ink.NewTheme(ink.ThemeAuto, ink.LightGround), "#22262E", "#FFFFFF"
	case "mono":
		s.Theme = ink.NewTheme(ink.ThemeMono, ink.DarkGround)
	}
	got := s.picture(fg, bg)
	if update {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if old, err := os.ReadFile(file); err != nil || string(old) != got {
		t.Errorf("%s is not what is drawn now (%v); look at the change, then make pictures", file, err)
	}
}

const cellWide, cellHigh = 8.4, 18

// picture draws the screen as SVG: text stays text, each run of one style is placed by itself, so that no font moves it.
func (s *stage) picture(fg, bg string) string {
	canvas := lipgloss.NewCanvas(s.W, s.H).Compose(lipgloss.NewLayer(s.View().Content))
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %d" font-family="DejaVu Sans Mono, Menlo, Consolas, monospace" font-size="14" fill="%s" xml:space="preserve">`+"\n",
		float64(s.W)*cellWide+16, s.H*cellHigh+16, fg)
	fmt.Fprintf(&b, `<rect width="100%%" height="100%%" rx="6" fill="%s"/>`+"\n", bg)
	for y := range s.H {
		for x := 0; x < s.W; {
			cell := canvas.CellAt(x, y)
			from, style, run := x, cell.Style, ""
			for x < s.W {
				c := canvas.CellAt(x, y)
				if c.Width > 0 && !c.Style.Equal(&style) {
					break
				}
				run += c.Content
				x++
			}
			drawRun(&b, from, y, x-from, run, style, fg, bg)
		}
	}
	b.WriteString("</svg>\n")
	return b.String()
}

func drawRun(b *strings.Builder, x, y, cells int, run string, style uv.Style, fg, bg string) {
	pen, ground := hexOf(style.Fg), hexOf(style.Bg)
	if style.Attrs&uv.AttrReverse != 0 {
		pen, ground = bg, fg
	}
	left, top, wide := 8+float64(x)*cellWide, 8+y*cellHigh, float64(cells)*cellWide
	if ground != "" {
		fmt.Fprintf(b, `<rect x="%.1f" y="%d" width="%.1f" height="%d" fill="%s"/>`+"\n", left, top, wide, cellHigh, ground)
	}
	if strings.TrimSpace(run) == "" {
		return
	}
	lead := len(run) - len(strings.TrimLeft(run, " "))
	run = strings.Trim(run, " ")
	fmt.Fprintf(b, `<text x="%.1f" y="%d" textLength="%.1f"`, left+float64(lead)*cellWide, top+14, float64(ansi.StringWidth(run))*cellWide)
	if pen != "" {
		fmt.Fprintf(b, ` fill="%s"`, pen)
	}
	if style.Attrs&uv.AttrBold != 0 {
		b.WriteString(` font-weight="bold"`)
	}
	if style.Attrs&uv.AttrFaint != 0 {
		b.WriteString(` opacity="0.5"`)
	}
	fmt.Fprintf(b, ">%s</text>\n", html.EscapeString(strings.ReplaceAll(run, " ", "\u00a0")))
}

func hexOf(c color.Color) string {
	if c == nil {
		return ""
	}
	r, g, bl, _ := c.RGBA()
	return fmt.Sprintf("#%02X%02X%02X", r>>8, g>>8, bl>>8)
}
