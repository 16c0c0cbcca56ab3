package view

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"handrail/runbooks"
	"handrail/session/journal"
	"handrail/steps"
	"handrail/steps/catalog"
	"handrail/triage"
)

// call is a call that does nothing but press Enter, over a world that stays as it is
// until an act changes it. It keeps the order of a session, without its disk.
type call struct {
	t     *testing.T
	rb    *runbooks.Runbook
	cat   steps.Catalog
	seed  uint64
	world uint64 // changes with each act
	state triage.State
	now   time.Time
	trail []string
}

func (c *call) scene() *Scene {
	return &Scene{State: c.state, Now: c.now, Books: map[string]*runbooks.Runbook{c.rb.ID: c.rb}, Catalog: c.cat}
}

// tell folds an event. What the loop recommends must fold.
func (c *call) tell(b triage.Body) {
	c.t.Helper()
	c.now = c.now.Add(10 * time.Second)
	s, err := triage.Fold(c.state, triage.Event{Seq: c.state.Seq + 1, At: c.now, Actor: "ana", Body: b})
	if err != nil {
		c.fail("what was recommended does not fold: %v", err)
	}
	c.state = s
}

func (c *call) fail(format string, args ...any) {
	c.t.Helper()
	c.t.Fatalf("%s, seed %d: %s\n%s", c.rb.ID, c.seed, fmt.Sprintf(format, args...), strings.Join(c.trail[max(0, len(c.trail)-40):], "\n"))
}

// fate draws for something of the world as it is: the same each time it is asked.
func (c *call) fate(what string) *rand.Rand {
	h := fnv.New64a()
	_, _ = fmt.Fprint(h, c.world, what)
	return rand.New(rand.NewPCG(c.seed, h.Sum64()))
}

// fixed is fate that no act changes: what people say.
func (c *call) fixed(what string) *rand.Rand {
	h := fnv.New64a()
	_, _ = fmt.Fprint(h, what)
	return rand.New(rand.NewPCG(c.seed, h.Sum64()))
}

func (c *call) facts(kind steps.Kind, step string) map[string]steps.Value {
	draw := c.fate(step)
	out := map[string]steps.Value{}
	for _, f := range kind.Facts {
		out[f.Name] = anyFact(f, draw)
		if draw.IntN(12) == 0 {
			out[f.Name] = steps.Unknown(f.Type, "not told")
		}
	}
	return out
}

func anyFact(f steps.Field, draw *rand.Rand) steps.Value {
	text := []string{"", "a", "b"}[draw.IntN(3)]
	switch f.Type {
	case steps.Bool:
		return steps.BoolOf(draw.IntN(2) == 0)
	case steps.Int:
		return steps.IntOf(int64(draw.IntN(3)))
	case steps.Enum:
		return steps.EnumOf(f.Values[draw.IntN(len(f.Values))])
	case steps.Duration:
		return steps.DurationOf(time.Duration(draw.IntN(3)) * 40 * time.Minute)
	case steps.Time:
		return steps.TimeOf(time.Unix(int64(draw.IntN(3))*1000, 0))
	case steps.Strings:
		return steps.StringsOf([][]string{nil, {"a"}, {"a", "b"}}[draw.IntN(3)])
	case steps.Table:
		return steps.TableOf([]map[string]string{nil, {"a": text}}[draw.IntN(2)])
	case steps.Ident:
		return steps.IdentOf(text)
	}
	return steps.StringOf(text)
}

