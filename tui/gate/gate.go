package gate

import (
	"errors"
	"slices"
	"strconv"
	"time"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"handrail/session/view"
	"handrail/steps"
	"handrail/triage"
	"handrail/tui/form"
	"handrail/tui/ink"
	"handrail/tui/screen"
	"handrail/tui/sheets"
)

// Grace is how long the keyboard must be quiet before a gate that has just been
// armed listens: keys meant for the screen below must not reach it.
const Grace = 400 * time.Millisecond

// Modal is the gate in front of everything. It decides nothing: it shows
// what the incident says of the gate and hands over what was typed.
type Modal struct {
	Step    string
	Gate    view.Gate
	has     bool // gate is of this step
	Reading bool // the preview is on its way
	looks   bool // it is only looked at: enter asks for its preview, or puts it away where that is refused
	Sent    bool // the phrase was handed over and is being answered
	Edit    form.Editor
	Quiet   time.Time     // keys before this moment are swallowed
	Said    screen.Notice // the newest answer
	refused []triage.Refusal
	digest  steps.Digest
	Off     int
	whole   bool          // no refusal is folded
	page    int           // lines that were seen between target and phrase
	why     ink.Text      // it was closed, "" while it was not
	Noted   screen.Notice // a note was recorded meanwhile
	wrong   int           // wrong phrases before the newest one was handed over
	asks    bool          // an approval was handed over and is being looked at
	free    bool          // an owner that may undo the act is neither paused nor waived
}

// New shows a gate. It listens once the keyboard was quiet.
func New(env *screen.Env, step string) *Modal {
	g := &Modal{Step: step, Quiet: env.Now.Add(Grace)}
	g.Take(env.Snap, env.Now)
	return g
}

// Begun says that the gate needs no new preview: it is armed, or was used.
func (g *Modal) Begun() bool {
	switch g.Gate.Phase {
	case triage.GateArmed, triage.GateConfirmed, triage.GateActing, triage.GateDone:
		return g.has
	}
	return false
}

// Take shows a newer snapshot. A gate that becomes armed, or whose preview is
// another one than before, starts with an empty line and a quiet keyboard.
func (g *Modal) Take(s view.Snapshot, now time.Time) {
	g.why = ""
	if st := s.State.Gates[g.Step]; st.Phase == triage.GateIdle {
		g.why = ink.Shown(st.Why)
	}
	if s.Gate == nil || s.Gate.Step != g.Step {
		// What was shown stays readable, but no longer as something to type at.
		g.Gate.Phase, g.Gate.Wrong = s.State.Gates[g.Step].Phase, 0
		g.Edit = form.Editor{}
		return
	}
	armed := s.Gate.Phase == triage.GateArmed
	if armed && (!g.has || g.Gate.Phase != triage.GateArmed || g.digest != s.Gate.Digest) {
		g.Edit, g.Quiet, g.digest = form.Editor{}, now.Add(Grace), s.Gate.Digest
	}
	if s.Gate.Wrong != g.Gate.Wrong {
		g.Edit = form.Editor{}
	}
	free := slices.ContainsFunc(s.Options, g.waives)
	if g.free && !free { // what was pressed until now was not meant for the phrase
		g.Edit, g.Quiet, g.Said, g.refused = form.Editor{}, now.Add(Grace), screen.Notice{}, nil
	}
	g.free = free
	if g.has && approvals(*s.Gate) != approvals(g.Gate) { // the line is for something else now
		g.Edit, g.Quiet, g.Said = form.Editor{}, now.Add(Grace), screen.Notice{}
	}
	if g.has && s.Gate.Phase != g.Gate.Phase {
		g.Off = 0 // how it ended stands above what was read before
	}
	g.Gate, g.has = *s.Gate, true
}

// Answer takes the incident's answer to an intent about this gate, and says
// whether no second person is needed.
func (g *Modal) Answer(msg screen.Answer, now time.Time) bool {
	switch msg.In.Kind {
	case triage.DoPreview:
		g.Reading = false
	case triage.DoConfirm:
		g.Sent = false
	case triage.DoApprove:
		g.approved(msg.Err, now)
		return true
	case triage.DoDisarm:
		return msg.Err == nil
	default:
		return false
	}
	g.refused, g.Said = nil, screen.Notice{}
	var refused *triage.Refused
	switch {
	case msg.Err == nil:
	case g.Armed() && g.Gate.Wrong > g.wrong: // where it differs is said beside the line
	case errors.As(msg.Err, &refused):
		g.refused = refused.Refusals
	default:
		g.Said = screen.Notice{Level: "critical", Text: ink.Shown(msg.Err.Error())}
	}
	if msg.Err != nil {
		g.Quiet = now.Add(Grace)
	}
	return true
}

