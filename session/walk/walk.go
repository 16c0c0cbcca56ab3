// Package walk takes an incident through the loop by a script, without a person
// at the keyboard.
//
// [ParseAnswers] reads an answers file strictly: an unknown key is a fault with
// its place. [Play] does what the loop recommends for as long as the script has a
// word for it, waits for what runs, and ends when the incident is closed or the
// script has no word for what comes next; [Result] says which of the exit codes
// that is.
//
// A walk is a driver as any other: it sends intents to a session and looks at its
// snapshots. It has no way around a gate. It types the phrase that the file
// gives, hands in the approval that the file names, and a refusal ends it.
package walk

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"handrail/session"
	"handrail/session/journal"
	"handrail/session/view"
	"handrail/triage"
)

// Exit codes of a walk (docs/decisions.md, Exit codes).
const (
	CodeDone    = 0
	CodeOpen    = 3
	CodeRefused = 4
	CodeRed     = 5
	CodeAborted = 6
)

// Result is how a headless walk ended.
type Result struct {
	Code    int
	Outcome string // of the close, "" where the incident stays open
	Refused string // the step of the last gate that was wanted and refused
	Why     string // of the refusal, or what the walk stopped at
	Path    string // of the bundle
}

// Script is how a headless walk goes.
type Script struct {
	Answers *Answers
	Vars    map[string]string // what phrases may name
	Talk    io.Writer         // for people
	// Late says what Vars has no word for yet: the approval of a plan that the walk
	// made itself. It answers "" for a name that it does not know. nil for none.
	Late func(ctx context.Context, name string) (string, error)
	// Before is called before each intent that is sent; an error ends the walk.
	// A drill makes a race with it. nil for none.
	Before func(ctx context.Context, in triage.Intent) error
	// Approval reads the approval of a second person from the file that the answers
	// name, "" while there is none; nil where none can be read.
	Approval func(file string) (string, error)
}

// player walks one session by a script.
type player struct {
	Script
	s       *session.Session
	tried   map[string]int // probe runs of this walk, by step
	reads   map[string]int // probe runs since the last act, which has what stands on it read again
	gaveUp  map[string]bool
	refused string
	why     string
}

// Play walks the incident by a script, headless: it does what the loop
// recommends as long as the script says how, and ends when the incident is
// closed or the script has no word for what comes next. The error is a fault of
// the program or the end of ctx; a refusal is a result.
func Play(ctx context.Context, s *session.Session, by Script) (Result, error) {
	p := &player{Script: by, s: s, tried: map[string]int{}, reads: map[string]int{}, gaveUp: map[string]bool{}}
	for {
		snap, err := p.settled(ctx)
		if err != nil {
			return p.result(""), err
		}
		if snap.Dead != "" {
			return p.result(snap.Dead), errors.New(snap.Dead)
		}
		if snap.State.Outcome != "" {
			return p.result(""), nil
		}
		if len(snap.State.Plans) == 0 {
			return p.result("the incident has no runbook: handrail ended while it was being opened; nothing was read or changed, so open a new one"), nil
		}
		stop, err := p.step(ctx, snap)
		if err != nil {
			return p.result(""), err
		}
		if stop != "" {
			p.say("stopped: %s", stop)
			return p.result(stop), nil
		}
	}
}

func (p *player) say(format string, args ...any) {
	_, _ = fmt.Fprintf(p.Talk, format+"\n", args...) // it is for people; a closed stderr must not end the walk
}

// settled waits until nothing runs.
func (p *player) settled(ctx context.Context) (view.Snapshot, error) {
	for {
		snap := p.s.Snapshot()
		if len(snap.Running) == 0 {
			return snap, nil
		}
		select {
		case <-p.s.Changed():
		case <-ctx.Done():
			return snap, context.Cause(ctx)
		}
	}
}

// step does the next thing; stop says why the walk cannot go on.
func (p *player) step(ctx context.Context, snap view.Snapshot) (stop string, err error) {
	if done, err := p.due(ctx, snap); done || err != nil {
		return "", err
	}
	if done, stop, err := p.setSeverity(ctx, snap, false); done || err != nil {
		return stop, err
	}
	if undone := snap.State.Undone(); len(undone) > 0 {
		return "the act of " + undone[0] + " was undone: find out by whom before you repeat it", nil
	}
	opt, ok := recommended(snap.Options)
	if id := p.passedBy(snap, opt, ok); id != "" {
		opt, ok = triage.Option{Kind: triage.DoPreview, Step: id}, true
	}
	if id, is := p.raced(snap, opt); is && id == "" {
		return "something reverts every fix, and the script has no way to stop it", nil
	} else if is {
		opt = triage.Option{Kind: triage.DoPreview, Step: id}
	}
	if !ok && len(snap.State.Rereads) > 0 {
		return "", p.readAgain(ctx, snap.State.Rereads[0])
	}
	if !ok {
		return "the script has nothing left to do", nil
	}
	stop, err = p.follow(ctx, snap, opt)
	var r *triage.Refused
	if errors.As(err, &r) {
		p.say("refused: %s", r.Error())
		for _, f := range r.Refusals {
			if f.Cure != "" {
				p.say("  next: %s", f.Cure)
			}
			if !f.At.IsZero() {
				p.say("  not before: %s", f.At.UTC().Format("15:04:05Z"))
			}
		}
		if r.Intent == triage.DoPreview || r.Intent == triage.DoConfirm || r.Intent == triage.DoApprove {
			p.refused, p.why = r.Step, r.Error()
			if moved := p.s.Snapshot().State.Gates[r.Step].Moved; r.Intent == triage.DoConfirm && len(moved) > 0 {
				p.why += "; " + moved[0] // the target comes first, and says it all
				for _, m := range moved {
					p.say("  moved: %s", m)
				}
			}
			p.gaveUp[r.Step] = true
			return "the gate " + r.Step + " was refused", nil
		}
		return r.Error(), nil
	}
	return stop, err
}

