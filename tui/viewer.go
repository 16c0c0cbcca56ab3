package tui

import (
	"context"

	tea "charm.land/bubbletea/v2"

	"handrail/session"
	"handrail/tui/ink"
	"handrail/tui/longtext"
)

// slice is how much of a text is counted or searched before the loop is asked
// whether anybody still wants it.
const slice = 8 << 20

// viewer shows an artifact of any size. All reading goes on beside the loop, in two
// lanes with one piece of work each: pages, which whoever presses keys waits for,
// and the lines that are counted or searched. What a key wants while a page is on
// its way is put together, so that no row of old keys builds up.
type viewer struct {
	id   int // of this opening: what an earlier one still says is dropped
	blob session.BlobRef
	ctx  context.Context
	stop context.CancelFunc
	art  session.Artifact // nil while it is being opened
	file *longtext.File

	source func() (session.Artifact, error) // what is saved of it
	doc    *laidOut                         // of a report, nil for an artifact
	begin  int                              // the line of the report to begin with

	look look   // how it is seen, and where the page began that came last
	page pageOf // what came last
	want *motion
	busy bool // a page is on its way
	work bool // a slice of counting or searching is
	goal int64
	err  ink.Text

	live    *session.LiveLog // it is what a running step prints; nil for an artifact
	step    string           // that step
	printed session.LiveText // as it was looked at last
	follow  bool             // its end is followed
	head    ink.Drawn        // what stands above it

	find   finding
	number []rune // of the line to go to, as far as it is typed
	asking bool   // for that number
}

// What comes back from beside the loop, with the id of the viewer it is for.
type (
	artifactMsg struct {
		id  int
		art session.Artifact
		err error
	}
	pageMsg struct {
		id    int
		era   int
		page  pageOf
		index longtext.Index // of what grows: counted with each page
		err   error
	}
	countMsg struct {
		id    int
		index longtext.Index
		err   error
	}
)

// openArtifact opens an artifact in place of the one that is open.
func (m *model) openArtifact(b session.BlobRef) tea.Cmd {
	m.closeArtifact()
	m.serial++
	v := &viewer{id: m.serial, blob: b, look: look{hit: -1, wrap: m.evidence.wrap}, find: finding{hit: -1}}
	v.ctx, v.stop = context.WithCancel(m.crew.ctx)
	m.evidence.view = v
	inc := m.inc
	v.source = func() (session.Artifact, error) { return inc.OpenArtifact(b.SHA) }
	return m.crew.start(func(context.Context) tea.Msg {
		art, err := v.source()
		return artifactMsg{v.id, art, err}
	})
}

// closeArtifact stops all work on the artifact that is open, and lets go of it
// beside the loop.
func (m *model) closeArtifact() {
	v := m.evidence.view
	if v == nil {
		return
	}
	v.stop()
	m.letGo(v.art)
	m.evidence.view = nil
}

func (m *model) letGo(art session.Artifact) {
	if art == nil {
		return
	}
	m.crew.start(func(context.Context) tea.Msg {
		_ = art.Close() // it was only read from
		return nil
	})
}

// viewing is the viewer that a message is for, nil where it was left.
func (m *model) viewing(id int) *viewer {
	if v := m.evidence.view; v != nil && v.id == id {
		return v
	}
	return nil
}

func (m *model) artifactOpened(msg artifactMsg) tea.Cmd {
	v := m.viewing(msg.id)
	if v == nil {
		m.letGo(msg.art)
		return nil
	}
	if msg.err != nil {
		v.err = ink.Shown(msg.err.Error())
		return nil
	}
	v.art, v.file = msg.art, longtext.New(msg.art, msg.art.Size())
	if d, ok := msg.art.(*laidOut); ok {
		return m.reportOpened(v, d)
	}
	return m.goText(motion{})
}

// goText asks for the page at the end of a motion.
func (m *model) goText(mo motion) tea.Cmd {
	v := m.evidence.view
	if v.want != nil {
		mo = v.want.then(mo)
	}
	v.want = &mo
	return m.viewNext()
}

