package ink

import (
	"strings"

	"charm.land/lipgloss/v2"
)

// Drawn is text with our own styles, ready for the terminal.
type Drawn string

// Ink draws text in one style.
type Ink struct {
	style       lipgloss.Style
	open, close string // what the style writes around one line
}

// inkOf is the ink of a style without borders, margins and padding.
func inkOf(style lipgloss.Style) Ink {
	open, end, _ := strings.Cut(style.Render("x"), "x")
	return Ink{style, open, end}
}

// On draws t. A style lays out what it renders: one line needs none of that, and a frame has
// hundreds of them.
func (i Ink) On(t Text) Drawn {
	if t == "" {
		return ""
	}
	if strings.ContainsAny(string(t), "\n\t\r") {
		return Drawn(i.style.Render(string(t)))
	}
	return Drawn(i.open + string(t) + i.close)
}

// Theme is every style of the program. Meaning is never in the colour alone: a
// word or a symbol always stands beside it.
type Theme struct {
	Plain, Strong, Muted, Faint   Ink
	Accent, Good, Warn, Bad       Ink
	Key, Title, Pick              Ink
	ChipSafe, ChipArmed, ChipWarn Ink
	Danger, DangerText            Ink
	Place, ChipPlace              Ink // where a mistake costs most
	Found                         Ink // what was searched for
	Veil                          Ink // what is behind a gate
}

// Mark is the symbol of a status with the ink it is drawn in, and its word.
type Mark struct {
	Symbol, Word Text
	Ink          Ink
}

// Level is the mark of a finding.
func (t Theme) Level(level string) Mark {
	switch level {
	case "critical":
		return Mark{Symbol: "✗", Word: "CRITICAL", Ink: t.Bad}
	case "warning":
		return Mark{Symbol: "!", Word: "WARNING", Ink: t.Warn}
	}
	return Mark{Symbol: "·", Word: "INFO", Ink: t.Muted}
}

// Severity is the ink of a severity.
func (t Theme) Severity(s Text) Ink {
	switch s {
	case "SEV-1":
		return t.Bad
	case "SEV-2":
		return t.Warn
	}
	return t.Strong
}