// read is one attempt at a step that reads.
func (c *call) read(st triage.Step) {
	s := c.scene()
	kind, _ := c.cat.Lookup(st.Uses)
	_, err := c.rb.With(journal.Bare(st.ID), s.vars(c.rb.ID, false))
	if rs := append(s.BarredBy(st.ID), s.Lacks(err)...); len(rs) > 0 {
		c.fail("Enter reads %s, which is refused: %s", st.ID, rs[0].Why)
	}
	n := st.Attempts + 1
	c.tell(triage.ProbeStart{Step: st.ID, N: n})
	end := triage.ProbeEnd{Step: st.ID, N: n, Outcome: "ok"}
	if st.Kind == triage.CompareStep {
		if end.Rows = journal.Rows(c.rb, c.state, st.ID); len(end.Rows) > 0 {
			end.Facts = runbooks.ComparisonFacts(end.Rows)
		}
		c.tell(end)
		return
	}
	if err != nil || c.fate("fails "+st.ID).IntN(12) == 0 {
		end.Outcome, end.Facts = "failed", map[string]steps.Value{}
		for _, f := range kind.Facts {
			end.Facts[f.Name] = steps.Unknown(f.Type, "could not be read")
		}
	} else {
		end.Facts = c.facts(kind, st.ID)
	}
	v := journal.Vars(c.state, c.rb.ID, c.now, false)
	v.Facts = maps.Clone(v.Facts)
	v.Facts[journal.Bare(st.ID)] = end.Facts
	end.Findings = c.rb.Findings(journal.Bare(st.ID), v)
	if st.Kind == triage.WatchStep {
		c.now = c.now.Add(30 * time.Second)
		green := c.rb.Green(journal.Bare(st.ID), v)
		end.Green = &green
	}
	c.tell(end)
}

// gate opens a gate as far as its floors let it: half of them refuse.
func (c *call) gate(st triage.Step) {
	if c.fate("floor "+st.ID).IntN(2) == 0 {
		c.tell(triage.GateClosed{Step: st.ID, Why: "a floor refuses", Refused: true})
		return
	}
	c.tell(triage.GateShown{Step: st.ID, Digest: "d", Class: st.Class, Phrase: "act", Until: c.now.Add(time.Hour), Verdicts: c.scene().Judge(st.ID), Why: "it is wider on purpose"})
}

func (c *call) act(st triage.Step) {
	c.tell(triage.GateAnswered{Step: st.ID, Digest: "d", Typed: "act"})
	c.tell(triage.ActStart{Step: st.ID, Digest: "d"})
	ends := []string{"done", "done", "done", "failed", "refused"}
	c.tell(triage.ActEnd{Step: st.ID, Digest: "d", Outcome: ends[c.fate("act "+st.ID).IntN(len(ends))]})
	c.world++
	if st.Class == triage.Contain {
		c.tell(triage.DebtOpened{ID: fmt.Sprint("resume", c.world), Kind: "resume", Of: st.ID, Text: "resume it"})
	}
}

// conclude takes the proposal; where there is none a person says something.
func (c *call) conclude(o triage.Option) {
	is, _, _ := c.scene().Propose(o.Topic)
	said := triage.Conclude{Topic: o.Topic, Value: is, Proposed: is}
	if is == triage.Unknown || is == "" {
		said.Person, said.Why, said.Value = "ana", "she looked", c.word(o.Topic)
	}
	c.tell(said)
}

func (c *call) word(t triage.Topic) string {
	draw := c.fixed("says " + string(t))
	switch t {
	case triage.TopicClass:
		all := triage.FailureStates()
		return all[draw.IntN(len(all))].Name
	case triage.TopicDomain:
		return triage.Domains()[0].Slug
	case triage.TopicOwner:
		return "platform"
	}
	return []string{"yes", "no"}[draw.IntN(2)]
}

