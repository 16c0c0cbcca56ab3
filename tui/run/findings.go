package run

import (
	"slices"
	"strings"

	"handrail/steps"
	"handrail/triage"
	"handrail/tui/incident"
	"handrail/tui/ink"
	"handrail/tui/screen"
)

func (r *Screen) drawFindings(env *screen.Env, p *ink.Page, st triage.Step) {
	th := p.Theme
	if len(st.Findings) > 0 {
		p.Gap()
	}
	r.folded = false
	for _, f := range sortedFindings(st.Findings) {
		if f.Unsure {
			r.fold(env, p, ink.Fit(th.Warn.On("? UNKNOWN"), 12), env.InWords(st.ID, strings.TrimPrefix(f.Say, "cannot tell: ")))
			continue
		}
		mk := th.Level(string(f.Level))
		p.Item(ink.Fit(mk.Ink.On(mk.Symbol+" "+mk.Word), 12), th.Plain, ink.Shown(f.Say))
		if names := shuts(st, f); names != "" {
			p.Item(ink.Fit("", 12)+th.Muted.On("→ "), th.Muted, names)
		}
	}
	if len(st.Gaps) > 0 {
		p.Head("COULD NOT BE CHECKED")
	}
	for _, g := range st.Gaps {
		r.fold(env, p, th.Warn.On("? "), ink.Shown(g))
	}
}

// mostOfGap is how many lines say why one thing could not be checked: a server says
// the same in as many as it likes.
const mostOfGap = 3

// fold shows what is not known, and as much of its reason as has a place.
func (r *Screen) fold(env *screen.Env, p *ink.Page, lead ink.Drawn, text ink.Text) {
	if r.whole {
		p.Item(lead, p.Theme.Plain, text)
		return
	}
	cut := p.Folded(lead, p.Theme.Plain, text, mostOfGap, ink.Shown(env.Keys.View.Help().Key))
	r.folded = r.folded || cut
}

// unfold shows what was folded away on the step in front, and says whether there was
// anything.
func (r *Screen) unfold() bool {
	was := r.folded && !r.whole
	r.whole = r.whole || was
	return was
}

// shuts says what a finding keeps shut, "" for nothing.
func shuts(st triage.Step, f triage.Finding) ink.Text {
	if len(f.Against) == 0 || f.Unsure {
		return ""
	}
	if slices.Contains(st.Overruled, f.Say) {
		return "a person overruled it"
	}
	var gates []string
	for _, id := range f.Against {
		if id != triage.Closing {
			gates = append(gates, string(incident.Short(id)))
		}
	}
	if len(gates) == 0 {
		return "blocks closing as recovered"
	}
	shut := ink.Say("keeps shut: %s", strings.Join(gates, ", "))
	if len(f.Doubts) == 0 {
		return shut
	}
	var asks []string
	for _, id := range f.Doubts {
		asks = append(asks, string(incident.Short(id)))
	}
	return ink.Say("%s; speaks against the answer to %s", shut, strings.Join(asks, ", "))
}

// sortedFindings puts the worst first, what is known before what is not, and keeps the order otherwise.
func sortedFindings(fs []triage.Finding) []triage.Finding {
	rank := map[steps.Level]int{steps.Critical: 0, steps.Warning: 1}
	at := func(f triage.Finding) int {
		if n, ok := rank[f.Level]; ok && !f.Unsure {
			return n
		}
		return 2
	}
	out := slices.Clone(fs)
	slices.SortStableFunc(out, func(a, b triage.Finding) int { return at(a) - at(b) })
	return out
}
