package tui

import (
	"errors"
	"strings"
	"time"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"handrail/session"
	"handrail/triage"
	"handrail/tui/ink"
)

// The second person of a gate: whose approval is missing, how to get it, and who
// gave it. Whether it counts is for the incident to say.

// waits says that the gate in front asks for somebody else before the phrase.
func (m *model) waits() bool {
	g := m.gate
	return g != nil && g.armed() && !g.sent && len(lacks(g.gate, m.now)) > 0
}

// lacks is what the incident says is missing, or that an approval lapsed since it
// said so.
func lacks(g session.Gate, now time.Time) []triage.Refusal {
	second := g.Second
	if second == nil || len(second.Lacks) > 0 || g.Phase != triage.GateArmed {
		if second == nil {
			return nil
		}
		return second.Lacks
	}
	for _, a := range second.By {
		if !now.After(a.Lapses()) {
			return nil
		}
	}
	return []triage.Refusal{{Why: "the approval has lapsed"}}
}

// armedWord is what an armed gate waits for.
func (m *model) armedWord(step string) ink.Text {
	g := m.run.snap.Gate
	switch {
	case g == nil || g.Step != step || g.Second == nil || len(g.Second.Lacks)+len(g.Second.By) == 0:
		return "Armed: the preview is valid and waits for its phrase."
	case len(lacks(*g, m.now)) > 0:
		return ink.Say("Armed, and waits for a second person: %s. %s copies the request.", ink.Few(g.Second.May, 4), ink.Shown(m.keys.Request.Help().Key))
	}
	return ink.Say("Armed and approved by %s: it waits for its phrase.", g.Second.By[len(g.Second.By)-1].Person)
}

func approvals(g session.Gate) int {
	if g.Second == nil {
		return 0
	}
	return len(g.Second.By)
}

// gateApproved names who approved what is shown, and until when that counts.
func (m *model) gateApproved(p *ink.Page) {
	th, second := p.Theme, m.gate.gate.Second
	if second == nil {
		return
	}
	live := m.gate.gate.Phase == triage.GateArmed || m.gate.gate.Phase == triage.GateConfirmed
	for _, a := range second.By {
		left := a.Lapses().Sub(m.now)
		switch {
		case live && left < 0:
			p.Item(th.Warn.On("! lapsed  "), th.Plain, ink.Say("%s approved it, and that counted until %s.", a.Person, ink.Clock(a.Lapses())))
		case live:
			p.Add(ink.Spread(th.Good.On("✓ approved")+"  "+th.Strong.On(ink.Shown(a.Person))+"  "+th.Muted.On(ink.Clip(ink.Shown(a.Key), 15)),
				"  "+th.Muted.On("lapses in ")+th.Strong.On(ink.Ago(left))+th.Muted.On(ink.Say(" at %s", ink.Clock(a.Lapses()))), p.W))
		default:
			p.Item(label(th.Muted.On("approved by")), th.Plain, ink.Say("%s at %s, with the key %s", a.Person, ink.Clock(a.Signed), a.Key))
		}
	}
}

// gateWaits says whose approval is missing and how to get it, with the line that
// takes it.
func (m *model) gateWaits(p *ink.Page) (*tea.Position, []ink.Hint) {
	th, g := p.Theme, m.gate
	second := g.gate.Second
	missing := func() {
		p.Item(th.Warn.On("! missing  "), th.Strong, ink.Shown(ink.Sentence(lacks(g.gate, m.now)[0].Why)))
		p.Item(th.Muted.On("  who may  "), th.Plain, ink.Few(second.May, 4))
	}
	if m.replaying() {
		missing()
		if m.tape.Live() { // whoever looks on may be the one who is missing
			p.Item(th.Muted.On("  how      "), th.Plain, ink.Say("handrail approve %s", m.run.snap.Bundle))
		}
		return nil, nil
	}
	copies := ink.Shown(m.keys.Request.Help().Key)
	if g.said.text == "" { // else what was just said needs the room
		missing()
		how := ink.Say("%s copies the request. They run handrail approve, paste it, and send one line back.", copies)
		if p.W < 70 {
			how = ink.Say("%s copies it; they run handrail approve.", copies)
		}
		p.Item(th.Muted.On("  how      "), th.Plain, how)
		if m.h > roomy {
			p.Item(ink.Blank(11), th.Plain, ink.Say("Who can read the bundle runs: handrail approve %s", m.run.snap.Bundle))
		}
	}
	if g.asks {
		p.Add(th.Strong.On("Looking whether it counts …"))
		return nil, []ink.Hint{{Key: "esc", Does: "disarm, nothing changes"}}
	}
	row, at := g.edit.draw(th.Strong, p.W-11)
	p.Add(th.Danger.On("approval ▸ ") + row)
	return &tea.Position{X: 11 + at, Y: len(p.Rows) - 1}, []ink.Hint{{Key: copies, Does: "copy the request"}, {Key: "enter", Does: "back; it waits"}, {Key: "esc", Does: "disarm"}, {Key: "paste", Does: "their answer"}, {Key: "pgdn", Does: "more"}}
}