// enter does what Enter does, and what the person says where it asks. The result says
// why the walk has ended, "" while it goes on.
func (c *call) enter(o triage.Option) string {
	st, _ := c.state.Step(o.Step)
	draw := c.fixed("step " + o.Step)
	switch o.Kind {
	case triage.DoProbe:
		if st.Kind == triage.WatchStep && len(st.Samples) > 4 && st.Streak == 0 {
			if draw.IntN(4) == 0 {
				return "it waits for a watch"
			}
			if st.Phase != triage.Verify {
				c.tell(triage.Skip{Step: o.Step, Why: "it does not end"})
				return ""
			}
			c.tell(triage.Waive{Law: 8, Subject: o.Step, Person: "ana", Why: "it is another incident"})
			return ""
		}
		c.read(st)
	case triage.DoAnswer:
		value := triage.Unknown
		if v := c.scene().ProposeAnswer(o.Step); v != "" && v != triage.Unknown {
			value = v
		} else if n := len(st.Answers); draw.IntN(6) > 0 && n > 0 {
			value = st.Answers[draw.IntN(n)]
		}
		c.tell(triage.Answer{Step: o.Step, Value: value, How: "looked"})
	case triage.DoManual:
		c.tell(triage.Manual{Step: o.Step, Proof: "a link"})
	case triage.DoSkip:
		c.tell(triage.Skip{Step: o.Step, Why: "not now"})
	case triage.DoConclude:
		c.conclude(o)
	case triage.DoPreview:
		c.gate(st)
	case triage.DoConfirm:
		c.act(st)
	case triage.DoWaive:
		c.tell(triage.Waive{Law: map[string]int{"1": 1, "8": 8}[o.Value], Subject: o.Subject, Person: "ana", Why: "it cannot be had"})
	case triage.DoPlan:
		return c.give(o)
	case triage.DoResolve:
		c.tell(triage.FindingAnswer{Step: o.Step, Finding: o.Subject, How: triage.Taken, Person: "ana"})
	case triage.DoSettle:
		c.tell(triage.Settle{Debt: o.Subject, How: "carried", Owner: "platform", Until: "2027-01-31"})
	case triage.DoClose:
		if o.Value == "recovered" {
			c.recovered()
		}
		return "closed as " + o.Value
	default:
		c.fail("Enter does %s %s", o.Kind, o.Step)
	}
	if d, ok := c.state.Owing(); ok {
		d.ID = "unfinished"
		c.tell(d)
	}
	return ""
}

// give gives a gate the parameter that it waits for, or leaves the sheet.
func (c *call) give(o triage.Option) string {
	if c.fixed("gives "+o.Step).IntN(3) == 0 {
		return "it waits for a parameter"
	}
	given := c.params()
	for name, v := range c.state.Params(c.rb.ID) {
		if v.Known() {
			given[name] = v
		}
	}
	for _, other := range triage.Options(c.state, c.now, c.scene().Judge) {
		if other.Kind != triage.DoPreview || other.Step != o.Step {
			continue
		}
		for _, r := range other.Refusals {
			if len(r.Params) == 0 {
				c.fail("Enter asks for a parameter of %s, which is refused besides: %s", o.Step, r.Why)
			}
			given[r.Params[0]] = steps.StringOf("a")
		}
	}
	c.tell(c.rb.Plan(given))
	return ""
}

// recovered is what an incident is that Enter may close as recovered, said once more
// without the laws.
func (c *call) recovered() {
	s := c.state
	agrees := s.Topics[triage.TopicConsistent]
	repaired := false
	for _, st := range s.Steps {
		acted := st.Kind == triage.GateStep && s.Gates[st.ID].Phase == triage.GateDone
		repaired = repaired || acted && st.Class != triage.Contain && st.Uses != "terraform/resume"
	}
	for _, st := range s.Steps {
		for _, f := range st.Findings {
			if f.Level == steps.Critical && len(f.Against) == 0 && !f.Unsure && !st.Retired && !slices.Contains(st.Answered, f.Say) {
				c.fail("closed as recovered, and no one answered %s of %s", f.Say, st.ID)
			}
			if f.Level == steps.Critical && len(f.Against) > 0 && !slices.Contains(st.Overruled, f.Say) && (!repaired || slices.Contains(f.Against, triage.Closing)) {
				c.fail("closed as recovered over %s of %s", f.Say, st.ID)
			}
		}
		waived := slices.ContainsFunc(s.Waivers, func(w triage.Waiver) bool { return w.Subject == st.ID })
		if st.Kind == triage.WatchStep && st.Phase == triage.Verify && st.Status != triage.Settled && !waived {
			c.fail("closed as recovered, and %s is %s", st.ID, st.Status)
		}
	}
	if agrees.Value != "yes" && (agrees.Value != "no" || !repaired && len(s.Debts) == 0) {
		c.fail("closed as recovered, and consistent is %q", agrees.Value)
	}
	for _, d := range s.Debts {
		if d.Settled.How == "" {
			c.fail("closed as recovered over the debt %s", d.ID)
		}
	}
}

