package seal

import (
	"handrail/session/journal"
	"handrail/session/report"
	"handrail/session/view"
	"handrail/tui/incident"
	"handrail/tui/ink"
	"handrail/tui/keymap"
	"handrail/tui/screen"
)

// Draw shows what a seal would be, or what came of it, in h lines.
func (s *Screen) Draw(env *screen.Env, w, h int) []ink.Drawn {
	p := ink.Page{W: w, Theme: &env.Theme}
	p.Add("")
	if s.Result != nil {
		s.drawResult(env, &p)
	} else {
		s.drawBefore(env, &p)
	}
	all := len(p.Rows)
	var rows []ink.Drawn
	rows, s.off = ink.Window(p.Rows, s.off, h)
	if more := all - s.off - h; more > 0 {
		rows[h-1] = env.Theme.Muted.On(ink.Say("↓ %d more lines: pgdn", more+1))
	}
	return rows
}

func (s *Screen) drawBefore(env *screen.Env, p *ink.Page) {
	th, snap := p.Theme, env.Snap
	p.Add(th.Title.On("SEAL") + "  " + th.Plain.On(ink.Shown(snap.State.Incident)))
	if s.err != "" {
		p.Item(th.Bad.On("✗ "), th.Plain, s.err)
		if s.Gone {
			p.Item(ink.Blank(2), th.Muted, ink.Say("The incident is closed and kept. Enter tries again; so does handrail bundle seal %s.", snap.State.Incident))
		}
	}
	if s.Order != nil {
		p.Gap()
		for i, l := range s.steps {
			if i < len(s.steps)-1 {
				p.Item(th.Good.On("✓ "), th.Muted, l)
			} else {
				p.Item(th.Accent.On("● "), th.Plain, l+" …")
			}
		}
		return
	}
	if snap.Sealed {
		p.Item(th.Good.On("✓ "), th.Plain, "It is sealed, and nothing was added since. Sealing it again can only add a signature.")
	}
	p.Para(th.Plain, "The seal is a last entry that covers the whole journal. Entries added later are outside the seal, and marked as such.")
	p.Head("THE EVIDENCE")
	cover := incident.CoverageOf(snap.State)
	p.Add(cover.Strip(th, p.W))
	p.Add(th.Plain.On(cover.Line()))
	s.drawOpen(p, snap, cover)
	s.drawWho(p)
}

// drawOpen lists what a seal would leave as it is.
func (s *Screen) drawOpen(p *ink.Page, snap view.Snapshot, cover incident.Coverage) {
	th := p.Theme
	p.Head("STAYS AS IT IS")
	before := len(p.Rows)
	for _, c := range cover.Missing() {
		p.Item(th.Bad.On("✗ "), th.Plain, ink.Say("%s is missing (%s): %s", c.Item, c.Means, c.Why))
	}
	for _, d := range snap.State.Debts {
		switch d.Settled.How {
		case "":
			p.Item(th.Bad.On("✗ "), th.Plain, ink.Say("open debt without an owner: %s", d.Text))
		case "carried":
			p.Item(th.Warn.On("! "), th.Plain, ink.Say("%s carries until %s: %s", d.Settled.Owner, d.Settled.Until, d.Text))
		}
	}
	if a := snap.Anchor; a.Due != "" && a.Line != "" {
		p.Item(th.Warn.On("! "), th.Plain, ink.Say("the line that proves the journal, not posted since %s. Press esc, then A; the seal gives a last one.", a.Due))
	}
	if n := len(journal.Skipped(snap.State)); n > 0 {
		p.Item(th.Muted.On("– "), th.Plain, ink.Say("%d steps were left out; the seal names them", n))
	}
	if len(p.Rows) == before {
		p.Item(th.Good.On("✓ "), th.Plain, "No evidence is missing, and there are no open debts.")
	}
}

