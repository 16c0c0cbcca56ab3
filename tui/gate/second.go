package gate

import (
	"errors"
	"strings"
	"time"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"handrail/session/approval"
	"handrail/session/view"
	"handrail/triage"
	"handrail/tui/form"
	"handrail/tui/incident"
	"handrail/tui/ink"
	"handrail/tui/screen"
)

// The second person of a gate: whose approval is missing, how to get it, and who
// gave it. Whether it counts is for the incident to say.

// waits says that the gate in front needs a second person before the phrase.
func (g *Modal) waits(env *screen.Env) bool {
	return g != nil && g.Armed() && !g.Sent && len(incident.Lacks(g.Gate, env.Now)) > 0
}

func approvals(g view.Gate) int {
	if g.Second == nil {
		return 0
	}
	return len(g.Second.By)
}

// approvers names who approved what is shown, and until when that counts.
func (g *Modal) approvers(env *screen.Env, p *ink.Page) {
	th, second := p.Theme, g.Gate.Second
	if second == nil {
		return
	}
	live := g.Gate.Phase == triage.GateArmed || g.Gate.Phase == triage.GateConfirmed
	for _, a := range second.By {
		left := a.Lapses().Sub(env.Now)
		switch {
		case live && left < 0:
			p.Item(th.Warn.On("! expired "), th.Plain, ink.Say("%s approved it; that approval expired at %s.", a.Person, ink.Clock(a.Lapses())))
		case live:
			p.Add(ink.Spread(th.Good.On("✓ approved")+"  "+th.Strong.On(ink.Shown(a.Person))+"  "+th.Muted.On(ink.Clip(ink.Shown(a.Key), 15)),
				"  "+th.Muted.On("expires in ")+th.Strong.On(ink.Ago(left))+th.Muted.On(ink.Say(" at %s", ink.Clock(a.Lapses()))), p.W))
		default:
			p.Item(label(th.Muted.On("approved by")), th.Plain, ink.Say("%s at %s, with the key %s", a.Person, ink.Clock(a.Signed), a.Key))
		}
	}
}

// waiting says whose approval is missing and how to get it, with the line that
// takes it.
func (g *Modal) waiting(env *screen.Env, p *ink.Page) (*tea.Position, []ink.Hint) {
	th := p.Theme
	second := g.Gate.Second
	missing := func() {
		p.Item(th.Warn.On("! missing  "), th.Strong, ink.Shown(ink.Sentence(incident.Lacks(g.Gate, env.Now)[0].Why)))
		p.Item(th.Muted.On("  who may  "), th.Plain, ink.Few(second.May, 4))
	}
	if env.Replaying() {
		missing()
		if env.Tape.Live() { // a follower may be the missing approver
			p.Item(th.Muted.On("  how      "), th.Plain, ink.Say("handrail approve %s", env.Snap.Bundle))
		}
		return nil, nil
	}
	copies := ink.Shown(env.Keys.Request.Help().Key)
	if g.Said.Text == "" { // else what was just said needs the room
		missing()
		how := ink.Say("%s copies the request. They run handrail approve, paste it, and send one line back.", copies)
		if p.W < 70 {
			how = ink.Say("%s copies it; they run handrail approve.", copies)
		}
		p.Item(th.Muted.On("  how      "), th.Plain, how)
		if env.H > Roomy {
			p.Item(ink.Blank(11), th.Plain, ink.Say("Anyone who can read the bundle can run: handrail approve %s", env.Snap.Bundle))
		}
	}
	if g.asks {
		p.Add(th.Strong.On("Checking the approval …"))
		return nil, []ink.Hint{{Key: "esc", Does: "disarm, nothing changes"}}
	}
	row, at := g.Edit.Draw(th.Strong, p.W-11)
	p.Add(th.Danger.On("approval ▸ ") + row)
	return &tea.Position{X: 11 + at, Y: len(p.Rows) - 1}, []ink.Hint{{Key: copies, Does: "copy the request"}, {Key: "enter", Does: "back; it waits"}, {Key: "esc", Does: "disarm"}, {Key: "paste", Does: "their answer"}, {Key: "pgdn", Does: "more"}}
}

// typeApproval takes what is typed while the gate waits: without bracketed paste
// an approval arrives as keys.
func (g *Modal) typeApproval(env *screen.Env, msg tea.KeyPressMsg) tea.Cmd {
	switch {
	case g.asks:
	case g.Edit.Value() == "" && key.Matches(msg, env.Keys.Request):
		return env.Ask(screen.CopyRequest{})
	case !key.Matches(msg, env.Keys.Enter):
		g.Said = screen.Notice{}
		g.Edit.Key(msg)
	case g.Edit.Value() == "": // people take minutes: there is work to do meanwhile
		env.Ask(screen.CloseGate{})
		env.Warn("", "The gate is waiting for a second person. Paste their answer here.")
	default:
		return g.HandApproval(env, g.Edit.Value())
	}
	return nil
}

// Paste puts the clipboard into the line in front. An approval is known by
// its first word, and handed over at once: by itself it changes nothing.
func (g *Modal) Paste(env *screen.Env, s string) tea.Cmd {
	if !approval.IsApproval(s) || !g.Armed() || g.Sent || env.Now.Before(g.Quiet) || g.Gate.Second == nil {
		g.paste(s, env.Now)
		return nil
	}
	return g.HandApproval(env, s)
}

// HandApproval hands the line of a second person to the incident.
func (g *Modal) HandApproval(env *screen.Env, line string) tea.Cmd {
	if g.asks {
		return nil
	}
	g.asks, g.Said = true, screen.Notice{}
	return env.Send(triage.Intent{Kind: triage.DoApprove, Step: g.Step, Sig: line})
}

// approved takes the incident's word on an approval.
func (g *Modal) approved(err error, now time.Time) {
	g.asks, g.Edit = false, form.Editor{}
	var no *triage.Refused
	switch {
	case err == nil:
		g.Said = screen.Notice{}
	case errors.As(err, &no) && len(no.Refusals) > 0:
		r := no.Refusals[0]
		g.Said = screen.Notice{Level: "critical", Text: ink.Say("Not accepted: %s. %s", strings.TrimSuffix(r.Why, "."), r.Cure)}
		g.Quiet = now.Add(Grace)
	default:
		g.Said = screen.Notice{Level: "critical", Text: ink.Shown(err.Error())}
		g.Quiet = now.Add(Grace)
	}
}
