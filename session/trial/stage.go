package trial

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"handrail/runbooks"
	"handrail/session/journal"
	"handrail/session/view"
	"handrail/steps"
	"handrail/triage"
)

// Start is when every case begins: a recorded time is told from it.
var Start = time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC)

// tick is how long each event takes.
const tick = time.Second

// mostMoves bounds a case that goes round in circles.
const mostMoves = 500

// stage is one case while it is walked.
type stage struct {
	rb    *runbooks.Runbook
	cat   steps.Catalog
	c     *Case
	state triage.State
	now   time.Time
	move  func(*stage, triage.Option) // sees what the loop recommends, nil for none

	tried map[string]int
	armed map[string]bool
	shut  map[string]string // by gate: why it stayed shut when the loop came to it
	said  map[triage.Topic]string
	gone  []bool         // by branch, of this case and those before it
	plans map[string]int // by module: that read every object of it
	stop  string         // why the walk did not end with the close
	ended bool           // it may be closed as recovered
}

// scene is what is known now.
func (s *stage) scene() *view.Scene {
	return &view.Scene{State: s.state, Now: s.now, Books: map[string]*runbooks.Runbook{s.rb.ID: s.rb}, Catalog: s.cat}
}

func (s *stage) vars() runbooks.Vars { return journal.Vars(s.state, s.rb.ID, s.now, false) }

// happen folds one event, as a session does with what it has stored.
func (s *stage) happen(body triage.Body) error {
	s.now = s.now.Add(tick)
	st, err := triage.Fold(s.state, triage.Event{Seq: s.state.Seq + 1, At: s.now, Actor: operator, Body: body})
	if err != nil {
		return err
	}
	s.state = st
	s.rb.Go(s.vars(), s.gone)
	return nil
}

// ask carries out an intent that is one event, once the laws allow it.
func (s *stage) ask(in triage.Intent) error {
	sc := s.scene()
	switch in.Kind {
	case triage.DoConclude:
		in.Proposed, _, _ = sc.Propose(in.Topic)
	case triage.DoAnswer:
		in.Proposed = sc.ProposeAnswer(in.Step)
	}
	if r := triage.Check(s.state, in, s.now, sc.Judge); r != nil {
		return r
	}
	if err := s.enter(in); err != nil {
		return err
	}
	body, ok := triage.Draft(s.state, in)
	if !ok {
		return fmt.Errorf("the test has no way to %s", in.Kind)
	}
	if err := s.happen(body); err != nil {
		return err
	}
	return s.oweRest()
}

// oweRest records what an unfinished change leaves owing.
func (s *stage) oweRest() error {
	d, ok := s.state.Owing()
	if !ok {
		return nil
	}
	d.ID = fmt.Sprintf("d%d", len(s.state.Debts)+1)
	return s.happen(d)
}

// enter moves the call to the phase of what is about to be done.
func (s *stage) enter(in triage.Intent) error {
	to := s.state.PhaseOf(triage.Option{Kind: in.Kind, Step: in.Step, Topic: in.Topic})
	switch in.Kind {
	case triage.DoProbe, triage.DoAnswer, triage.DoManual, triage.DoConclude, triage.DoPreview:
	default:
		return nil
	}
	if to == "" || to == s.state.Phase {
		return nil
	}
	if err := s.happen(triage.PhaseSet{To: to}); err != nil {
		return err
	}
	return s.oweRest()
}

const operator = "test/operator"

// open begins the incident.
func (s *stage) open() error {
	params, err := s.rb.Bind(s.c.Params)
	if err != nil {
		return err
	}
	for _, body := range []triage.Body{
		triage.Open{Incident: "test", Title: s.rb.Title, Severity: s.rb.Severity},
		triage.Person{ID: operator, Name: "operator", Proof: "os", Roles: []string{"commander"}},
		s.rb.Plan(params),
	} {
		if err := s.happen(body); err != nil {
			return err
		}
	}
	return nil
}

// walk goes through the loop as it recommends, until it is closed or the case has no word
// for what comes next.
func (s *stage) walk() error {
	if err := s.open(); err != nil {
		return err
	}
	for range mostMoves {
		done, err := s.due()
		opts := triage.Options(s.state, s.now, s.scene().Judge)
		if err == nil && !done {
			done, err = s.repaired(opts)
		}
		if err == nil && !done {
			i := slices.IndexFunc(opts, func(o triage.Option) bool { return o.Recommended && o.Available() })
			if i < 0 {
				s.stop = "nothing is left to do"
				return nil
			}
			if s.move != nil {
				s.move(s, opts[i])
			}
			err = s.follow(opts, opts[i])
		}
		var no *triage.Refused
		if errors.As(err, &no) {
			s.stop = no.Error()
			return nil
		}
		if err != nil || s.stop != "" || s.ended {
			return err
		}
	}
	s.stop = fmt.Sprintf("it came to no end in %d moves", mostMoves)
	return nil
}

