package viewer

import (
	tea "charm.land/bubbletea/v2"

	"handrail/tui/ink"
	"handrail/tui/keymap"
	"handrail/tui/screen"
)

func (e *Screen) moveAndKeys(env *screen.Env) (ink.Text, []ink.Hint) {
	k := &env.Keys
	switch {
	case e.searching:
		return "Keep this search", []ink.Hint{{Key: "esc", Does: "clear it"}}
	case e.report && (e.View == nil || e.View.File == nil):
		return "", nil
	case e.detail && e.View != nil:
		return e.textKeys(env)
	case e.detail:
		return "Back to the list", nil
	case len(e.Found) == 0:
		return "", []ink.Hint{{Key: "/", Does: "search"}, {Key: "esc", Does: "show all"}}
	}
	return "Open this entry", append([]ink.Hint{{Key: "↑ ↓", Does: "choose"}}, keymap.Hints(k.Search, k.Kinds, k.Copy, k.Report, k.Seal)...)
}

// textKeys are what enter does in an artifact, and the keys that do something.
func (e *Screen) textKeys(env *screen.Env) (ink.Text, []ink.Hint) {
	k := &env.Keys
	v := e.View
	switch {
	case v.Find.typing:
		return "Keep this match", []ink.Hint{{Key: "esc", Does: "back to the start"}}
	case v.Asking:
		return "Go to this line", []ink.Hint{{Key: "0-9", Does: "its number"}, {Key: "esc", Does: "stay here"}}
	}
	keys := []ink.Hint{{Key: "↑ ↓ pgup pgdn", Does: "scroll"}}
	if v.Find.typed != "" {
		keys = []ink.Hint{{Key: ink.Shown(k.Again.Help().Key + " " + k.Against.Help().Key), Does: "next, before"}, keys[0]}
	}
	if v.live != nil && !v.follow && !v.Printed.Over {
		keys = append([]ink.Hint{{Key: ink.Shown(k.Last.Help().Key), Does: "follow"}}, keys...)
	}
	if e.report {
		return "Back", append(keys, keymap.Hints(k.Search, k.Copy, k.Save, k.Seal)...)
	}
	keys = append(keys, keymap.Hints(k.Search, k.Wrap, k.Line, k.Copy, k.Save)...)
	if mo, _ := e.moment(); len(e.snap.Blobs[mo.Seq]) > 1 {
		keys = append(keys, ink.Hint{Key: ink.Shown(k.BlobBefore.Help().Key + " " + k.BlobAfter.Help().Key), Does: "other artifact"})
	}
	if v.live != nil {
		return "Back to the step; it continues", keys
	}
	if e.full {
		return "Back to the entry", keys
	}
	return "Use the whole screen", keys
}

// Hints implements [screen.Screen].
func (e *Screen) Hints(env *screen.Env) screen.Hints {
	var out screen.Hints
	out.Move, out.Keys = e.moveAndKeys(env)
	if !e.Typing() && (e.View == nil || !e.View.Asking) {
		out.Always = keymap.Hints(env.Keys.Help, env.Keys.Esc)
	}
	return out
}

// Hear implements [screen.Screen].
func (e *Screen) Hear(env *screen.Env, msg tea.Msg) (tea.Cmd, bool) {
	switch msg := msg.(type) {
	case screen.Another:
		e.CloseArtifact(env)
		*e = Screen{}
		return nil, true
	case artifactMsg:
		return e.artifactOpened(env, msg), true
	case PageMsg:
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
