package incident

import (
	"time"

	"handrail/session/view"
	"handrail/triage"
	"handrail/tui/ink"
)

// Lacks is what the incident says is missing, or that an approval lapsed since it
// said so.
func Lacks(g view.Gate, now time.Time) []triage.Refusal {
	second := g.Second
	if second == nil || len(second.Lacks) > 0 || g.Phase != triage.GateArmed {
		if second == nil {
			return nil
		}
		return second.Lacks
	}
	for _, a := range second.By {
		if !now.After(a.Lapses()) {
			return nil
		}
	}
	return []triage.Refusal{{Why: "the approval has expired"}}
}

// ArmedWord is what an armed gate waits for.
func (r *Case) ArmedWord(step string, now time.Time, copies ink.Text) ink.Text {
	g := r.Snap.Gate
	switch {
	case g == nil || g.Step != step || g.Second == nil || len(g.Second.Lacks)+len(g.Second.By) == 0:
		return "Armed: the preview is valid, waiting for its phrase."
	case len(Lacks(*g, now)) > 0:
		return ink.Say("Armed, waiting for a second person: %s. %s copies the request.", ink.Few(g.Second.May, 4), copies)
	}
	return ink.Say("Armed, approved by %s, waiting for its phrase.", g.Second.By[len(g.Second.By)-1].Person)
}

// Elapsed is how long the incident is open, or was.
func (r *Case) Elapsed(now time.Time) ink.Text {
	s := r.Snap.State
	if s.Opened.IsZero() {
		return ""
	}
	if !s.Closed.IsZero() {
		return ink.Ago(s.Closed.Sub(s.Opened))
	}
	return ink.Minutes(now.Sub(s.Opened))
}

// Ending is how the newest attempt of a step ended, in a word.
func (r *Case) Ending(th *ink.Theme, st triage.Step) ink.Drawn {
	word := map[string]ink.Text{"timeout": "timed out", "cancelled": "stopped", "denied": "denied", "failed": "failed"}[st.Outcome]
	if g := r.Snap.State.Gates[st.ID]; st.Kind == triage.GateStep {
		word = ink.Text(g.Phase)
	}
	if word != "" && word != ink.Text(triage.GateDone) {
		return th.Warn.On("! " + word)
	}
	return th.Good.On("✓ done")
}

// DrawAgain says what stood of an act when its target was read again, or when
// that will be.
func DrawAgain(p *ink.Page, s triage.State, g triage.GateState) {
	th := p.Theme
	switch g.Again.Outcome {
	case triage.Holds:
		p.Item(th.Good.On("✓ "), th.Plain, ink.Say("Read again: it holds. %s", g.Again.Response))
	case triage.Undone:
		p.Item(th.Bad.On("✗ "), th.Strong, ink.Say("Undone since. %s", g.Again.Response))
		p.Para(th.Plain, "Do not repeat it before you find and pause the writer.")
	case triage.Unknown:
		p.Item(th.Warn.On("? "), th.Plain, ink.Say("It is unknown whether it still holds. %s", g.Again.Response))
	}
	for _, again := range s.Rereads {
		if again.Step == g.Step {
			p.Item(th.Muted.On("· "), th.Muted, ink.Say("Will be read again at %s, in case something undoes it.", ink.Clock(again.Due)))
		}
	}
}

// Progress is how long a step has been running, of how long it may.
func Progress(th *ink.Theme, now time.Time, x view.Running) ink.Drawn {
	t := ink.Ago(max(0, now.Sub(x.Started)))
	if x.Until.IsZero() {
		return th.Muted.On(t)
	}
	pen, most := th.Muted, x.Until.Sub(x.Started)
	if now.Sub(x.Started) > most*4/5 {
		pen = th.Warn
	}
	return pen.On(t + " of " + ink.Span(most))
}

// DrawLive draws a step in flight: the newest lines it printed.
func DrawLive(p *ink.Page, now time.Time, run view.Running) {
	th := p.Theme
	p.Gap()
	word := ink.Text("reading")
	if run.Act {
		word = "acting"
	}
	p.Add(th.Accent.On("● "+word) + "  " + Progress(th, now, run))
	for _, l := range run.Lines[max(0, len(run.Lines)-12):] {
		p.Add(th.Faint.On("│ ") + th.Plain.On(ink.Shown(l)))
	}
}
