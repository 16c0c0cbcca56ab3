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

// stability is how far the window of a watch has come, as its samples say.
type stability struct {
	full, gone time.Duration // of the window, without a break
	least      time.Duration // until it can be complete
	due        time.Duration // until the next sample counts
	since      time.Time     // of the newest run of equal samples
	runs       int           // how many there were
}

// dueAt is when the next sample is taken: so that a green counts, and after
// anything else once the time between two has passed.
func dueAt(st triage.Step) time.Time {
	gap := apart(st)
	if n := len(st.Greens); n > 0 && st.Streak > 0 {
		due, floor := st.Greens[n-1].Add(gap), st.Ended.Add(min(gap, 5*time.Second))
		if due.Before(floor) {
			return floor
		}
		return due
	}
	return st.Ended.Add(gap)
}

// stabilityOf reads the window of a watch at a moment.
func stabilityOf(st triage.Step, now time.Time) stability {
	need, gap := greens(st), apart(st)
	s := stability{full: time.Duration(need-1) * gap, due: max(0, dueAt(st).Sub(now))}
	if n := len(st.Greens); n > 0 && st.Streak > 0 {
		s.gone = time.Duration(st.Streak-1)*gap + min(gap, max(0, now.Sub(st.Greens[n-1])))
	}
	s.gone = min(s.gone, s.full)
	switch left := need - st.Streak; {
	case left <= 0:
		s.gone = s.full
	case st.Attempts == 0:
		s.least = s.full
	default:
		s.least = s.due + time.Duration(left-1)*gap
	}
	for i, x := range st.Samples {
		if i == 0 || x.Green != st.Samples[i-1].Green {
			s.since, s.runs = x.At, s.runs+1
		}
	}
	return s
}

// drawWatch draws the stability window: the streak, how far the window is, when
// the next sample is due, the last change, and what was seen so far.
func (m *model) drawWatch(p *page, st triage.Step) {
	th, need := p.th, greens(st)
	s := stabilityOf(st, m.now)
	p.gap()
	var dots drawn
	for i := range min(need, 20) {
		if i < st.Streak {
			dots += th.good.on("✓ ")
		} else {
			dots += th.muted.on("○ ")
		}
	}
	p.add(dots + " " + th.strong.on(say("%d of %d greens", min(st.Streak, need), need)) + th.muted.on(say(" in a row, %s apart", ago(apart(st)))))
	name := func(t text) drawn { return fit(th.muted.on(t), 13) }
	full := max(8, min(p.w-36, 30))
	bar := func(done, of time.Duration) drawn {
		n := full
		if of > 0 {
			n = min(full, int(float64(full)*done.Seconds()/of.Seconds()))
		}
		return th.accent.on(line("━", n)) + th.faint.on(line("─", full-n)) + " "
	}
	p.add(name("window") + bar(s.gone, s.full) + th.plain.on(ago(s.gone)+" of "+ago(s.full)))
	if st.Attempts == 0 {
		p.add(name("at least") + th.plain.on(ago(s.least)) + th.muted.on(" from the first sample on, if all are green"))
		p.gap()
		p.para(th.muted, "Not sampled yet. The first sample starts the window; while this screen is open the next ones follow by themselves.")
		return
	}
	if st.Streak < need {
		p.add(name("next sample") + bar(max(0, apart(st)-s.due), apart(st)) + th.plain.on(dueIn(s.due)))
		least := th.plain.on(ago(s.least)+" more") + th.muted.on(", if every sample is green")
		if s.least == 0 {
			least = th.plain.on("the next green completes it")
		}
		p.add(name("at least") + least)
	}
	m.drawSamples(p, st, s)
	if st.Streak >= need {
		p.para(th.good, "✓ The window is complete.")
	}
}

// colour is what a sample is called in a word.
func colour(green string) string {
	if w, ok := map[string]string{"true": "green", "false": "red"}[green]; ok {
		return w
	}
	return triage.Unknown
}

// drawSamples is the last change and the strip of signs, the newest at its end.
func (m *model) drawSamples(p *page, st triage.Step, s stability) {
	th := p.th
	name := func(t text) drawn { return fit(th.muted.on(t), 13) }
	mk := th.green(st.Green)
	p.add(name("last sample") + mk.ink.on(mk.symbol+" "+mk.word) + th.muted.on(say("  %s ago", ago(m.now.Sub(st.Ended)))))
	n := len(st.Samples)
	if n == 0 {
		return // the first one is being taken
	}
	change := th.plain.on("none yet") + th.muted.on(", since "+clock(s.since))
	if s.runs > 1 {
		change = th.plain.on(clock(s.since)) + th.muted.on(say("  to %s, %s ago", colour(st.Green), ago(m.now.Sub(s.since))))
	}
	p.add(name("last change") + change)
	room := max(4, min(p.w-15-len(" 64 seen"), 48))
	from := max(0, n-room)
	strip := drawn("")
	if from > 0 {
		strip = th.faint.on("…")
	}
	soon := false
	for _, x := range st.Samples[from:] {
		sign := th.green(x.Green)
		if x.Green == "true" && !x.Counts {
			sign, soon = mark{"·", "", th.good}, true
		}
		strip += sign.ink.on(sign.symbol)
	}
	p.add(name("samples") + strip + th.muted.on(say("  %d seen", st.Attempts)))
	if soon {
		p.add(name("") + th.muted.on("· green, but too soon to count"))
	}
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
		if ok && o.Available() && !m.now.Before(dueAt(st)) {
			return m.send(triage.Intent{Kind: triage.DoProbe, Step: st.ID})
		}
	}
	return nil
}
