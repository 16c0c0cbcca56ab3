package viewer

import (
	"bytes"
	"context"
	"sort"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"handrail/session/journal"
	"handrail/session/report"
	"handrail/tui/incident"
	"handrail/tui/ink"
	"handrail/tui/page"
	"handrail/tui/screen"
)

// layout is a report, laid out for a width. The viewer shows its lines as those
// of any text; what is saved is the Markdown.
type layout struct {
	*bytes.Reader
	doc   report.Document
	src   []byte // the Markdown
	W     int
	Lines []page.Line
	from  []int64 // where each line begins in the text
}

// Close does nothing: the report is in memory.
func (*layout) Close() error { return nil }

func layOut(doc report.Document, w int) *layout {
	var src bytes.Buffer
	_ = report.WriteMarkdown(&src, doc) // memory takes all
	d := &layout{doc: doc, src: src.Bytes(), W: w, Lines: page.Layout(report.Page(doc), w)}
	var b bytes.Buffer
	for _, l := range d.Lines {
		d.from = append(d.from, int64(b.Len()))
		b.WriteString(string(l.Text) + "\n")
	}
	d.Reader = bytes.NewReader(b.Bytes())
	return d
}

// Line is the line that a byte is in.
func (d *layout) Line(at int64) int {
	return max(0, sort.Search(len(d.from), func(i int) bool { return d.from[i] > at })-1)
}

// ink is how a line of the report is drawn.
func (d *layout) ink(th *ink.Theme, at int64) ink.Ink {
	if len(d.Lines) == 0 {
		return th.Plain
	}
	switch d.Lines[d.Line(at)].Kind {
	case page.Title, page.Section:
		return th.Title
	case page.Strong:
		return th.Strong
	case page.Head:
		return th.Muted
	case page.Rule:
		return th.Faint
	case page.Code:
		return th.Accent
	}
	return th.Plain
}

// OpenReport shows the report as it would be exported now. It is made beside the
// loop, from what is on the disk.
func (e *Screen) OpenReport(env *screen.Env, back screen.ID) tea.Cmd {
	read, path := env.Config.Report, env.Snap.Bundle
	if read == nil || env.Incident == nil {
		env.Warn("", "There is no report here.")
		return nil
	}
	if back == screen.AtRun {
		e.list(env)
	}
	env.Show(screen.AtEvidence)

	e.report, e.detail, e.full, e.searching, e.back = true, true, true, false, back
	e.cover = incident.CoverageOf(env.Snap.State)
	return e.layReport(env, func(ctx context.Context) (report.Document, error) { return read(ctx, path) }, 0)
}

// layReport lays a report out for the room there is, and begins at a piece of the
// page.
func (e *Screen) layReport(env *screen.Env, read func(context.Context) (report.Document, error), from int) tea.Cmd {
	e.CloseArtifact(env)
	env.Serial++
	v := &reader{id: env.Serial, Look: look{hit: -1}, Find: textMatch{hit: -1}, Doc: &layout{}, begin: from}
	v.ctx, v.stop = context.WithCancel(env.Tasks.Ctx)
	e.View = v
	w, _ := e.textRoom(env)
	return env.Tasks.Start(func(ctx context.Context) tea.Msg {
		doc, err := read(ctx)
		if err != nil {
			return artifactMsg{v.id, nil, err}
		}
		return artifactMsg{v.id, layOut(doc, w), nil}
	})
}

// reportOpened takes the layout, or asks for another one where the room is not what
// it was when it began.
func (e *Screen) reportOpened(env *screen.Env, v *reader, d *layout) tea.Cmd {
	if w, _ := e.textRoom(env); w != d.W {
		return e.layReport(env, func(context.Context) (report.Document, error) { return d.doc, nil }, v.begin)
	}
	v.Doc = d
	v.source = func() (journal.Artifact, error) {
		return &layout{Reader: bytes.NewReader(d.src)}, nil
	}
	at := sort.Search(len(d.Lines), func(i int) bool { return d.Lines[i].From >= v.begin })
	if v.begin == 0 || at == len(d.Lines) {
		return e.goText(env, motion{})
	}
	v.Look.At = place{Off: d.from[at]}
	return e.goText(env, motion{})
}

// refitReport lays the report out again where its room has another width.
func (e *Screen) refitReport(env *screen.Env, w int) tea.Cmd {
	d, at := e.View.Doc, e.View.Look.At.Off
	if w == d.W || len(d.Lines) == 0 {
		return nil
	}
	from := 0
	if at > 0 {
		from = d.Lines[d.Line(at)].From
	}
	return e.layReport(env, func(context.Context) (report.Document, error) { return d.doc, nil }, from)
}

func (e *Screen) pressReport(env *screen.Env, msg tea.KeyPressMsg) tea.Cmd {
	k := &env.Keys
	switch {
	case key.Matches(msg, k.Seal):
		return env.Ask(screen.OpenSeal{})
	case key.Matches(msg, k.Esc, k.Leave, k.Enter, k.Report):
		e.CloseArtifact(env)
		e.report, e.detail, e.full = false, false, false
		env.Show(e.back)
	}
	return nil
}

// drawReportHead is what stands above the report: what it is, and its coverage at
// a glance.
func (e *Screen) drawReportHead(p *ink.Page) {
	th := p.Theme
	p.Rows = append(p.Rows[:0], "")
	p.Add(ink.Spread(th.Title.On("REPORT")+"  "+th.Muted.On("as it would be exported now"), "  "+th.Muted.On(ink.Say("%d entries", e.snap.State.Seq+1)), p.W))
	p.Add(e.cover.Strip(th, p.W))
	p.Add(th.Muted.On(e.cover.Line()))
	p.Gap()
}
