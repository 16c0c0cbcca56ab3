package run

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"handrail/tui/incident"
	"handrail/tui/ink"
	"handrail/tui/keymap"
	"handrail/tui/screen"
)

// keys puts the keys of the step in front before the general ones.
func (r *Screen) keys(env *screen.Env) []ink.Hint {
	k := env.Keys
	if r.Closed() {
		return keymap.Hints(k.Seal, k.Report, k.Evidence, k.Note, k.Settle, k.Anchor, k.Reopen)
	}
	st, _ := r.step()
	var hs []ink.Hint
	switch st.Kind {
	case "ask":
		if len(r.Barred(st.ID)) > 0 {
			break
		}
		if n := len(r.choices()); n > 0 {
			hs = append(hs, ink.Hint{Key: ink.Say("1-%d", n), Does: "answer"})
		}
		hs = append(hs, keymap.Hints(k.Unknown)...)
	case "conclude":
		hs = append(hs, keymap.Hints(k.Accept, k.Override, k.Unknown)...)
	case "gate":
		hs = append(hs, keymap.Hints(k.Gate)...)
		if o, ok := r.Option("preview", st.ID); ok {
			if n := len(r.Met(st.ID, o.Refusals)); n > 0 {
				hs = append(hs, ink.Hint{Key: keymap.Digits(n), Does: "go to what it needs"})
			}
		}
		if _, acting := r.Running(st.ID); acting {
			hs = append(hs, keymap.Hints(k.View)...)
		}
	case "compare":
		if r.Row >= 0 {
			hs = append(hs, ink.Hint{Key: "↑ ↓ ← →", Does: "field, source"}, ink.Hint{Key: ink.Shown(k.Esc.Help().Key), Does: "deselect"})
		} else if len(st.Rows) > 0 {
			hs = append(hs, ink.Hint{Key: "↑ ↓", Does: "pick a field"})
		}
		if st.Attempts > 0 {
			hs = append(hs, keymap.Hints(k.Read)...)
		}
	case "probe", "watch":
		if st.Status == "running" {
			hs = append(hs, keymap.Hints(k.View, k.Cancel)...)
		} else if st.Attempts > 0 {
			hs = append(hs, r.followUps(env, st)...)
		}
	}
	if n := len(r.Ready()); n > 1 {
		hs = append([]ink.Hint{{Key: ink.Shown(k.ReadAll.Help().Key), Does: ink.Say("read all %d", n)}}, hs...)
	}
	if n := len(r.Reading()); n > 1 {
		hs = append(hs, ink.Hint{Key: ink.Shown(k.CancelAll.Help().Key), Does: ink.Say("stop all %d", n)})
	}
	if r.Acting() {
		hs = append(hs, keymap.Hints(k.Interrupt)...)
	}
	if o, ok := r.Option("waive", st.ID); ok && o.Available() && st.Attempts > 0 && st.Green != "true" && st.Status != "running" {
		hs = append(hs, keymap.Hints(k.Waive)...)
	}
	if r.noGate() {
		hs = append(hs, keymap.Hints(k.ByHand)...)
	}
	hs = append(hs, keymap.Hints(k.Jump)...)
	if env.W < sideBySide {
		hs = append(hs, keymap.Hints(k.Facts)...)
	}
	return append(hs, keymap.Hints(k.Evidence, k.Note, k.Copy)...)
}

// Hints implements [screen.Screen].
func (r *Screen) Hints(env *screen.Env) screen.Hints {
	out := screen.Hints{Always: keymap.Hints(env.Keys.Help, env.Keys.Leave)}
	if r.find.typing {
		out.Move, out.Keys = "Keep this filter", []ink.Hint{{Key: "esc", Does: "all facts"}}
		return out
	}
	out.Move, out.Keys = r.Move.label, r.keys(env)
	if env.Recording() {
		out.Move = recording
	}
	return out
}

// Paste implements [screen.Screen].
func (r *Screen) Paste(env *screen.Env, s string) tea.Cmd {
	if !r.find.typing {
		return env.Ask(screen.TakeApproval{Text: s})
	}
	r.find.edit.Paste(strings.Join(strings.Fields(s), " "))
	return nil
}

// Typing implements [screen.Screen].
func (r *Screen) Typing() bool { return r.find.typing }

// Hear implements [screen.Screen].
func (r *Screen) Hear(env *screen.Env, msg tea.Msg) (tea.Cmd, bool) {
	switch msg := msg.(type) {
	case screen.Another:
		*r = Screen{Case: env.Case}
	case JudgedMsg:
		r.judged(env, msg)
	case anchoredMsg:
		r.posted(env, msg)
	case untrustedMsg:
		return r.untrusted(env, msg), true
	case trustedMsg:
		return r.trusted(env, msg), true
	default:
		return nil, false
	}
	return nil, true
}

// Finds are the steps of the plan.
func (r *Screen) Finds(*screen.Env) []screen.PaletteItem {
	var out []screen.PaletteItem
	for _, st := range r.Steps() {
		out = append(out, screen.PaletteItem{Label: ink.Say("step %s: %s", incident.Short(st.ID), r.Title(st.ID)), Note: ink.Text(st.Phase), Do: func() tea.Cmd {
			r.Front(st.ID)
			r.Decide()
			return nil
		}})
	}
	return out
}
