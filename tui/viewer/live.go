package viewer

import (
	"context"

	tea "charm.land/bubbletea/v2"

	"handrail/session/view"
	"handrail/tui/incident"
	"handrail/tui/ink"
	"handrail/tui/longtext"
	"handrail/tui/screen"
)

// OpenLive gives what a running step prints the whole screen. It follows the end
// until the reader scrolls up.
func (e *Screen) OpenLive(env *screen.Env, x view.Running) tea.Cmd {
	e.list(env)
	env.Show(screen.AtEvidence)

	e.detail, e.full, e.direct = true, true, true
	env.Serial++
	now := x.Log.Now()
	v := &reader{id: env.Serial, Look: look{hit: -1, wrap: e.wrap}, Find: textMatch{hit: -1},
		live: x.Log, step: x.Step, Printed: now, follow: true, art: now, File: longtext.New(now, now.Size())}
	v.ctx, v.stop = context.WithCancel(env.Tasks.Ctx)
	e.View = v
	return e.goText(env, motion{to: toLast})
}

// LiveGrew takes what a running step printed since.
func (e *Screen) LiveGrew(env *screen.Env) tea.Cmd {
	v := e.View
	if v == nil || v.live == nil {
		return nil
	}
	old, now := v.Printed, v.live.Now()
	if now.Size() == old.Size() && now.Era == old.Era && now.Gone == old.Gone {
		v.Printed = now // perhaps it ended
		return nil
	}
	v.Printed, v.art, v.File = now, now, longtext.New(now, now.Size())
	if now.Era != old.Era {
		e.liveShifted(env, now.Gone-old.Gone)
	}
	if v.follow {
		return e.goText(env, motion{to: toLast})
	}
	return e.goText(env, motion{})
}

// liveShifted counts from another beginning: the oldest lines are gone, or some
// that were read have changed.
func (e *Screen) liveShifted(env *screen.Env, by int64) {
	v := e.View
	v.Look.Index, v.goal, v.want = longtext.Index{}, 0, nil
	for _, at := range []*place{&v.Look.At, &v.Find.origin} {
		at.Off = min(max(0, at.Off-by), v.File.Size())
		at.row = 0
	}
	if f := &v.Find; f.hit >= 0 {
		if f.hit -= by; f.hit < 0 || f.hit >= v.File.Size() {
			f.hit = -1
		}
		f.line = 0
	}
	if v.Find.hunt != nil {
		e.stopHunt()
		e.startHunt(env, v.Look.At.Off, false)
	}
}

// liveLine stands above the output of a step: how long it has been running, or how
// it ended.
func (e *Screen) liveLine(env *screen.Env, v *reader) ink.Drawn {
	th := &env.Theme
	left := th.Pick.On("▸ ") + th.Strong.On(incident.Short(v.step)) + "  "
	x, running := env.Running(v.step)
	switch {
	case running && x.Log == v.live:
		left += th.Accent.On("● running") + "  " + incident.Progress(&env.Theme, env.Now, x)
	default:
		st, _ := env.Snap.State.Step(v.step)
		left += th.Strong.On("ended: ") + env.Ending(&env.Theme, st) + th.Muted.On(ink.Say("  %s goes back; its artifacts are in the evidence", env.Keys.Esc.Help().Key))
	}
	right := ink.Drawn("")
	if v.Printed.Lost > 0 {
		right = "  " + th.Warn.On(ink.Say("! the oldest %s lines were dropped", ink.Grouped(v.Printed.Lost)))
	}
	return ink.Spread(left, right, env.W-2*screen.Inset)
}
