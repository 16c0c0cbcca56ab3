package viewer

import (
	"context"

	tea "charm.land/bubbletea/v2"

	"handrail/session/journal"
	"handrail/session/live"
	"handrail/session/view"
	"handrail/tui/ink"
	"handrail/tui/longtext"
	"handrail/tui/screen"
)

// slice is how much of a text is counted or searched before the loop is asked
// whether it is still wanted.
const slice = 8 << 20

// reader shows an artifact of any size. All reading goes on beside the loop, in two
// lanes with one piece of work each: pages, which the reader waits for,
// and the lines that are counted or searched. What a key wants while a page is on
// its way is put together, so that no row of old keys builds up.
type reader struct {
	id   int // of this opening: what an earlier one still says is dropped
	blob view.BlobRef
	ctx  context.Context
	stop context.CancelFunc
	art  journal.Artifact // nil while it is being opened
	File *longtext.File

	source func() (journal.Artifact, error) // what is saved of it
	Doc    *layout                          // of a report, nil for an artifact
	begin  int                              // the line of the report to begin with

	Look look   // how it is seen, and where the page began that came last
	Page pageOf // what came last
	want *motion
	busy bool // a page is on its way
	work bool // a slice of counting or searching is
	goal int64
	Err  ink.Text

	live    *live.Log // it is what a running step prints; nil for an artifact
	step    string    // that step
	Printed live.Text // as it was looked at last
	follow  bool      // its end is followed
	head    ink.Drawn // what stands above it

	Find   textMatch
	number []rune // of the line to go to, as far as it is typed
	Asking bool   // for that number
}

