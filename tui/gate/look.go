package gate

import (
	"handrail/triage"
	"handrail/tui/ink"
	"handrail/tui/screen"
)

// Looking at a gate. A letter only looks: what stands in the way is known without
// its target, and reading that is recorded and may arm the gate, which takes enter.

// Look shows what is known of the gate without reading its target.
func (g *Modal) Look() {
	g.looks, g.Said, g.refused = true, screen.Notice{}, nil
	g.Off = 0
}

// against is what would refuse a preview now.
func (g *Modal) against(env *screen.Env) []triage.Refusal {
	o, ok := env.Option(triage.DoPreview, g.Step)
	if !ok {
		return []triage.Refusal{{Why: "nothing can be asked of this gate now"}}
	}
	return o.Refusals
}

// unread says that the target was not read since the gate came to the front, so
// that there is no preview to show.
func (g *Modal) unread() bool { return g.looks && g.Gate.Preview.Effect == "" }

// drawLook says what enter would do, in a gate that is only looked at.
func (g *Modal) drawLook(env *screen.Env, p *ink.Page) {
	if !g.looks {
		return
	}
	p.Para(p.Theme.Plain, ink.Block(env.Snap.Cards[g.Step].Say))
	if len(g.against(env)) > 0 {
		p.Para(p.Theme.Muted, "Only looked at: nothing was read and nothing is recorded.")
		return
	}
	p.Para(p.Theme.Muted, "Only looked at: nothing was read. Enter reads the target and shows exactly what would be done; that changes nothing.")
}

// lookKeys are the keys of a gate that is only looked at.
func (g *Modal) lookKeys(env *screen.Env) []ink.Hint {
	if len(g.against(env)) > 0 {
		return []ink.Hint{{Key: "enter", Does: "back"}}
	}
	return []ink.Hint{{Key: "enter", Does: "read the target"}, {Key: "esc", Does: "back"}}
}

// refusals are what stood in the way when the target was read, or stands there now
// where the gate is only looked at.
func (g *Modal) refusals(env *screen.Env) []triage.Refusal {
	switch {
	case g.looks:
		return g.against(env)
	case len(g.refused) > 0:
		return g.refused
	}
	return g.Gate.Refusals
}

// goes are the steps that a number goes to, while numbers are no text.
func (g *Modal) goes(env *screen.Env) []string {
	if g.Armed() || env.Replaying() {
		return nil
	}
	return env.Met(g.Step, g.refusals(env))
}

// lines are those of a refusal that are shown: a server says the same in as many as
// it likes.
func (g *Modal) lines() int {
	if g.whole || g.Armed() {
		return 1 << 20
	}
	return 4
}

// Armed says that the phrase may be typed, or an approval.
func (g *Modal) Armed() bool { return g.has && g.Gate.Phase == triage.GateArmed }
