package run

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"handrail/triage"
	"handrail/tui/incident"
	"handrail/tui/ink"
	"handrail/tui/keymap"
	"handrail/tui/screen"
)

// What follows from a reading: its raw artifact, the one before, what stands on it.

// Watching is what the key of the output opens: what a running step prints, else
// the raw artifact of its newest result.
func (r *Screen) Watching(env *screen.Env) tea.Cmd {
	st, _ := r.step()
	if x, ok := r.Running(st.ID); ok && x.Log != nil {
		return env.Ask(screen.OpenOutput{Of: x})
	}
	seq := r.EntryOf(st)
	if len(r.Snap.Blobs[seq]) == 0 {
		env.Warn("", "Nothing to show yet: this step has no output and no raw artifact.")
		return nil
	}
	return env.Ask(screen.OpenEntry{Seq: seq, Full: true, Direct: true})
}

// readBefore shows the reading before the newest one.
func (r *Screen) readBefore(env *screen.Env) tea.Cmd {
	st, _ := r.step()
	seq := r.Before(st)
	if seq == 0 {
		env.Warn("", "This step has no previous reading.")
		return nil
	}
	return env.Ask(screen.OpenEntry{Seq: seq, Direct: true})
}

// goUser goes to what stands on the step in front: what is open first.
func (r *Screen) goUser(env *screen.Env) {
	us := r.Users(r.Focus)
	if len(us) == 0 {
		env.Warn("", "No step of this runbook uses this one.")
		return
	}
	at := max(0, slices.IndexFunc(us, func(st triage.Step) bool { return st.Status == triage.Pending || st.Status == triage.Stale }))
	r.Front(us[at].ID)
}

// drawFollowUp names what follows from a reading, with the key of each.
func (r *Screen) drawFollowUp(env *screen.Env, p *ink.Page, st triage.Step) {
	th, k := p.Theme, &env.Keys
	if st.Attempts == 0 {
		return
	}
	var rows []ink.Drawn
	add := func(key string, t, more ink.Text) {
		rows = append(rows, ink.Fit(th.Key.On(ink.Shown(key)), 3)+" "+th.Plain.On(t)+th.Muted.On(more))
	}
	seq := r.EntryOf(st)
	if blobs := r.Snap.Blobs[seq]; len(blobs) > 0 {
		var size int64
		for _, b := range blobs {
			size += b.Size
		}
		t := ink.Text("the raw artifact of this reading")
		if n := len(blobs); n > 1 {
			t = ink.Say("the %d raw artifacts of this reading", n)
		}
		add(k.View.Help().Key, t, ink.Say("  %s, entry %d", ink.Amount(size), seq))
	}
	if prev := r.Before(st); prev > 0 {
		add(k.ReadBefore.Help().Key, "the previous reading", ink.Say("  entry %d", prev))
	}
	if us := r.Users(st.ID); len(us) > 0 {
		var names []string
		for _, u := range us {
			names = append(names, string(incident.Short(u.ID)))
		}
		add(k.User.Help().Key, "needed by: "+ink.Shown(strings.Join(names, ", ")), "")
	}
	if len(rows) == 0 {
		return
	}
	p.Gap()
	for _, row := range rows {
		p.Add(row)
	}
}

// followUps are the keys of what follows from a reading, the most useful first.
func (r *Screen) followUps(env *screen.Env, st triage.Step) []ink.Hint {
	k := &env.Keys
	var hs []ink.Hint
	if len(r.Snap.Blobs[r.EntryOf(st)]) > 0 {
		hs = append(hs, ink.Hint{Key: ink.Shown(k.View.Help().Key), Does: "raw"})
	}
	hs = append(hs, keymap.Hints(k.Read)...)
	if len(r.Snap.Next) > 0 {
		hs = append(hs, keymap.Hints(k.Runbook)...)
	}
	if len(r.Users(st.ID)) > 0 {
		hs = append(hs, ink.Hint{Key: ink.Shown(k.User.Help().Key), Does: "needed by"})
	}
	return hs
}
