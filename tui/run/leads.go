package run

import (
	"slices"
	"strings"

	"handrail/session/view"
	"handrail/steps"
	"handrail/triage"
	"handrail/tui/ink"
	"handrail/tui/screen"
)

// drawNext says which other runbooks match what is known. While a gate of this one is
// still ahead it takes a line: what is left for the next comes after the release.
func (r *Screen) drawNext(env *screen.Env, p *ink.Page) {
	th := p.Theme
	if len(r.Snap.Next) == 0 {
		return
	}
	var ids []string
	for _, l := range r.Snap.Next {
		ids = append(ids, l.Runbook)
	}
	if r.gateAhead() && !slices.ContainsFunc(ids, r.sentTo) {
		p.Gap()
		p.Item(th.Muted.On(ink.Say("%s  ", env.Keys.Runbook.Help().Key)), th.Muted, ink.Say("matches too: %s", strings.Join(ids, ", ")))
		return
	}
	p.Head(ink.Say("ANOTHER RUNBOOK MATCHES BETTER NOW: %s", env.Keys.Runbook.Help().Key))
	for _, l := range r.Snap.Next {
		p.Item(th.Accent.On("→ ")+th.Strong.On(ink.Shown(l.Runbook))+"  ", th.Plain, ink.Shown(l.Why))
	}
}

// leads are the runbooks that enter offers before it goes past a closed gate, once at each gate.
func (r *Screen) leads(o triage.Option) []view.Lead {
	if slices.Contains(r.led, o.Step) {
		return nil
	}
	return r.Snap.LeadsAt(o)
}

func leadLabel(leads []view.Lead) ink.Text {
	if len(leads) == 1 {
		return ink.Say("Go on with %s: %s", leads[0].Runbook, leads[0].Why)
	}
	return "Go on with another runbook; several match"
}

// sentTo says that something critical sends the call to another runbook.
func (r *Screen) sentTo(runbook string) bool {
	return slices.ContainsFunc(r.Steps(), func(st triage.Step) bool {
		return slices.ContainsFunc(st.Findings, func(f triage.Finding) bool {
			return f.Level == steps.Critical && !f.Unsure && strings.Contains(f.Say, runbook)
		})
	})
}

// gateAhead says that a gate applies that was neither used nor passed over.
func (r *Screen) gateAhead() bool {
	return slices.ContainsFunc(r.Steps(), func(st triage.Step) bool {
		if st.Kind != triage.GateStep || st.Status == triage.Skipped || r.Snap.Cards[st.ID].Aside != "" {
			return false
		}
		g := r.Snap.State.Gates[st.ID]
		return g.StartSeq == 0
	})
}
