package tui

import (
	"flag"
	"fmt"
	"html"
	"image/color"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/ansi"

	"handrail/tui/ink"
)

// TestPictures holds the pictures of docs/ against what the program draws: every screen, at both sizes, dark, light and
// without colour. `make pictures` draws them anew.
func TestPictures(t *testing.T) {
	t.Parallel()
	dir := filepath.Join("..", "docs", "pictures")
	update := flag.Lookup("update").Value.String() == "true"
	var want []string
	for _, size := range [][2]int{{80, 24}, {140, 45}} {
		for name, sc := range shots() {
			s := onStage(t, size[0], size[1], sc.incident, "")
			sc.to(s)
			s.Update(tea.WindowSizeMsg{Width: size[0], Height: size[1]})
			for _, look := range []struct {
				name, fg, bg string
				th           ink.Theme
			}{
				{"dark", "#D8DCE4", "#16181D", ink.NewTheme(ink.ThemeAuto, true)},
				{"light", "#22262E", "#FFFFFF", ink.NewTheme(ink.ThemeAuto, false)},
				{"mono", "#D8DCE4", "#16181D", ink.NewTheme(ink.ThemeMono, true)},
			} {
				s.Theme = look.th
				file := fmt.Sprintf("%s-%dx%d-%s.svg", name, size[0], size[1], look.name)
				want = append(want, file)
				got := s.picture(look.fg, look.bg)
				if update {
					if err := os.MkdirAll(dir, 0o755); err != nil {
						t.Fatal(err)
					}
					if err := os.WriteFile(filepath.Join(dir, file), []byte(got), 0o644); err != nil {
						t.Fatal(err)
					}
				}
				if old, err := os.ReadFile(filepath.Join(dir, file)); err != nil || string(old) != got {
					t.Errorf("%s is not what is drawn now (%v); look at the change, then make pictures", file, err)
				}
			}
		}
	}
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range list {
		if !slices.Contains(want, e.Name()) {
			t.Errorf("%s is a picture of no screen", e.Name())
		}
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
