package tui

import (
	"encoding/json"
	"maps"
	"slices"

	"handrail/triage"
)

// drawMatrix draws a compare step: fields by sources, and in a symbol and a
// word whether they agree. Each table fact is a field; its keys are sources.
func (m *model) drawMatrix(p *page, st triage.Step) {
	th := p.th
	fields := map[string]map[string]string{}
	sources := map[string]bool{}
	for name, v := range st.Facts {
		var tab map[string]string
		if v.T != "table" || !v.Known() || json.Unmarshal(v.V, &tab) != nil {
			continue
		}
		fields[name] = tab
		for s := range tab {
			sources[s] = true
		}
	}
	if len(fields) == 0 {
		return
	}
	cols := slices.Sorted(maps.Keys(sources))
	const nameW, verdictW = 12, 10
	w := max(6, (p.w-nameW-verdictW)/len(cols)-1)
	p.gap()
	row := fit("", nameW)
	for _, c := range cols {
		row += fit(th.muted.on(shown(c)), w) + " "
	}
	p.add(row)
	for _, f := range slices.Sorted(maps.Keys(fields)) {
		row = fit(th.accent.on(shown(f)), nameW)
		for _, c := range cols {
			cell, ok := fields[f][c]
			if !ok || cell == triage.Unknown {
				row += fit(th.warn.on("? unknown"), w) + " "
				continue
			}
			row += fit(th.plain.on(shown(cell)), w) + " "
		}
		mk := agreement(th, fields[f], cols)
		p.add(row + mk.ink.on(mk.symbol+" "+mk.word))
	}
}

// agreement never says equal while one source was not read.
func agreement(th *theme, cells map[string]string, cols []string) mark {
	unread, differs := false, false
	for _, c := range cols {
		v, ok := cells[c]
		if !ok || v == triage.Unknown {
			unread = true
			continue
		}
		for _, d := range cols {
			if w, ok := cells[d]; ok && w != triage.Unknown && w != v {
				differs = true
			}
		}
	}
	switch {
	case differs:
		return mark{"≠", "differ", th.bad}
	case unread:
		return mark{"?", "unknown", th.warn}
	}
	return mark{"=", "agree", th.good}
}
