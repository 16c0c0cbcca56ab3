package tui

import "handrail/session"

// draw shows what a seal would be, or what came of it, in h lines.
func (s *sealScreen) draw(m *model, w, h int) []drawn {
	p := page{w: w, th: &m.th}
	p.add("")
	if s.result != nil {
		s.drawResult(m, &p)
	} else {
		s.drawBefore(m, &p)
	}
	all := len(p.rows)
	var rows []drawn
	rows, s.off = window(p.rows, s.off, h)
	if more := all - s.off - h; more > 0 {
		rows[h-1] = m.th.muted.on(say("↓ %d more lines: pgdn", more+1))
	}
	return rows
}

func (s *sealScreen) drawBefore(m *model, p *page) {
	th, snap := p.th, m.run.snap
	p.add(th.title.on("SEAL") + "  " + th.plain.on(shown(snap.State.Incident)))
	if s.err != "" {
		p.item(th.bad.on("✗ "), th.plain, s.err)
		if s.gone {
			p.item(blank(2), th.muted, say("The incident is closed and kept. Enter tries again; so does handrail bundle seal %s.", snap.State.Incident))
		}
	}
	if s.order != nil {
		p.gap()
		for i, l := range s.steps {
			if i < len(s.steps)-1 {
				p.item(th.good.on("✓ "), th.muted, l)
			} else {
				p.item(th.accent.on("● "), th.plain, l+" …")
			}
		}
		return
	}
	if snap.Sealed {
		p.item(th.good.on("✓ "), th.plain, "It is sealed, and nothing came after. Sealing it again can only add a signature.")
	}
	p.para(th.plain, "The journal ends with an entry that sums it up. Nothing can be added that it covers: what comes later stands outside, and says so.")
	p.head("THE EVIDENCE")
	cover := coverageOf(snap.State)
	p.add(cover.strip(th, p.w))
	p.add(th.plain.on(cover.line()))
	s.drawOpen(p, snap, cover)
	s.drawWho(p)
}

// drawOpen lists what a seal would leave as it is.
func (s *sealScreen) drawOpen(p *page, snap session.Snapshot, cover coverage) {
	th := p.th
	p.head("STAYS AS IT IS")
	before := len(p.rows)
	for _, c := range cover.missing() {
		p.item(th.bad.on("✗ "), th.plain, say("%s is missing (%s): %s", c.Item, c.Means, c.Why))
	}
	for _, d := range snap.State.Debts {
		switch d.Settled.How {
		case "":
			p.item(th.bad.on("✗ "), th.plain, say("owed, and nobody has it: %s", d.Text))
		case "carried":
			p.item(th.warn.on("! "), th.plain, say("%s carries until %s: %s", d.Settled.Owner, d.Settled.Until, d.Text))
		}
	}
	if a := snap.Anchor; a.Due != "" && a.Line != "" {
		p.item(th.warn.on("! "), th.plain, say("not posted since %s: the line that proves the journal. esc and A post it; the seal gives a last one.", a.Due))
	}
	if n := len(session.Skipped(snap.State)); n > 0 {
		p.item(th.muted.on("– "), th.plain, say("%d steps were left out; the seal names them", n))
	}
	if len(p.rows) == before {
		p.item(th.good.on("✓ "), th.plain, "Nothing is missing, nothing is owed.")
	}
}

// drawWho says who could sign, and what becomes of the redaction key.
func (s *sealScreen) drawWho(p *page) {
	th := p.th
	p.head("WHO SIGNS")
	switch {
	case s.means == nil && s.err == "":
		p.add(th.muted.on("looking …"))
		return
	case s.means == nil:
		return
	}
	for _, k := range s.means.Signers {
		p.item(th.good.on("✓ "), th.plain, say("%s  %s", k.Name, k.ID))
	}
	if len(s.means.Signers) == 0 {
		p.item(th.warn.on("! "), th.plain, shown(s.means.NoSigner))
	}
	p.head("THE KEY OF THE HIDDEN VALUES")
	if len(s.means.Recipients) == 0 {
		p.item(th.warn.on("! "), th.plain, "is destroyed: afterwards nobody can tell whether a guess is one of them.")
		p.item(blank(2), th.muted, say("To keep it for somebody: %s", s.means.NameOne))
		return
	}
	p.item(th.good.on("✓ "), th.plain, "is encrypted, and then destroyed here. These can read it:")
	for _, r := range s.means.Recipients {
		p.add(blank(2) + th.plain.on(shown(r)))
	}
}

func (s *sealScreen) drawResult(m *model, p *page) {
	th, r := p.th, s.result
	p.add(th.good.on("✓ ") + th.good.on("SEALED") + "  " + th.plain.on(shown(m.run.snap.State.Incident)))
	p.gap()
	if r.Wrong != "" {
		p.item(th.bad.on("✗ "), th.plain, shown(r.Wrong))
	}
	p.item(th.good.on("✓ "), th.plain, say("%s entries, in %s", grouped(r.Entries), r.Seal))
	if r.Signature != "" {
		p.item(th.good.on("✓ "), th.plain, say("signed: %s", r.Signature))
	} else {
		p.item(th.warn.on("! "), th.plain, say("nobody signed: handrail bundle sign %s", m.run.snap.State.Incident))
	}
	switch r.Key {
	case "destroyed":
		p.item(th.good.on("✓ "), th.plain, "the key of the hidden values is destroyed")
	case "escrowed":
		p.item(th.good.on("✓ "), th.plain, say("the key of the hidden values is encrypted in %s", r.Escrow))
	}
	s.drawVerdict(p)
	p.head("POST THIS LINE, WHERE THE INCIDENT IS TALKED ABOUT")
	p.para(th.strong, shown(r.Anchor))
	p.head("THE BUNDLE, ITS REPORT, AND A CHECK THAT NEEDS NO TRUST")
	for _, path := range []string{m.run.snap.Bundle, session.ReportPath(m.run.snap.Bundle), "handrail bundle verify " + m.run.snap.Bundle} {
		p.para(th.plain, shown(path))
	}
}

// drawVerdict says what a verification of every byte gave, right after the seal.
func (s *sealScreen) drawVerdict(p *page) {
	th, r := p.th, s.result
	switch {
	case r.Wrong != "" && !r.Verified:
	case !r.Verified:
		p.item(th.bad.on("✗ "), th.strong, "it does NOT verify")
		for _, f := range r.Failed {
			p.item(blank(2)+th.bad.on("✗ "), th.plain, shown(f))
		}
	default:
		p.item(th.good.on("✓ "), th.plain, "every byte was verified again")
	}
	for _, u := range r.Unproven {
		p.item(blank(2)+th.muted.on("? "), th.muted, shown(u))
	}
}

func (s *sealScreen) keys(m *model) (text, []hint) {
	k := m.keys
	switch {
	case s.result != nil:
		return "Back", append(hints(k.Anchor, k.Report), hint{"↑ ↓", "scroll"})
	case s.order != nil:
		return "", []hint{{"esc", "back; it goes on meanwhile"}}
	case s.means == nil:
		return "", []hint{{"↑ ↓", "scroll"}}
	}
	return "Seal it: asks who signs, and for the word", append([]hint{{"↑ ↓", "scroll"}}, hints(k.Report)...)
}
