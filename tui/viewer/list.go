package viewer

import (
	"handrail/triage"
	"handrail/tui/incident"
	"handrail/tui/ink"
	"handrail/tui/screen"
)

// Draw lists the entries, or shows one of them.
func (e *Screen) Draw(env *screen.Env, w, h int) []ink.Drawn {
	th := &env.Theme
	if v := e.View; v != nil && v.live != nil {
		v.head = e.liveLine(env, v)
	}
	p := ink.Page{W: w, Theme: th}
	p.Add("")
	if e.detail {
		e.drawDetail(&p, h)
		return p.Rows
	}
	total := len(e.snap.State.Timeline)
	head := th.Title.On("EVIDENCE") + "  " + th.Muted.On(ink.Say("%d of %d entries", len(e.Found), total))
	if e.Kind != 0 {
		head = ink.Spread(head, th.Muted.On("only ")+th.Strong.On(EntryKinds()[e.Kind].Name), w)
	}
	p.Add(head)
	p.Add(e.cover.Strip(th, p.W))
	p.Add(th.Muted.On(e.cover.Line()))
	if line := e.find.Search(th, w-10, e.searching); line != "" {
		p.Add(line)
	}
	p.Gap()
	if len(e.Found) == 0 {
		p.Para(th.Muted, "No match. Press esc to show all.")
		return p.Rows
	}
	room := max(1, h-len(p.Rows))
	from := max(0, min(e.At-room/2, len(e.Found)-room))
	for i := from; i < min(len(e.Found), from+room); i++ {
		p.Add(e.row(th, e.snap.State.Timeline[e.Found[i]], w, i == e.At))
	}
	return p.Rows
}

func (e *Screen) row(th *ink.Theme, m triage.Moment, w int, on bool) ink.Drawn {
	lead, pen := ink.Drawn("  "), th.Plain
	if m.Type == "probe.start" {
		pen = th.Muted
	}
	if on {
		lead, pen = th.Pick.On("▸ "), th.Pick
	}
	sym := ink.Drawn("  ")
	if m.Level != "" {
		k := th.Level(m.Level)
		sym = k.Ink.On(k.Symbol) + " "
	}
	raw := ink.Drawn("")
	if n := len(e.snap.Blobs[m.Seq]); n > 0 {
		raw = "  " + th.Muted.On(ink.Say("%d raw", n))
	}
	left := lead + th.Muted.On(ink.Say("%4d  ", m.Seq)) + th.Muted.On(ink.Clock(m.At)) + "  " + ink.Fit(th.Accent.On(ink.Shown(m.Type)), 13) + "  " + sym + pen.On(incident.Gist(m)) + " "
	return ink.Spread(left, raw, w)
}

func (e *Screen) drawDetail(p *ink.Page, h int) {
	e.drawHead(p)
	if e.View != nil {
		e.drawText(p, h)
	}
}

// listed is how many artifacts of an entry are named at once.
const listed = 3

// drawHead is what stands above the text of an artifact: the entry that has it.
func (e *Screen) drawHead(p *ink.Page) {
	if e.report {
		e.drawReportHead(p)
		return
	}
	th := p.Theme
	m, _ := e.moment()
	blobs := e.snap.Blobs[m.Seq]
	p.Rows = append(p.Rows[:0], "")
	if e.View != nil && e.View.live != nil {
		p.Rows[0] = e.View.head
		return
	}
	if e.full {
		nth := ink.Say("entry %d", m.Seq)
		if len(blobs) > 1 {
			nth = ink.Say("%d of %d, entry %d", e.blob+1, len(blobs), m.Seq)
		}
		p.Rows[0] = ink.Spread(th.Pick.On("▸ ")+e.artifactLine(p, e.blob, m), "  "+th.Muted.On(nth), p.W)
		return
	}
	p.Add(th.Title.On(ink.Say("ENTRY %d", m.Seq)) + "  " + th.Accent.On(ink.Shown(m.Type)) + "  " + th.Muted.On(ink.Text(m.At.UTC().Format("2006-01-02 15:04:05Z"))))
	said := ink.Page{W: p.W, Theme: th}
	said.Para(th.Strong, ink.Shown(m.Text))
	if len(blobs) > 0 && len(said.Rows) > 3 {
		said.Rows = append(said.Rows[:2], th.Muted.On("…"))
	}
	p.Rows = append(p.Rows, said.Rows...)
	by := th.Muted.On("by ") + th.Plain.On(ink.Or(ink.Shown(m.Actor), "handrail"))
	if m.Step != "" {
		by += th.Muted.On("   step ") + th.Plain.On(ink.Shown(m.Step))
	}
	p.Add(by)
	p.Gap()
	if len(blobs) == 0 {
		p.Para(th.Muted, "This entry has no raw artifact.")
		return
	}
	from := max(0, min(e.blob-listed/2, len(blobs)-listed))
	for i := from; i < min(len(blobs), from+listed); i++ {
		lead := ink.Drawn("  ")
		if i == e.blob {
			lead = th.Pick.On("▸ ")
		}
		nth := ink.Drawn("")
		if len(blobs) > listed {
			nth = "  " + th.Muted.On(ink.Say("%d of %d", i+1, len(blobs)))
		}
		p.Add(ink.Spread(lead+e.artifactLine(p, i, m), nth, p.W))
	}
	p.Gap()
}