// viewNext starts the next piece of work where a lane is free, one at most: the end
// of each looks for the next.
func (m *model) viewNext() tea.Cmd {
	v := m.evidence.view
	if v == nil || v.file == nil {
		return nil
	}
	if v.want != nil && !v.busy {
		mo := *v.want
		v.want, v.busy = nil, true
		m.fitText()
		l, file, id, era, ctx, live := v.look, v.file, v.id, v.printed.Era, v.ctx, v.live != nil
		return m.crew.start(func(context.Context) tea.Msg {
			var err error
			if live { // lines are numbered at once, or their numbers would come and go
				if l.index, err = file.Count(ctx, l.index, file.Size()); err != nil {
					return pageMsg{id: id, era: era, err: err}
				}
			}
			p, err := l.page(file, mo)
			return pageMsg{id, era, p, l.index, err}
		})
	}
	if v.work {
		return nil
	}
	if h := v.find.hunt; h != nil {
		v.work = true
		return m.hunt(*h)
	}
	if ix := v.look.index; v.live == nil && !ix.Over() && v.err == "" && v.file.Size() > 0 {
		v.work = true
		ctx, file, id := v.ctx, v.file, v.id
		return m.crew.start(func(context.Context) tea.Msg {
			ix, err := file.Count(ctx, ix, slice)
			return countMsg{id, ix, err}
		})
	}
	return nil
}

// again is the motion that shows the same once more.
func (v *viewer) again() motion {
	if v.follow {
		return motion{to: toLast}
	}
	return motion{}
}

// fitText makes the page as large as the room for it.
func (m *model) fitText() {
	l := &m.evidence.view.look
	l.w, l.h = m.textRoom()
	l.find, l.hit = m.evidence.view.find.pattern, m.evidence.view.find.hit
}

// refitText asks for the page again where the room is another one than before.
func (m *model) refitText() tea.Cmd {
	v := m.evidence.view
	if v == nil || v.file == nil {
		return nil
	}
	w, h := m.textRoom()
	if v.doc != nil {
		if cmd := m.refitReport(w); cmd != nil {
			return cmd
		}
	}
	if w != v.look.w || h != v.look.h {
		return m.goText(motion{})
	}
	return nil
}

func (m *model) paged(msg pageMsg) tea.Cmd {
	v := m.viewing(msg.id)
	if v == nil {
		return nil
	}
	v.busy = false
	if v.live != nil {
		if msg.era != v.printed.Era { // counted from another beginning
			return m.goText(v.again())
		}
		v.look.index = msg.index
	}
	if msg.err != nil {
		v.err = ink.Shown(msg.err.Error())
		return m.viewNext()
	}
	v.page, v.look.at, v.look.right = msg.page, msg.page.at, msg.page.right
	if v.live != nil {
		if w, h := m.textRoom(); w != v.look.w || h != v.look.h { // numbers of more digits
			return m.goText(v.again())
		}
	}
	if len(v.page.rows) > 0 && v.page.line == 0 && v.look.index.Read() > v.look.at.off {
		return m.goText(motion{}) // it was counted in the meantime
	}
	return m.viewNext()
}

func (m *model) lineCounted(msg countMsg) tea.Cmd {
	v := m.viewing(msg.id)
	if v == nil {
		return nil
	}
	v.work = false
	if msg.err != nil {
		v.err = ink.Shown(msg.err.Error())
	}
	v.look.index = msg.index
	switch {
	case v.goal > 0 && (msg.index.Lines() > v.goal || msg.index.Over() || msg.err != nil):
		n := v.goal
		v.goal = 0
		return m.goText(motion{to: toLine, n: n})
	case len(v.page.rows) > 0 && v.page.line == 0 && msg.index.Read() > v.look.at.off && v.want == nil:
		return m.goText(motion{})
	}
	if cmd := m.refitText(); cmd != nil { // numbers of more digits
		return cmd
	}
	return m.viewNext()
}

// goLine goes to a line, once so many are counted.
func (m *model) goLine(n int64) tea.Cmd {
	v := m.evidence.view
	v.follow = false
	if ix := v.look.index; v.live == nil && n >= ix.Lines() && !ix.Over() {
		v.goal = n
		return m.viewNext()
	}
	v.goal = 0
	return m.goText(motion{to: toLine, n: n})
}
