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
func (g *gateModal) waits(env *Env) bool {
	return g != nil && g.armed() && !g.sent && len(lacks(g.gate, env.now)) > 0
}

func approvals(g session.Gate) int {
	if g.Second == nil {
		return 0
	}
	return len(g.Second.By)
}

// approvers names who approved what is shown, and until when that counts.
func (g *gateModal) approvers(env *Env, p *ink.Page) {
	th, second := p.Theme, g.gate.Second
	if second == nil {
		return
	}
	live := g.gate.Phase == triage.GateArmed || g.gate.Phase == triage.GateConfirmed
	for _, a := range second.By {
		left := a.Lapses().Sub(env.now)
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

// waiting says whose approval is missing and how to get it, with the line that
// takes it.
func (g *gateModal) waiting(env *Env, p *ink.Page) (*tea.Position, []ink.Hint) {
	th := p.Theme
	second := g.gate.Second
	missing := func() {
		p.Item(th.Warn.On("! missing  "), th.Strong, ink.Shown(ink.Sentence(lacks(g.gate, env.now)[0].Why)))
		p.Item(th.Muted.On("  who may  "), th.Plain, ink.Few(second.May, 4))
	}
	if env.replaying() {
		missing()
		if env.tape.Live() { // whoever looks on may be the one who is missing
			p.Item(th.Muted.On("  how      "), th.Plain, ink.Say("handrail approve %s", env.snap.Bundle))
		}
		return nil, nil
	}
	copies := ink.Shown(env.keys.Request.Help().Key)
	if g.said.text == "" { // else what was just said needs the room
		missing()
		how := ink.Say("%s copies the request. They run handrail approve, paste it, and send one line back.", copies)
		if p.W < 70 {
			how = ink.Say("%s copies it; they run handrail approve.", copies)
		}
		p.Item(th.Muted.On("  how      "), th.Plain, how)
		if env.h > roomy {
			p.Item(ink.Blank(11), th.Plain, ink.Say("Who can read the bundle runs: handrail approve %s", env.snap.Bundle))
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
func (g *gateModal) typeApproval(env *Env, msg tea.KeyPressMsg) tea.Cmd {
	switch {
	case g.asks:
	case g.edit.value() == "" && key.Matches(msg, env.keys.Request):
		return env.Ask(CopyRequest{})
	case !key.Matches(msg, env.keys.Enter):
		g.said = notice{}
		g.edit.key(msg)
	case g.edit.value() == "": // people take minutes: there is work to do meanwhile
		env.Ask(CloseGate{})
		env.warn("", "The gate still waits for a second person. Paste their answer anywhere here.")
	default:
		return g.handApproval(env, g.edit.value())
	}
	return nil
}

// pasteAtGate puts the clipboard into the line in front. An approval is known by
// its first word, and handed over at once: by itself it changes nothing.
func (g *gateModal) pasteAtGate(env *Env, s string) tea.Cmd {
	if !session.IsApproval(s) || !g.armed() || g.sent || env.now.Before(g.quiet) || g.gate.Second == nil {
		g.paste(s, env.now)
		return nil
	}
	return g.handApproval(env, s)
}

func (g *gateModal) handApproval(env *Env, line string) tea.Cmd {
	if g.asks {
		return nil
	}
	g.asks, g.said = true, notice{}
	return env.send(triage.Intent{Kind: triage.DoApprove, Step: g.step, Sig: line})
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
