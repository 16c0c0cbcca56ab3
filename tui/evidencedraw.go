package tui

import (
	"handrail/triage"
)

func (e *evidenceScreen) draw(th *theme, w, h int) []drawn {
	p := page{w: w, th: th}
	p.add("")
	if e.detail {
		e.drawDetail(&p, h)
		return p.rows
	}
	total := len(e.snap.State.Timeline)
	head := th.title.on("EVIDENCE") + "  " + th.muted.on(say("%d of %d entries", len(e.found), total))
	if e.kind != 0 {
		head = spread(head, th.muted.on("only ")+th.strong.on(entryKinds()[e.kind].name), w)
	}
	p.add(head)
	p.add(e.cover.strip(th, p.w))
	p.add(th.muted.on(e.cover.line()))
	if e.typing || e.find.value() != "" {
		row, _ := e.find.draw(th.strong, w-10)
		caret := drawn("")
		if e.typing {
			caret = th.accent.on("▏")
		}
		p.add(th.accent.on("/ ") + row + caret)
	}
	p.gap()
	if len(e.found) == 0 {
		p.para(th.muted, "Nothing matches. esc shows everything again.")
		return p.rows
	}
	room := max(1, h-len(p.rows))
	from := max(0, min(e.at-room/2, len(e.found)-room))
	for i := from; i < min(len(e.found), from+room); i++ {
		p.add(e.row(th, e.snap.State.Timeline[e.found[i]], w, i == e.at))
	}
	return p.rows
}

func (e *evidenceScreen) row(th *theme, m triage.Moment, w int, on bool) drawn {
	lead, ink := drawn("  "), th.plain
	if m.Type == "probe.start" {
		ink = th.muted
	}
	if on {
		lead, ink = th.pick.on("▸ "), th.pick
	}
	sym := drawn("  ")
	if m.Level != "" {
		k := th.level(m.Level)
		sym = k.ink.on(k.symbol) + " "
	}
	raw := drawn("")
	if n := len(e.snap.Blobs[m.Seq]); n > 0 {
		raw = "  " + th.muted.on(say("%d raw", n))
	}
	left := lead + th.muted.on(say("%4d  ", m.Seq)) + th.muted.on(clock(m.At)) + "  " + fit(th.accent.on(shown(m.Type)), 13) + "  " + sym + ink.on(gist(m)) + " "
	return spread(left, raw, w)
}

func (e *evidenceScreen) drawDetail(p *page, h int) {
	e.drawHead(p)
	if e.view != nil {
		e.drawText(p, h)
	}
}

// listed is how many artifacts of an entry are named at once.
const listed = 3

// drawHead is what stands above the text of an artifact: the entry that has it.
func (e *evidenceScreen) drawHead(p *page) {
	if e.report {
		e.drawReportHead(p)
		return
	}
	th := p.th
	m, _ := e.moment()
	blobs := e.snap.Blobs[m.Seq]
	p.rows = append(p.rows[:0], "")
	if e.view != nil && e.view.live != nil {
		p.rows[0] = e.view.head
		return
	}
	if e.full {
		nth := say("entry %d", m.Seq)
		if len(blobs) > 1 {
			nth = say("%d of %d, entry %d", e.blob+1, len(blobs), m.Seq)
		}
		p.rows[0] = spread(th.pick.on("▸ ")+e.artifactLine(p, e.blob, m), "  "+th.muted.on(nth), p.w)
		return
	}
	p.add(th.title.on(say("ENTRY %d", m.Seq)) + "  " + th.accent.on(shown(m.Type)) + "  " + th.muted.on(text(m.At.UTC().Format("2006-01-02 15:04:05Z"))))
	said := page{w: p.w, th: th}
	said.para(th.strong, shown(m.Text))
	if len(blobs) > 0 && len(said.rows) > 3 {
		said.rows = append(said.rows[:2], th.muted.on("…"))
	}
	p.rows = append(p.rows, said.rows...)
	by := th.muted.on("by ") + th.plain.on(or(shown(m.Actor), "handrail"))
	if m.Step != "" {
		by += th.muted.on("   step ") + th.plain.on(shown(m.Step))
	}
	p.add(by)
	p.gap()
	if len(blobs) == 0 {
		p.para(th.muted, "This entry has no raw artifact.")
		return
	}
	from := max(0, min(e.blob-listed/2, len(blobs)-listed))
	for i := from; i < min(len(blobs), from+listed); i++ {
		lead := drawn("  ")
		if i == e.blob {
			lead = th.pick.on("▸ ")
		}
		nth := drawn("")
		if len(blobs) > listed {
			nth = "  " + th.muted.on(say("%d of %d", i+1, len(blobs)))
		}
		p.add(spread(lead+e.artifactLine(p, i, m), nth, p.w))
	}
	p.gap()
}
