package plain

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"handrail/cli/process"
	"handrail/session/view"
	"handrail/steps"
	"handrail/triage"
)

// handOver asks who goes on and why, records it, and leaves.
func (d *Dialogue) handOver(ctx context.Context, snap view.Snapshot) error {
	who, err := d.must(ctx, "to> ")
	if err != nil {
		return err
	}
	why, err := d.must(ctx, "note> ")
	if err != nil {
		return err
	}
	if err := d.S.Do(ctx, triage.Intent{Kind: triage.DoHandOver, Person: who, Text: why, Seen: snap.State.Seq}); err != nil {
		return err
	}
	d.sayf("Handed over to %s. No operator is at the keyboard until the incident is resumed.", who)
	return ErrLeft
}

// reparam lists the parameters of the runbook in force, or gives one another value.
func (d *Dialogue) reparam(ctx context.Context, snap view.Snapshot, pair string) error {
	id := snap.State.Plan().Runbook
	if pair == "" {
		params := snap.State.Params(id)
		for _, name := range process.SortedKeys(params) {
			d.sayf("  %s = %s", name, params[name].Text())
		}
		return nil
	}
	name, value, _ := strings.Cut(pair, "=")
	return d.S.Do(ctx, triage.Intent{Kind: triage.DoPlan, Value: id, Params: map[string]string{strings.TrimSpace(name): strings.TrimSpace(value)}, Seen: snap.State.Seq})
}

// giveParam asks for a parameter that a gate waits for or refuses.
func (d *Dialogue) giveParam(ctx context.Context, snap view.Snapshot, o triage.Option) error {
	names := snap.State.ParamsWanted(o.Step, snap.Options)
	if len(names) == 0 {
		return nil
	}
	// What is typed would be lost where it is refused.
	another := map[string]string{names[0]: "another value"}
	if r := triage.Check(snap.State, triage.Intent{Kind: triage.DoPlan, Value: o.Value, Params: another}, d.Now(), nil); r != nil {
		d.refused(o.Step, r.Refusals)
		return nil
	}
	name := names[0]
	if len(names) > 1 {
		var err error
		if name, err = d.must(ctx, "which of "+strings.Join(names, ", ")+"> "); err != nil {
			return err
		}
	}
	value, err := d.must(ctx, name+"> ")
	if err != nil {
		return err
	}
	return d.S.Do(ctx, triage.Intent{Kind: triage.DoPlan, Value: o.Value, Params: map[string]string{name: value}, Seen: snap.State.Seq})
}

// skip asks why a step is passed over. At a closed gate where another runbook matches, that one can be named instead.
func (d *Dialogue) skip(ctx context.Context, snap view.Snapshot, o triage.Option, in triage.Intent) (triage.Intent, error) {
	if len(snap.LeadsAt(o)) > 0 {
		id, err := d.read(ctx, "runbook, empty to go past the closed gate> ")
		if err != nil {
			return in, err
		}
		if id = strings.TrimSpace(id); id != "" {
			in = triage.Intent{Kind: triage.DoPlan, Seen: snap.State.Seq}
			err = d.switchTo(ctx, snap, &in, id)
			return in, err
		}
	}
	why, err := d.must(ctx, "why> ")
	in.Text = why
	return in, err
}

// switchTo asks for what another runbook is given, and for its id where that is not typed yet.
func (d *Dialogue) switchTo(ctx context.Context, snap view.Snapshot, in *triage.Intent, id string) (err error) {
	if id == "" {
		d.leads(snap.Next)
		if id, err = d.must(ctx, "runbook> "); err != nil {
			return err
		}
	}
	var fs []steps.Field
	if d.Params != nil {
		fs = d.Params(id)
	}
	in.Value, in.Params = id, snap.Carried(id, fs)
	for _, name := range slices.Sorted(maps.Keys(in.Params)) {
		d.sayf("  %s = %s", name, in.Params[name])
	}
	for _, p := range fs {
		if !p.Required || p.Default != "" || in.Params[p.Name] != "" {
			continue
		}
		d.sayf("  %s: %s", p.Name, p.Doc)
		if in.Params[p.Name], err = d.must(ctx, p.Name+"> "); err != nil {
			return err
		}
	}
	return nil
}

// leads lists the runbooks that match what is known.
func (d *Dialogue) leads(leads []view.Lead) {
	for _, l := range leads {
		d.sayf("  another runbook matches: %s: %s", l.Runbook, l.Why)
	}
}

