package viewer

import (
	"slices"
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"handrail/session/view"
	"handrail/triage"
	"handrail/tui/form"
	"handrail/tui/incident"
	"handrail/tui/screen"
)

// Screen lists every entry, finds some, and shows one with its raw
// artifacts, or the report as it would be now.
type Screen struct {
	snap      view.Snapshot
	Found     []int // into the timeline, newest last
	At        int   // into found
	find      form.Editor
	searching bool
	detail    bool
	blob      int
	View      *reader // of the artifact that is shown
	full      bool    // it has the whole screen
	direct    bool    // it was opened from its step, and esc goes back there
	wrap      bool    // artifacts are wrapped
	Kind      int     // of entryKinds that the list is kept to
	cover     incident.Coverage
	report    bool      // the report is shown in place of an entry
	back      screen.ID // where esc leads to from the report
}

// Position is what is open of the evidence; the zero value is the list.
type Position struct {
	Entry        int64 // 0 for none
	Full, Direct bool
	Live         string // the step whose output is read while it runs
}

// Look says what is open.
func (e *Screen) Look() Position {
	if !e.detail {
		return Position{}
	}
	o := Position{Full: e.full, Direct: e.direct}
	if e.View != nil && e.View.live != nil {
		o.Live = e.View.step
	} else if mo, ok := e.moment(); ok {
		o.Entry = mo.Seq
	}
	return o
}

// OpenEntry shows an entry of the journal, with its raw artifacts.
func (e *Screen) OpenEntry(env *screen.Env, o Position) tea.Cmd {
	e.find, e.Kind = form.Editor{}, 0 // what was searched for may hide it
	e.list(env)
	i := slices.IndexFunc(e.snap.State.Timeline, func(mo triage.Moment) bool { return mo.Seq == o.Entry })
	if i < 0 {
		return nil
	}
	env.Show(screen.AtEvidence)
	e.At, e.detail, e.blob = i, true, -1
	e.full, e.direct = o.Full, o.Direct
	return e.nextBlob(env, 1)
}

// Open lists the evidence of the incident that is shown.
func (e *Screen) Open(env *screen.Env) tea.Cmd {
	env.Show(screen.AtEvidence)
	e.list(env)
	return nil
}

func (e *Screen) list(env *screen.Env) {
	s := env.Snap
	e.CloseArtifact(env)

	*e = Screen{snap: s, find: e.find, wrap: e.wrap, Kind: e.Kind, blob: -1, cover: incident.CoverageOf(s.State)}
	e.filter()
	e.At = max(0, len(e.Found)-1)
}

func (e *Screen) filter() {
	e.Found = e.Found[:0]
	for i := range e.snap.State.Timeline {
		e.Found = append(e.Found, i)
	}
	e.narrow()
}

// narrow drops what is not looked for from what was found: more letters never find
// more.
func (e *Screen) narrow() {
	words := strings.Fields(strings.ToLower(e.find.Value()))
	kind := EntryKinds()[e.Kind]
	e.Found = slices.DeleteFunc(e.Found, func(i int) bool {
		m := e.snap.State.Timeline[i]
		return !kind.has(e, m) || words != nil && !form.HasWords(words, m.Text, m.Type, m.Step, m.Actor)
	})
	e.At = min(e.At, max(0, len(e.Found)-1))
}

// moment is the entry that the cursor is on.
func (e *Screen) moment() (triage.Moment, bool) {
	if len(e.Found) == 0 {
		return triage.Moment{}, false
	}
	return e.snap.State.Timeline[e.Found[e.At]], true
}

