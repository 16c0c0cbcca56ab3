package tui

import (
	"context"

	tea "charm.land/bubbletea/v2"

	"handrail/session"
	"handrail/tui/ink"
	"handrail/tui/longtext"
)

// openLive gives what a running step prints the whole screen. It follows the end
// until somebody looks further up.
func (e *evidenceScreen) openLive(env *Env, x session.Running) tea.Cmd {
	e.open(env, env.snap)
	env.show(atEvidence)

	e.detail, e.full, e.direct = true, true, true
	env.serial++
	now := x.Log.Now()
	v := &viewer{id: env.serial, look: look{hit: -1, wrap: e.wrap}, find: finding{hit: -1},
		live: x.Log, step: x.Step, printed: now, follow: true, art: now, file: longtext.New(now, now.Size())}
	v.ctx, v.stop = context.WithCancel(env.crew.ctx)
	e.view = v
	return e.goText(env, motion{to: toLast})
}

// liveGrew takes what a running step printed since.
func (e *evidenceScreen) liveGrew(env *Env) tea.Cmd {
	v := e.view
	if v == nil || v.live == nil {
		return nil
	}
	old, now := v.printed, v.live.Now()
	if now.Size() == old.Size() && now.Era == old.Era && now.Gone == old.Gone {
		v.printed = now // perhaps it ended
		return nil
	}
	v.printed, v.art, v.file = now, now, longtext.New(now, now.Size())
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
func (e *evidenceScreen) liveShifted(env *Env, by int64) {
	v := e.view
	v.look.index, v.goal, v.want = longtext.Index{}, 0, nil
	for _, at := range []*place{&v.look.at, &v.find.origin} {
		at.off = min(max(0, at.off-by), v.file.Size())
		at.row = 0
	}
	if f := &v.find; f.hit >= 0 {
		if f.hit -= by; f.hit < 0 || f.hit >= v.file.Size() {
			f.hit = -1
		}
		f.line = 0
	}
	if v.find.hunt != nil {
		e.stopHunt(env)
		e.startHunt(env, v.look.at.off, false)
	}
}

// liveLine stands above the output of a step: how long it has been running, or how
// it ended.
func (e *evidenceScreen) liveLine(env *Env, v *viewer) ink.Drawn {
	th := &env.th
	left := th.Pick.On("▸ ") + th.Strong.On(short(v.step)) + "  "
	x, running := env.running(v.step)
	switch {
	case running && x.Log == v.live:
		left += th.Accent.On("● running") + "  " + progress(&env.th, env.now, x)
	default:
		st, _ := env.snap.State.Step(v.step)
		left += th.Strong.On("ended: ") + env.ending(&env.th, st) + th.Muted.On(ink.Say("  %s goes back; its artifacts are in the evidence", env.keys.Esc.Help().Key))
	}
	right := ink.Drawn("")
	if v.printed.Lost > 0 {
		right = "  " + th.Warn.On(ink.Say("! the oldest %s lines were dropped", ink.Grouped(v.printed.Lost)))
	}
	return ink.Spread(left, right, env.w-2*inset)
}
