package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"handrail/triage"
)

// Answers is a script of what people would say and type on a call (DECISIONS
// S7). It drives the same session as the terminal; there is nothing in it that
// says yes to everything.
type Answers struct {
	File     string
	Runbook  string
	Answers  map[string]Given
	Manual   map[string]string // step: proof
	Conclude map[string]Given  // topic: "accept", or a value with its reason
	Skip     map[string]string // step: why
	Waive    []triage.Waive
	Gates    map[string]string // step: phrase, with ${env.*} and ${drill.*} only
	Debts    map[string]triage.Settle
	Notes    []string
}

// Given is a value and how it is known.
type Given struct {
	Value  string
	How    string // of an answer
	Why    string // of a conclusion
	Person string // of a conclusion that overrides towards less caution
}

// Exit codes of a walk (DESIGN section 7, DECISIONS 3.22).
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

// player walks one session by a script.
type player struct {
	s       *Session
	a       *Answers
	vars    map[string]string
	talk    io.Writer
	tried   map[string]int // probe runs of this walk, by step
	gaveUp  map[string]bool
	refused string
	why     string
}

// Play walks the incident with an answers file, headless: it does what the loop
// recommends as long as the script says how, and ends when the incident is
// closed or the script has no word for what comes next. The error is a fault of
// the program or the end of ctx; a refusal is a result.
func Play(ctx context.Context, s *Session, a *Answers, vars map[string]string, talk io.Writer) (Result, error) {
	p := &player{s: s, a: a, vars: vars, talk: talk, tried: map[string]int{}, gaveUp: map[string]bool{}}
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
	_, _ = fmt.Fprintf(p.talk, format+"\n", args...) // talk is for people; a closed stderr must not end the walk
}