// passedBy is the gate that the script wants and the loop would go past, since
// it recommends no gate that it refuses: the refusal is what the walk must hear.
func (p *player) passedBy(snap view.Snapshot, next triage.Option, any bool) string {
	for _, st := range snap.State.Steps {
		if any && st.ID == next.Step && next.Kind != triage.DoSkip {
			return ""
		}
		_, wanted := p.Answers.Gates[journal.Bare(st.ID)]
		if snap.Cards[st.ID].Aside != "" {
			continue // it does not apply, so nothing is refused
		}
		if wanted && st.Kind == triage.GateStep && !st.Retired && st.Status != triage.Skipped && snap.State.Gates[st.ID].Phase == triage.GateIdle {
			if any && next.Step == "" && next.Kind == triage.DoConclude {
				return "" // a topic that no step of the plan asks for
			}
			return st.ID
		}
	}
	return ""
}

// raced reports whether the loop would look again for a writer that reverts every
// fix. A script has said all that it knows of it: the gate that it wants next and
// that nothing but the writer keeps shut is heard, "" where there is none.
func (p *player) raced(snap view.Snapshot, next triage.Option) (gate string, is bool) {
	st, _ := snap.State.Step(next.Step)
	reading := next.Kind == triage.DoProbe && st.Attempts > 0 && st.Status == triage.Settled
	saying := next.Kind == triage.DoConclude && next.Topic == triage.TopicReverts && (next.Step == "" || st.Status == triage.Settled)
	if snap.State.Topics[triage.TopicReverts].Value != "yes" || !reading && !saying {
		return "", false
	}
	gate = p.passedBy(snap, triage.Option{}, false)
	for _, o := range snap.Options {
		if o.Kind == triage.DoPreview && o.Step == gate {
			return gate, !slices.ContainsFunc(o.Refusals, func(r triage.Refusal) bool { return r.Law != 12 })
		}
	}
	return "", true
}

