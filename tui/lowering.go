package tui

import (
	"handrail/session/approval"
	"handrail/session/view"
	"handrail/triage"
	"handrail/tui/ink"
	"handrail/tui/screen"
)

// severitySaid says what became of a severity that was set or approved.
func severitySaid(env *screen.Env, in triage.Intent) screen.Notice {
	now := env.Snap.State.Severity
	if in.Kind == triage.DoSeverity && now != in.Severity && env.Snap.Lowers != nil {
		return screen.Notice{Level: "warning", Text: ink.Say("%s is waiting for a second person; until then it stays %s. %s copies the request; paste their answer here.",
			in.Severity, now, ink.Shown(env.Keys.Request.Help().Key))}
	}
	return screen.Notice{Text: ink.Say("✓ Severity is now %s.", now)}
}

// request is what is asked of a second person: by the gate that is shown, by a lower
// severity, or by the gate that waits behind.
func request(snap view.Snapshot, atGate bool) string {
	switch g := snap.Gate; {
	case !atGate && snap.Lowers != nil:
		return snap.Lowers.Request
	case g != nil && g.Second != nil:
		return g.Second.Request
	}
	return ""
}

// lowers says that an approval is of a lower severity.
func lowers(snap view.Snapshot, line string) bool {
	return approval.IsApproval(line) && snap.ApprovalOf(line) == triage.SeverityGate
}
