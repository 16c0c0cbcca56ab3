package plain

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"handrail/cli/process"
	"handrail/session/view"
	"handrail/steps"
	"handrail/triage"
)

// catchUp tells what was recorded since the last time.
func (d *Dialogue) catchUp(snap view.Snapshot) {
	for _, m := range snap.State.Timeline {
		if m.Seq <= d.told {
			continue
		}
		d.told = m.Seq
		mark := ""
		if m.Level == "warning" || m.Level == "critical" {
			mark = strings.ToUpper(m.Level) + ": "
		}
		d.sayf("  [%d] %s%s", m.Seq, mark, m.Text)
		if step, ok := snap.State.Step(m.Step); ok && m.Type == "probe.end" {
			d.compared(step.Rows)
			d.Graph(snap.Cards[m.Step].Graph)
			for _, f := range step.Findings {
				d.sayf("      %s: %s", f.Level, f.Say)
				if len(f.Against) > 0 && !f.Unsure {
					d.sayf("        keeps shut: %s", strings.Join(f.Against, ", "))
				}
			}
		}
	}
	if snap.State.Phase != d.phase {
		d.phase = snap.State.Phase
		d.sayf("\n== %s ==", d.phase)
	}
}

// unserved says once that no gate opens for the repair.
func (d *Dialogue) unserved(snap view.Snapshot) {
	head, list, none := snap.NoGate()
	if !none {
		d.ungated = ""
		return
	}
	text := "  ! " + head
	for _, u := range list {
		text += "\n    " + u
	}
	if text += "\n  What is repaired by hand, with kubectl, tofu or elsewhere, is recorded with m."; text != d.ungated {
		d.ungated = text
		d.say(text)
	}
}

// offer says what the loop would do next.
func (d *Dialogue) offer(snap view.Snapshot, o triage.Option) {
	card := snap.Cards[o.Step]
	d.say(title(o, card))
	d.leads(snap.LeadsAt(o))
	if (o.Kind == triage.DoConfirm || o.Kind == triage.DoApprove) && snap.Gate != nil {
		d.gate(snap.Gate)
		d.request(snap.Gate, snap.Bundle)
		return
	}
	if names := snap.State.ParamsWanted(o.Step, snap.Options); o.Kind == triage.DoPlan && o.Step != "" && len(names) > 0 {
		if g := snap.State.Gates[o.Step]; g.WasRefused && slices.Equal(names, g.Refuses) {
			d.sayf("  it refuses the value of %s: %s", strings.Join(names, ", "), g.Why)
		} else {
			d.sayf("  it waits for %s", strings.Join(names, " or "))
		}
	}
	for _, text := range []string{card.Say, card.Ask} {
		if text != "" {
			process.Lines(d.Out, "  ", text)
		}
	}
	d.pairs(card.Show)
	if o.Kind == triage.DoAnswer {
		d.Graph(card.Graph)
	}
	choices := card.Answers
	if o.Kind == triage.DoConclude {
		choices = card.Values
	}
	if known := card.Proposed != "" && card.Proposed != triage.Unknown; o.Kind == triage.DoConclude || o.Kind == triage.DoAnswer && known {
		d.sayf("  proposed: %s", orNone(proposed(snap, o)))
		if o.Kind == triage.DoAnswer {
			d.sayf("    %s", card.Why)
		}
		for _, g := range card.Grounds {
			d.sayf("    because %s", g)
		}
	}
	for _, c := range choices {
		d.sayf("    %s: %s", c.Value, c.Help)
	}
	d.doctrine(snap, o)
	if card.Practice != "" {
		d.sayf("  in this drill: %s", card.Practice)
	}
	for _, answer := range slices.Sorted(maps.Keys(card.Names)) {
		d.sayf("  %s%s", strings.TrimPrefix(answer+": ", ": "), card.Naming(answer))
	}
	if card.Evidence != "" && o.Kind == triage.DoAnswer {
		d.sayf("  to say with it: %s", card.Evidence)
	}
}