// blocked says that the gate is armed, and that a person must answer for an owner
// before the phrase would be taken.
func (g *Modal) blocked() bool { return g.Armed() && g.free && !g.Sent }

// waives reports whether an option answers for an owner of the target (law 12).
func (g *Modal) waives(o triage.Option) bool {
	return o.Kind == triage.DoWaive && o.Value == "12" && o.Step == g.Step
}

// Press gives every key to the gate.
func (g *Modal) Press(env *screen.Env, msg tea.KeyPressMsg) tea.Cmd {
	if !env.Now.Before(g.Quiet) {
		g.Noted = screen.Notice{}
	}
	switch {
	case key.Matches(msg, env.Keys.Esc):
		return g.close(env)
	case g.scroll(msg.String()):
	case env.Now.Before(g.Quiet): // this was typed at another screen
		g.Quiet = env.Now.Add(Grace)
		return nil
	case g.blocked():
		if key.Matches(msg, env.Keys.Enter, env.Keys.Waive) {
			g.waiveInTheWay(env)
		}
	case g.waits(env):
		return g.typeApproval(env, msg)
	case g.Armed() && !g.Sent:
		return g.typePhrase(env, msg)
	case g.Armed(), g.Reading:
	case key.Matches(msg, env.Keys.Interrupt) && env.Acting():
		env.Sheet = sheets.InterruptForm(env, env.Snap.State.Acting)
	case key.Matches(msg, env.Keys.View) && env.Acting():
		return env.Ask(screen.ShowOutput{}) // the act goes on
	case g.goTo(env, msg.String()):
	case g.looks && key.Matches(msg, env.Keys.Enter) && len(g.against(env)) == 0:
		return env.Ask(screen.OpenGate{Step: g.Step})
	case key.Matches(msg, env.Keys.View):
		g.whole = !g.whole
	case key.Matches(msg, env.Keys.Reload):
		g.Look()
	case key.Matches(msg, env.Keys.Waive):
		g.waiveInTheWay(env)
	case key.Matches(msg, env.Keys.Enter, env.Keys.Leave):
		return env.Ask(screen.CloseGate{})
	}
	return nil
}

// scroll moves what stands between target and phrase, also while a phrase is typed:
// by a line, or by what is seen of it.
func (g *Modal) scroll(key string) bool {
	by, ok := map[string]int{"up": -1, "down": 1, "pgup": -max(1, g.page-1), "pgdown": max(1, g.page-1)}[key]
	g.Off = max(0, g.Off+by)
	return ok
}

// goTo leaves the gate for the step with a number, where one is named.
func (g *Modal) goTo(env *screen.Env, key string) bool {
	n, err := strconv.Atoi(key)
	met := g.goes(env)
	if err != nil || n < 1 || n > len(met) {
		return false
	}
	env.Ask(screen.GoTo{Step: met[n-1]})
	return true
}

func (g *Modal) typePhrase(env *screen.Env, msg tea.KeyPressMsg) tea.Cmd {
	if !key.Matches(msg, env.Keys.Enter) {
		g.Said = screen.Notice{}
		g.Edit.Key(msg)
		return nil
	}
	if g.Edit.Value() == "" {
		g.Said = screen.Notice{Text: "Enter alone does nothing here. Type the phrase, or press esc."}
		return nil
	}
	g.Sent, g.wrong = true, g.Gate.Wrong
	return env.Send(triage.Intent{Kind: triage.DoConfirm, Step: g.Step, Digest: string(g.digest),
		Typed: g.Edit.Value(), Pasted: g.Edit.Pasted})
}

// paste puts the clipboard into the line of the phrase. It is noted as pasted.
func (g *Modal) paste(s string, now time.Time) {
	if !g.Armed() || g.Sent || g.blocked() || now.Before(g.Quiet) {
		return
	}
	g.Said = screen.Notice{}
	g.Edit.Paste(s)
}

// close is esc: an armed gate is disarmed, an act goes on.
func (g *Modal) close(env *screen.Env) tea.Cmd {
	env.Ask(screen.CloseGate{})
	if g.Sent || !g.Armed() {
		return nil
	}
	return env.Send(triage.Intent{Kind: triage.DoDisarm, Step: g.Step, Text: "closed by the operator"})
}

// waiveInTheWay sets aside what a person may answer for: an owner that is not
// paused, or what a step found against this gate.
func (g *Modal) waiveInTheWay(env *screen.Env) {
	against := env.Snap.State.SpeaksAgainst(g.Step)
	for _, o := range env.Snap.Options {
		if g.waives(o) || o.Kind == triage.DoWaive && o.Value == "0" && slices.Contains(against, o.Step) {
			env.Sheet = sheets.WaiveForm(env, o)
			return
		}
	}
}
