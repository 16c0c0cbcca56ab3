package tui

import (
	"context"

	tea "charm.land/bubbletea/v2"

	"handrail/session"
	"handrail/triage"
	"handrail/tui/ink"
	"handrail/tui/longtext"
)

// openLive gives what a running step prints the whole screen. It follows the end
// until somebody looks further up.
func (m *model) openLive(x session.Running) tea.Cmd {
	m.openEvidence(m.run.snap)
	m.at = atEvidence
	e := &m.evidence
	e.detail, e.full, e.direct = true, true, true
	m.serial++
	now := x.Log.Now()
	v := &viewer{id: m.serial, look: look{hit: -1, wrap: e.wrap}, find: finding{hit: -1},
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
func (m *model) liveLine(v *viewer) ink.Drawn {
	th := &m.th
	left := th.Pick.On("▸ ") + th.Strong.On(short(v.step)) + "  "
	x, running := m.run.running(v.step)
	switch {
	case running && x.Log == v.live:
		left += th.Accent.On("● running") + "  " + m.progress(x)
	default:
		st, _ := m.run.snap.State.Step(v.step)
		left += th.Strong.On("ended: ") + m.ending(st) + th.Muted.On(ink.Say("  %s goes back; its artifacts are in the evidence", m.keys.Esc.Help().Key))
	}
	right := ink.Drawn("")
	if v.printed.Lost > 0 {
		right = "  " + th.Warn.On(ink.Say("! the oldest %s lines were dropped", ink.Grouped(v.printed.Lost)))
	}
	return ink.Spread(left, right, m.w-2*inset)
}

// ending is how the newest attempt of a step ended, in a word.
func (m *model) ending(st triage.Step) ink.Drawn {
	word := map[string]ink.Text{"timeout": "cut off, its time was up", "cancelled": "stopped", "denied": "denied", "failed": "failed"}[st.Outcome]
	if g := m.run.snap.State.Gates[st.ID]; st.Kind == triage.GateStep {
		word = ink.Text(g.Phase)
	}
	if word != "" && word != ink.Text(triage.GateDone) {
		return m.th.Warn.On("! " + word)
	}
	return m.th.Good.On("✓ done")
}
