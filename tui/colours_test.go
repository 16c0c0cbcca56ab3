package tui

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"handrail/tui/ink"
)

// TestThemesChangeNoWords draws every screen in every theme: only colours differ, and without colour there is none.
func TestThemesChangeNoWords(t *testing.T) {
	t.Parallel()
	for name, to := range map[string]func(*stage){"home": (*stage).toHome, "run": (*stage).toFinding, "gate": (*stage).toGate, "debrief": (*stage).toDebrief} {
		s := onStage(t, 80, 24, name != "home", "")
		to(s)
		want := ansi.Strip(s.View().Content)
		for _, theme := range append(ink.Themes(), "no such theme") {
			for _, ground := range []ink.Ground{ink.UnknownGround, ink.DarkGround, ink.LightGround} {
				s.Theme = ink.NewTheme(theme, ground)
				got := s.View().Content
				if ansi.Strip(got) != want {
					t.Errorf("%s: theme %s changes words", name, theme)
				}
				if theme == ink.ThemeMono && (strings.Contains(got, "\x1b[3") || strings.Contains(got, ";3") || strings.Contains(got, ";4")) {
					t.Errorf("%s: a colour in %s: %q", name, theme, got)
				}
			}
		}
	}
}

// TestASCII draws every screen with a terminal that knows ASCII only: the same width, nothing outside of it.
func TestASCII(t *testing.T) {
	t.Parallel()
	for name, to := range map[string]func(*stage){"home": (*stage).toHome, "run": (*stage).toFinding, "gate": (*stage).toGate, "debrief": (*stage).toDebrief, "matrix": (*stage).toConclusion} {
		for _, hostile := range []string{"", " 支付\U0001F525é"} {
			s := onStage(t, 80, 24, name != "home", hostile)
			s.Config.ASCII = true
			to(s)
			for n, row := range strings.Split(s.View().Content, "\n") {
				if !ink.IsASCII(row) {
					t.Errorf("%s, row %d: %q", name, n, row)
				}
				if w := ansi.StringWidth(row); w > 80 {
					t.Errorf("%s, row %d is %d wide", name, n, w)
				}
			}
		}
	}
}
