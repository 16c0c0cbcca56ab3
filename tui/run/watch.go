package run

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"handrail/triage"
	"handrail/tui/ink"
	"handrail/tui/screen"
)

// apart is how far two samples of a watch must be from each other.
func apart(st triage.Step) time.Duration {
	if d, err := time.ParseDuration(st.Apart); err == nil && d > 0 {
		return d
	}
	return 20 * time.Second
}

// Greens is how many a watch must see in a row.
func Greens(st triage.Step) int {
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
	need, gap := Greens(st), apart(st)
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
func (r *Screen) drawWatch(env *screen.Env, p *ink.Page, st triage.Step) {
	th, need := p.Theme, Greens(st)
	s := stabilityOf(st, env.Now)
	p.Gap()
	var dots ink.Drawn
	for i := range min(need, 20) {
		if i < st.Streak {
			dots += th.Good.On("✓ ")
		} else {
			dots += th.Muted.On("○ ")
		}
	}
	p.Add(dots + " " + th.Strong.On(ink.Say("%d of %d greens", min(st.Streak, need), need)) + th.Muted.On(ink.Say(" in a row, %s apart", ink.Ago(apart(st)))))
	name := func(t ink.Text) ink.Drawn { return ink.Fit(th.Muted.On(t), 13) }
	full := max(8, min(p.W-36, 30))
	// Not the bar of bubbles: that one is drawn in blocks and knows no theme of ours.
	bar := func(done, of time.Duration) ink.Drawn {
		n := full
		if of > 0 {
			n = min(full, int(float64(full)*done.Seconds()/of.Seconds()))
		}
		return th.Accent.On(ink.Line("━", n)) + th.Faint.On(ink.Line("─", full-n)) + " "
	}
	p.Add(name("window") + bar(s.gone, s.full) + th.Plain.On(ink.Ago(s.gone)+" of "+ink.Ago(s.full)))
	if st.Attempts == 0 {
		p.Add(name("at least") + th.Plain.On(ink.Ago(s.least)) + th.Muted.On(" from the first sample, if all are green"))
		p.Gap()
		p.Para(th.Muted, "Not sampled yet. The samples are taken by themselves while this screen is open.")
		return
	}
	if st.Streak < need {
		p.Add(name("next sample") + bar(max(0, apart(st)-s.due), apart(st)) + th.Plain.On(dueIn(s.due)))
		least := th.Plain.On(ink.Ago(s.least)+" more") + th.Muted.On(", if every sample is green")
		if s.least == 0 {
			least = th.Plain.On("the next green completes it")
		}
		p.Add(name("at least") + least)
	}
	r.drawSamples(env, p, st, s)
	if st.Streak >= need {
		p.Para(th.Good, "✓ The window is complete.")
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
func (r *Screen) drawSamples(env *screen.Env, p *ink.Page, st triage.Step, s stability) {
	th := p.Theme
	name := func(t ink.Text) ink.Drawn { return ink.Fit(th.Muted.On(t), 13) }
	mk := greenMark(th, st.Green)
	p.Add(name("last sample") + mk.Ink.On(mk.Symbol+" "+mk.Word) + th.Muted.On(ink.Say("  %s ago", ink.Ago(env.Now.Sub(st.Ended)))))
	n := len(st.Samples)
	if n == 0 {
		return // the first one is being taken
	}
	change := th.Plain.On("none yet") + th.Muted.On(", since "+ink.Clock(s.since))
	if s.runs > 1 {
		change = th.Plain.On(ink.Clock(s.since)) + th.Muted.On(ink.Say("  to %s, %s ago", colour(st.Green), ink.Ago(env.Now.Sub(s.since))))
	}
	p.Add(name("last change") + change)
	room := max(4, min(p.W-15-len(" 64 seen"), 48))
	from := max(0, n-room)
	strip := ink.Drawn("")
	if from > 0 {
		strip = th.Faint.On("…")
	}
	soon := false
	for _, x := range st.Samples[from:] {
		sign := greenMark(th, x.Green)
		if x.Green == "true" && !x.Counts {
			sign, soon = ink.Mark{Symbol: "·", Word: "", Ink: th.Good}, true
		}
		strip += sign.Ink.On(sign.Symbol)
	}
	p.Add(name("samples") + strip + th.Muted.On(ink.Say("  %d seen", st.Attempts)))
	if soon {
		p.Add(name("") + th.Muted.On("· green, but too soon to count"))
	}
}

func dueIn(d time.Duration) ink.Text {
	if d <= 0 {
		return "now"
	}
	return "in " + ink.Ago(d)
}

// SampleWhenDue asks for the next sample of a watch that was begun, while the
// run screen is open.
func (r *Screen) SampleWhenDue(env *screen.Env) tea.Cmd {
	if env.Replaying() || env.Incident == nil || env.At != screen.AtRun && env.At != screen.AtEvidence || len(env.Underway) > 0 || r.Closed() {
		return nil
	}
	for _, st := range r.Steps() {
		if st.Kind != triage.WatchStep || st.Status == triage.Running || st.Streak >= Greens(st) {
			continue
		}
		if next, _ := r.Recommended(); st.Attempts == 0 && (next.Kind != triage.DoProbe || next.Step != st.ID || env.Sheet != nil) {
			continue // the loop does not want it yet
		}
		o, ok := r.Option(triage.DoProbe, st.ID)
		if ok && o.Available() && !env.Now.Before(dueAt(st)) {
			return env.Send(triage.Intent{Kind: triage.DoProbe, Step: st.ID})
		}
	}
	return nil
}