// passes fails a walk that verifies an act which did not happen: a gate that applies
// was neither opened nor passed by a word.
func (c *call) passes(o triage.Option, s *Scene) {
	st, _ := c.state.Step(o.Step)
	if st.Phase != triage.Verify {
		return
	}
	for _, g := range c.state.Steps {
		acted := c.state.Gates[g.ID].StartSeq > 0
		if g.Kind == triage.GateStep && g.Class != triage.Contain && g.Phase == triage.Recover && !acted && g.Status != triage.Skipped && c.rb.Aside(journal.Bare(g.ID), s.vars(c.rb.ID, true)) == "" {
			c.fail("Enter verifies by %s, and the gate %s neither acted nor was passed", st.ID, g.ID)
		}
	}
}

// essence is what a walk has come to: where it comes by again, Enter changed nothing.
func (c *call) essence(o triage.Option) string {
	var out strings.Builder
	_, _ = fmt.Fprint(&out, o.Kind, o.Step, o.Topic, o.Subject, o.Value)
	for _, st := range c.state.Steps {
		facts, _ := json.Marshal(st.Facts)
		_, _ = fmt.Fprint(&out, st.ID, st.Status, st.Answer, st.Streak, len(st.Samples), c.state.Gates[st.ID].Phase, string(facts))
	}
	for _, t := range slices.Sorted(maps.Keys(c.state.Topics)) {
		_, _ = fmt.Fprint(&out, t, c.state.Topics[t].Value)
	}
	_, _ = fmt.Fprint(&out, len(c.state.Waivers), len(c.state.Debts), c.world)
	return out.String()
}

func (c *call) params() steps.Params {
	out := steps.Params{}
	for _, f := range c.rb.Params {
		draw := c.fixed("param " + f.Name)
		if f.Default == "" && !f.Required && draw.IntN(2) == 0 {
			continue
		}
		text := f.Default
		if text == "" {
			out[f.Name] = steps.StringOf("a")
			continue
		}
		if v, err := steps.ParseValue(f.Type, text); err == nil {
			out[f.Name] = v
		}
	}
	return out
}

// walk presses Enter until the walk ends.
func (c *call) walk() string {
	const most = 400
	c.tell(triage.Open{Incident: "i", Title: "t", Severity: triage.Sev3})
	c.tell(c.rb.Plan(c.params()))
	been := map[string]int{}
	for range most {
		s := c.scene()
		options := triage.Options(c.state, c.now, s.Judge)
		i := slices.IndexFunc(options, func(o triage.Option) bool { return o.Recommended })
		if i < 0 {
			c.fail("nothing is recommended, and nothing says why")
		}
		o := options[i]
		c.trail = append(c.trail, fmt.Sprint(c.state.Seq, " ", o.Kind, " ", o.Step, " ", o.Topic, " ", o.Subject, " ", o.Value))
		c.passes(o, s)
		// While something reverts every fix the loop looks again and again, on purpose.
		raced := c.state.Topics[triage.TopicReverts].Value == "yes"
		if at := c.essence(o); been[at] > 2 {
			if raced {
				return "it waits for a writer to stop"
			}
			c.fail("Enter came by here %d times, and nothing changed", been[at]+1)
		} else {
			been[at]++
		}
		if end := c.enter(o); end != "" {
			return end
		}
	}
	c.fail("%d times Enter, and no end", most)
	return ""
}

// TestEnterAloneComesToAnEnd: over every runbook and random facts, each Enter makes
// progress, asks a person, or the walk stops honestly. It closes as recovered only
// what is, reads nothing that is refused, comes by no place again and again, and
// verifies no act that did not happen.
func TestEnterAloneComesToAnEnd(t *testing.T) {
	t.Parallel()
	cat := catalog.New()
	lib, err := runbooks.Library(cat)
	if err != nil {
		t.Fatal(err)
	}
	for _, rb := range lib {
		t.Run(rb.ID, func(t *testing.T) {
			t.Parallel()
			ends := map[string]int{}
			for seed := range uint64(6) {
				c := &call{t: t, rb: rb, cat: cat, seed: seed, now: time.Date(2026, 11, 21, 2, 14, 0, 0, time.UTC)}
				ends[c.walk()]++
			}
			t.Log(ends)
		})
	}
}
