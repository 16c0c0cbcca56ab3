package walk

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"handrail/session/journal"
	"handrail/session/view"
	"handrail/triage"
)

// notApplying begins the reason of a step that is skipped because it does not apply.
const notApplying = "it does not apply: "

// follow does what the loop recommends, as the script says.
func (p *player) follow(ctx context.Context, snap view.Snapshot, o triage.Option) (stop string, err error) {
	id := journal.Bare(o.Step)
	st, _ := snap.State.Step(o.Step)
	if _, passed := p.Answers.Skip[id]; passed && (o.Kind == triage.DoProbe || o.Kind == triage.DoAnswer || o.Kind == triage.DoPreview) {
		return p.pass(ctx, st)
	}
	switch o.Kind {
	case triage.DoProbe:
		if why := snap.Cards[o.Step].Aside; why != "" && st.Kind == triage.ProbeStep {
			p.say("skip %s: it does not apply (%s)", o.Step, why)
			return "", p.do(ctx, triage.Intent{Kind: triage.DoSkip, Step: o.Step, Text: notApplying + why})
		}
		return p.sample(ctx, snap, st)
	case triage.DoAnswer:
		return p.answer(ctx, snap, st)
	case triage.DoManual:
		proof, ok := p.Answers.Manual[id]
		if !ok {
			return p.pass(ctx, st)
		}
		proof = asNamed(snap, o.Step, "", proof)
		p.say("done outside %s: %s", o.Step, proof)
		return "", p.do(ctx, triage.Intent{Kind: triage.DoManual, Step: o.Step, Text: proof})
	case triage.DoSkip:
		return p.pass(ctx, st)
	case triage.DoConclude:
		return p.conclude(ctx, snap, o)
	case triage.DoPreview, triage.DoConfirm:
		return p.gate(ctx, snap, o)
	case triage.DoApprove:
		return p.second(ctx, snap, o)
	case triage.DoResolve:
		return p.resolve(ctx, snap, o)
	case triage.DoDrift:
		return p.difference(ctx, snap)
	case triage.DoSettle:
		return p.settle(ctx, snap, o)
	case triage.DoWaive:
		why := fmt.Sprintf("%s needs a waiver of law %s, and the script has none", o.Subject, o.Value)
		if sub, ok := snap.State.Step(o.Subject); ok && sub.Summary != "" {
			why += ": " + sub.Summary
		}
		return why, nil
	case triage.DoPhase:
		return "", p.do(ctx, triage.Intent{Kind: triage.DoPhase, Phase: triage.Phase(o.Value)})
	case triage.DoPlan:
		if st, ok := snap.State.Step(o.Step); ok && snap.State.Gates[o.Step].WasRefused {
			return p.pass(ctx, st)
		}
		return p.ungiven(snap, o.Step), nil
	case triage.DoClose:
		if o.Value != snap.State.Ends() {
			return "it is not " + snap.State.Ends() + ": " + unrecovered(snap.Options), nil
		}
		if done, stop, err := p.setSeverity(ctx, snap, true); done || err != nil {
			return stop, err
		}
		p.say("close: %s", o.Value)
		return "", p.do(ctx, triage.Intent{Kind: triage.DoClose, Value: o.Value, Text: "by the script"})
	}
	return fmt.Sprintf("the script has no entry for %s %s", o.Kind, o.Step), nil
}

// ungiven says which parameter a gate waits for that the script does not give.
func (p *player) ungiven(snap view.Snapshot, gate string) string {
	why := gate + " waits for a parameter"
	for _, o := range snap.Options {
		if o.Kind == triage.DoPreview && o.Step == gate && len(o.Refusals) > 0 {
			why = gate + ": " + o.Refusals[0].Why + " " + o.Refusals[0].Cure
		}
	}
	return why
}

// notSettled is why a step is skipped that the script has no word for.
const notSettled = "the script does not settle it"

// pass skips a step that the script does not settle. One that the runbook requires
// it passes over only with a reason of the script.
func (p *player) pass(ctx context.Context, st triage.Step) (string, error) {
	why, ok := p.Answers.Skip[journal.Bare(st.ID)]
	switch {
	case !ok && st.Required && st.Kind == triage.ManualStep:
		return lacks(st, "manual."), nil
	case !ok && st.Required:
		return fmt.Sprintf("%s is required and could not be settled: %s", st.ID, st.Summary), nil
	case !ok:
		why = notSettled
	}
	p.say("skip %s: %s", st.ID, why)
	err := p.do(ctx, triage.Intent{Kind: triage.DoSkip, Step: st.ID, Text: why})
	var r *triage.Refused
	if errors.As(err, &r) {
		return r.Error(), nil
	}
	return "", err
}