// due reads what is optional and recorded, as a person does who wants to know it all.
func (s *stage) due() (bool, error) {
	for _, st := range s.state.Steps {
		id := journal.Bare(st.ID)
		if st.Kind != triage.ProbeStep || st.Status != triage.Pending || s.tried[id] > 0 || st.Phase != triage.Preserve && st.Phase != triage.Locate {
			continue
		}
		if _, recorded := s.c.values[id]; !recorded && s.c.Fails[id] == "" || s.scene().BarredBy(st.ID) != nil {
			continue
		}
		return true, s.read(st)
	}
	return false, nil
}

// follow does what the loop recommends, as the case says.
func (s *stage) follow(opts []triage.Option, o triage.Option) error {
	st, _ := s.state.Step(o.Step)
	id := journal.Bare(o.Step)
	key := string(o.Kind) + " " + o.Step + string(o.Topic) + o.Value + o.Subject
	if s.tried[key]++; s.tried[key] > 12 {
		s.stop = fmt.Sprintf("the loop asks again and again to %s", key)
		return nil
	}
	if st.Kind == triage.GateStep && (o.Kind == triage.DoSkip || o.Kind == triage.DoPreview || o.Kind == triage.DoPlan) {
		s.note(opts, o.Step)
	}
	if why := s.c.Skip[id]; why != "" && o.Step != "" && o.Kind != triage.DoConclude {
		return s.ask(triage.Intent{Kind: triage.DoSkip, Step: o.Step, Text: why})
	}
	switch o.Kind {
	case triage.DoProbe:
		if why := s.rb.Aside(id, s.vars()); why != "" && st.Kind == triage.ProbeStep {
			return s.ask(triage.Intent{Kind: triage.DoSkip, Step: o.Step, Text: "it does not apply: " + why})
		}
		return s.read(st)
	case triage.DoAnswer:
		value := s.c.Answers[id]
		if value == "" {
			value = triage.Unknown
		}
		return s.ask(triage.Intent{Kind: triage.DoAnswer, Step: o.Step, Value: value, Text: "as the test says"})
	case triage.DoManual:
		return s.byHand(st)
	case triage.DoSkip:
		return s.ask(triage.Intent{Kind: triage.DoSkip, Step: o.Step, Text: "the test does not settle it"})
	case triage.DoConclude:
		return s.conclude(o)
	case triage.DoPreview:
		return s.gate(st)
	case triage.DoPlan: // it waits for a parameter that the case does not give
		return s.ask(triage.Intent{Kind: triage.DoSkip, Step: o.Step, Text: "the test gives it no value"})
	case triage.DoResolve:
		return s.resolve(o)
	case triage.DoDrift:
		var open []string
		for _, q := range s.state.Undrifted() {
			open = append(open, q.Ask)
		}
		s.stop = "before the record is written, nothing answers: " + strings.Join(open, " ")
		return nil
	case triage.DoSettle:
		return s.settle(o)
	case triage.DoWaive:
		return s.waive(o)
	case triage.DoPhase:
		return s.ask(triage.Intent{Kind: triage.DoPhase, Phase: triage.Phase(o.Value)})
	case triage.DoClose:
		if s.ended = o.Value == "recovered"; !s.ended {
			s.stop = "it is not recovered: " + refusals(opts, func(o triage.Option) bool { return o.Kind == triage.DoClose && o.Value == "recovered" })
		}
		return nil
	}
	s.stop = fmt.Sprintf("the test has no word for %s %s", o.Kind, o.Step)
	return nil
}

// resolve answers a critical finding, where the case quotes it.
func (s *stage) resolve(o triage.Option) error {
	for _, f := range s.c.Findings {
		if journal.Bare(f.Step) == journal.Bare(o.Step) && strings.Contains(o.Subject, f.Finding) {
			f.Step, f.Finding = o.Step, o.Subject
			return s.ask(triage.Intent{Kind: triage.DoResolve, Finding: f})
		}
	}
	s.stop = fmt.Sprintf("the test does not answer what %s found: %s", journal.Bare(o.Step), strings.TrimSpace(o.Subject))
	return nil
}

