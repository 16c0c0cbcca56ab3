package run

import (
	"handrail/session/debrief"
	"handrail/triage"
	"handrail/tui/ink"
)

// legMark is the sign of a line of two paths.
func legMark(t *ink.Theme, is string) ink.Mark {
	switch is {
	case debrief.Same:
		return ink.Mark{Symbol: "=", Word: "same", Ink: t.Good}
	case debrief.Otherwise:
		return ink.Mark{Symbol: "≠", Word: "different", Ink: t.Bad}
	case debrief.Order:
		return ink.Mark{Symbol: "~", Word: "other order", Ink: t.Warn}
	case debrief.LeftOut:
		return ink.Mark{Symbol: "–", Word: "left out", Ink: t.Warn}
	}
	return ink.Mark{Symbol: "+", Word: "extra", Ink: t.Muted}
}

// agreementMark is the sign of a verdict.
func agreementMark(t *ink.Theme, a triage.Agreement) ink.Mark {
	switch a.Is {
	case triage.Agrees:
		return ink.Mark{Symbol: "=", Word: ink.Shown(a.Word), Ink: t.Good}
	case triage.Differs:
		return ink.Mark{Symbol: "≠", Word: ink.Shown(a.Word), Ink: t.Bad}
	}
	return ink.Mark{Symbol: "?", Word: ink.Shown(a.Word), Ink: t.Warn}
}

// barredMark is the mark of what cannot be done now.
func barredMark(t *ink.Theme) ink.Mark { return ink.Mark{Symbol: "×", Word: "not now", Ink: t.Muted} }

// asideMark is the mark of what does not apply here.
func asideMark(t *ink.Theme) ink.Mark {
	return ink.Mark{Symbol: "–", Word: "not needed", Ink: t.Muted}
}

// statusMark is how a step stands.
func statusMark(t *ink.Theme, s triage.Status, current bool) ink.Mark {
	switch s {
	case triage.Settled:
		return ink.Mark{Symbol: "✓", Word: "done", Ink: t.Good}
	case triage.Running:
		return ink.Mark{Symbol: "●", Word: "running", Ink: t.Accent}
	case triage.CannotTell:
		return ink.Mark{Symbol: "!", Word: "unknown", Ink: t.Warn}
	case triage.Stale:
		return ink.Mark{Symbol: "!", Word: "stale", Ink: t.Warn}
	case triage.Skipped:
		return ink.Mark{Symbol: "–", Word: "skipped", Ink: t.Muted}
	case triage.Waived:
		return ink.Mark{Symbol: "–", Word: "waived", Ink: t.Warn}
	}
	if current {
		return ink.Mark{Symbol: "●", Word: "now", Ink: t.Accent}
	}
	return ink.Mark{Symbol: "○", Word: "open", Ink: t.Muted}
}

// greenMark is the mark of a sample: only true is green.
func greenMark(t *ink.Theme, s string) ink.Mark {
	switch s {
	case "true":
		return ink.Mark{Symbol: "✓", Word: "green", Ink: t.Good}
	case "false":
		return ink.Mark{Symbol: "✗", Word: "red", Ink: t.Bad}
	}
	return ink.Mark{Symbol: "?", Word: "unknown, which is not green", Ink: t.Warn}
}