// person is the participant of that name with the roles that are given now; one whose
// identity nothing proves where there is none.
func (d *Dialogue) person(ctx context.Context, snap view.Snapshot, name string) (triage.Person, error) {
	roles, err := d.read(ctx, "roles, such as commander; empty for none> ")
	who := triage.Person{ID: strings.ToLower(strings.ReplaceAll(name, " ", "-")), Name: name, Proof: "claimed"}
	for _, p := range snap.State.People {
		if strings.EqualFold(p.Name, name) {
			who = p
		}
	}
	who.Roles = strings.FieldsFunc(strings.ToLower(roles), func(r rune) bool { return r == ',' || r == ' ' })
	return who, err
}

// take asks for what an option still needs and sends its intent. typed is what
// was entered at the prompt, "" for Enter alone.
func (d *Dialogue) take(ctx context.Context, snap view.Snapshot, o triage.Option, typed string) error {
	if !o.Available() {
		d.refused(o.Step, o.Refusals)
		return nil
	}
	in := triage.Intent{Kind: o.Kind, Step: o.Step, Topic: o.Topic, Seen: snap.State.Seq}
	var err error
	switch o.Kind {
	case triage.DoProbe:
		err = d.apart(ctx, snap, o.Step)
	case triage.DoAnswer:
		err = d.answer(ctx, &in, snap.Cards[o.Step], typed)
	case triage.DoConclude:
		err = d.conclude(ctx, &in, proposed(snap, o), typed)
	case triage.DoManual:
		in.Text, err = d.orAsk(ctx, typed, "proof> ")
	case triage.DoConfirm:
		// Only the phrase itself acts; Enter alone never does.
		in.Typed, err = d.orAsk(ctx, typed, "phrase> ")
	case triage.DoApprove:
		if o.Step == triage.SeverityGate {
			d.lower = "" // it may have scrolled away
			d.lowering(snap)
			in.Sig, err = d.must(ctx, "approval> ")
		} else if in.Sig = typed; typed == "" {
			d.asked = "" // it may have scrolled away
			d.request(snap.Gate, snap.Bundle)
			in.Sig, err = d.must(ctx, "approval> ")
		}
	case triage.DoPhase:
		in.Phase = triage.Phase(o.Value)
	case triage.DoSeverity:
		for _, l := range triage.SeverityLevels() {
			d.sayf("      %s  %s", l.Level, l.Line())
		}
		var level string
		if level, err = d.must(ctx, "severity, now "+string(snap.State.Severity)+"> "); err == nil {
			in.Severity = triage.Severity(level)
			in.Text, err = d.must(ctx, "why> ")
		}
	case triage.DoSkip:
		in, err = d.skip(ctx, snap, o, in)
	case triage.DoDisarm:
		in.Text, err = d.must(ctx, "why> ")
	case triage.DoNote:
		in.Text, err = d.must(ctx, "note> ")
	case triage.DoCorrect:
		d.say("Corrections are made in the terminal UI.")
		return nil
	case triage.DoResolve:
		err = d.resolve(ctx, &in.Finding, o)
	case triage.DoDrift:
		d.say("Before the record is written:")
		for _, q := range snap.State.Undrifted() {
			var text string
			if text, err = d.must(ctx, q.Ask+"> "); err != nil {
				break
			}
			in.Drift.Answers = append(in.Drift.Answers, triage.KV{Key: q.ID, Value: text})
		}
	case triage.DoHand:
		err = d.byHand(ctx, snap, &in)
	case triage.DoSettle:
		err = d.settleDebt(ctx, &in, o)
	case triage.DoWaive:
		err = d.waive(ctx, &in, o)
	case triage.DoClose:
		err = d.closing(ctx, &in, o)
	case triage.DoPerson:
		var name string
		name, err = d.must(ctx, "name> ")
		if err == nil {
			in.Who, err = d.person(ctx, snap, name)
		}
	case triage.DoPlan:
		if o.Step != "" {
			return d.giveParam(ctx, snap, o)
		}
		err = d.switchTo(ctx, snap, &in, "")
	}
	if err != nil {
		return err
	}
	return d.S.Do(ctx, in)
}

// orAsk returns what was typed, or asks for it.
func (d *Dialogue) orAsk(ctx context.Context, typed, prompt string) (string, error) {
	if typed != "" {
		return typed, nil
	}
	return d.must(ctx, prompt)
}

func (d *Dialogue) answer(ctx context.Context, in *triage.Intent, card view.Card, typed string) (err error) {
	if v := card.Proposed; typed == "" && v != "" && v != triage.Unknown {
		in.Value, in.Text = v, card.Agrees()
		return nil
	}
	if in.Value, err = d.orAsk(ctx, typed, "answer> "); err != nil {
		return err
	}
	if in.Value == "u" {
		in.Value = triage.Unknown
	}
	in.Text, err = d.must(ctx, "how do you know> ")
	return err
}

