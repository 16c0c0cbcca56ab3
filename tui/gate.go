package tui

import (
	"errors"
	"slices"
	"time"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"handrail/session"
	"handrail/steps"
	"handrail/triage"
	"handrail/tui/ink"
)

// grace is how long the keyboard must be quiet before a gate that has just been
// armed listens: keys meant for the screen below must not reach it.
const grace = 400 * time.Millisecond

// tries is how many wrong phrases close a gate.
const tries = 3

// gateModal is the gate in front of everything. It decides nothing: it shows
// what the incident says of the gate and hands over what was typed.
type gateModal struct {
	step    string
	gate    session.Gate
	has     bool // gate is of this step
	reading bool // the preview is on its way
	sent    bool // the phrase was handed over and is being answered
	edit    editor
	quiet   time.Time // keys before this moment are swallowed
	said    notice    // the newest answer
	refused []triage.Refusal
	digest  steps.Digest
	off     int
	why     ink.Text // it was closed, "" while it was not
	noted   notice   // a note was recorded meanwhile
	wrong   int      // wrong phrases before the newest one was handed over
	asks    bool     // an approval was handed over and is being looked at
}

// take shows a newer snapshot. A gate that becomes armed, or whose preview is
// another one than before, starts with an empty line and a quiet keyboard.
func (g *gateModal) take(s session.Snapshot, now time.Time) {
	g.why = ""
	if st := s.State.Gates[g.step]; st.Phase == triage.GateIdle {
		g.why = ink.Shown(st.Why)
	}
	if s.Gate == nil || s.Gate.Step != g.step {
		// What was shown stays readable, but no longer as something to type at.
		g.gate.Phase, g.gate.Wrong = s.State.Gates[g.step].Phase, 0
		g.edit = editor{}
		return
	}
	armed := s.Gate.Phase == triage.GateArmed
	if armed && (!g.has || g.gate.Phase != triage.GateArmed || g.digest != s.Gate.Digest) {
		g.edit, g.quiet, g.digest = editor{}, now.Add(grace), s.Gate.Digest
	}
	if s.Gate.Wrong != g.gate.Wrong {
		g.edit = editor{}
	}
	if g.has && approvals(*s.Gate) != approvals(g.gate) { // the line is for something else now
		g.edit, g.quiet, g.said = editor{}, now.Add(grace), notice{}
	}
	if g.has && s.Gate.Phase != g.gate.Phase {
		g.off = 0 // how it ended stands above what was read before
	}
	g.gate, g.has = *s.Gate, true
}

// answer takes the incident's answer to an intent about this gate, and says
// whether nobody else needs to.
func (g *gateModal) answer(msg didMsg, now time.Time) bool {
	switch msg.in.Kind {
	case triage.DoPreview:
		g.reading = false
	case triage.DoConfirm:
		g.sent = false
	case triage.DoApprove:
		g.approved(msg.err, now)
		return true
	case triage.DoDisarm:
		return msg.err == nil
	default:
		return false
	}
	g.refused, g.said = nil, notice{}
	var refused *triage.Refused
	switch {
	case msg.err == nil:
	case g.armed() && g.gate.Wrong > g.wrong: // where it differs is said beside the line
	case errors.As(msg.err, &refused):
		g.refused = refused.Refusals
	default:
		g.said = notice{level: "critical", text: ink.Shown(msg.err.Error())}
	}
	if msg.err != nil {
		g.quiet = now.Add(grace)
	}
	return true
}

func (g *gateModal) armed() bool { return g.has && g.gate.Phase == triage.GateArmed }

// press gives every key to the gate.
func (g *gateModal) press(env *Env, msg tea.KeyPressMsg) tea.Cmd {
	if !env.now.Before(g.quiet) {
		g.noted = notice{}
	}
	switch {
	case key.Matches(msg, env.keys.Esc):
		return g.close(env)
	case env.now.Before(g.quiet): // whoever typed this was looking at something else
		g.quiet = env.now.Add(grace)
		return nil
	case msg.String() == "pgdown":
		g.off += 5
	case msg.String() == "pgup":
		g.off = max(0, g.off-5)
	case g.waits(env):
		return g.typeApproval(env, msg)
	case g.armed() && !g.sent:
		return g.typePhrase(env, msg)
	case g.armed(), g.reading:
	case key.Matches(msg, env.keys.Interrupt) && env.acting():
		env.form = interruptForm(env, env.snap.State.Acting)
	case key.Matches(msg, env.keys.View) && env.acting():
		return env.Ask(ShowOutput{}) // the act goes on
	case key.Matches(msg, env.keys.Reload):
		return env.Ask(OpenGate{Step: g.step})
	case key.Matches(msg, env.keys.Waive):
		g.waiveInTheWay(env)
	case key.Matches(msg, env.keys.Enter, env.keys.Leave):
		return env.Ask(CloseGate{})
	}
	return nil
}

func (g *gateModal) typePhrase(env *Env, msg tea.KeyPressMsg) tea.Cmd {
	if !key.Matches(msg, env.keys.Enter) {
		g.said = notice{}
		g.edit.key(msg)
		return nil
	}
	if g.edit.value() == "" {
		g.said = notice{text: "Enter alone does nothing here. Type the phrase, or press esc."}
		return nil
	}
	g.sent, g.wrong = true, g.gate.Wrong
	return env.send(triage.Intent{Kind: triage.DoConfirm, Step: g.step, Digest: string(g.digest),
		Typed: g.edit.value(), Pasted: g.edit.pasted})
}

// paste puts the clipboard into the line of the phrase. It is noted as pasted.
func (g *gateModal) paste(s string, now time.Time) {
	if !g.armed() || g.sent || now.Before(g.quiet) {
		return
	}
	g.said = notice{}
	g.edit.paste(s)
}

// close is esc: an armed gate is disarmed, an act goes on.
func (g *gateModal) close(env *Env) tea.Cmd {
	env.Ask(CloseGate{})
	if g.sent || !g.armed() {
		return nil
	}
	return env.send(triage.Intent{Kind: triage.DoDisarm, Step: g.step, Text: "the operator put it away"})
}

// waiveInTheWay sets aside what a person may answer for: an owner that is not
// paused, or what a step found against this gate.
func (g *gateModal) waiveInTheWay(env *Env) {
	against := env.snap.State.SpeaksAgainst(g.step)
	for _, o := range env.snap.Options {
		owner := o.Value == "12" && o.Step == g.step
		if o.Kind == triage.DoWaive && (owner || o.Value == "0" && slices.Contains(against, o.Step)) {
			env.form = waiveForm(env, o)
			return
		}
	}
}
