package viewer

import (
	"strconv"

	"handrail/triage"
	"handrail/tui/ink"
	"handrail/tui/screen"
)

// gutter is how wide the numbers of lines are. It grows when more are counted.
func (v *reader) gutter() int {
	return max(3, len(strconv.FormatInt(v.Look.Index.Lines(), 10)))
}

// textRoom is the room for the text of an artifact, inside of all that stands
// around it.
func (e *Screen) textRoom(env *screen.Env) (w, h int) {
	p := ink.Page{W: max(1, env.W-2*screen.Inset), Theme: &env.Theme}
	e.drawHead(&p)
	h = env.Room() - len(p.Rows) - 1
	if e.View.Doc != nil {
		return max(2, p.W-2), max(1, h)
	}
	return max(2, p.W-e.View.gutter()-3), max(1, h)
}

// drawText draws the page that came last and, below it, where that is.
func (e *Screen) drawText(p *ink.Page, h int) {
	th, v := p.Theme, e.View
	room := max(0, h-len(p.Rows)-1)
	if v.Doc != nil {
		e.drawLaidOut(p, room)
		p.Rows = append(p.Rows, v.status(th, p.W))
		return
	}
	wide := v.gutter()
	rows := v.Page.Rows[:min(len(v.Page.Rows), room)]
	if v.follow { // a notice took a line: the newest ones are wanted
		rows = v.Page.Rows[max(0, len(v.Page.Rows)-room):]
	}
	for _, r := range rows {
		num := ink.Text("")
		if r.line > 0 {
			num = ink.Text(strconv.FormatInt(r.line, 10))
		}
		no, rule := th.Muted.On(num), th.Faint.On("│ ")
		if r.hit {
			no, rule = th.Pick.On(num), th.Pick.On("▸ ")
		}
		body := r.marked(th.Plain, th.Found)
		end := ink.Drawn("")
		if r.more && !v.Look.wrap {
			end = th.Faint.On("…")
		}
		p.Rows = append(p.Rows, ink.Cut(ink.Blank(wide-ink.Cells(no))+no+" "+rule+body+end, p.W))
	}
	for i := len(v.Page.Rows); i < room; i++ {
		p.Rows = append(p.Rows, ink.Blank(wide+1)+th.Faint.On("│"))
	}
	p.Rows = append(p.Rows, v.status(th, p.W))
}

// drawLaidOut draws a page of the report. It has no numbers: its lines are ours.
func (e *Screen) drawLaidOut(p *ink.Page, room int) {
	th, v := p.Theme, e.View
	for _, r := range v.Page.Rows[:min(len(v.Page.Rows), room)] {
		lead := ink.Drawn("  ")
		if r.hit {
			lead = th.Pick.On("▸ ")
		}
		p.Add(lead + r.marked(v.Doc.ink(th, r.from), th.Found))
	}
	for i := len(v.Page.Rows); i < room; i++ {
		p.Rows = append(p.Rows, "")
	}
}

// status says where the page is, or what is asked for.
func (v *reader) status(th *ink.Theme, w int) ink.Drawn {
	f := &v.Find
	right := ink.Drawn("")
	if v.File != nil {
		right = "  " + th.Muted.On(v.extent())
	}
	var left ink.Drawn
	switch {
	case v.Err != "":
		return ink.Cut(th.Bad.On("✗ ")+th.Plain.On(v.Err), w)
	case v.File == nil:
		left = th.Muted.On("reading …")
	case v.Asking:
		left = th.Accent.On("line ▸ ") + th.Strong.On(ink.Shown(string(v.number))) + th.Accent.On("▏") + th.Muted.On(" of "+v.lines())
	case v.goal > 0:
		left = th.Accent.On("● ") + th.Plain.On(ink.Say("going to line %s, %s", ink.Grouped(v.goal), v.lines()))
	case f.typing:
		typed, _ := f.edit.Draw(th.Strong, max(8, w/3))
		left = th.Accent.On("/ ") + typed + th.Accent.On("▏") + "  " + v.found(th)
	case f.typed != "":
		left = v.found(th)
	default:
		left = v.where(th)
	}
	return ink.Spread(left, right, w)
}

