package tui

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"handrail/triage"
)

// apart is how far two samples of a watch must be from each other.
func apart(st triage.Step) time.Duration {
	if d, err := time.ParseDuration(st.Apart); err == nil && d > 0 {
		return d
	}
	return 20 * time.Second
}

func greens(st triage.Step) int {
	if st.PlanStep.Greens > 0 {
		return st.PlanStep.Greens
	}
	return 2
}

// drawWatch draws the stability window: the streak, and when the next sample is
// due.
func (m *model) drawWatch(p *page, st triage.Step) {
	th, need := p.th, greens(st)
	p.gap()
	var dots drawn
	for i := range need {
		if i < st.Streak {
			dots += th.good.on("✓ ")
		} else {
			dots += th.muted.on("○ ")
		}
	}
	p.add(dots + " " + th.strong.on(say("%d of %d greens", min(st.Streak, need), need)) + th.muted.on(say(" in a row, %s apart", ago(apart(st)))))
	if st.Attempts == 0 {
		p.para(th.muted, "Not sampled yet. The first sample starts the window; while this screen is open the next ones follow by themselves.")
		return
	}
	mk := th.green(st.Green)
	p.add(th.muted.on("last sample  ") + mk.ink.on(mk.symbol+" "+mk.word) + th.muted.on(say("  %s ago", ago(m.now.Sub(st.Ended)))))
	if st.Streak >= need {
		p.para(th.good, "✓ The window is complete.")
		return
	}
	left := st.Ended.Add(apart(st)).Sub(m.now)
	full := min(p.w-24, 30)
	done := full - int(float64(full)*max(0, left.Seconds())/apart(st).Seconds())
	done = min(max(done, 0), full)
	p.add(th.muted.on("next sample  ") + th.accent.on(line("━", done)) + th.faint.on(line("─", full-done)) + " " + th.plain.on(dueIn(left)))
}

// green is the mark of a sample: only true is green.
func (t theme) green(s string) mark {
	switch s {
	case "true":
		return mark{"✓", "green", t.good}
	case "false":
		return mark{"✗", "red", t.bad}
	}
	return mark{"?", "unknown, which is not green", t.warn}
}

func dueIn(d time.Duration) text {
	if d <= 0 {
		return "now"
	}
	return "in " + ago(d)
}

// sampleWhenDue asks for the next sample of a watch that was begun, while the
// run screen is open.
func (m *model) sampleWhenDue() tea.Cmd {
	if m.replaying() || m.inc == nil || m.at != atRun && m.at != atEvidence || m.run.busy > 0 || m.run.closed() {
		return nil
	}
	for _, st := range m.run.steps() {
		if st.Kind != triage.WatchStep || st.Attempts == 0 || st.Status == triage.Running || st.Streak >= greens(st) {
			continue
		}
		o, ok := m.run.option(triage.DoProbe, st.ID)
		if ok && o.Available() && !m.now.Before(st.Ended.Add(apart(st))) {
			return m.send(triage.Intent{Kind: triage.DoProbe, Step: st.ID})
		}
	}
	return nil
}