func (d *Dialogue) conclude(ctx context.Context, in *triage.Intent, proposed, typed string) (err error) {
	in.Value = typed
	if typed == "" {
		in.Value = proposed
	}
	if in.Value == "" {
		if in.Value, err = d.must(ctx, "conclusion> "); err != nil {
			return err
		}
	}
	if in.Value == "u" {
		in.Value = triage.Unknown
	}
	if in.Value == proposed {
		return nil
	}
	// Away from what the facts propose, towards the less cautious, the loop
	// wants a name; asking always is simpler than guessing when.
	if in.Text, err = d.must(ctx, "why> "); err != nil {
		return err
	}
	in.Person, err = d.must(ctx, "who says so> ")
	return err
}

// resolve asks for the answer to a critical finding.
func (d *Dialogue) resolve(ctx context.Context, f *triage.FindingAnswer, o triage.Option) (err error) {
	f.Step, f.Finding = o.Step, o.Subject
	d.sayf("      %s found: %s", o.Step, o.Subject)
	if f.How, err = d.must(ctx, "resolved or taken> "); err != nil {
		return err
	}
	if f.How == triage.Taken {
		if f.Person, err = d.must(ctx, "who takes it> "); err == nil {
			f.Why, err = d.read(ctx, "why (may be empty)> ")
		}
		return err
	}
	f.Why, err = d.must(ctx, "how was it resolved> ")
	return err
}

// byHand asks for a repair that a person made outside of handrail: for all of it, since
// nothing here was shown before it or read after it.
func (d *Dialogue) byHand(ctx context.Context, snap view.Snapshot, in *triage.Intent) (err error) {
	h := &in.Hand
	for _, ask := range []struct {
		say  string
		into *string
	}{{"what was done: the command, or words> ", &h.What}, {"to which object> ", &h.Object}, {"by whom> ", &h.Person}} {
		if *ask.into, err = d.must(ctx, ask.say); err != nil {
			return err
		}
	}
	shows := snap.State.Shows()
	for i, st := range shows {
		d.sayf("%3d  %s (%s)", i+1, snap.Title(st.ID), st.ID)
	}
	for h.Proof == "" {
		text, err := d.must(ctx, "which read after it shows it, by number> ")
		if err != nil {
			return err
		}
		if n, err := strconv.Atoi(text); err == nil && n >= 1 && n <= len(shows) {
			h.Proof = shows[n-1].ID
		}
	}
	h.Shows, err = d.read(ctx, "what it shows then (may be empty)> ")
	return err
}

func (d *Dialogue) waive(ctx context.Context, in *triage.Intent, o triage.Option) (err error) {
	in.Step = o.Subject
	if in.Step == "" {
		in.Step = o.Step
	}
	if in.Law, err = strconv.Atoi(o.Value); err != nil {
		return fmt.Errorf("waiving %s: the loop names no law: %w", in.Step, err)
	}
	if in.Law == triage.LawNone {
		st, _ := d.S.Snapshot().State.Step(in.Step)
		for _, said := range st.Said() {
			d.sayf("      %s found: %s", in.Step, said)
			in.Findings = append(in.Findings, said)
		}
	}
	if in.Person, err = d.must(ctx, "who waives it> "); err != nil {
		return err
	}
	in.Text, err = d.must(ctx, "why> ")
	return err
}

func (d *Dialogue) closing(ctx context.Context, in *triage.Intent, o triage.Option) (err error) {
	in.Value = o.Value
	if in.Value == "" {
		if in.Value, err = d.must(ctx, "recovered, open or aborted> "); err != nil {
			return err
		}
	}
	in.Text, err = d.read(ctx, "why (may be empty)> ")
	return err
}

// apart waits until a sample of a watch would count: greens that are too close
// together prove nothing.
func (d *Dialogue) apart(ctx context.Context, snap view.Snapshot, id string) error {
	step, ok := snap.State.Step(id)
	if !ok || step.Kind != triage.WatchStep || len(step.Greens) == 0 {
		return nil
	}
	gap, err := time.ParseDuration(step.Apart)
	if err != nil {
		return nil // the session knows its default; an early sample only does not count
	}
	wait := step.Greens[len(step.Greens)-1].Add(gap).Sub(d.Now())
	if wait <= 0 {
		return nil
	}
	d.sayf("  ... waiting %s, so that the next green counts", wait.Round(time.Second))
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
