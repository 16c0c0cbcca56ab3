package debrief

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"handrail/triage"
)

// Drill is what is known of a drill beside the journal: how the reference walked
// it, and how it was judged.
type Drill struct {
	Name       string      `json:"name"`                 // with its variant
	Path       []Stop      `json:"path,omitempty"`       // of the reference; none where its script lies
	Shut       string      `json:"shut,omitempty"`       // the gate that must stay shut
	Judged     bool        `json:"judged"`               // the win conditions were looked at
	Won        bool        `json:"won"`                  // all of them hold
	Conditions []Condition `json:"conditions,omitempty"` // in the order of the drill
}

// Condition is one win condition.
type Condition struct {
	Condition string `json:"condition"`
	Holds     bool   `json:"holds"`
	Why       string `json:"why,omitempty"`
}

// Debriefing is how an incident was walked.
type Debriefing struct {
	Incident string    `json:"incident"`
	Outcome  string    `json:"outcome,omitempty"` // "" while it is open
	Drill    *Drill    `json:"drill,omitempty"`   // nil for a real incident
	Marks    []Mark    `json:"marks"`
	Evidence int       `json:"evidence_before_act"` // pieces, before the first act or all
	Stopped  []Stopped `json:"stopped,omitempty"`   // unsafe attempts
	Acts     []Act     `json:"acts,omitempty"`
	Debts    []Debt    `json:"debts,omitempty"`
	Waivers  []Waiver  `json:"waivers,omitempty"`
	Legs     []Leg     `json:"legs"` // without a reference only yours
	Hints    []string  `json:"hints,omitempty"`
}

// Mark is when something was reached.
type Mark struct {
	What    string        `json:"what"`
	Reached bool          `json:"reached"`
	After   time.Duration `json:"-"` // since the opening
	Seconds float64       `json:"seconds,omitempty"`
	Entry   int64         `json:"entry,omitempty"`
}

// The times that a debriefing tells, in the order in which they should come.
const (
	FirstReading = "first reading"
	AllCaptures  = "all required captures"
	FirstAct     = "first act"
	TheEnd       = "close"
)

// Stopped is an attempt that a gate refused.
type Stopped struct {
	Step  string        `json:"step"`
	Why   string        `json:"why"`
	Entry int64         `json:"entry"`
	After time.Duration `json:"-"`
}

// Act is a gate that acted.
type Act struct {
	Step    string `json:"step"`
	Outcome string `json:"outcome"`
	Command string `json:"command"`
}

// Debt is what was left owing.
type Debt struct {
	ID   string `json:"id"`
	Text string `json:"text"`
	How  string `json:"how"` // open, paid, carried or waived
}

// Waiver is what was set aside.
type Waiver struct {
	Law     int    `json:"law"`
	Subject string `json:"subject"`
	Person  string `json:"person"`
	Why     string `json:"why"`
}

// Of says in words what was set aside.
func (w Waiver) Of() string { return triage.Waive{Law: w.Law, Subject: w.Subject}.Of() }

// Of debriefs an incident; d is nil for a real one.
func Of(st triage.State, d *Drill) Debriefing {
	out := Debriefing{Incident: st.Incident, Outcome: st.Outcome, Drill: d}
	out.marks(st)
	for _, m := range st.Timeline {
		if m.Refused() {
			_, why, _ := strings.Cut(m.Text, ": ")
			out.Stopped = append(out.Stopped, Stopped{bare(m.Step), why, m.Seq, m.At.Sub(st.Opened)})
		}
	}
	for _, s := range st.Steps {
		if g, ok := st.Gates[s.ID]; ok && g.StartSeq > 0 {
			out.Acts = append(out.Acts, Act{bare(s.ID), string(g.Phase), g.Shown.Command})
		}
	}
	for _, h := range st.Hands {
		out.Acts = append(out.Acts, Act{bare(h.Proof), "by hand by " + h.Person, h.What})
	}
	for _, x := range st.Debts {
		out.Debts = append(out.Debts, Debt{x.ID, x.Text, cmp.Or(x.Settled.How, "open")})
	}
	for _, w := range st.Waivers {
		out.Waivers = append(out.Waivers, Waiver{w.Law, bare(w.Subject), w.Person, w.Why})
	}
	yours := Path(st)
	if d == nil || len(d.Path) == 0 {
		for i := range yours {
			out.Legs = append(out.Legs, Leg{Yours: &yours[i]})
		}
	} else {
		out.Legs = Align(yours, d.Path)
	}
	out.Hints = hints(out)
	return out
}

