package tui

import (
	"fmt"
	"strconv"

	"handrail/triage"
)

// gutter is how wide the numbers of lines are. It grows when more are counted.
func (v *viewer) gutter() int {
	return max(3, len(strconv.FormatInt(v.look.index.Lines(), 10)))
}

// textRoom is the room for the text of an artifact, inside of all that stands
// around it.
func (m *model) textRoom() (w, h int) {
	e := &m.evidence
	p := page{w: max(1, m.w-2*inset), th: &m.th}
	e.drawHead(&p)
	h = m.h - len(m.header()) - len(m.foot()) - len(p.rows) - 1
	if e.view.doc != nil {
		return max(2, p.w-2), max(1, h)
	}
	return max(2, p.w-e.view.gutter()-3), max(1, h)
}

// drawText draws the page that came last and, below it, where that is.
func (e *evidenceScreen) drawText(p *page, h int) {
	th, v := p.th, e.view
	room := max(0, h-len(p.rows)-1)
	if v.doc != nil {
		e.drawLaidOut(p, room)
		p.rows = append(p.rows, v.status(th, p.w))
		return
	}
	wide := v.gutter()
	rows := v.page.rows[:min(len(v.page.rows), room)]
	if v.follow { // a notice took a line: the newest ones are wanted
		rows = v.page.rows[max(0, len(v.page.rows)-room):]
	}
	for _, r := range rows {
		num := text("")
		if r.line > 0 {
			num = text(strconv.FormatInt(r.line, 10))
		}
		no, rule := th.muted.on(num), th.faint.on("│ ")
		if r.hit {
			no, rule = th.pick.on(num), th.pick.on("▸ ")
		}
		body := r.marked(th.plain, th.found)
		end := drawn("")
		if r.more && !v.look.wrap {
			end = th.faint.on("…")
		}
		p.rows = append(p.rows, cut(blank(wide-cells(no))+no+" "+rule+body+end, p.w))
	}
	for i := len(v.page.rows); i < room; i++ {
		p.rows = append(p.rows, blank(wide+1)+th.faint.on("│"))
	}
	p.rows = append(p.rows, v.status(th, p.w))
}

// drawLaidOut draws a page of the report. It has no numbers: its lines are ours.
func (e *evidenceScreen) drawLaidOut(p *page, room int) {
	th, v := p.th, e.view
	for _, r := range v.page.rows[:min(len(v.page.rows), room)] {
		lead := drawn("  ")
		if r.hit {
			lead = th.pick.on("▸ ")
		}
		p.add(lead + r.marked(v.doc.ink(th, r.from), th.found))
	}
	for i := len(v.page.rows); i < room; i++ {
		p.rows = append(p.rows, "")
	}
}

// status says where the page is, or what is asked for.
func (v *viewer) status(th *theme, w int) drawn {
	f := &v.find
	right := drawn("")
	if v.file != nil {
		right = "  " + th.muted.on(v.extent())
	}
	var left drawn
	switch {
	case v.err != "":
		return cut(th.bad.on("✗ ")+th.plain.on(v.err), w)
	case v.file == nil:
		left = th.muted.on("reading …")
	case v.asking:
		left = th.accent.on("line ▸ ") + th.strong.on(shown(string(v.number))) + th.accent.on("▏") + th.muted.on(" of "+v.lines())
	case v.goal > 0:
		left = th.accent.on("● ") + th.plain.on(say("going to line %s, %s", grouped(v.goal), v.lines()))
	case f.typing:
		typed, _ := f.edit.draw(th.strong, max(8, w/3))
		left = th.accent.on("/ ") + typed + th.accent.on("▏") + "  " + v.found(th)
	case f.typed != "":
		left = v.found(th)
	default:
		left = v.where(th)
	}
	return spread(left, right, w)
}

// where is the line that the page begins with, of how many.
func (v *viewer) where(th *theme) drawn {
	switch {
	case v.file.Size() == 0 && v.live != nil:
		return th.muted.on("It has printed nothing yet.")
	case v.file.Size() == 0:
		return th.muted.on("It is empty.")
	case v.page.line == 0:
		return th.muted.on(say("at %s, a line that is not counted yet; %s", amount(v.look.at.off), v.lines()))
	}
	t := say("line %s of ", grouped(v.page.line)) + v.lines()
	if len(v.page.rows) > 0 && v.page.rows[0].line == 0 {
		t += say(", on from %s", amount(v.look.at.off))
	}
	return th.plain.on(t)
}

// lines is how many lines there are, as far as that is known.
func (v *viewer) lines() text {
	ix := v.look.index
	switch {
	case ix.Done():
		return grouped(ix.Lines())
	case ix.Over():
		return "at least " + grouped(ix.Lines())
	}
	return say("at least %s, %d %% counted", grouped(ix.Lines()), percent(ix.Read(), v.file.Size()))
}

// found is how a search stands.
func (v *viewer) found(th *theme) drawn {
	f := &v.find
	what := th.strong.on(clip(say("“%s”", f.typed), 30))
	if f.typing {
		what = ""
	}
	switch {
	case f.typed == "":
		return th.muted.on("type what to look for; small letters find capitals too")
	case f.hunt != nil:
		done := percent(v.file.Size()-f.hunt.left, v.file.Size())
		return th.accent.on("● ") + what + th.plain.on(say(" searching, at %s, %d %%", amount(f.hunt.at), done))
	case f.none:
		return th.warn.on("! ") + th.plain.on("nowhere in it: ") + th.strong.on(clip(shown(f.typed), 30))
	case f.hit < 0:
		return what
	}
	at := say("at %s", amount(f.hit))
	if f.line > 0 {
		at = say("in line %s of ", grouped(f.line)) + v.lines()
	}
	if f.round {
		at += ", around the end"
	}
	if what != "" {
		what += " "
	}
	return th.good.on("✓ ") + what + th.plain.on(at)
}

// extent is how far down the page is, and how lines are shown.
func (v *viewer) extent() text {
	t := text("")
	switch {
	case v.look.wrap:
		t = "wrapped   "
	case v.look.right > 0:
		t = say("from column %d   ", v.look.right+1)
	}
	switch {
	case v.follow && !v.printed.Over:
		return t + "following the end"
	case v.live != nil && !v.printed.Over && !v.page.end:
		return t + "it goes on: end follows"
	case v.page.end && v.look.at == place{}:
		return t + "all"
	case v.page.end:
		return t + "end"
	case v.look.at == place{}:
		return t + "top"
	}
	return t + say("%d %%", percent(v.look.at.off, v.file.Size()))
}

func percent(n, of int64) int64 {
	if of <= 0 {
		return 100
	}
	return int64(float64(n) / float64(of) * 100)
}

// grouped is a number that can be read aloud.
func grouped(n int64) text {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return shown(s)
}

// amount is a number of bytes.
func amount(n int64) text {
	if n < 1000 {
		return say("%d bytes", n)
	}
	f, unit := float64(n), ""
	for _, unit = range []string{"KiB", "MiB", "GiB", "TiB"} {
		if f /= 1024; f < 1000 {
			break
		}
	}
	return text(fmt.Sprintf("%.1f %s", f, unit))
}

// artifactLine is an artifact of an entry in a line.
func (e *evidenceScreen) artifactLine(p *page, i int, m triage.Moment) drawn {
	th, b := p.th, e.snap.Blobs[m.Seq][i]
	return th.plain.on(shown(b.Role)) + "  " + th.muted.on(say("%s  %s  sha256 %.12s", amount(b.Size), b.Media, b.SHA))
}