// settle pays for a repair by hand with the read that shows it, and carries all else.
func (s *stage) settle(o triage.Option) error {
	proves := func(d triage.Debt) bool { return d.ID == o.Subject && d.Kind == triage.ProofDebt }
	if slices.ContainsFunc(s.state.Debts, proves) {
		var no *triage.Refused
		paid := triage.Settle{Debt: o.Subject, How: "paid", Proof: "as the test reads it"}
		if err := s.ask(triage.Intent{Kind: triage.DoSettle, Debt: paid}); !errors.As(err, &no) {
			return err
		}
	}
	return s.ask(triage.Intent{Kind: triage.DoSettle, Debt: triage.Settle{Debt: o.Subject, How: "carried", Owner: "test", Until: s.now.AddDate(0, 0, 7).Format(time.DateOnly), Why: "as the test says"}})
}

// repaired records the next repair by hand of the case, once no gate serves. It reports
// whether there was one.
func (s *stage) repaired(opts []triage.Option) (bool, error) {
	n := len(s.state.Hands)
	if _, none := s.state.NoGate(opts); n >= len(s.c.ByHand) || !none && n == 0 {
		return false, nil
	}
	h := s.c.ByHand[n]
	h.Proof = s.rb.ID + "/" + journal.Bare(h.Proof)
	return true, s.ask(triage.Intent{Kind: triage.DoHand, Hand: h})
}

// byHand settles a manual step with the proof of the case, or with a word that any proof
// may be.
func (s *stage) byHand(st triage.Step) error {
	id := journal.Bare(st.ID)
	proof := s.c.Manual[id]
	book, _ := s.rb.Step(id)
	switch {
	case proof == "" && book.Accepts(assumed) == nil:
		proof = assumed
	case proof == "" && !st.Required:
		return s.ask(triage.Intent{Kind: triage.DoSkip, Step: st.ID, Text: "the test does not settle it"})
	}
	if err := book.Accepts(proof); err != nil {
		s.stop = fmt.Sprintf("manual.%s: %v", id, err)
		return nil
	}
	return s.ask(triage.Intent{Kind: triage.DoManual, Step: st.ID, Text: proof})
}

const assumed = "done, as the test assumes"

func (s *stage) waive(o triage.Option) error {
	why := s.c.Waive[journal.Bare(o.Subject)]
	if why == "" {
		s.stop = fmt.Sprintf("%s cannot be settled, and the test does not waive law %s for it", journal.Bare(o.Subject), o.Value)
		if st, ok := s.state.Step(o.Subject); ok && st.Summary != "" {
			s.stop += ": " + st.Summary
		}
		return nil
	}
	law, err := strconv.Atoi(o.Value)
	if err != nil {
		return err
	}
	in := triage.Intent{Kind: triage.DoWaive, Law: law, Step: o.Subject, Person: "test", Text: why}
	if st, ok := s.state.Step(o.Subject); ok && law == triage.LawNone {
		in.Findings = st.Said()
	}
	return s.ask(in)
}

// conclude accepts what the facts propose, or says what the case has.
func (s *stage) conclude(o triage.Option) error {
	value, _, _ := s.scene().Propose(o.Topic)
	s.said[o.Topic] = value
	if own := s.c.Conclude[string(o.Topic)]; own != "" {
		value = own
	}
	if value == "" {
		value = triage.Unknown
	}
	key := "conclude " + string(o.Topic)
	if c, any := s.state.Topics[o.Topic]; any && !c.Lapsed && c.Value == value && s.tried[key] >= 2 {
		s.stop = fmt.Sprintf("%s is %s, and the loop asks for more", o.Topic, value)
		return nil
	}
	s.tried[key]++
	return s.ask(triage.Intent{Kind: triage.DoConclude, Topic: o.Topic, Step: o.Step, Value: value, Text: "as the test says", Person: "test"})
}

// note keeps why a gate is shut, when the loop comes to it.
func (s *stage) note(opts []triage.Option, step string) {
	s.shut[journal.Bare(step)] = refusals(opts, func(o triage.Option) bool { return o.Kind == triage.DoPreview && o.Step == step })
}

// refusals says what refuses an option.
func refusals(opts []triage.Option, is func(triage.Option) bool) string {
	var why []string
	for _, o := range opts {
		if is(o) {
			for _, r := range o.Refusals {
				why = append(why, r.Why)
			}
		}
	}
	return strings.Join(why, "; ")
}
