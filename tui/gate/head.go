package gate

import (
	"slices"
	"strings"

	"handrail/steps"
	"handrail/triage"
	"handrail/tui/ink"
	"handrail/tui/screen"
)

// The head of a gate: what it is about to do, to what, and how it stands.

// top names the consequence first, then the one object it happens to.
func (g *Modal) top(env *screen.Env, p *ink.Page) {
	th := p.Theme
	pv := g.Gate.Preview
	word, tail := g.word(env)
	if place := env.Place(); place != "" && p.W >= 100 { // else the line above the frame says it
		word = th.ChipPlace.On(" "+ink.Clip(place, 16)+" ") + " " + word
	}
	p.Add(ink.Spread(word, tail, p.W))
	g.result(env, p)
	switch {
	case pv.Effect != "" && g.Gate.Phase == triage.GateDone:
		p.Item(label(th.Muted.On("ASKED FOR")), th.Plain, ink.Shown(pv.Effect))
	case pv.Effect != "":
		p.Item(label(th.Danger.On("THIS WILL")), th.DangerText, ink.Shown(pv.Effect))
	case g.Reading:
		p.Para(th.Muted, "Reading the target. This changes nothing.")
	default:
		p.Para(th.DangerText, env.Title(g.Step))
	}
	if len(pv.Target) > 0 && env.H > Roomy {
		p.Gap()
	}
	near, _ := g.target(env)
	gateRows(p, th.Strong, near)
}

// target are the rows of the target: those that stand, and those that scroll.
// Where lines are short and the server says what would change, that comes right
// after the object; what else holds the object to itself comes after it.
func (g *Modal) target(env *screen.Env) (near, far []steps.KV) {
	pv := g.Gate.Preview
	at := slices.IndexFunc(pv.Target, func(kv steps.KV) bool { return kv.Key == "object" })
	if at < 0 || env.H > Roomy || len(pv.Diff) == 0 && g.Gate.Phase != triage.GateDone {
		return pv.Target, nil
	}
	near = slices.Clone(pv.Target[:at+1])
	for _, kv := range pv.Target[at+1:] {
		if kv.Key == "UID" { // a name can be that of another object
			near = append(near, kv)
		} else {
			far = append(far, kv)
		}
	}
	return near, far
}

// word is the state of the gate in a word, and what counts down.
func (g *Modal) word(env *screen.Env) (word, tail ink.Drawn) {
	th := &env.Theme
	name := "  " + th.Muted.On("gate "+env.Title(g.Step))
	if g.Gate.Digest != "" {
		tail = "  " + th.Muted.On("digest ") + th.Strong.On(ink.Shown(g.Gate.Digest.Short()))
	}
	switch g.Gate.Phase {
	case triage.GateArmed:
		left := g.Gate.Until.Sub(env.Now)
		if left <= 0 {
			return th.ChipArmed.On(" DANGER · EXPIRED ") + name, tail
		}
		if g.blocked() {
			return th.ChipWarn.On(" DANGER · BLOCKED ") + name, tail + th.Muted.On("  expires in ") + th.Strong.On(ink.Ago(left))
		}
		if g.waits(env) {
			word := ink.Text(" DANGER · TWO PERSONS ")
			if env.W < 70 {
				word = " DANGER · 2 PERSONS "
			}
			return th.ChipWarn.On(word) + name, tail + th.Muted.On("  expires in ") + th.Strong.On(ink.Ago(left))
		}
		return th.ChipArmed.On(" DANGER · ARMED ") + name, tail + th.Muted.On("  expires in ") + th.Strong.On(ink.Ago(left))
	case triage.GateConfirmed:
		return th.ChipArmed.On(" DANGER · READING AGAIN ") + name, tail
	case triage.GateActing:
		return th.ChipArmed.On(" DANGER · ACTING ") + name, tail
	case triage.GateDone:
		if g.undone(env) {
			return th.ChipArmed.On(" UNDONE ") + name, tail
		}
		return th.ChipSafe.On(" DONE ") + name, tail
	case triage.GateFailed, triage.GateRefused:
		return th.ChipWarn.On(ink.Say(" %s ", strings.ToUpper(string(g.Gate.Phase)))) + name, tail
	case triage.GateUnknown:
		return th.ChipWarn.On(" OUTCOME UNKNOWN ") + name, tail
	}
	return th.ChipWarn.On(" DANGER · NOT ARMED ") + name, tail
}

// label pads a name at the left of a gate.
func label(d ink.Drawn) ink.Drawn { return d + ink.Blank(max(2, labelWidth-ink.Cells(d))) }

// gateRows writes names and values in the columns of the gate.
func gateRows(p *ink.Page, in ink.Ink, kvs []steps.KV) {
	for _, kv := range kvs {
		p.Item(label(p.Theme.Muted.On(ink.Shown(kv.Key))), in, ink.Or(ink.Shown(kv.Value), "unknown"))
	}
}

// undone says that the act of the gate in front was undone.
func (g *Modal) undone(env *screen.Env) bool {
	return env.Snap.State.Gates[g.Step].Again.Outcome == triage.Undone
}