// typeApproval takes what is typed while the gate waits: without bracketed paste
// an approval arrives as keys.
func (m *model) typeApproval(msg tea.KeyPressMsg) tea.Cmd {
	g := m.gate
	switch {
	case g.asks:
	case g.edit.value() == "" && key.Matches(msg, m.keys.Request):
		return m.copyRequest()
	case !key.Matches(msg, m.keys.Enter):
		g.said = notice{}
		g.edit.key(msg)
	case g.edit.value() == "": // people take minutes: there is work to do meanwhile
		m.gate = nil
		m.run.decide()
		m.warn("", "The gate still waits for a second person. Paste their answer anywhere here.")
	default:
		return m.handApproval(g.edit.value())
	}
	return nil
}

// pasteAtGate puts the clipboard into the line in front. An approval is known by
// its first word, and handed over at once: by itself it changes nothing.
func (m *model) pasteAtGate(s string) tea.Cmd {
	g := m.gate
	if !session.IsApproval(s) || !g.armed() || g.sent || m.now.Before(g.quiet) || g.gate.Second == nil {
		g.paste(s, m.now)
		return nil
	}
	return m.handApproval(s)
}

// pasteBehindGate takes an approval that is pasted while the gate waits behind
// another screen, and brings the gate to the front.
func (m *model) pasteBehindGate(s string) tea.Cmd {
	g := m.run.snap.Gate
	if m.inc == nil || !session.IsApproval(s) || g == nil || g.Second == nil || g.Phase != triage.GateArmed {
		return nil
	}
	return tea.Batch(m.openGate(g.Step), m.handApproval(s))
}

func (m *model) handApproval(line string) tea.Cmd {
	g := m.gate
	if g.asks {
		return nil
	}
	g.asks, g.said = true, notice{}
	return m.send(triage.Intent{Kind: triage.DoApprove, Step: g.step, Sig: line})
}

// approved takes the incident's word on an approval.
func (g *gateModal) approved(err error, now time.Time) {
	g.asks, g.edit = false, editor{}
	var no *triage.Refused
	switch {
	case err == nil:
		g.said = notice{}
	case errors.As(err, &no) && len(no.Refusals) > 0:
		r := no.Refusals[0]
		g.said = notice{level: "critical", text: ink.Say("Not taken: %s. %s", strings.TrimSuffix(r.Why, "."), r.Cure)}
		g.quiet = now.Add(grace)
	default:
		g.said = notice{level: "critical", text: ink.Shown(err.Error())}
		g.quiet = now.Add(grace)
	}
}

// copyRequest hands what the gate in front asks to the clipboard of the terminal.
func (m *model) copyRequest() tea.Cmd {
	g := m.run.snap.Gate
	if g == nil || g.Second == nil || g.Second.Request == "" {
		m.warn("", "No gate waits for a second person.")
		return nil
	}
	done := ink.Say("The request was handed to the clipboard: send it to somebody who may. Or let them run: handrail approve %s", m.run.snap.Bundle)
	if m.gate != nil {
		m.gate.said = notice{level: "info", text: done}
	} else {
		m.notice = notice{text: done}
	}
	return tea.SetClipboard(g.Second.Request)
}