// What comes back from beside the loop, with the id of the viewer it is for.
type (
	artifactMsg struct {
		id  int
		art journal.Artifact
		err error
	}
	PageMsg struct {
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
func (e *Screen) openArtifact(env *screen.Env, b view.BlobRef) tea.Cmd {
	e.CloseArtifact(env)
	env.Serial++
	v := &reader{id: env.Serial, blob: b, Look: look{hit: -1, wrap: e.wrap}, Find: textMatch{hit: -1}}
	v.ctx, v.stop = context.WithCancel(env.Tasks.Ctx)
	e.View = v
	inc := env.Incident
	v.source = func() (journal.Artifact, error) { return inc.OpenArtifact(b.SHA) }
	return env.Tasks.Start(func(context.Context) tea.Msg {
		art, err := v.source()
		return artifactMsg{v.id, art, err}
	})
}

// CloseArtifact stops all work on the artifact that is open, and lets go of it
// beside the loop.
func (e *Screen) CloseArtifact(env *screen.Env) {
	v := e.View
	if v == nil {
		return
	}
	v.stop()
	e.release(env, v.art)
	e.View = nil
}

func (e *Screen) release(env *screen.Env, art journal.Artifact) {
	if art == nil {
		return
	}
	env.Tasks.Start(func(context.Context) tea.Msg {
		_ = art.Close() // it was only read from
		return nil
	})
}

// viewing is the viewer that a message is for, nil where it was left.
func (e *Screen) viewing(id int) *reader {
	if v := e.View; v != nil && v.id == id {
		return v
	}
	return nil
}

func (e *Screen) artifactOpened(env *screen.Env, msg artifactMsg) tea.Cmd {
	v := e.viewing(msg.id)
	if v == nil {
		e.release(env, msg.art)
		return nil
	}
	if msg.err != nil {
		v.Err = ink.Shown(msg.err.Error())
		return nil
	}
	v.art, v.File = msg.art, longtext.New(msg.art, msg.art.Size())
	if d, ok := msg.art.(*layout); ok {
		return e.reportOpened(env, v, d)
	}
	return e.goText(env, motion{})
}

// goText asks for the page at the end of a motion.
func (e *Screen) goText(env *screen.Env, mo motion) tea.Cmd {
	v := e.View
	if v.want != nil {
		mo = v.want.then(mo)
	}
	v.want = &mo
	return e.viewNext(env)
}

// viewNext starts the next piece of work where a lane is free, one at most: the end
// of each looks for the next.
func (e *Screen) viewNext(env *screen.Env) tea.Cmd {
	v := e.View
	if v == nil || v.File == nil {
		return nil
	}
	if v.want != nil && !v.busy {
		mo := *v.want
		v.want, v.busy = nil, true
		e.fitText(env)
		l, file, id, era, ctx, printed := v.Look, v.File, v.id, v.Printed.Era, v.ctx, v.live != nil
		return env.Tasks.Start(func(context.Context) tea.Msg {
			var err error
			if printed { // lines are numbered at once, or their numbers would come and go
				if l.Index, err = file.Count(ctx, l.Index, file.Size()); err != nil {
					return PageMsg{id: id, era: era, err: err}
				}
			}
			p, err := l.page(file, mo)
			return PageMsg{id, era, p, l.Index, err}
		})
	}
	if v.work {
		return nil
	}
	if h := v.Find.hunt; h != nil {
		v.work = true
		return e.hunt(env, *h)
	}
	if ix := v.Look.Index; v.live == nil && !ix.Over() && v.Err == "" && v.File.Size() > 0 {
		v.work = true
		ctx, file, id := v.ctx, v.File, v.id
		return env.Tasks.Start(func(context.Context) tea.Msg {
			ix, err := file.Count(ctx, ix, slice)
			return countMsg{id, ix, err}
		})
	}
	return nil
}

// again is the motion that shows the same once more.
func (v *reader) again() motion {
	if v.follow {
		return motion{to: toLast}
	}
	return motion{}
}

// fitText makes the page as large as the room for it.
func (e *Screen) fitText(env *screen.Env) {
	l := &e.View.Look
	l.w, l.h = e.textRoom(env)
	l.find, l.hit = e.View.Find.pattern, e.View.Find.hit
}

// RefitText asks for the page again where the room is another one than before.
func (e *Screen) RefitText(env *screen.Env) tea.Cmd {
	v := e.View
	if v == nil || v.File == nil {
		return nil
	}
	w, h := e.textRoom(env)
	if v.Doc != nil {
		if cmd := e.refitReport(env, w); cmd != nil {
			return cmd
		}
	}
	if w != v.Look.w || h != v.Look.h {
		return e.goText(env, motion{})
	}
	return nil
}

func (e *Screen) paged(env *screen.Env, msg PageMsg) tea.Cmd {
	v := e.viewing(msg.id)
	if v == nil {
		return nil
	}
	v.busy = false
	if v.live != nil {
		if msg.era != v.Printed.Era { // counted from another beginning
			return e.goText(env, v.again())
		}
		v.Look.Index = msg.index
	}
	if msg.err != nil {
		v.Err = ink.Shown(msg.err.Error())
		return e.viewNext(env)
	}
	v.Page, v.Look.At, v.Look.right = msg.page, msg.page.at, msg.page.right
	if v.live != nil {
		if w, h := e.textRoom(env); w != v.Look.w || h != v.Look.h { // numbers of more digits
			return e.goText(env, v.again())
		}
	}
	if len(v.Page.Rows) > 0 && v.Page.line == 0 && v.Look.Index.Read() > v.Look.At.Off {
		return e.goText(env, motion{}) // it was counted in the meantime
	}
	return e.viewNext(env)
}

func (e *Screen) lineCounted(env *screen.Env, msg countMsg) tea.Cmd {
	v := e.viewing(msg.id)
	if v == nil {
		return nil
	}
	v.work = false
	if msg.err != nil {
		v.Err = ink.Shown(msg.err.Error())
	}
	v.Look.Index = msg.index
	switch {
	case v.goal > 0 && (msg.index.Lines() > v.goal || msg.index.Over() || msg.err != nil):
		n := v.goal
		v.goal = 0
		return e.goText(env, motion{to: toLine, n: n})
	case len(v.Page.Rows) > 0 && v.Page.line == 0 && msg.index.Read() > v.Look.At.Off && v.want == nil:
		return e.goText(env, motion{})
	}
	if cmd := e.RefitText(env); cmd != nil { // numbers of more digits
		return cmd
	}
	return e.viewNext(env)
}

// goLine goes to a line, once so many are counted.
func (e *Screen) goLine(env *screen.Env, n int64) tea.Cmd {
	v := e.View
	v.follow = false
	if ix := v.Look.Index; v.live == nil && n >= ix.Lines() && !ix.Over() {
		v.goal = n
		return e.viewNext(env)
	}
	v.goal = 0
	return e.goText(env, motion{to: toLine, n: n})
}