// doctrine says what the decision matrix prefers at a transition, what a change happened
// without at the class, and in verify what shows the recovery.
func (d *Dialogue) doctrine(snap view.Snapshot, o triage.Option) {
	if a, ok := snap.State.Advice(o.Step); ok {
		d.sayf("  decision matrix, %s", a.Line())
		if a.Departs {
			d.sayf("    another way here: %s", cmp.Or(a.Why, "the runbook does not say why"))
		}
	}
	if lack := triage.Unproven(snap.State); o.Topic == triage.TopicClass && len(lack) > 0 {
		d.sayf("  ! the evidence is incomplete: something changed without %s", triage.UnprovenLine(lack))
	}
	st, ok := snap.State.Step(o.Step)
	if sc, pauses := triage.ScopeOf(st.Uses); ok && pauses {
		d.sayf("  scope: stops %s", sc.Reach)
	}
	if ok && st.Phase != triage.Verify && o.Kind != triage.DoClose || len(snap.State.Plan().Proves) == 0 || !ok && o.Kind != triage.DoClose {
		return
	}
	text := ""
	for _, c := range triage.Conditions(snap.State) {
		if c.Shown != triage.PCNotAsked {
			text += fmt.Sprintf("  %s %s: %s%s\n", c.Code, c.Means, c.Shown, c.Because())
		}
	}
	if text != d.shown {
		d.shown = text
		d.say(strings.TrimRight(text, "\n"))
	}
}

func orNone(s string) string {
	if s == "" {
		return "nothing"
	}
	return s
}

// title names an option in words.
func title(o triage.Option, card view.Card) string {
	what := o.Step
	switch {
	case what == "" && o.Topic != "":
		what = string(o.Topic)
	case what == "" && o.Subject != "":
		what = o.Subject
	case what == "":
		what = o.Value
	}
	out := "Next: " + string(o.Kind) + " " + what
	if card.Title != "" {
		out += " (" + card.Title + ")"
	}
	return out
}

// gate shows everything that a person must have seen before the phrase.
func (d *Dialogue) gate(g *view.Gate) {
	d.sayf("GATE %s (%s), %s", g.Step, g.Class, g.Phase)
	d.sayf("  effect:  %s", g.Preview.Effect)
	d.pairs(g.Preview.Target)
	alike := 0
	for _, kv := range g.Preview.Shown {
		if alikes(kv) {
			alike++
		} else {
			d.sayf("  %s: %s", kv.Key, kv.Value)
		}
	}
	for _, line := range g.Preview.Diff {
		d.sayf("  changes: %s", line)
	}
	if alike > 0 {
		d.sayf("  NOT THIS: %s could be taken for the target:", process.Counted(alike, "other object"))
	}
	for _, kv := range g.Preview.Shown {
		if alikes(kv) {
			d.sayf("    %s", kv.Value)
		}
	}
	d.sayf("  command: %s", g.Preview.Command)
	d.sayf("  undo:    %s", g.Preview.Undo)
	for _, o := range g.Preview.Owners {
		d.sayf("  owner:   %s, paused: %s", o.Name, o.Paused)
	}
	for _, c := range g.Evidence {
		d.sayf("  evidence [%d] %s: %s (%s old)", c.Seq, c.Step, c.Text, d.Now().Sub(c.At).Round(1e9))
	}
	for _, w := range g.Waived {
		d.sayf("  evidence [%d] %s answers for %s: %s", w.Seq, w.Person, w.Subject, w.Why)
	}
	for _, m := range g.Moved {
		d.sayf("  moved:   %s", m)
	}
	d.refused(g.Step, g.Refusals)
	if g.Phase == triage.GateArmed {
		d.sayf("  digest %s; armed until %s", g.Digest.Short(), g.Until.UTC().Format("15:04:05Z"))
		if d.second(g); g.Second == nil || g.Second.Lacks == nil {
			d.sayf("  Type this phrase to go on, q to leave: %s", g.Preview.Phrase)
		}
	}
}

// second says whose approval is there, and whose is missing.
func (d *Dialogue) second(g *view.Gate) {
	if g.Second == nil {
		return
	}
	d.sayf("  two persons: %s", g.Second.Why)
	for _, a := range g.Second.By {
		d.sayf("  approved by %s, with the key %s; it lapses at %s", a.Person, a.Key, a.Lapses().UTC().Format("15:04:05Z"))
	}
	for _, r := range g.Second.Lacks {
		d.sayf("  WAITING: %s", r.Why)
	}
	if g.Second.Lacks != nil {
		d.say("  The phrase is asked for once it is approved.")
		d.sayf("  who may approve: %s", strings.Join(g.Second.May, "; "))
	}
}

