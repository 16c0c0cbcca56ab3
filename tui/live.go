package tui

import (
	"context"

	tea "charm.land/bubbletea/v2"

	"handrail/session"
	"handrail/triage"
	"handrail/tui/longtext"
)

// openLive gives what a running step prints the whole screen. It follows the end
// until somebody looks further up.
func (m *model) openLive(x session.Running) tea.Cmd {
	m.openEvidence(m.run.snap)
	m.at = atEvidence
	e := &m.evidence
	e.detail, e.full, e.direct = true, true, true
	m.views++
	now := x.Log.Now()
	v := &viewer{id: m.views, look: look{hit: -1, wrap: e.wrap}, find: finding{hit: -1},
		live: x.Log, step: x.Step, printed: now, follow: true, art: now, file: longtext.New(now, now.Size())}
	v.ctx, v.stop = context.WithCancel(m.crew.ctx)
	e.view = v
	return m.goText(motion{to: toLast})
}

// liveGrew takes what a running step printed since.
func (m *model) liveGrew() tea.Cmd {
	v := m.evidence.view
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
		m.liveShifted(now.Gone - old.Gone)
	}
	if v.follow {
		return m.goText(motion{to: toLast})
	}
	return m.goText(motion{})
}

// liveShifted counts from another beginning: the oldest lines are gone, or some
// that were read have changed.
func (m *model) liveShifted(by int64) {
	v := m.evidence.view
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
		m.stopHunt()
		m.startHunt(v.look.at.off, false)
	}
}

// liveLine stands above the output of a step: how long it has been running, or how
// it ended.
func (m *model) liveLine(v *viewer) drawn {
	th := &m.th
	left := th.pick.on("▸ ") + th.strong.on(short(v.step)) + "  "
	x, running := m.run.running(v.step)
	switch {
	case running && x.Log == v.live:
		left += th.accent.on("● running") + "  " + m.progress(x)
	default:
		st, _ := m.run.snap.State.Step(v.step)
		left += th.strong.on("ended: ") + m.ending(st) + th.muted.on(say("  %s goes back; its artifacts are in the evidence", m.keys.Esc.Help().Key))
	}
	right := drawn("")
	if v.printed.Lost > 0 {
		right = "  " + th.warn.on(say("! the oldest %s lines were dropped", grouped(v.printed.Lost)))
	}
	return spread(left, right, m.w-2*inset)
}

// ending is how the newest attempt of a step ended, in a word.
func (m *model) ending(st triage.Step) drawn {
	word := map[string]text{"timeout": "cut off, its time was up", "cancelled": "stopped", "denied": "denied", "failed": "failed"}[st.Outcome]
	if g := m.run.snap.State.Gates[st.ID]; st.Kind == triage.GateStep {
		word = text(g.Phase)
	}
	if word != "" && word != text(triage.GateDone) {
		return m.th.warn.on("! " + word)
	}
	return m.th.good.on("✓ done")
}
