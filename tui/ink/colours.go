package ink

import (
	"image/color"
	"strconv"
	"strings"

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

// Ground is what is known of the background of a terminal.
type Ground int

// A terminal that does not say what its background is has an unknown one.
const (
	UnknownGround Ground = iota
	DarkGround
	LightGround
)

// GroundOf is the ground that COLORFGBG tells, which rxvt, Konsole and others set: the
// number of the background among the sixteen colours comes last.
func GroundOf(colorfgbg string) Ground {
	parts := strings.Split(colorfgbg, ";")
	n, err := strconv.Atoi(parts[len(parts)-1])
	switch {
	case err != nil || len(parts) < 2 || n < 0 || n > 15:
		return UnknownGround
	case n == 7 || n > 8:
		return LightGround
	}
	return DarkGround
}

// palette is a theme for a dark and for a light background, and for one that is not
// known, where each colour stands out from white as from black.
type palette struct{ dark, light, either roles }

func (p palette) on(g Ground) roles {
	switch g {
	case DarkGround:
		return p.dark
	case LightGround:
		return p.light
	}
	return p.either
}

func palettes() map[string]palette {
	return map[string]palette{
		ThemeAuto: {
			dark:  hexes("#99A1AE", "#4B5260", "#79C7DA", "#8CCB92", "#E8BA6C", "#FF8177", "#D7A6F0", "#16181D"),
			light: hexes("#5C6470", "#B4BAC4", "#0A6A82", "#1B7A33", "#8A5600", "#B3201A", "#7A2E9D", "#FFFFFF"),
			// No colour stands out from both by more than 4.58 to 1.
			either: hexes("#6D7683", "#868D98", "#00809A", "#228733", "#A56800", "#DF2F22", "#A84DCB", "#FFFFFF"),
		},
		// Text of every role at 7 to 1 or better, rules at 3 to 1. No colour does that on both
		// grounds, so that on an unknown one only the terminal's own colours are left.
		ThemeHigh: {
			dark:  hexes("#D5DAE3", "#8B94A5", "#8FE6FF", "#A4F2AA", "#FFD45E", "#FFA69E", "#E9C2FF", "#000000"),
			light: hexes("#2C323C", "#6B7280", "#004A5E", "#0A4A1B", "#573600", "#85100B", "#55127A", "#FFFFFF"),
		},
		// Blue for good and orange for bad: no pair of them is told apart by red and green.
		ThemeSafe: {
			dark:   hexes("#A3A9B4", "#4B5260", "#C9D3E6", "#62B6F0", "#F2E35A", "#F08A3C", "#E79BC9", "#14161A"),
			light:  hexes("#5C6470", "#B4BAC4", "#3B4660", "#005E9E", "#7A6800", "#6B1500", "#93306F", "#FFFFFF"),
			either: hexes("#6D7683", "#868D98", "#617791", "#2A6AFF", "#847600", "#98658E", "#B43ADC", "#FFFFFF"),
		},
		// The sixteen colours that the terminal's owner chose.
		ThemeTerminal: {
			dark:   roles{lipgloss.White, lipgloss.BrightBlack, lipgloss.BrightCyan, lipgloss.BrightGreen, lipgloss.BrightYellow, lipgloss.BrightRed, lipgloss.BrightMagenta, lipgloss.Black},
			light:  roles{lipgloss.Black, lipgloss.BrightBlack, lipgloss.Blue, lipgloss.Green, lipgloss.Magenta, lipgloss.Red, lipgloss.Magenta, lipgloss.BrightWhite},
			either: roles{lipgloss.BrightBlack, lipgloss.BrightBlack, lipgloss.Cyan, lipgloss.Green, lipgloss.Magenta, lipgloss.Red, lipgloss.Magenta, lipgloss.BrightWhite},
		},
	}
}

// NewTheme draws with the named theme for a background; a name that is not known
// is the standard one.
func NewTheme(name string, ground Ground) Theme {
	if name == ThemeMono || name == ThemeHigh && ground == UnknownGround {
		return Monochrome()
	}
	p, ok := palettes()[name]
	if !ok {
		p = palettes()[ThemeAuto]
	}
	r := p.on(ground)
	fg := func(c color.Color) lipgloss.Style { return lipgloss.NewStyle().Foreground(c) }
	chip := func(c color.Color) Ink { return inkOf(lipgloss.NewStyle().Bold(true).Background(c).Foreground(r.on)) }
	return Theme{
		Plain: inkOf(lipgloss.NewStyle()), Strong: inkOf(lipgloss.NewStyle().Bold(true)),
		Muted: inkOf(fg(r.muted)), Faint: inkOf(fg(r.faint)),
		Accent: inkOf(fg(r.accent)), Good: inkOf(fg(r.good)), Warn: inkOf(fg(r.warn)), Bad: inkOf(fg(r.bad).Bold(true)),
		Key: inkOf(fg(r.accent).Bold(true)), Title: inkOf(fg(r.accent).Bold(true)), Pick: inkOf(fg(r.accent).Bold(true)),
		ChipSafe: chip(r.good), ChipArmed: chip(r.bad), ChipWarn: chip(r.warn), ChipPlace: chip(r.place), Found: chip(r.accent),
		Danger: inkOf(fg(r.bad).Bold(true)), DangerText: inkOf(fg(r.bad).Bold(true)), Place: inkOf(fg(r.place).Bold(true)), Veil: inkOf(fg(r.faint)),
	}
}

// Monochrome is every style without a colour: weight, underline and reverse video
// are left, where a terminal has them.
func Monochrome() Theme {
	plain, bold := inkOf(lipgloss.NewStyle()), inkOf(lipgloss.NewStyle().Bold(true))
	chip := inkOf(lipgloss.NewStyle().Bold(true).Reverse(true))
	return Theme{
		Plain: plain, Strong: bold, Muted: plain, Faint: plain, Accent: bold, Good: plain, Warn: bold, Bad: bold,
		Key: bold, Title: bold, Pick: bold, ChipSafe: chip, ChipArmed: chip, ChipWarn: chip, ChipPlace: chip, Found: chip,
		Danger: bold, DangerText: bold, Place: bold, Veil: inkOf(lipgloss.NewStyle().Faint(true)),
	}
}
