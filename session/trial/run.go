package trial

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"handrail/runbooks"
	"handrail/session/journal"
	"handrail/steps"
	"handrail/triage"
)

// Report is what the tests of a runbook showed.
type Report struct {
	Cases    []Result
	Branches []runbooks.Branch
	Gone     []bool // by branch: some case walks it
}

// Result is how one case ended.
type Result struct {
	Name      string
	Line      int
	Wrong     []string // what did not follow, none where the case holds
	Phase     triage.Phase
	Stop      string // why the walk ended before the close, "" where it may be closed
	Armed     []string
	Shut      map[string]string // by gate: why, "" where it opens
	Next      []string          // runbooks that it goes on with
	Recovered bool              // it may be closed as recovered
	Plans     int               // that read every object of a module, at most of one
	Said      map[string]string // by topic: what the facts propose
}

// Failed are the cases in which something did not follow.
func (r Report) Failed() int {
	n := 0
	for _, c := range r.Cases {
		if len(c.Wrong) > 0 {
			n++
		}
	}
	return n
}

// Missed are the branches that no case walks.
func (r Report) Missed() []runbooks.Branch {
	var out []runbooks.Branch
	for i, b := range r.Branches {
		if !r.Gone[i] {
			out = append(out, b)
		}
	}
	return out
}

// Run walks each case of a document. The error is a fault of the program.
func Run(d *Document, rb *runbooks.Runbook, cat steps.Catalog) (Report, error) {
	return run(d, rb, cat, nil)
}

// run walks each case, and shows every move of it to a test of the loop.
func run(d *Document, rb *runbooks.Runbook, cat steps.Catalog, move func(*stage, triage.Option)) (Report, error) {
	out := Report{Branches: rb.Branches()}
	out.Gone = make([]bool, len(out.Branches))
	for i := range d.Cases {
		s := &stage{rb: rb, cat: cat, c: &d.Cases[i], move: move, now: Start, tried: map[string]int{}, armed: map[string]bool{}, shut: map[string]string{},
			said: map[triage.Topic]string{}, plans: map[string]int{}, gone: out.Gone}
		if err := s.walk(); err != nil {
			return out, fmt.Errorf("%s:%d: %s: %w", d.File, s.c.line, s.c.Name, err)
		}
		out.Cases = append(out.Cases, s.result())
	}
	return out, nil
}

// result says how the case ended, and what of what it expects did not follow.
func (s *stage) result() Result {
	s.last()
	out := Result{Name: s.c.Name, Line: s.c.line, Phase: s.state.Phase, Stop: s.stop, Armed: slices.Sorted(maps.Keys(s.armed)), Shut: s.shut, Said: map[string]string{}}
	out.Recovered, out.Next = s.ended, []string{}
	for _, n := range s.plans {
		out.Plans = max(out.Plans, n)
	}
	for _, n := range s.rb.Next(s.vars()) {
		out.Next = append(out.Next, n.Runbook)
	}
	for t, v := range s.said {
		out.Said[string(t)] = v
	}
	wrong := func(format string, args ...any) { out.Wrong = append(out.Wrong, fmt.Sprintf(format, args...)) }
	e := s.c.Expect
	if e.Phase != "" && e.Phase != string(s.state.Phase) {
		wrong("the call ends in %s, want %s (%s)", s.state.Phase, e.Phase, s.stop)
	}
	if e.Recovered != nil && *e.Recovered != s.ended {
		wrong("recovered is %t, want %t (%s)", s.ended, *e.Recovered, cmp.Or(s.stop, "nothing keeps the incident open"))
	}
	for _, topic := range slices.Sorted(maps.Keys(e.Conclude)) {
		if got := s.said[triage.Topic(topic)]; got != e.Conclude[topic] {
			_, _, why := s.scene().Propose(triage.Topic(topic))
			wrong("the facts propose %q for %s, want %q (%s)", got, topic, e.Conclude[topic], why)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(e.Proposes)) {
		if got := s.scene().ProposeAnswer(s.rb.ID + "/" + id); got != e.Proposes[id] {
			wrong("the facts propose %q to the question %s, want %q", got, id, e.Proposes[id])
		}
	}
	s.facts(wrong)
	s.gates(wrong)
	for _, id := range slices.Sorted(maps.Keys(e.Findings)) {
		st, _ := s.state.Step(s.rb.ID + "/" + id)
		var all []string
		for _, f := range st.Findings {
			all = append(all, f.Say)
		}
		for _, g := range s.state.Gone {
			if g.Step == st.ID {
				all = append(all, g.Finding.Say)
			}
		}
		for _, part := range e.Findings[id] {
			if !slices.ContainsFunc(all, func(f string) bool { return strings.Contains(f, part) }) {
				wrong("%s finds nothing that says %q; it finds %q", id, part, all)
			}
		}
	}
	for _, id := range e.Aside {
		if s.rb.Aside(id, s.vars()) == "" {
			wrong("%s applies", id)
		}
	}
	if e.Next != nil {
		if !slices.Equal(out.Next, e.Next) {
			wrong("it goes on with %q, want %q", out.Next, e.Next)
		}
	}
	return out
}

// last asks once more about the gates that the walk did not come to.
func (s *stage) last() {
	opts := triage.Options(s.state, s.now, s.scene().Judge)
	for _, st := range s.state.Steps {
		if _, met := s.shut[journal.Bare(st.ID)]; st.Kind == triage.GateStep && !met && !s.armed[journal.Bare(st.ID)] {
			s.note(opts, st.ID)
		}
	}
}

func (s *stage) facts(wrong func(string, ...any)) {
	for _, name := range slices.Sorted(maps.Keys(s.c.Expect.Facts)) {
		want := s.c.Expect.Facts[name]
		step, fact, _ := strings.Cut(name, ".")
		st, ok := s.state.Step(s.rb.ID + "/" + step)
		v, has := st.Facts[fact]
		got := triage.Unknown
		switch {
		case !ok:
			wrong("there is no step %q for the fact %s", step, name)
			continue
		case has && v.Known():
			got = v.Text()
			if v.Type() == steps.Strings {
				got = strings.Join(v.Strings(), ", ")
			}
		}
		if got != want {
			wrong("%s is %q, want %q", name, got, want)
		}
	}
}

func (s *stage) gates(wrong func(string, ...any)) {
	for _, id := range s.c.Expect.Armed {
		if !s.armed[id] {
			wrong("the gate %s stays shut: %s (the walk ended: %s)", id, s.shut[id], s.stop)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(s.c.Expect.Refused)) {
		part := s.c.Expect.Refused[id]
		switch why := s.shut[id]; {
		case s.armed[id]:
			wrong("the gate %s opens", id)
		case !strings.Contains(why, part):
			wrong("the gate %s stays shut for another reason than %q: %s", id, part, why)
		}
	}
}