// settled waits until nothing runs.
func (p *player) settled(ctx context.Context) (Snapshot, error) {
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
func (p *player) step(ctx context.Context, snap Snapshot) (stop string, err error) {
	if done, err := p.due(ctx, snap); done || err != nil {
		return "", err
	}
	opt, ok := recommended(snap.Options)
	if id := p.passedBy(snap, opt, ok); id != "" {
		opt, ok = triage.Option{Kind: triage.DoPreview, Step: id}, true
	}
	if !ok {
		return "nothing is left that the script could do", nil
	}
	stop, err = p.follow(ctx, snap, opt)
	var r *triage.Refused
	if errors.As(err, &r) {
		p.say("refused: %s", r.Error())
		for _, f := range r.Refusals {
			if f.Cure != "" {
				p.say("  next: %s", f.Cure)
			}
		}
		if r.Intent == triage.DoPreview || r.Intent == triage.DoConfirm {
			p.refused, p.why = r.Step, r.Error()
			p.gaveUp[r.Step] = true
			return "the gate " + r.Step + " was refused", nil
		}
		return r.Error(), nil
	}
	return stop, err
}

// passedBy is the gate that the script wants and the loop would go past, since
// it recommends no gate that it refuses: the refusal is what the walk must hear.
func (p *player) passedBy(snap Snapshot, next triage.Option, any bool) string {
	for _, st := range snap.State.Steps {
		if any && st.ID == next.Step {
			return ""
		}
		_, wanted := p.a.Gates[bare(st.ID)]
		if wanted && st.Kind == triage.GateStep && !st.Retired && st.Status != triage.Skipped && snap.State.Gates[st.ID].Phase == triage.GateIdle {
			if any && next.Step == "" && next.Kind == triage.DoConclude {
				return "" // a topic that no step of the plan asks for
			}
			return st.ID
		}
	}
	return ""
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
// waivers of captures that cannot be had, and optional reads of the present
// plan that nobody has tried yet or that were cut off.
func (p *player) due(ctx context.Context, snap Snapshot) (bool, error) {
	for _, w := range p.a.Waive {
		w.Subject = p.full(snap, w.Subject)
		for _, o := range snap.Options {
			if o.Kind != triage.DoWaive || !o.Available() || o.Value != strconv.Itoa(w.Law) || o.Subject != w.Subject || waived(snap.State, w) {
				continue
			}
			p.say("waive law %d for %s: %s (%s)", w.Law, w.Subject, w.Why, w.Person)
			return true, p.do(ctx, triage.Intent{Kind: triage.DoWaive, Law: w.Law, Step: w.Subject, Person: w.Person, Text: w.Why})
		}
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

func waived(st triage.State, w triage.Waive) bool {
	return slices.ContainsFunc(st.Waivers, func(x triage.Waiver) bool { return x.Law == w.Law && x.Subject == w.Subject })
}

// full is the id of a step of the present plan.
func (p *player) full(snap Snapshot, id string) string {
	if _, ok := snap.State.Step(id); ok {
		return id
	}
	long := snap.State.Plan().Runbook + "/" + id
	if _, ok := snap.State.Step(long); ok {
		return long
	}
	return id
}

func (p *player) do(ctx context.Context, in triage.Intent) error { return p.s.Do(ctx, in) }

// follow1 runs one probe.
func (p *player) follow1(ctx context.Context, step string) error {
	p.tried[step]++
	p.say("read %s", step)
	return p.do(ctx, triage.Intent{Kind: triage.DoProbe, Step: step})
}

// follow does what the loop recommends, as the script says.
func (p *player) follow(ctx context.Context, snap Snapshot, o triage.Option) (stop string, err error) {
	id := bare(o.Step)
	st, _ := snap.State.Step(o.Step)
	switch o.Kind {
	case triage.DoProbe:
		return p.sample(ctx, snap, st)
	case triage.DoAnswer:
		g, ok := p.a.Answers[id]
		if !ok {
			g = Given{Value: triage.Unknown, How: "the script has no answer"}
		}
		p.say("answer %s: %s (%s)", o.Step, g.Value, g.How)
		return "", p.do(ctx, triage.Intent{Kind: triage.DoAnswer, Step: o.Step, Value: g.Value, Text: g.How})
	case triage.DoManual:
		proof, ok := p.a.Manual[id]
		if !ok {
			return p.pass(ctx, o.Step)
		}
		p.say("done outside %s: %s", o.Step, proof)
		return "", p.do(ctx, triage.Intent{Kind: triage.DoManual, Step: o.Step, Text: proof})
	case triage.DoSkip:
		return p.pass(ctx, o.Step)
	case triage.DoConclude:
		return p.conclude(ctx, snap, o)
	case triage.DoPreview, triage.DoConfirm:
		return p.gate(ctx, o)
	case triage.DoSettle:
		return p.settle(ctx, snap, o)
	case triage.DoWaive:
		return fmt.Sprintf("%s needs a waiver of law %s, and the script has none", o.Subject, o.Value), nil
	case triage.DoPhase:
		return "", p.do(ctx, triage.Intent{Kind: triage.DoPhase, Phase: triage.Phase(o.Value)})
	case triage.DoClose:
		p.say("close: %s", o.Value)
		return "", p.do(ctx, triage.Intent{Kind: triage.DoClose, Value: o.Value, Text: "by the script"})
	}
	return fmt.Sprintf("the script has no word for %s %s", o.Kind, o.Step), nil
}

// pass skips a step that the script does not settle.
func (p *player) pass(ctx context.Context, step string) (string, error) {
	why, ok := p.a.Skip[bare(step)]
	if !ok {
		why = "the script does not settle it"
	}
	p.say("skip %s: %s", step, why)
	err := p.do(ctx, triage.Intent{Kind: triage.DoSkip, Step: step, Text: why})
	var r *triage.Refused
	if errors.As(err, &r) {
		return r.Error(), nil
	}
	return "", err
}

// sample runs a probe or, for a watch, waits until the next sample is due. A
// required read that failed twice ends the walk.
func (p *player) sample(ctx context.Context, snap Snapshot, st triage.Step) (string, error) {
	if st.Kind != triage.WatchStep {
		if st.Kind == triage.CompareStep && p.tried[st.ID] >= 2 {
			return p.pass(ctx, st.ID)
		}
		if p.tried[st.ID] >= 2 {
			return fmt.Sprintf("%s could not be read: %s", st.ID, st.Summary), nil
		}
		return "", p.follow1(ctx, st.ID)
	}
	if p.tried[st.ID] >= max(st.PlanStep.Greens, 1)*3 {
		return fmt.Sprintf("%s does not turn green: %s", st.ID, st.Summary), nil
	}
	apart, err := time.ParseDuration(st.Apart)
	if err == nil && !st.Ended.IsZero() {
		if err := p.wait(ctx, st.Ended.Add(apart).Sub(p.s.cfg.Now())); err != nil {
			return "", err
		}
	}
	return "", p.follow1(ctx, st.ID)
}

func (p *player) wait(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return nil
	}
	p.say("wait %s for the next sample", d.Round(time.Second))
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// conclude accepts what the facts propose, never an unknown, or gives the
// script's own value with its reason. Of a topic that neither knows, it says so.
func (p *player) conclude(ctx context.Context, snap Snapshot, o triage.Option) (string, error) {
	proposed := o.Value
	if c, ok := snap.Cards[o.Step]; ok && c.Proposed != "" {
		proposed = c.Proposed
	}
	g, ok := p.a.Conclude[string(o.Topic)]
	switch {
	case ok:
	case proposed == "" || proposed == triage.Unknown:
		g = Given{Value: triage.Unknown, Why: "the facts propose nothing, and the script does not know"}
	default:
		g = Given{Value: "accept"}
	}
	in := triage.Intent{Kind: triage.DoConclude, Topic: o.Topic, Step: o.Step, Value: g.Value, Text: g.Why, Person: g.Person}
	if g.Value == "accept" {
		if proposed == "" || proposed == triage.Unknown {
			return fmt.Sprintf("the facts propose nothing for %s, and the script accepts only what they propose", o.Topic), nil
		}
		in.Value = proposed
	}
	p.say("conclude %s: %s", o.Topic, in.Value)
	return "", p.do(ctx, in)
}

// gate previews and confirms with the script's phrase.
func (p *player) gate(ctx context.Context, o triage.Option) (string, error) {
	phrase, ok := p.a.Gates[bare(o.Step)]
	if !ok || p.gaveUp[o.Step] {
		return fmt.Sprintf("the script does not open the gate %s", o.Step), nil
	}
	text, err := expand(phrase, p.vars)
	if err != nil {
		return "", fmt.Errorf("gate %s: %w", o.Step, err)
	}
	if o.Kind == triage.DoPreview {
		p.say("preview %s", o.Step)
		return "", p.do(ctx, triage.Intent{Kind: triage.DoPreview, Step: o.Step})
	}
	p.say("confirm %s: %s", o.Step, text)
	p.refused, p.why = "", ""
	return "", p.do(ctx, triage.Intent{Kind: triage.DoConfirm, Step: o.Step, Typed: text, Pasted: true})
}

// settle pays, carries or waives a debt, by its id or its kind.
func (p *player) settle(ctx context.Context, snap Snapshot, o triage.Option) (string, error) {
	for _, d := range snap.State.Debts {
		if d.Settled.How != "" {
			continue
		}
		how, ok := p.a.Debts[d.ID]
		if !ok {
			how, ok = p.a.Debts[d.Kind]
		}
		if !ok {
			return fmt.Sprintf("the script does not settle the debt %s: %s", d.ID, d.Text), nil
		}
		how.Debt = d.ID
		p.say("debt %s: %s", d.ID, how.How)
		return "", p.do(ctx, triage.Intent{Kind: triage.DoSettle, Debt: how})
	}
	return fmt.Sprintf("no debt is open for %s", o.Subject), nil
}

// expand fills ${env.*} and ${drill.*}; anything else would let a file say yes
// to whatever is there.
func expand(text string, vars map[string]string) (string, error) {
	var out strings.Builder
	for {
		i := strings.Index(text, "${")
		if i < 0 {
			out.WriteString(text)
			return out.String(), nil
		}
		j := strings.IndexByte(text[i:], '}')
		if j < 0 {
			return "", fmt.Errorf("%q has no closing brace", text)
		}
		name := text[i+2 : i+j]
		val, ok := vars[name]
		if !ok {
			return "", fmt.Errorf("phrase names ${%s}, known are: %s", name, strings.Join(slices.Sorted(maps.Keys(vars)), ", "))
		}
		out.WriteString(text[:i])
		out.WriteString(val)
		text = text[i+j+1:]
	}
}

// result maps the end of a walk to its exit code.
func (p *player) result(why string) Result {
	st := p.s.Snapshot().State
	r := Result{Outcome: st.Outcome, Refused: p.refused, Why: why, Path: p.s.path}
	switch {
	case st.Outcome == "aborted":
		r.Code = CodeAborted
	case st.Outcome == "recovered":
		r.Code = CodeDone
	case p.refused != "":
		r.Code, r.Why = CodeRefused, p.why
	case redWatch(st):
		r.Code = CodeRed
	default:
		r.Code = CodeOpen
	}
	return r
}

func redWatch(st triage.State) bool {
	return slices.ContainsFunc(st.Steps, func(x triage.Step) bool { return x.Kind == triage.WatchStep && x.Green == "false" })
}
