package tui

import (
	"handrail/tui/ink"
	"strings"

	tea "charm.land/bubbletea/v2"
)

// keys puts the keys of the step in front before the general ones.
func (r *runScreen) keys(env *Env) []ink.Hint {
	k := env.keys
	if r.closed() {
		return hints(k.Seal, k.Report, k.Evidence, k.Note, k.Settle, k.Anchor)
	}
	st, _ := r.step()
	var hs []ink.Hint
	switch st.Kind {
	case "ask":
		if n := len(r.choices()); n > 0 {
			hs = append(hs, ink.Hint{Key: ink.Say("1-%d", n), Does: "answer"})
		}
		hs = append(hs, hints(k.Unknown)...)
	case "conclude":
		hs = append(hs, hints(k.Accept, k.Override, k.Unknown)...)
	case "gate":
		hs = append(hs, hints(k.Gate)...)
		if _, acting := r.running(st.ID); acting {
			hs = append(hs, hints(k.View)...)
		}
	case "compare":
		if r.row >= 0 {
			hs = append(hs, ink.Hint{Key: "↑ ↓ ← →", Does: "field, source"}, ink.Hint{Key: ink.Shown(k.Esc.Help().Key), Does: "let go"})
		} else if len(st.Rows) > 0 {
			hs = append(hs, ink.Hint{Key: "↑ ↓", Does: "pick a field"})
		}
		if st.Attempts > 0 {
			hs = append(hs, hints(k.Read)...)
		}
	case "probe", "watch":
		if st.Status == "running" {
			hs = append(hs, hints(k.View, k.Cancel)...)
		} else if st.Attempts > 0 {
			hs = append(hs, r.followUps(env, st)...)
		}
	}
	if n := len(r.ready()); n > 1 {
		hs = append([]ink.Hint{{Key: ink.Shown(k.ReadAll.Help().Key), Does: ink.Say("read all %d", n)}}, hs...)
	}
	if n := len(r.reading()); n > 1 {
		hs = append(hs, ink.Hint{Key: ink.Shown(k.CancelAll.Help().Key), Does: ink.Say("stop all %d", n)})
	}
	if r.acting() {
		hs = append(hs, hints(k.Interrupt)...)
	}
	if o, ok := r.option("waive", st.ID); ok && o.Available() && st.Attempts > 0 && st.Green != "true" && st.Status != "running" {
		hs = append(hs, hints(k.Waive)...)
	}
	hs = append(hs, hints(k.Jump)...)
	if env.w < sideBySide {
		hs = append(hs, hints(k.Facts)...)
	}
	return append(hs, hints(k.Evidence, k.Note)...)
}

func (r *runScreen) hints(env *Env) hintLine {
	out := hintLine{always: hints(env.keys.Help, env.keys.Leave)}
	if r.find.typing {
		out.move, out.keys = "Keep these facts", []ink.Hint{{Key: "esc", Does: "all facts"}}
		return out
	}
	out.move, out.keys = r.move.label, r.keys(env)
	return out
}

func (r *runScreen) paste(env *Env, s string) tea.Cmd {
	if !r.find.typing {
		return env.Ask(TakeApproval{Text: s})
	}
	r.find.edit.paste(strings.Join(strings.Fields(s), " "))
	return nil
}

func (r *runScreen) typing() bool { return r.find.typing }

func (r *runScreen) hear(env *Env, msg tea.Msg) (tea.Cmd, bool) {
	switch msg := msg.(type) {
	case judgedMsg:
		r.judged(env, msg)
	case anchoredMsg:
		r.posted(env, msg)
	default:
		return nil, false
	}
	return nil, true
}

// finds are the steps of the plan.
func (r *runScreen) finds(*Env) []found {
	var out []found
	for _, st := range r.steps() {
		out = append(out, found{label: ink.Say("step %s: %s", short(st.ID), r.title(st.ID)), note: ink.Text(st.Phase), do: func() tea.Cmd {
			r.front(st.ID)
			r.decide()
			return nil
		}})
	}
	return out
}
