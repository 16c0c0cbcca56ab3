package run

import (
	"charm.land/bubbles/v2/key"

	"handrail/tui/ink"
	"handrail/tui/screen"
)

// debriefNext names the safe moves that are left.
func (r *Screen) debriefNext(env *screen.Env, p *ink.Page) {
	th, k := p.Theme, env.Keys
	if env.Replaying() {
		return
	}
	row := func(b key.Binding, t ink.Text) {
		p.Item(th.Key.On(ink.Shown(b.Help().Key))+"  ", th.Plain, t)
	}
	switch sealed := env.Seal.Result; {
	case sealed != nil && sealed.Wrong == "":
		row(k.Seal, ink.Say("sealed in %s: what to post, and how to check it", sealed.Seal))
	case env.Seal.Order != nil:
		row(k.Seal, "sealing is in progress")
	case r.Snap.Sealed:
		row(k.Seal, "sealed, and nothing added since; sign it if it is not signed")
	default:
		row(k.Seal, "seal it: everything up to now is then covered by the seal")
	}
	row(k.Report, "show the report as it would be exported now")
}
