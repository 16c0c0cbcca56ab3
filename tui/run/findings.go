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
	for _, f := range sortedFindings(st.Findings) {
		mk := th.Level(string(f.Level))
		p.Item(ink.Fit(mk.Ink.On(mk.Symbol+" "+mk.Word), 12), th.Plain, ink.Shown(f.Say))
		if names := shuts(st, f); names != "" {
			p.Item(ink.Fit("", 12)+th.Muted.On("→ "), th.Muted, names)
		}
	}
	if len(st.Gaps) > 0 {
		p.Head("COULD NOT BE CHECKED")
	}
	r.folded = false
	for _, g := range st.Gaps {
		if r.whole {
			p.Item(th.Warn.On("? "), th.Plain, ink.Shown(g))
			continue
		}
		cut := p.Folded(th.Warn.On("? "), th.Plain, ink.Shown(g), mostOfGap, ink.Shown(env.Keys.View.Help().Key))
		r.folded = r.folded || cut
	}
}

// mostOfGap is how many lines say why one thing could not be checked: a server says
// the same in as many as it likes.
const mostOfGap = 3

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

// sortedFindings puts the worst first and keeps the order otherwise.
func sortedFindings(fs []triage.Finding) []triage.Finding {
	rank := map[steps.Level]int{steps.Critical: 0, steps.Warning: 1}
	at := func(f triage.Finding) int {
		if n, ok := rank[f.Level]; ok {
			return n
		}
		return 2
	}
	out := slices.Clone(fs)
	slices.SortStableFunc(out, func(a, b triage.Finding) int { return at(a) - at(b) })
	return out
}