// request tells what to send to a second person, once for each preview.
func (d *Dialogue) request(g *view.Gate, bundle string) {
	if g == nil || g.Second == nil || g.Second.Lacks == nil || g.Second.Request == "" {
		return
	}
	if d.asked == g.Second.Request {
		d.say("  Type the line that they send back; Enter shows the request again.")
		return
	}
	d.asked = g.Second.Request
	d.sayf("  Send them the lines below, or let them run: handrail approve %s", bundle)
	d.say(g.Second.Request)
	d.say("  Then type the line that they send back.")
}

// lowering tells once what to send to a second person for a lower severity.
func (d *Dialogue) lowering(snap view.Snapshot) {
	if snap.Lowers == nil || d.lower == snap.Lowers.Request {
		return
	}
	d.lower = snap.Lowers.Request
	d.sayf("  two persons: %s", snap.Lowers.Why)
	d.sayf("  The severity stays %s until a second person has approved it; the incident goes on meanwhile.", snap.State.Severity)
	d.sayf("  who may approve: %s", strings.Join(snap.Lowers.May, "; "))
	d.sayf("  Send them the lines below, or let them run: handrail approve %s", snap.Bundle)
	d.say(snap.Lowers.Request)
	d.say("  Then type the line that they send back, at any prompt.")
}

// alikes reports whether a row of a preview is about another object that looks
// like the target.
func alikes(kv steps.KV) bool {
	return kv.Key == "look-alike" && kv.Value != "" && kv.Value != "none"
}

func (d *Dialogue) pairs(kvs []steps.KV) {
	for _, kv := range kvs {
		if kv.Key == "" { // one more entry of the list above
			d.sayf("    %s", kv.Value)
			continue
		}
		d.sayf("  %s: %s", kv.Key, kv.Value)
	}
}

// refused says what is in the way of a step, "" for none, in the words of its runbook.
func (d *Dialogue) refused(step string, list []triage.Refusal) {
	snap := d.S.Snapshot()
	for _, r := range list {
		law := ""
		if r.Law > 0 {
			law = fmt.Sprintf(" (law %d)", r.Law)
		}
		d.sayf("  refused%s: %s", law, snap.Words(step, r.Why))
		if cure := snap.Cure(step, r.Why, r.Cure); cure != "" {
			d.sayf("    what would meet it: %s", cure)
		}
		if !r.At.IsZero() {
			d.sayf("    not before: %s", r.At.UTC().Format("15:04:05Z"))
		}
	}
}

func (d *Dialogue) options(snap view.Snapshot) {
	for i, o := range snap.Options {
		mark := ""
		if !o.Available() {
			mark = "  -- refused: " + snap.Words(o.Step, o.Refusals[0].Why)
		}
		d.sayf("%3d  %s%s", i+1, strings.TrimPrefix(title(o, snap.Cards[o.Step]), "Next: "), mark)
	}
}

func (d *Dialogue) facts(snap view.Snapshot) {
	for _, step := range snap.State.Steps {
		for _, name := range slices.Sorted(maps.Keys(step.Facts)) {
			v := step.Facts[name]
			text := strings.Trim(string(v.Raw()), `"`)
			if !v.Known() {
				text = "unknown: " + v.Why()
			}
			d.sayf("  %s.%s = %s", step.ID, name, text)
		}
	}
	for _, debt := range snap.State.Debts {
		d.sayf("  debt %s: %s (%s)", debt.ID, debt.Text, orOpen(debt.Settled.How))
	}
}

func orOpen(s string) string {
	if s == "" {
		return "open"
	}
	return s
}

func (d *Dialogue) help() {
	d.say(`  Enter     do what is proposed
  TEXT      the answer, conclusion, proof or phrase that is asked for (u: unknown)
  o         all options, with the reason of each that is refused
  NUMBER    take that option
  f         facts and debts
  n TEXT    note
  s WHY     skip the proposed step
  m         record a repair that was made by hand, outside of handrail
  p N=VALUE give the parameter N another value; p alone lists them
  h         hand over to another operator, with a note, and leave
  q         leave; the incident stays open`)
}

// proposed is what the facts say of the topic of a conclusion.
func proposed(snap view.Snapshot, o triage.Option) string {
	if o.Value != "" {
		return o.Value
	}
	return snap.Cards[o.Step].Proposed
}