func (d *Debriefing) marks(st triage.State) {
	mark := func(what string, m *triage.Moment) {
		x := Mark{What: what}
		if m != nil {
			x.Reached, x.Entry, x.After = true, m.Seq, m.At.Sub(st.Opened)
			x.Seconds = x.After.Round(time.Millisecond).Seconds()
		}
		d.Marks = append(d.Marks, x)
	}
	var act *triage.Moment
	for i := range st.Timeline {
		m := &st.Timeline[i]
		switch {
		case m.Type == "act.start":
			act = m
		case m.Type == "probe.end", m.Type == "answer", m.Type == "manual":
			d.Evidence++
		}
		if act != nil {
			break
		}
	}
	first := func(is func(triage.Moment) bool) *triage.Moment {
		if i := slices.IndexFunc(st.Timeline, is); i >= 0 {
			return &st.Timeline[i]
		}
		return nil
	}
	mark(FirstReading, first(func(m triage.Moment) bool { return m.Read() }))
	mark(AllCaptures, captured(st))
	mark(FirstAct, act)
	mark(TheEnd, first(func(m triage.Moment) bool { return m.Type == "close" }))
}

// captured is the moment at which the last required capture was there, read or
// waived; nil where one is not.
func captured(st triage.State) *triage.Moment {
	waived := map[int64]string{}
	for _, w := range st.Waivers {
		if w.Law == 1 {
			waived[w.Seq] = w.Subject
		}
	}
	open := map[string]bool{}
	for _, s := range st.Steps {
		if s.Required && s.Phase == triage.Preserve && !s.Retired {
			open[s.ID] = true
		}
	}
	for i := range st.Timeline {
		m := &st.Timeline[i]
		id := m.Step
		switch {
		case m.Type == "waive":
			id = waived[m.Seq]
		case !m.Read() && m.Type != "answer" && m.Type != "manual":
			continue
		}
		if !open[id] {
			continue
		}
		if delete(open, id); len(open) == 0 {
			return m
		}
	}
	return nil
}

// hints say where the walk went another way than the reference, and what that
// may mean.
func hints(d Debriefing) []string {
	var out []string
	var left, late []string
	for _, l := range d.Legs {
		switch l.Is {
		case Otherwise:
			out = append(out, fmt.Sprintf("%s: %s, the reference: %s.", l.Yours.Step, l.Yours.said(), l.Reference.said()))
		case LeftOut:
			left = append(left, l.Reference.Step)
		case Order:
			late = append(late, l.Yours.Step)
		}
	}
	if len(left) > 0 {
		out = append(out, "Left out, although the reference did it: "+some(left)+".")
	}
	if len(late) > 0 {
		out = append(out, "At another time than in the reference: "+some(late)+".")
	}
	if d.Drill != nil && d.Drill.Shut != "" {
		out = append(out, "Here the gate "+d.Drill.Shut+" must stay shut, whatever the call says.")
	}
	return out
}

// some lists a few names.
func some(names []string) string {
	const most = 8
	if len(names) > most {
		names = append(names[:most:most], fmt.Sprintf("and %d more", len(names)-most))
	}
	return strings.Join(names, ", ")
}

// said is what was done at a stop, for a sentence.
func (s Stop) said() string {
	if s.Value == "" {
		return s.Do
	}
	return s.Do + " " + s.Value
}