// where is the line that the page begins with, of how many.
func (v *reader) where(th *ink.Theme) ink.Drawn {
	switch {
	case v.File.Size() == 0 && v.live != nil:
		return th.Muted.On("No output yet.")
	case v.File.Size() == 0:
		return th.Muted.On("It is empty.")
	case v.Page.line == 0:
		return th.Muted.On(ink.Say("at %s, line not counted yet; %s", ink.Amount(v.Look.At.Off), v.lines()))
	}
	t := ink.Say("line %s of ", ink.Grouped(v.Page.line)) + v.lines()
	if len(v.Page.Rows) > 0 && v.Page.Rows[0].line == 0 {
		t += ink.Say(", on from %s", ink.Amount(v.Look.At.Off))
	}
	return th.Plain.On(t)
}

// lines is how many lines there are, as far as that is known.
func (v *reader) lines() ink.Text {
	ix := v.Look.Index
	switch {
	case ix.Done():
		return ink.Grouped(ix.Lines())
	case ix.Over():
		return "at least " + ink.Grouped(ix.Lines())
	}
	return ink.Say("at least %s, %d %% counted", ink.Grouped(ix.Lines()), ink.Percent(ix.Read(), v.File.Size()))
}

// found is how a search stands.
func (v *reader) found(th *ink.Theme) ink.Drawn {
	f := &v.Find
	what := th.Strong.On(ink.Clip(ink.Say("“%s”", f.typed), 30))
	if f.typing {
		what = ""
	}
	switch {
	case f.typed == "":
		return th.Muted.On("type a text; lower case also finds capitals")
	case f.hunt != nil:
		done := ink.Percent(v.File.Size()-f.hunt.left, v.File.Size())
		return th.Accent.On("● ") + what + th.Plain.On(ink.Say(" searching, at %s, %d %%", ink.Amount(f.hunt.at), done))
	case f.None:
		return th.Warn.On("! ") + th.Plain.On("no match for: ") + th.Strong.On(ink.Clip(ink.Shown(f.typed), 30))
	case f.hit < 0:
		return what
	}
	at := ink.Say("at %s", ink.Amount(f.hit))
	if f.line > 0 {
		at = ink.Say("in line %s of ", ink.Grouped(f.line)) + v.lines()
	}
	if f.round {
		at += ", around the end"
	}
	if what != "" {
		what += " "
	}
	return th.Good.On("✓ ") + what + th.Plain.On(at)
}

// extent is how far down the page is, and how lines are shown.
func (v *reader) extent() ink.Text {
	t := ink.Text("")
	switch {
	case v.Look.wrap:
		t = "wrapped   "
	case v.Look.right > 0:
		t = ink.Say("from column %d   ", v.Look.right+1)
	}
	switch {
	case v.follow && !v.Printed.Over:
		return t + "following the end"
	case v.live != nil && !v.Printed.Over && !v.Page.end:
		return t + "running: end follows"
	case v.Page.end && v.Look.At == place{}:
		return t + "all"
	case v.Page.end:
		return t + "end"
	case v.Look.At == place{}:
		return t + "top"
	}
	return t + ink.Say("%d %%", ink.Percent(v.Look.At.Off, v.File.Size()))
}

// artifactLine is an artifact of an entry in a line.
func (e *Screen) artifactLine(p *ink.Page, i int, m triage.Moment) ink.Drawn {
	th, b := p.Theme, e.snap.Blobs[m.Seq][i]
	return th.Plain.On(ink.Shown(b.Role)) + "  " + th.Muted.On(ink.Say("%s  %s  sha256 %.12s", ink.Amount(b.Size), b.Media, b.SHA))
}
