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
	place, chipPlace              ink // where a mistake costs most
	found                         ink // what was searched for
	veil                          ink // what is behind a gate
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
