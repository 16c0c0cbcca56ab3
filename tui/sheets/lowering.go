package sheets

import (
	tea "charm.land/bubbletea/v2"

	"handrail/triage"
	"handrail/tui/form"
	"handrail/tui/ink"
	"handrail/tui/screen"
)

// A lower severity that waits for a second person. It is no gate: nothing is acted
// on, and the incident goes on meanwhile.

// loweringForm takes the answer of the second person; left empty, it is the sheet of
// the severity again.
func loweringForm(env *screen.Env, again *form.Form) *form.Form {
	second := env.Snap.Lowers
	to := triage.SeverityAsk{GateShown: env.Snap.State.Lowering.Shown}.Lowers()
	return &form.Form{Title: ink.Say("%s is waiting for a second person", to),
		Intro: []ink.Text{ink.Shown(ink.Sentence(second.Why)) + ".", "Who may: " + ink.Few(second.May, 4) + ".",
			ink.Say("%s copies the request. They run handrail approve, paste it, and send one line back.", ink.Shown(env.Keys.Request.Help().Key))},
		Fields: []form.Field{form.Named("approval", "approval", "their answer; empty to set another severity", false)},
		Submit: func(v map[string]string) tea.Cmd {
			if v["approval"] == "" {
				env.Sheet = again
				return nil
			}
			return ApproveLowering(env, v["approval"])
		}}
}

// ApproveLowering hands over what a second person answered.
func ApproveLowering(env *screen.Env, line string) tea.Cmd {
	return env.Send(triage.Intent{Kind: triage.DoApprove, Step: triage.SeverityGate, Sig: line})
}
