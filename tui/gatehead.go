package tui

import (
	"slices"
	"strings"

	"handrail/steps"
	"handrail/triage"
)

// The head of a gate: what it is about to do, to what, and how it stands.

// gateTop names the consequence first, then the one object it happens to.
func (m *model) gateTop(p *page) {
	th, g := p.th, m.gate
	pv := g.gate.Preview
	word, tail := m.gateWord()
	if place := m.place(); place != "" && p.w >= 100 { // else the line above the frame says it
		word = th.chipPlace.on(" "+clip(place, 16)+" ") + " " + word
	}
	p.add(spread(word, tail, p.w))
	switch {
	case pv.Effect != "" && g.gate.Phase == triage.GateDone:
		p.item(label(th.muted.on("ASKED FOR")), th.plain, shown(pv.Effect))
	case pv.Effect != "":
		p.item(label(th.danger.on("THIS WILL")), th.dangerText, shown(pv.Effect))
	case g.reading:
		p.para(th.muted, "Reading the target. Nothing is changed by looking.")
	default:
		p.para(th.dangerText, m.run.title(g.step))
	}
	if len(pv.Target) > 0 && m.h > roomy {
		p.gap()
	}
	near, _ := m.gateTarget()
	p.gateRows(th.strong, near)
}

// gateTarget are the rows of the target: those that stand, and those that scroll.
// Where lines are short and the server says what would change, that comes right
// after the object; what else holds the object to itself comes after it.
func (m *model) gateTarget() (near, far []steps.KV) {
	pv := m.gate.gate.Preview
	at := slices.IndexFunc(pv.Target, func(kv steps.KV) bool { return kv.Key == "object" })
	if at < 0 || m.h > roomy || len(pv.Diff) == 0 && m.gate.gate.Phase != triage.GateDone {
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

// gateWord is the state of the gate in a word, and what counts down.
func (m *model) gateWord() (word, tail drawn) {
	th, g := &m.th, m.gate
	name := "  " + th.muted.on("gate "+m.run.title(g.step))
	if g.gate.Digest != "" {
		tail = "  " + th.muted.on("digest ") + th.strong.on(shown(g.gate.Digest.Short()))
	}
	switch g.gate.Phase {
	case triage.GateArmed:
		left := g.gate.Until.Sub(m.now)
		if left <= 0 {
			return th.chipArmed.on(" DANGER · EXPIRED ") + name, tail
		}
		if m.waits() {
			word := text(" DANGER · TWO PERSONS ")
			if m.w < 70 {
				word = " DANGER · 2 PERSONS "
			}
			return th.chipWarn.on(word) + name, tail + th.muted.on("  expires in ") + th.strong.on(ago(left))
		}
		return th.chipArmed.on(" DANGER · ARMED ") + name, tail + th.muted.on("  expires in ") + th.strong.on(ago(left))
	case triage.GateConfirmed:
		return th.chipArmed.on(" DANGER · READING AGAIN ") + name, tail
	case triage.GateActing:
		return th.chipArmed.on(" DANGER · ACTING ") + name, tail
	case triage.GateDone:
		if m.gateUndone() {
			return th.chipArmed.on(" UNDONE SINCE ") + name, tail
		}
		return th.chipSafe.on(" DONE ") + name, tail
	case triage.GateFailed, triage.GateRefused:
		return th.chipWarn.on(say(" %s ", strings.ToUpper(string(g.gate.Phase)))) + name, tail
	case triage.GateUnknown:
		return th.chipWarn.on(" OUTCOME UNKNOWN ") + name, tail
	}
	return th.chipWarn.on(" DANGER · NOT ARMED ") + name, tail
}
