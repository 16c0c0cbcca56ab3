package tui

import (
	"image/color"

	"charm.land/lipgloss/v2"
)

// The themes that can be asked for. Auto is the standard one.
const (
	ThemeAuto     = "auto"
	ThemeHigh     = "high-contrast"
	ThemeSafe     = "colour-blind"
	ThemeTerminal = "terminal"
	ThemeMono     = "mono"
)

// Themes lists the names that a theme can be asked for by.
func Themes() []string { return []string{ThemeAuto, ThemeHigh, ThemeSafe, ThemeTerminal, ThemeMono} }

// roles are the colours of a theme for one background. A role means one thing on
// every screen; docs/interface.md says what.
type roles struct {
	muted, faint            color.Color
	accent, good, warn, bad color.Color
	place                   color.Color // where this is production
	on                      color.Color // text upon a block of good, warn, bad or place
}

func hexes(muted, faint, accent, good, warn, bad, place, on string) roles {
	c := lipgloss.Color
	return roles{c(muted), c(faint), c(accent), c(good), c(warn), c(bad), c(place), c(on)}
}

// palette is a theme for a dark and for a light background.
type palette struct{ dark, light roles }

func palettes() map[string]palette {
	return map[string]palette{
		ThemeAuto: {
			dark:  hexes("#99A1AE", "#4B5260", "#79C7DA", "#8CCB92", "#E8BA6C", "#FF8177", "#D7A6F0", "#16181D"),
			light: hexes("#5C6470", "#B4BAC4", "#0A6A82", "#1B7A33", "#8A5600", "#B3201A", "#7A2E9D", "#FFFFFF"),
		},
		// Text of every role at 7 to 1 or better, rules at 3 to 1.
		ThemeHigh: {
			dark:  hexes("#D5DAE3", "#8B94A5", "#8FE6FF", "#A4F2AA", "#FFD45E", "#FFA69E", "#E9C2FF", "#000000"),
			light: hexes("#2C323C", "#6B7280", "#004A5E", "#0A4A1B", "#573600", "#85100B", "#55127A", "#FFFFFF"),
		},
		// Blue for good and orange for bad: no pair of them is told apart by red and green.
		ThemeSafe: {
			dark:  hexes("#A3A9B4", "#4B5260", "#C9D3E6", "#62B6F0", "#F2E35A", "#F08A3C", "#E79BC9", "#14161A"),
			light: hexes("#5C6470", "#B4BAC4", "#3B4660", "#005E9E", "#7A6800", "#6B1500", "#93306F", "#FFFFFF"),
		},
		// The sixteen colours that the terminal's owner chose.
		ThemeTerminal: {
			dark:  roles{lipgloss.White, lipgloss.BrightBlack, lipgloss.BrightCyan, lipgloss.BrightGreen, lipgloss.BrightYellow, lipgloss.BrightRed, lipgloss.BrightMagenta, lipgloss.Black},
			light: roles{lipgloss.Black, lipgloss.BrightBlack, lipgloss.Blue, lipgloss.Green, lipgloss.Magenta, lipgloss.Red, lipgloss.Magenta, lipgloss.BrightWhite},
		},
	}
}

// newTheme draws with the named theme for a background; a name that is not known
// is the standard one.
func newTheme(name string, dark bool) theme {
	if name == ThemeMono {
		return monochrome()
	}
	p, ok := palettes()[name]
	if !ok {
		p = palettes()[ThemeAuto]
	}
	r := p.light
	if dark {
		r = p.dark
	}
	fg := func(c color.Color) lipgloss.Style { return lipgloss.NewStyle().Foreground(c) }
	chip := func(c color.Color) ink { return ink{lipgloss.NewStyle().Bold(true).Background(c).Foreground(r.on)} }
	return theme{
		plain: ink{lipgloss.NewStyle()}, strong: ink{lipgloss.NewStyle().Bold(true)},
		muted: ink{fg(r.muted)}, faint: ink{fg(r.faint)},
		accent: ink{fg(r.accent)}, good: ink{fg(r.good)}, warn: ink{fg(r.warn)}, bad: ink{fg(r.bad).Bold(true)},
		key: ink{fg(r.accent).Bold(true)}, title: ink{fg(r.accent).Bold(true)}, pick: ink{fg(r.accent).Bold(true)},
		chipSafe: chip(r.good), chipArmed: chip(r.bad), chipWarn: chip(r.warn), chipPlace: chip(r.place), found: chip(r.accent),
		danger: ink{fg(r.bad).Bold(true)}, dangerText: ink{fg(r.bad).Bold(true)}, place: ink{fg(r.place).Bold(true)}, veil: ink{fg(r.faint)},
	}
}

// monochrome is every style without a colour: weight, underline and reverse video
// are left, where a terminal has them.
func monochrome() theme {
	plain, bold := ink{lipgloss.NewStyle()}, ink{lipgloss.NewStyle().Bold(true)}
	chip := ink{lipgloss.NewStyle().Bold(true).Reverse(true)}
	return theme{
		plain: plain, strong: bold, muted: plain, faint: plain, accent: bold, good: plain, warn: bold, bad: bold,
		key: bold, title: bold, pick: bold, chipSafe: chip, chipArmed: chip, chipWarn: chip, chipPlace: chip, found: chip,
		danger: bold, dangerText: bold, place: bold, veil: ink{lipgloss.NewStyle().Faint(true)},
	}
}

// theme is what c asks to draw with on a background.
func (c Config) theme(dark bool) theme {
	if c.NoColor {
		return monochrome()
	}
	return newTheme(c.Theme, dark)
}
