package tui

import (
	"bytes"
	"context"
	"sort"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"handrail/session"
	"handrail/tui/ink"
	"handrail/tui/markdown"
)

// laidOut is a report, laid out for a width. The viewer shows its lines as those
// of any text; what is saved is the Markdown.
type laidOut struct {
	*bytes.Reader
	src   []byte
	w     int
	lines []markdown.Line
	from  []int64 // where each line begins in the text
}

func (*laidOut) Close() error { return nil }

func layOut(src []byte, w int) *laidOut {
	d := &laidOut{src: src, w: w, lines: markdown.Layout(string(src), w)}
	var b bytes.Buffer
	for _, l := range d.lines {
		d.from = append(d.from, int64(b.Len()))
		b.WriteString(string(l.Text) + "\n")
	}
	d.Reader = bytes.NewReader(b.Bytes())
	return d
}

// line is the line that a byte is in.
func (d *laidOut) line(at int64) int {
	return max(0, sort.Search(len(d.from), func(i int) bool { return d.from[i] > at })-1)
}

// ink is how a line of the report is drawn.
func (d *laidOut) ink(th *ink.Theme, at int64) ink.Ink {
	if len(d.lines) == 0 {
		return th.Plain
	}
	switch d.lines[d.line(at)].Kind {
	case markdown.Title, markdown.Section:
		return th.Title
	case markdown.Strong:
		return th.Strong
	case markdown.Head:
		return th.Muted
	case markdown.Rule:
		return th.Faint
	case markdown.Code:
		return th.Accent
	}
	return th.Plain
}

// openReport shows the report as it would be exported now. It is made beside the
// loop, from what is on the disk.
func (e *evidenceScreen) openReport(env *Env, back screenID) tea.Cmd {
	write, path := env.c.Report, env.snap.Bundle
	if write == nil || env.inc == nil {
		env.warn("", "There is no report here.")
		return nil
	}
	if back == atRun {
		e.open(env, env.snap)
	}
	env.show(atEvidence)

	e.report, e.detail, e.full, e.searching, e.back = true, true, true, false, back
	e.cover = coverageOf(env.snap.State)
	return e.layReport(env, func(ctx context.Context) ([]byte, error) { return write(ctx, path) }, 0)
}

// layReport lays a report out for the room there is, and begins at a line of the
// Markdown.
func (e *evidenceScreen) layReport(env *Env, write func(context.Context) ([]byte, error), line int) tea.Cmd {
	e.closeArtifact(env)
	env.serial++
	v := &viewer{id: env.serial, look: look{hit: -1}, find: finding{hit: -1}, doc: &laidOut{}, begin: line}
	v.ctx, v.stop = context.WithCancel(env.crew.ctx)
	e.view = v
	w, _ := e.textRoom(env)
	return env.crew.start(func(ctx context.Context) tea.Msg {
		src, err := write(ctx)
		if err != nil {
			return artifactMsg{v.id, nil, err}
		}
		return artifactMsg{v.id, layOut(src, w), nil}
	})
}

// reportOpened takes the layout, or asks for another one where the room is not what
// it was when it began.
func (e *evidenceScreen) reportOpened(env *Env, v *viewer, d *laidOut) tea.Cmd {
	if w, _ := e.textRoom(env); w != d.w {
		return e.layReport(env, func(context.Context) ([]byte, error) { return d.src, nil }, v.begin)
	}
	v.doc = d
	v.source = func() (session.Artifact, error) {
		return &laidOut{Reader: bytes.NewReader(d.src)}, nil
	}
	at := sort.Search(len(d.lines), func(i int) bool { return d.lines[i].From >= v.begin })
	if v.begin == 0 || at == len(d.lines) {
		return e.goText(env, motion{})
	}
	v.look.at = place{off: d.from[at]}
	return e.goText(env, motion{})
}

// refitReport lays the report out again where its room has another width.
func (e *evidenceScreen) refitReport(env *Env, w int) tea.Cmd {
	d, at := e.view.doc, e.view.look.at.off
	if w == d.w || len(d.lines) == 0 {
		return nil
	}
	line := 0
	if at > 0 {
		line = d.lines[d.line(at)].From
	}
	return e.layReport(env, func(context.Context) ([]byte, error) { return d.src, nil }, line)
}

func (e *evidenceScreen) pressReport(env *Env, msg tea.KeyPressMsg) tea.Cmd {
	k := &env.keys
	switch {
	case key.Matches(msg, k.Seal):
		return env.Ask(OpenSeal{})
	case key.Matches(msg, k.Esc, k.Leave, k.Enter, k.Report):
		e.closeArtifact(env)
		e.report, e.detail, e.full = false, false, false
		env.show(e.back)
	}
	return nil
}

// drawReportHead is what stands above the report: what it is, and its coverage at
// a glance.
func (e *evidenceScreen) drawReportHead(p *ink.Page) {
	th := p.Theme
	p.Rows = append(p.Rows[:0], "")
	p.Add(ink.Spread(th.Title.On("REPORT")+"  "+th.Muted.On("as it would be exported now"), "  "+th.Muted.On(ink.Say("%d entries", e.snap.State.Seq+1)), p.W))
	p.Add(e.cover.strip(th, p.W))
	p.Add(th.Muted.On(e.cover.line()))
	p.Gap()
}
