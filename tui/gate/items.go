package gate

import (
	"handrail/steps"
	"handrail/triage"
	"handrail/triage/record"
	"handrail/tui/ink"
	"handrail/tui/screen"
)

// items lists the acts of a batch that was begun: those that were not done first.
func (g *Modal) items(env *screen.Env, p *ink.Page) {
	th := p.Theme
	list := env.Snap.State.Gates[g.Step].Items
	if len(list) == 0 || g.Armed() {
		return
	}
	p.Head("EACH BY ITSELF")
	for _, done := range []bool{false, true} {
		for _, it := range list {
			if (it.Outcome == steps.Done) != done {
				continue
			}
			lead := th.Bad.On("✗ ")
			switch it.Outcome {
			case steps.Done:
				lead = th.Good.On("✓ ")
			case record.Left:
				lead = th.Muted.On("· ")
			case triage.Unknown:
				lead = th.Warn.On("? ")
			}
			said := ink.Say("%s: %s. %s", it.Object, it.Outcome, it.Response)
			if it.Outcome == record.Left {
				said = ink.Say("%s: not begun, as it was.", it.Object)
			}
			p.Item(lead, th.Plain, said)
		}
	}
	p.Gap()
}
