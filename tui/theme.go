package tui

import (
	"charm.land/lipgloss/v2"

	"handrail/triage"
)

// drawn is text with our own styles, ready for the terminal.
type drawn string

// ink draws text in one style.
type ink struct{ style lipgloss.Style }

// on draws t.
func (i ink) on(t text) drawn {
	if t == "" {
		return ""
	}
	return drawn(i.style.Render(string(t)))
}

// theme is every style of the program. Meaning is never in the colour alone: a
// word or a symbol always stands beside it.
type theme struct {
	plain, strong, muted, faint   ink
	accent, good, warn, bad       ink
	key, title, pick              ink
	chipSafe, chipArmed, chipWarn ink
	danger, dangerText            ink
}

func newTheme(dark bool) theme {
	pick := lipgloss.LightDark(dark)
	fg := func(light, dark string) lipgloss.Style {
		return lipgloss.NewStyle().Foreground(pick(lipgloss.Color(light), lipgloss.Color(dark)))
	}
	chip := func(light, dark, on string) ink {
		return ink{lipgloss.NewStyle().Bold(true).
			Background(pick(lipgloss.Color(light), lipgloss.Color(dark))).
			Foreground(pick(lipgloss.Color("#FFFFFF"), lipgloss.Color(on)))}
	}
	return theme{
		plain:      ink{lipgloss.NewStyle()},
		strong:     ink{lipgloss.NewStyle().Bold(true)},
		muted:      ink{fg("#5C6470", "#99A1AE")},
		faint:      ink{fg("#B4BAC4", "#4B5260")},
		accent:     ink{fg("#0A6A82", "#79C7DA")},
		good:       ink{fg("#1B7A33", "#8CCB92")},
		warn:       ink{fg("#8A5600", "#E8BA6C")},
		bad:        ink{fg("#B3201A", "#FF8177").Bold(true)},
		key:        ink{fg("#0A6A82", "#79C7DA").Bold(true)},
		title:      ink{fg("#0A6A82", "#79C7DA").Bold(true)},
		pick:       ink{fg("#0A6A82", "#79C7DA").Bold(true)},
		chipSafe:   chip("#1B7A33", "#8CCB92", "#10251A"),
		chipArmed:  chip("#B3201A", "#FF6B5E", "#2A0503"),
		chipWarn:   chip("#8A5600", "#E8BA6C", "#2B1D02"),
		danger:     ink{fg("#B3201A", "#FF6B5E").Bold(true)},
		dangerText: ink{fg("#7A1511", "#FFC2BC").Bold(true)},
	}
}

// mark is the symbol of a status with the ink it is drawn in, and its word.
type mark struct {
	symbol, word text
	ink          ink
}

func (t theme) status(s triage.Status, current bool) mark {
	switch s {
	case triage.Settled:
		return mark{"✓", "done", t.good}
	case triage.Running:
		return mark{"●", "running", t.accent}
	case triage.CannotTell:
		return mark{"!", "unknown", t.warn}
	case triage.Stale:
		return mark{"!", "stale", t.warn}
	case triage.Skipped:
		return mark{"–", "skipped", t.muted}
	case triage.Waived:
		return mark{"–", "waived", t.warn}
	}
	if current {
		return mark{"●", "now", t.accent}
	}
	return mark{"○", "open", t.muted}
}

func (t theme) level(level string) mark {
	switch level {
	case "critical":
		return mark{"✗", "CRITICAL", t.bad}
	case "warning":
		return mark{"!", "WARNING", t.warn}
	}
	return mark{"·", "INFO", t.muted}
}

func (t theme) severity(s text) ink {
	switch s {
	case "SEV-1":
		return t.bad
	case "SEV-2":
		return t.warn
	}
	return t.strong
}