// Press implements [screen.Screen].
func (e *Screen) Press(env *screen.Env, msg tea.KeyPressMsg) tea.Cmd {
	k := &env.Keys
	switch {
	case e.searching:
		e.search(msg)
	case key.Matches(msg, k.Help) && !e.Typing():
		return env.Ask(screen.OpenHelp{})
	case e.detail:
		return e.pressDetail(env, msg)
	case key.Matches(msg, k.Esc) && (e.find.Value() != "" || e.Kind != 0):
		e.find, e.Kind = form.Editor{}, 0
		e.filter()
	case key.Matches(msg, k.Esc, k.Leave, k.Evidence):
		env.Show(screen.AtRun)
	case key.Matches(msg, k.Kinds):
		e.nextKind()
	case key.Matches(msg, k.Report):
		return e.OpenReport(env, screen.AtEvidence)
	case key.Matches(msg, k.Seal):
		return env.Ask(screen.OpenSeal{})
	case key.Matches(msg, k.Search):
		e.searching = true
	case key.Matches(msg, k.Copy):
		return e.copyEntry(env)
	case key.Matches(msg, k.Up):
		e.At = max(0, e.At-1)
	case key.Matches(msg, k.Down):
		e.At = max(0, min(len(e.Found)-1, e.At+1))
	case key.Matches(msg, k.PageUp):
		e.At = max(0, e.At-10)
	case key.Matches(msg, k.PageDown):
		e.At = max(0, min(len(e.Found)-1, e.At+10))
	case key.Matches(msg, k.First):
		e.At = 0
	case key.Matches(msg, k.Last):
		e.At = max(0, len(e.Found)-1)
	case key.Matches(msg, k.Enter):
		if _, ok := e.moment(); ok {
			e.detail, e.full, e.blob = true, false, -1
			return e.nextBlob(env, 1)
		}
	}
	return nil
}

func (e *Screen) search(msg tea.KeyPressMsg) {
	switch msg.String() {
	case "enter":
		e.searching = false
	case "esc":
		e.searching = false
		e.find = form.Editor{}
	case "up":
		e.At = max(0, e.At-1)
		return
	case "down":
		e.At = max(0, min(len(e.Found)-1, e.At+1))
		return
	default:
		before := e.find.Value()
		if e.find.Key(msg); before != "" && strings.HasPrefix(e.find.Value(), before) {
			e.narrow()
			return
		}
	}
	e.filter()
}

// Paste implements [screen.Screen].
func (e *Screen) Paste(env *screen.Env, s string) tea.Cmd {
	s = strings.Join(strings.Fields(s), " ")
	if v := e.View; v != nil && v.Find.typing {
		v.Find.edit.Paste(s)
		return e.findTyped(env)
	}
	if e.searching {
		e.find.Paste(s)
		e.filter()
	}
	return nil
}

// Typing implements [screen.Screen].
func (e *Screen) Typing() bool { return e.searching || e.View != nil && e.View.Find.typing }

func (e *Screen) pressDetail(env *screen.Env, msg tea.KeyPressMsg) tea.Cmd {
	k := &env.Keys
	if e.View != nil {
		if cmd, taken := e.pressText(env, msg); taken {
			return cmd
		}
	}
	if e.report {
		return e.pressReport(env, msg)
	}
	switch {
	case e.direct && key.Matches(msg, k.Esc, k.Leave), e.View != nil && e.View.live != nil && key.Matches(msg, k.Enter):
		e.CloseArtifact(env)
		env.Show(screen.AtRun)
	case key.Matches(msg, k.Copy):
		return e.copyEntry(env)
	case key.Matches(msg, k.Enter) && e.View != nil:
		e.full = !e.full
		return e.RefitText(env)
	case key.Matches(msg, k.Esc) && e.full:
		e.full = false
		return e.RefitText(env)
	case key.Matches(msg, k.Esc, k.Leave, k.Enter):
		e.CloseArtifact(env)
		e.detail, e.full = false, false
	}
	return nil
}

// nextBlob opens another raw artifact of the entry.
func (e *Screen) nextBlob(env *screen.Env, by int) tea.Cmd {
	if e.View != nil && e.View.live != nil {
		env.Warn("", "This is the live output; artifacts come when the step ends.")
		return nil
	}
	if e.report {
		return nil
	}
	mo, _ := e.moment()
	blobs := e.snap.Blobs[mo.Seq]
	if len(blobs) == 0 {
		return nil
	}
	if e.View != nil && len(blobs) == 1 {
		env.Warn("", "This entry has only one artifact.")
		return nil
	}
	e.blob = (max(e.blob+by, -len(blobs)) + len(blobs)) % len(blobs)
	return e.openArtifact(env, blobs[e.blob])
}