// sample runs a probe or, for a watch, waits until the next sample is due. A
// required read that failed twice ends the walk.
func (p *player) sample(ctx context.Context, snap view.Snapshot, st triage.Step) (string, error) {
	if st.Kind != triage.WatchStep {
		if st.Kind == triage.CompareStep && p.tried[st.ID] >= 2 {
			return p.pass(ctx, st)
		}
		if p.reads[st.ID] >= 2 {
			return fmt.Sprintf("%s could not be read: %s", st.ID, st.Summary), nil
		}
		return "", p.follow1(ctx, st.ID)
	}
	if p.tried[st.ID] >= max(st.PlanStep.Greens, 1)*3 {
		return fmt.Sprintf("%s did not turn green: %s", st.ID, st.Summary), nil
	}
	apart, err := time.ParseDuration(st.Apart)
	if err == nil && !st.Ended.IsZero() {
		if err := p.wait(ctx, st.Ended.Add(apart).Sub(p.s.Now())); err != nil {
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

// gate previews and confirms with the script's phrase.
func (p *player) gate(ctx context.Context, snap view.Snapshot, o triage.Option) (string, error) {
	said, ok := p.Answers.Gates[journal.Bare(o.Step)]
	if !ok || p.gaveUp[o.Step] {
		return fmt.Sprintf("the script does not open the gate %s", o.Step), nil
	}
	text, err := p.expand(ctx, said.Phrase)
	if err != nil {
		return "", fmt.Errorf("gate %s: %w", o.Step, err)
	}
	// A gate that is shown and recommended to be shown again is refused the confirmation: that is what the walk must hear.
	if o.Kind == triage.DoPreview && snap.State.Gates[o.Step].Phase != triage.GateArmed {
		if snap.State.Gates[o.Step].Phase == triage.GateUnknown {
			p.say("check the outcome of the act of %s", o.Step)
		} else {
			p.say("preview %s", o.Step)
		}
		return "", p.do(ctx, triage.Intent{Kind: triage.DoPreview, Step: o.Step, Text: said.Why})
	}
	if p.tried["confirm "+o.Step]++; p.tried["confirm "+o.Step] > 2 {
		st, _ := snap.State.Step(o.Step)
		return fmt.Sprintf("the act of %s failed twice: %s", o.Step, st.Summary), nil
	}
	p.say("confirm %s: %s", o.Step, text)
	p.refused, p.why = "", ""
	clear(p.reads)
	return "", p.do(ctx, triage.Intent{Kind: triage.DoConfirm, Step: o.Step, Typed: text, Pasted: true})
}

// resolve answers a critical finding, where the script quotes it.
func (p *player) resolve(ctx context.Context, snap view.Snapshot, o triage.Option) (string, error) {
	for _, f := range p.Answers.Findings {
		if p.full(snap, f.Step) != o.Step || !strings.Contains(o.Subject, f.Finding) {
			continue
		}
		f.Step, f.Finding = o.Step, o.Subject
		p.say("%s, what %s found: %s", f.How, o.Step, cmp.Or(f.Why, f.Person))
		return "", p.do(ctx, triage.Intent{Kind: triage.DoResolve, Finding: f})
	}
	var open []string
	for _, x := range snap.Options {
		if x.Kind == triage.DoResolve {
			open = append(open, x.Step+" found: "+strings.TrimSpace(x.Subject))
		}
	}
	return "the script does not answer what " + strings.Join(open, "; what "), nil
}

// difference says what nothing else answers of a difference, where the script does.
func (p *player) difference(ctx context.Context, snap view.Snapshot) (string, error) {
	var said []triage.KV
	var open []string
	for _, q := range snap.State.Undrifted() {
		if text := p.Answers.Difference[q.ID]; text != "" {
			said = append(said, triage.KV{Key: q.ID, Value: text})
		} else {
			open = append(open, q.ID+" ("+q.Ask+")")
		}
	}
	if len(open) > 0 {
		return "before the record is written, the script says nothing under difference of " + strings.Join(open, ", "), nil
	}
	p.say("of the difference: %d answers", len(said))
	return "", p.do(ctx, triage.Intent{Kind: triage.DoDrift, Drift: triage.DriftAnswer{Answers: said}})
}

// settle pays, carries or waives a debt, by its id or its kind.
func (p *player) settle(ctx context.Context, snap view.Snapshot, o triage.Option) (string, error) {
	for _, d := range snap.State.Debts {
		if d.Settled.How != "" {
			continue
		}
		how, ok := p.Answers.Debts[d.ID]
		if !ok {
			how, ok = p.Answers.Debts[d.Kind]
		}
		if !ok {
			return fmt.Sprintf("the script does not settle the debt %s: %s", d.ID, d.Text), nil
		}
		how.Debt = d.ID
		if until, ok := triage.Day(how.Until, p.s.Now()); ok {
			how.Until = until
		}
		p.say("debt %s: %s", d.ID, how.How)
		return "", p.do(ctx, triage.Intent{Kind: triage.DoSettle, Debt: how})
	}
	return fmt.Sprintf("no debt is open for %s", o.Subject), nil
}

// expand fills ${env.*} and ${drill.*}; anything else would let a file say yes
// to whatever is there.
func (p *player) expand(ctx context.Context, text string) (string, error) {
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
		val, ok := p.Vars[name]
		if !ok && p.Late != nil {
			late, err := p.Late(ctx, name)
			if err != nil {
				return "", err
			}
			val, ok = late, late != ""
		}
		if !ok {
			return "", fmt.Errorf("phrase names ${%s}, known are: %s", name, strings.Join(slices.Sorted(maps.Keys(p.Vars)), ", "))
		}
		out.WriteString(text[:i])
		out.WriteString(val)
		text = text[i+j+1:]
	}
}

// unrecovered says what keeps the incident from being closed as recovered.
func unrecovered(opts []triage.Option) string {
	var out []string
	for _, o := range opts {
		if o.Kind == triage.DoClose && (o.Value == "recovered" || o.Value == triage.Reviewed) {
			for _, r := range o.Refusals {
				out = append(out, r.Why)
			}
		}
	}
	return strings.Join(out, "; ")
}
