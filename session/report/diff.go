package report

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"handrail/evidence/visible"
	"handrail/steps"
	"handrail/triage"
)

// Comparison says what two incidents share and where they part.
type Comparison struct {
	A     Named   `json:"a"`
	B     Named   `json:"b"`
	Pairs []Pair  `json:"pairs"`
	Share float64 `json:"share"` // of the pairs that count, how many are the same
}

// Named names one of two incidents.
type Named struct {
	Incident visible.Text `json:"incident"`
	Title    visible.Text `json:"title"`
	Opened   string       `json:"opened"`
}

// Pair is one thing in both incidents. Own marks what differs between any two incidents, such as ids and times: it does
// not count as parting.
type Pair struct {
	Section string       `json:"section"` // incident, conclusion, fact, answer, finding, gate or step
	Name    visible.Text `json:"name"`
	A       visible.Text `json:"a"` // "" where the incident has none
	B       visible.Text `json:"b"`
	Same    bool         `json:"same"`
	Own     bool         `json:"own,omitempty"`
}

// Compare sets two incidents side by side.
func Compare(a, b triage.State) Comparison {
	out := Comparison{A: named(a), B: named(b)}
	all := map[string]*Pair{}
	var order []string
	for i, st := range []triage.State{a, b} {
		collect(st, func(section, name, value string, own bool) {
			key := section + "\x00" + name
			p := all[key]
			if p == nil {
				p = &Pair{Section: section, Name: line(name)}
				all[key] = p
				order = append(order, key)
			}
			p.Own = p.Own || own
			if i == 0 {
				p.A = line(value)
			} else {
				p.B = line(value)
			}
		})
	}
	same, counted := 0, 0
	for _, key := range order {
		p := all[key]
		p.Same = p.A == p.B
		if !p.Own {
			if counted++; p.Same {
				same++
			}
		}
		out.Pairs = append(out.Pairs, *p)
	}
	slices.SortStableFunc(out.Pairs, func(x, y Pair) int { return cmp.Compare(section(x.Section), section(y.Section)) })
	if counted > 0 {
		out.Share = float64(same) / float64(counted)
	}
	return out
}

func named(st triage.State) Named {
	return Named{Incident: line(st.Incident), Title: line(st.Title), Opened: stamp(st.Opened)}
}

func section(name string) int {
	return slices.Index([]string{"incident", "conclusion", "answer", "finding", "fact", "gate", "step"}, name)
}

// collect names everything of an incident that another can be held against.
func collect(st triage.State, add func(section, name, value string, own bool)) {
	var books []string
	for _, p := range st.Plans {
		books = append(books, p.Runbook)
	}
	add("incident", "runbooks", strings.Join(books, ", then "), false)
	if st.Plan().Digest != "" {
		add("incident", "runbook digest", fmt.Sprintf("%.12s", st.Plan().Digest), false)
	}
	add("incident", "severity", string(st.Severity), false)
	add("incident", "outcome", cmp.Or(st.Outcome, "still open"), false)
	add("incident", "took", span(st.Opened, cmp.Or(st.Closed, st.Updated)), true)
	for _, t := range slices.Sorted(maps.Keys(st.Topics)) {
		add("conclusion", string(t), st.Topics[t].Value, false)
	}
	for _, s := range st.Steps {
		if s.Kind == triage.AskStep && s.Answer != "" {
			add("answer", s.ID, s.Answer, false)
		}
		for _, name := range slices.Sorted(maps.Keys(s.Facts)) {
			v := s.Facts[name]
			own := slices.Contains([]steps.Type{steps.Ident, steps.Time, steps.Duration}, v.Type())
			value := shownValue(v)
			if !v.Known() {
				value = "unknown: " + value
			}
			add("fact", s.ID+" "+name, value, own)
		}
		for _, level := range []steps.Level{steps.Critical, steps.Warning} {
			n := 0
			for _, f := range s.Findings {
				if f.Level == level {
					n++
				}
			}
			if n > 0 {
				add("finding", s.ID+" "+string(level), fmt.Sprint(n), false)
			}
		}
		if touched(s) {
			add("step", s.ID, string(s.Status), false)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(st.Gates)) {
		add("gate", id, gatePhase(st.Gates[id]), false)
	}
}

// WriteComparison writes it for a person: what is shared in short, what parts in full.
func WriteComparison(w io.Writer, c Comparison) error {
	var b strings.Builder
	for i, s := range []Named{c.A, c.B} {
		fmt.Fprintf(&b, "%s  %s  %s, opened %s\n", "AB"[i:i+1], s.Incident, s.Title, s.Opened)
	}
	fmt.Fprintf(&b, "\n%.0f %% of what counts is the same.\n\nShared:\n", 100*c.Share)
	var parted, own []Pair
	shared := map[string][]string{}
	for _, p := range c.Pairs {
		switch {
		case p.Same && (p.Section == "fact" || p.Section == "step"):
			shared[p.Section] = append(shared[p.Section], string(p.Name))
		case p.Same:
			fmt.Fprintf(&b, "  %-11s %s: %s\n", p.Section, p.Name, p.A)
		case p.Own:
			own = append(own, p)
		default:
			parted = append(parted, p)
		}
	}
	for _, s := range []string{"fact", "step"} {
		if n := len(shared[s]); n > 0 {
			fmt.Fprintf(&b, "  %-11s %d the same\n", s, n)
		}
	}
	b.WriteString("\nWhere they differ:\n")
	for _, p := range parted {
		fmt.Fprintf(&b, "  %-11s %s\n      A  %s\n      B  %s\n", p.Section, p.Name, cmp.Or(p.A, "-"), cmp.Or(p.B, "-"))
	}
	if len(parted) == 0 {
		b.WriteString("  nowhere\n")
	}
	if len(own) > 0 {
		fmt.Fprintf(&b, "\n%d ids, times and durations differ, as in any two incidents.\n", len(own))
	}
	_, err := io.WriteString(w, b.String())
	return err
}
