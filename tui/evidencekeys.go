package tui

import (
	"handrail/tui/ink"

	tea "charm.land/bubbletea/v2"
)

func (e *evidenceScreen) moveAndKeys(env *Env) (ink.Text, []ink.Hint) {
	k := &env.keys
	switch {
	case e.searching:
		return "Keep this search", []ink.Hint{{Key: "esc", Does: "clear it"}}
	case e.report && (e.view == nil || e.view.file == nil):
		return "", nil
	case e.detail && e.view != nil:
		return e.textKeys(env)
	case e.detail:
		return "Back to the list", nil
	case len(e.found) == 0:
		return "", []ink.Hint{{Key: "/", Does: "search"}, {Key: "esc", Does: "everything"}}
	}
	return "Open this entry", append([]ink.Hint{{Key: "↑ ↓", Does: "choose"}}, hints(k.Search, k.Kinds, k.Report, k.Seal)...)
}

// textKeys are what enter does in an artifact, and the keys that do something.
func (e *evidenceScreen) textKeys(env *Env) (ink.Text, []ink.Hint) {
	k := &env.keys
	v := e.view
	switch {
	case v.find.typing:
		return "Keep what was found", []ink.Hint{{Key: "esc", Does: "back to where it began"}}
	case v.asking:
		return "Go to this line", []ink.Hint{{Key: "0-9", Does: "its number"}, {Key: "esc", Does: "stay here"}}
	}
	keys := []ink.Hint{{Key: "↑ ↓ pgup pgdn", Does: "scroll"}}
	if v.find.typed != "" {
		keys = []ink.Hint{{Key: ink.Shown(k.Again.Help().Key + " " + k.Against.Help().Key), Does: "next, before"}, keys[0]}
	}
	if v.live != nil && !v.follow && !v.printed.Over {
		keys = append([]ink.Hint{{Key: ink.Shown(k.Last.Help().Key), Does: "follow"}}, keys...)
	}
	if e.report {
		return "Back", append(keys, hints(k.Search, k.Copy, k.Save, k.Seal)...)
	}
	keys = append(keys, hints(k.Search, k.Wrap, k.Line, k.Copy, k.Save)...)
	if mo, _ := e.moment(); len(e.snap.Blobs[mo.Seq]) > 1 {
		keys = append(keys, ink.Hint{Key: ink.Shown(k.BlobBefore.Help().Key + " " + k.BlobAfter.Help().Key), Does: "other artifact"})
	}
	if v.live != nil {
		return "Back to the step; it goes on", keys
	}
	if e.full {
		return "Back to the entry", keys
	}
	return "Give it the whole screen", keys
}

func (e *evidenceScreen) hints(env *Env) hintLine {
	var out hintLine
	out.move, out.keys = e.moveAndKeys(env)
	if !e.typing() && (e.view == nil || !e.view.asking) {
		out.always = hints(env.keys.Help, env.keys.Esc)
	}
	return out
}

func (e *evidenceScreen) hear(env *Env, msg tea.Msg) (tea.Cmd, bool) {
	switch msg := msg.(type) {
	case artifactMsg:
		return e.artifactOpened(env, msg), true
	case pageMsg:
		return e.paged(env, msg), true
	case countMsg:
		return e.lineCounted(env, msg), true
	case huntMsg:
		return e.hunted(env, msg), true
	case copiedMsg:
		return e.copied(env, msg), true
	case savedMsg:
		e.saved(env, msg)
		return nil, true
	}
	return nil, false
}
