package tui

import (
	"slices"
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"handrail/session"
	"handrail/triage"
)

// evidenceScreen lists every entry, finds some, and shows one with its raw
// artifacts, or the report as it would be now.
type evidenceScreen struct {
	snap      session.Snapshot
	found     []int // into the timeline, newest last
	at        int   // into found
	find      editor
	searching bool
	detail    bool
	blob      int
	view      *viewer // of the artifact that is shown
	full      bool    // it has the whole screen
	direct    bool    // it was opened from its step, and esc goes back there
	wrap      bool    // artifacts are wrapped
	kind      int     // of entryKinds that the list is kept to
	cover     coverage
	report    bool     // the report is shown in place of an entry
	back      screenID // where esc leads to from the report
}

// open lists the evidence of a snapshot.
func (e *evidenceScreen) open(env *Env, s session.Snapshot) {
	e.closeArtifact(env)

	*e = evidenceScreen{snap: s, find: e.find, wrap: e.wrap, kind: e.kind, blob: -1, cover: coverageOf(s.State)}
	e.filter()
	e.at = max(0, len(e.found)-1)
}

func (e *evidenceScreen) filter() {
	e.found = e.found[:0]
	for i := range e.snap.State.Timeline {
		e.found = append(e.found, i)
	}
	e.narrow()
}

// narrow drops what is not looked for from what was found: more letters never find
// more.
func (e *evidenceScreen) narrow() {
	words := strings.Fields(strings.ToLower(e.find.value()))
	kind := entryKinds()[e.kind]
	e.found = slices.DeleteFunc(e.found, func(i int) bool {
		m := e.snap.State.Timeline[i]
		return !kind.has(e, m) || words != nil && !hasWords(words, m.Text, m.Type, m.Step, m.Actor)
	})
	e.at = min(e.at, max(0, len(e.found)-1))
}

func (e *evidenceScreen) moment() (triage.Moment, bool) {
	if len(e.found) == 0 {
		return triage.Moment{}, false
	}
	return e.snap.State.Timeline[e.found[e.at]], true
}

func (e *evidenceScreen) press(env *Env, msg tea.KeyPressMsg) tea.Cmd {
	k := &env.keys
	switch {
	case e.searching:
		e.search(msg)
	case key.Matches(msg, k.Help) && !e.typing():
		return env.Ask(OpenHelp{})
	case e.detail:
		return e.pressDetail(env, msg)
	case key.Matches(msg, k.Esc) && (e.find.value() != "" || e.kind != 0):
		e.find, e.kind = editor{}, 0
		e.filter()
	case key.Matches(msg, k.Esc, k.Leave, k.Evidence):
		env.show(atRun)
	case key.Matches(msg, k.Kinds):
		e.nextKind()
	case key.Matches(msg, k.Report):
		return e.openReport(env, atEvidence)
	case key.Matches(msg, k.Seal):
		return env.Ask(OpenSeal{})
	case key.Matches(msg, k.Search):
		e.searching = true
	case key.Matches(msg, k.Up):
		e.at = max(0, e.at-1)
	case key.Matches(msg, k.Down):
		e.at = max(0, min(len(e.found)-1, e.at+1))
	case key.Matches(msg, k.PageUp):
		e.at = max(0, e.at-10)
	case key.Matches(msg, k.PageDown):
		e.at = max(0, min(len(e.found)-1, e.at+10))
	case key.Matches(msg, k.First):
		e.at = 0
	case key.Matches(msg, k.Last):
		e.at = max(0, len(e.found)-1)
	case key.Matches(msg, k.Enter):
		if _, ok := e.moment(); ok {
			e.detail, e.full, e.blob = true, false, -1
			return e.nextBlob(env, 1)
		}
	}
	return nil
}

func (e *evidenceScreen) search(msg tea.KeyPressMsg) {
	switch msg.String() {
	case "enter":
		e.searching = false
	case "esc":
		e.searching = false
		e.find = editor{}
	case "up":
		e.at = max(0, e.at-1)
		return
	case "down":
		e.at = max(0, min(len(e.found)-1, e.at+1))
		return
	default:
		before := e.find.value()
		if e.find.key(msg); before != "" && strings.HasPrefix(e.find.value(), before) {
			e.narrow()
			return
		}
	}
	e.filter()
}

func (e *evidenceScreen) paste(env *Env, s string) tea.Cmd {
	s = strings.Join(strings.Fields(s), " ")
	if v := e.view; v != nil && v.find.typing {
		v.find.edit.paste(s)
		return e.findTyped(env)
	}
	if e.searching {
		e.find.paste(s)
		e.filter()
	}
	return nil
}

func (e *evidenceScreen) typing() bool { return e.searching || e.view != nil && e.view.find.typing }

func (e *evidenceScreen) pressDetail(env *Env, msg tea.KeyPressMsg) tea.Cmd {
	k := &env.keys
	if e.view != nil {
		if cmd, taken := e.pressText(env, msg); taken {
			return cmd
		}
	}
	if e.report {
		return e.pressReport(env, msg)
	}
	switch {
	case e.direct && key.Matches(msg, k.Esc, k.Leave), e.view != nil && e.view.live != nil && key.Matches(msg, k.Enter):
		e.closeArtifact(env)
		env.show(atRun)
	case key.Matches(msg, k.Enter) && e.view != nil:
		e.full = !e.full
		return e.refitText(env)
	case key.Matches(msg, k.Esc) && e.full:
		e.full = false
		return e.refitText(env)
	case key.Matches(msg, k.Esc, k.Leave, k.Enter):
		e.closeArtifact(env)
		e.detail, e.full = false, false
	}
	return nil
}

// nextBlob opens another raw artifact of the entry.
func (e *evidenceScreen) nextBlob(env *Env, by int) tea.Cmd {
	if e.view != nil && e.view.live != nil {
		env.warn("", "This is what the step prints; its artifacts come when it ends.")
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
	if e.view != nil && len(blobs) == 1 {
		env.warn("", "This entry has one artifact only.")
		return nil
	}
	e.blob = (max(e.blob+by, -len(blobs)) + len(blobs)) % len(blobs)
	return e.openArtifact(env, blobs[e.blob])
}