// readAgain waits until the target of an act was read again.
func (p *player) readAgain(ctx context.Context, r triage.Reread) error {
	p.say("wait until the target of %s is read again", r.Step)
	for p.s.Snapshot().Dead == "" && slices.Contains(p.s.Snapshot().State.Rereads, r) {
		select {
		case <-p.s.Changed():
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

func recommended(opts []triage.Option) (triage.Option, bool) {
	for _, o := range opts {
		if o.Recommended && o.Available() {
			return o, true
		}
	}
	return triage.Option{}, false
}

// due does what the script orders and the loop allows but does not recommend:
// people, notes, waivers of captures that cannot be had, and optional reads of the present
// plan that were not tried yet or that were cut off.
func (p *player) due(ctx context.Context, snap view.Snapshot) (bool, error) {
	for _, who := range p.Answers.People {
		if slices.ContainsFunc(snap.State.People, func(x triage.Person) bool { return x.Name == who.Name }) {
			continue
		}
		p.say("on the call: %s (%s)", who.Name, strings.Join(who.Roles, ", "))
		return true, p.do(ctx, triage.Intent{Kind: triage.DoPerson, Who: who})
	}
	for i, text := range p.Answers.Notes {
		key := fmt.Sprintf("note %d", i)
		told := slices.ContainsFunc(snap.State.Timeline, func(m triage.Moment) bool { return m.Type == (triage.Note{}).Type() && folded(m.Text) == folded(text) })
		if p.tried[key]++; told || p.tried[key] > 1 {
			continue
		}
		p.say("note: %s", text)
		return true, p.do(ctx, triage.Intent{Kind: triage.DoNote, Text: text})
	}
	for _, w := range p.Answers.Waive {
		w.Subject = p.full(snap, w.Subject)
		if w.Law == triage.LawNone {
			if done, err := p.overrule(ctx, snap, w); done || err != nil {
				return done, err
			}
			continue
		}
		for _, o := range snap.Options {
			if o.Kind != triage.DoWaive || !o.Available() || o.Value != strconv.Itoa(w.Law) || o.Subject != w.Subject || session.Waived(snap.State, w) {
				continue
			}
			p.say("waive law %d for %s: %s (%s)", w.Law, w.Subject, w.Why, w.Person)
			return true, p.do(ctx, triage.Intent{Kind: triage.DoWaive, Law: w.Law, Step: w.Subject, Person: w.Person, Text: w.Why})
		}
	}
	if done, err := p.byHand(ctx, snap); done || err != nil {
		return done, err
	}
	for _, o := range snap.Options {
		st, ok := snap.State.Step(o.Step)
		if o.Kind != triage.DoProbe || !o.Available() || !ok || st.Kind != triage.ProbeStep || p.tried[o.Step] > 0 {
			continue
		}
		if st.Status != triage.Pending && st.Outcome != "cancelled" {
			continue
		}
		if st.Phase != triage.Preserve && st.Phase != triage.Locate {
			continue
		}
		var r *triage.Refused
		if err := p.follow1(ctx, o.Step); !errors.As(err, &r) {
			return true, err
		}
		p.say("  not now: %s", r.Error())
	}
	return false, nil
}

// byHand records what the script says was repaired outside of handrail, once no gate
// serves: then it was done by hand, or not at all.
func (p *player) byHand(ctx context.Context, snap view.Snapshot) (bool, error) {
	_, _, none := snap.NoGate()
	for i, h := range p.Answers.ByHand {
		h.Proof = p.full(snap, h.Proof)
		told := func(x triage.Hand) bool { // what was stored may be redacted
			return (folded(x.What) == folded(h.What) || strings.Contains(x.What, "redacted:")) && folded(x.Object) == folded(h.Object) && x.Person == h.Person
		}
		key := fmt.Sprintf("by hand %d", i)
		if slices.ContainsFunc(snap.State.Hands, told) || !none && len(snap.State.Hands) == 0 || p.tried[key] > 0 {
			continue
		}
		p.tried[key]++
		p.say("repaired by hand: %s: %s (%s)", h.Object, h.What, h.Person)
		return true, p.do(ctx, triage.Intent{Kind: triage.DoHand, Hand: h})
	}
	return false, nil
}

// overrule answers for what a step found, where the script quotes all of it.
func (p *player) overrule(ctx context.Context, snap view.Snapshot, w triage.Waive) (bool, error) {
	st, _ := snap.State.Step(w.Subject)
	said := st.Said()
	for _, text := range said {
		quoted := func(x triage.Waive) bool {
			return len(x.Findings) > 0 && p.full(snap, x.Subject) == w.Subject && strings.Contains(text, x.Findings[0])
		}
		if !slices.ContainsFunc(p.Answers.Waive, quoted) {
			return false, nil
		}
	}
	if len(said) == 0 {
		return false, nil
	}
	p.say("overrule what %s found: %s (%s)", w.Subject, w.Why, w.Person)
	return true, p.do(ctx, triage.Intent{Kind: triage.DoWaive, Law: triage.LawNone, Step: w.Subject, Findings: said, Person: w.Person, Text: w.Why})
}

// full is the id of a step of the present plan.
func (p *player) full(snap view.Snapshot, id string) string {
	if _, ok := snap.State.Step(id); ok {
		return id
	}
	long := snap.State.Plan().Runbook + "/" + id
	if _, ok := snap.State.Step(long); ok {
		return long
	}
	return id
}

func (p *player) do(ctx context.Context, in triage.Intent) error {
	if p.Before != nil {
		if err := p.Before(ctx, in); err != nil {
			return fmt.Errorf("before %s %s: %w", in.Kind, in.Step, err)
		}
	}
	return p.s.Do(ctx, in)
}

// follow1 runs one probe.
func (p *player) follow1(ctx context.Context, step string) error {
	p.tried[step]++
	p.reads[step]++
	p.say("read %s", step)
	return p.do(ctx, triage.Intent{Kind: triage.DoProbe, Step: step})
}

// result maps the end of a walk to its exit code.
func (p *player) result(why string) Result {
	snap := p.s.Snapshot()
	st := snap.State
	r := Result{Outcome: st.Outcome, Refused: p.refused, Why: why, Path: snap.Bundle}
	switch {
	case st.Outcome == "aborted":
		r.Code = CodeAborted
	case st.Outcome == st.Ends():
		r.Code = CodeDone
	case p.refused != "":
		r.Code, r.Why = CodeRefused, p.why
	case red(st):
		r.Code = CodeRed
	default:
		r.Code = CodeOpen
	}
	return r
}

// red reports whether something of verify says that it did not recover.
func red(st triage.State) bool {
	return len(st.SpeaksAgainst(triage.Closing)) > 0 || slices.ContainsFunc(st.Steps, func(x triage.Step) bool {
		return x.Kind == triage.WatchStep && x.Green == "false" || x.Denies()
	})
}