// drawWho says who could sign, and what becomes of the redaction key.
func (s *Screen) drawWho(p *ink.Page) {
	th := p.Theme
	p.Head("WHO SIGNS")
	switch {
	case s.means == nil && s.err == "":
		p.Add(th.Muted.On("loading …"))
		return
	case s.means == nil:
		return
	}
	for _, k := range s.means.Signers {
		p.Item(th.Good.On("✓ "), th.Plain, ink.Say("%s  %s", k.Name, k.ID))
	}
	if len(s.means.Signers) == 0 {
		p.Item(th.Warn.On("! "), th.Plain, ink.Shown(s.means.NoSigner))
	}
	p.Head("THE KEY OF THE HIDDEN VALUES")
	if len(s.means.Recipients) == 0 {
		p.Item(th.Warn.On("! "), th.Plain, "is destroyed: then no guess can be tested against these values.")
		p.Item(ink.Blank(2), th.Muted, ink.Say("To keep it for a person: %s", s.means.NameOne))
		return
	}
	p.Item(th.Good.On("✓ "), th.Plain, "is encrypted, then destroyed here. Readable by:")
	for _, r := range s.means.Recipients {
		p.Add(ink.Blank(2) + th.Plain.On(ink.Shown(r)))
	}
}

func (s *Screen) drawResult(env *screen.Env, p *ink.Page) {
	th, r := p.Theme, s.Result
	p.Add(th.Good.On("✓ ") + th.Good.On("SEALED") + "  " + th.Plain.On(ink.Shown(env.Snap.State.Incident)))
	p.Gap()
	if r.Wrong != "" {
		p.Item(th.Bad.On("✗ "), th.Plain, ink.Shown(r.Wrong))
	}
	p.Item(th.Good.On("✓ "), th.Plain, ink.Say("%s entries, in %s", ink.Grouped(r.Entries), r.Seal))
	if r.Signature != "" {
		p.Item(th.Good.On("✓ "), th.Plain, ink.Say("signed: %s", r.Signature))
	} else {
		p.Item(th.Warn.On("! "), th.Plain, ink.Say("not signed: handrail bundle sign %s", env.Snap.State.Incident))
	}
	switch r.Key {
	case "destroyed":
		p.Item(th.Good.On("✓ "), th.Plain, "the key of the hidden values is destroyed")
	case "escrowed":
		p.Item(th.Good.On("✓ "), th.Plain, ink.Say("the key of the hidden values is encrypted in %s", r.Escrow))
	}
	s.drawVerdict(p)
	p.Head("POST THIS LINE IN THE INCIDENT CHANNEL")
	p.Para(th.Strong, ink.Shown(r.Anchor))
	p.Head("THE BUNDLE, ITS REPORT, AND A CHECK OF YOUR OWN")
	for _, path := range []string{env.Snap.Bundle, report.Path(env.Snap.Bundle), "handrail bundle verify " + env.Snap.Bundle} {
		p.Para(th.Plain, ink.Shown(path))
	}
}

// drawVerdict says what a verification of every byte gave, right after the seal.
func (s *Screen) drawVerdict(p *ink.Page) {
	th, r := p.Theme, s.Result
	switch {
	case r.Wrong != "" && !r.Verified:
	case !r.Verified:
		p.Item(th.Bad.On("✗ "), th.Strong, "it does NOT verify")
		for _, f := range r.Failed {
			p.Item(ink.Blank(2)+th.Bad.On("✗ "), th.Plain, ink.Shown(f))
		}
	default:
		p.Item(th.Good.On("✓ "), th.Plain, "every byte was verified again")
	}
	for _, u := range r.Unproven {
		p.Item(ink.Blank(2)+th.Muted.On("? "), th.Muted, ink.Shown(u))
	}
}

// Hints implements [screen.Screen].
func (s *Screen) Hints(env *screen.Env) screen.Hints {
	out := screen.Hints{Always: keymap.Hints(env.Keys.Help, env.Keys.Esc)}
	k := env.Keys
	switch {
	case s.Result != nil:
		out.Move, out.Keys = "Back", append(keymap.Hints(k.Anchor, k.Report), ink.Hint{Key: "↑ ↓", Does: "scroll"})
	case s.Order != nil:
		out.Keys = []ink.Hint{{Key: "esc", Does: "back; sealing continues"}}
	case s.means == nil:
		out.Keys = []ink.Hint{{Key: "↑ ↓", Does: "scroll"}}
	default:
		out.Move, out.Keys = "Seal it: asks who signs, and for confirmation", append([]ink.Hint{{Key: "↑ ↓", Does: "scroll"}}, keymap.Hints(k.Report)...)
	}
	return out
}
