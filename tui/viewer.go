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
func (e *evidenceScreen) openArtifact(env *Env, b session.BlobRef) tea.Cmd {
	e.closeArtifact(env)
	env.serial++
	v := &viewer{id: env.serial, blob: b, look: look{hit: -1, wrap: e.wrap}, find: finding{hit: -1}}
	v.ctx, v.stop = context.WithCancel(env.crew.ctx)
	e.view = v
	inc := env.inc
	v.source = func() (session.Artifact, error) { return inc.OpenArtifact(b.SHA) }
	return env.crew.start(func(context.Context) tea.Msg {
		art, err := v.source()
		return artifactMsg{v.id, art, err}
	})
}

// closeArtifact stops all work on the artifact that is open, and lets go of it
// beside the loop.
func (e *evidenceScreen) closeArtifact(env *Env) {
	v := e.view
	if v == nil {
		return
	}
	v.stop()
	e.release(env, v.art)
	e.view = nil
}

func (e *evidenceScreen) release(env *Env, art session.Artifact) {
	if art == nil {
		return
	}
	env.crew.start(func(context.Context) tea.Msg {
		_ = art.Close() // it was only read from
		return nil
	})
}

// viewing is the viewer that a message is for, nil where it was left.
func (e *evidenceScreen) viewing(env *Env, id int) *viewer {
	if v := e.view; v != nil && v.id == id {
		return v
	}
	return nil
}

func (e *evidenceScreen) artifactOpened(env *Env, msg artifactMsg) tea.Cmd {
	v := e.viewing(env, msg.id)
	if v == nil {
		e.release(env, msg.art)
		return nil
	}
	if msg.err != nil {
		v.err = ink.Shown(msg.err.Error())
		return nil
	}
	v.art, v.file = msg.art, longtext.New(msg.art, msg.art.Size())
	if d, ok := msg.art.(*laidOut); ok {
		return e.reportOpened(env, v, d)
	}
	return e.goText(env, motion{})
}

// goText asks for the page at the end of a motion.
func (e *evidenceScreen) goText(env *Env, mo motion) tea.Cmd {
	v := e.view
	if v.want != nil {
		mo = v.want.then(mo)
	}
	v.want = &mo
	return e.viewNext(env)
}

// viewNext starts the next piece of work where a lane is free, one at most: the end
// of each looks for the next.
func (e *evidenceScreen) viewNext(env *Env) tea.Cmd {
	v := e.view
	if v == nil || v.file == nil {
		return nil
	}
	if v.want != nil && !v.busy {
		mo := *v.want
		v.want, v.busy = nil, true
		e.fitText(env)
		l, file, id, era, ctx, live := v.look, v.file, v.id, v.printed.Era, v.ctx, v.live != nil
		return env.crew.start(func(context.Context) tea.Msg {
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
		return e.hunt(env, *h)
	}
	if ix := v.look.index; v.live == nil && !ix.Over() && v.err == "" && v.file.Size() > 0 {
		v.work = true
		ctx, file, id := v.ctx, v.file, v.id
		return env.crew.start(func(context.Context) tea.Msg {
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
func (e *evidenceScreen) fitText(env *Env) {
	l := &e.view.look
	l.w, l.h = e.textRoom(env)
	l.find, l.hit = e.view.find.pattern, e.view.find.hit
}

// refitText asks for the page again where the room is another one than before.
func (e *evidenceScreen) refitText(env *Env) tea.Cmd {
	v := e.view
	if v == nil || v.file == nil {
		return nil
	}
	w, h := e.textRoom(env)
	if v.doc != nil {
		if cmd := e.refitReport(env, w); cmd != nil {
			return cmd
		}
	}
	if w != v.look.w || h != v.look.h {
		return e.goText(env, motion{})
	}
	return nil
}

func (e *evidenceScreen) paged(env *Env, msg pageMsg) tea.Cmd {
	v := e.viewing(env, msg.id)
	if v == nil {
		return nil
	}
	v.busy = false
	if v.live != nil {
		if msg.era != v.printed.Era { // counted from another beginning
			return e.goText(env, v.again())
		}
		v.look.index = msg.index
	}
	if msg.err != nil {
		v.err = ink.Shown(msg.err.Error())
		return e.viewNext(env)
	}
	v.page, v.look.at, v.look.right = msg.page, msg.page.at, msg.page.right
	if v.live != nil {
		if w, h := e.textRoom(env); w != v.look.w || h != v.look.h { // numbers of more digits
			return e.goText(env, v.again())
		}
	}
	if len(v.page.rows) > 0 && v.page.line == 0 && v.look.index.Read() > v.look.at.off {
		return e.goText(env, motion{}) // it was counted in the meantime
	}
	return e.viewNext(env)
}

func (e *evidenceScreen) lineCounted(env *Env, msg countMsg) tea.Cmd {
	v := e.viewing(env, msg.id)
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
		return e.goText(env, motion{to: toLine, n: n})
	case len(v.page.rows) > 0 && v.page.line == 0 && msg.index.Read() > v.look.at.off && v.want == nil:
		return e.goText(env, motion{})
	}
	if cmd := e.refitText(env); cmd != nil { // numbers of more digits
		return cmd
	}
	return e.viewNext(env)
}

// goLine goes to a line, once so many are counted.
func (e *evidenceScreen) goLine(env *Env, n int64) tea.Cmd {
	v := e.view
	v.follow = false
	if ix := v.look.index; v.live == nil && n >= ix.Lines() && !ix.Over() {
		v.goal = n
		return e.viewNext(env)
	}
	v.goal = 0
	return e.goText(env, motion{to: toLine, n: n})
}
