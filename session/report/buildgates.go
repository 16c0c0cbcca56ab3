package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"handrail/triage"
)

// gates lists the gates in the order they were first wanted, each act of one by itself.
func (b *builder) gates() {
	order := slices.SortedFunc(maps.Keys(b.st.Gates), func(x, y string) int {
		a, c := b.st.Gates[x], b.st.Gates[y]
		return cmp.Or(cmp.Compare(b.first(a), b.first(c)), cmp.Compare(x, y))
	})
	for _, id := range order {
		for _, g := range b.st.Acts(id) {
			b.d.Gates = append(b.d.Gates, b.gate(id, g))
		}
	}
}

// first is the first entry of the timeline that tells of a gate.
func (b *builder) first(g triage.GateState) int64 {
	for _, m := range b.st.Timeline {
		if m.Step == g.Step {
			return m.Seq
		}
	}
	return b.st.Seq
}

func (b *builder) gate(id string, g triage.GateState) Gate {
	s, _ := b.st.Step(id)
	out := Gate{
		Step: line(id), Title: line(cmp.Or(s.Title, id)), Class: line(string(s.Class)), Phase: line(gatePhase(g)),
		Effect: line(g.Shown.Effect), Request: block(g.Shown.Request), Command: block(g.Shown.Command), Phrase: line(g.Shown.Phrase),
		Undo: line(g.Shown.Undo), Digest: line(cmp.Or(g.Digest, g.Shown.Digest)), Why: line(g.Why), Widen: line(g.Shown.Why),
		ByItself: g.WasRefused && g.ByItself, Actor: line(g.Actor), As: line(g.As), Response: block(g.Response), Moved: texts(g.Moved), Again: line(g.Again.Outcome), AgainSays: line(g.Again.Response),
	}
	if g.Kept != nil {
		out.UndoCommand = block(g.Kept.Command)
		if g.Kept.Path != "" {
			out.UndoCopy = line(fmt.Sprintf("%s, SHA-256 %s, %s bytes before encryption, for %s", g.Kept.Path, g.Kept.SHA256, g.Kept.Bytes, strings.Join(g.Kept.Recipients, ", ")))
		}
	}
	out.Artifacts = b.artifactsOf(out.Step)
	out.Grounds = b.grounds(s.PlanStep, g)
	for _, d := range g.Shown.Diff {
		out.Diff = append(out.Diff, block(d))
	}
	for _, o := range g.Shown.Owners {
		out.Owners = append(out.Owners, Remark{Step: out.Step, What: line(o.Name), Why: line("paused: " + cmp.Or(o.Paused, "unknown"))})
	}
	for _, v := range g.Shown.Verdicts {
		out.Verdicts = append(out.Verdicts, Verdict{Expr: line(v.Expr), Result: line(v.Result), Why: line(v.Why)})
	}
	for _, a := range g.Approvals {
		who := a.Person
		if a.Key != "" {
			who += ", with the key " + a.Key + ", at " + a.Signed.UTC().Format(time.RFC3339)
		}
		out.Approvals = append(out.Approvals, line(who))
	}
	for _, kv := range g.Shown.Shown {
		if slices.ContainsFunc(g.Before, func(b triage.KV) bool { return b.Key == kv.Key }) {
			continue // it is among the sides
		}
		out.Shown = append(out.Shown, Side{Key: line(kv.Key), Before: line(kv.Value)})
	}
	before := g.Before
	if len(before) == 0 {
		before = g.Shown.Target
	}
	out.Sides, out.HasAfter = sides(before, g.After), len(g.After) > 0
	for _, s := range out.Sides {
		if s.Unread && out.HasAfter {
			out.Unread++
		}
	}
	for _, it := range g.Items {
		out.Items = append(out.Items, Item{Object: line(it.Object), Effect: line(it.Effect), Command: block(it.Command),
			Outcome: line(it.Outcome), Response: line(it.Response), Sides: sides(it.Before, it.After)})
	}
	out.ShownAt, out.ActedAt, out.EndedAt, out.AgainAt = b.at[g.ShownSeq], b.at[g.StartSeq], b.at[g.EndSeq], b.at[g.AgainSeq]
	for _, seq := range []int64{g.ShownSeq, g.StartSeq, g.EndSeq, g.AgainSeq} {
		if seq > 0 {
			out.Entries = append(out.Entries, seq)
		}
	}
	return out
}

// grounds are the newest words before a gate was shown of the steps that its conditions
// use.
func (b *builder) grounds(st triage.PlanStep, g triage.GateState) []Remark {
	var out []Remark
	for _, id := range triage.StandsOn(st, g.Shown) {
		if slices.ContainsFunc(out, func(r Remark) bool { return r.Step == line(id) }) {
			continue
		}
		for _, m := range slices.Backward(b.st.Timeline) {
			if m.Step != id || m.Seq >= g.ShownSeq || !slices.Contains([]string{"probe.end", "answer", "manual"}, m.Type) {
				continue
			}
			of, _ := b.st.Step(id)
			out = append(out, Remark{Step: line(id), What: line(cmp.Or(of.Title, id)), Why: line(strings.TrimPrefix(strings.TrimPrefix(m.Text, id+" "), "ok: ")), Entry: m.Seq})
			break
		}
	}
	return out
}

func gatePhase(g triage.GateState) string {
	switch {
	case g.Phase != triage.GateIdle:
		return string(g.Phase)
	case g.WasRefused:
		return "stayed shut"
	}
	return "closed"
}

// sides sets the target before the act beside the target after it. Of lines with the same key the first belongs to the
// first, the second to the second.
func sides(before, after []triage.KV) []Side {
	var out []Side
	used := make([]bool, len(after))
	for _, kv := range before {
		i := 0
		for i < len(after) && (used[i] || after[i].Key != kv.Key) {
			i++
		}
		if i == len(after) {
			out = append(out, Side{Key: line(kv.Key), Before: line(kv.Value), Unread: true})
			continue
		}
		used[i] = true
		out = append(out, Side{Key: line(kv.Key), Before: line(kv.Value), After: line(after[i].Value), Changed: after[i].Value != kv.Value})
	}
	for i, kv := range after {
		if !used[i] {
			out = append(out, Side{Key: line(kv.Key), After: line(kv.Value), Added: true})
		}
	}
	return out
}

// answered lists what was said of critical findings that shut no gate, and which findings a
// later reading resolved.
func (b *builder) answered() {
	for _, a := range b.st.Answered {
		why := a.How + ": " + a.Why
		if a.How == triage.Taken {
			why = strings.TrimSuffix("taken by "+a.Person+": "+a.Why, ": ")
			b.d.FollowUps = append(b.d.FollowUps, FollowUp{What: line(strings.TrimSpace(a.Finding)), Who: line(a.Person), From: line(a.Step)})
		}
		b.d.Answered = append(b.d.Answered, Remark{Step: line(a.Step), What: line(strings.TrimSpace(a.Finding)), Why: line(why), Entry: a.Seq})
	}
	for _, g := range b.st.Gone {
		why := "resolved: it was read again, and is not found any more"
		if g.By != g.Step {
			why = "resolved: " + g.By + " read the same later, and does not find it"
		}
		b.d.Answered = append(b.d.Answered, Remark{Step: line(g.Step), What: line(strings.TrimSpace(g.Finding.Say)), Why: line(why), Entry: g.Seq})
	}
}

// byHand lists the repairs outside of handrail, each with what shows it.
func (b *builder) byHand() {
	for _, h := range b.st.Hands {
		out := ByHand{What: line(h.What), Object: line(h.Object), Person: line(h.Person), Actor: line(h.Actor), Proof: line(h.Proof), At: b.at[h.Seq], Entry: h.Seq}
		for _, d := range b.st.Debts {
			if d.ID == h.ID && d.Settled.How == "paid" {
				out.Shown = line(d.Settled.Proof)
			}
		}
		b.d.ByHand = append(b.d.ByHand, out)
	}
}

func (b *builder) debts() {
	for _, d := range b.st.Debts {
		out := Debt{
			ID: line(d.ID), Kind: line(d.Kind), Of: line(d.Of), Text: line(d.Text), Entry: d.Seq, How: line(d.Settled.How),
			By: line(cmp.Or(d.Settled.Owner, d.Settled.Person)), Until: line(d.Settled.Until), Why: line(cmp.Or(d.Settled.Proof, d.Settled.Why)),
		}
		if d.Due != nil {
			out.Due = d.Due.UTC()
		}
		b.d.Debts = append(b.d.Debts, out)
	}
	for _, w := range b.st.Waivers {
		b.d.Waivers = append(b.d.Waivers, Waiver{
			Law: w.Law, Subject: line(w.Subject), Findings: texts(w.Findings), Person: line(w.Person), Why: line(w.Why), Actor: line(w.Actor), At: w.At.UTC(), Entry: w.Seq,
		})
	}
}

// followUps lists what is left: debts that are open or carried, gates whose act did not end well, proofs that are
// missing, and what the runbook asks to learn.
func (b *builder) followUps() {
	add := func(f FollowUp) { b.d.FollowUps = append(b.d.FollowUps, f) }
	for _, d := range b.d.Debts {
		switch {
		case d.How == "carried":
			add(FollowUp{What: d.Text, Who: d.By, Until: d.Until, From: d.ID})
		case d.How == "" && !d.Due.IsZero():
			add(FollowUp{What: d.Text, Until: line(stamp(d.Due)), From: d.ID})
		case d.How == "":
			add(FollowUp{What: d.Text, From: d.ID})
		}
	}
	for _, g := range b.d.Gates {
		switch g.Phase {
		case "unknown":
			add(FollowUp{What: "find out the outcome of the act: " + g.Effect, From: g.Step})
		case "failed":
			add(FollowUp{What: "check what the failed act left behind: " + g.Effect, From: g.Step})
		}
	}
	for _, r := range b.st.Rereads {
		add(FollowUp{What: line("read the target of the act again: it was not read since"), From: line(r.Step)})
	}
	for _, s := range b.st.OpenProofs() {
		add(FollowUp{What: line("prove the recovery: " + cmp.Or(s.Title, s.ID)), From: line(s.ID)})
	}
	for _, s := range b.st.Steps {
		if s.Phase == triage.Learn && s.Status == triage.Pending && !s.Retired && b.st.Outcome != "" {
			add(FollowUp{What: line(cmp.Or(s.Title, s.ID)), From: line(s.ID)})
		}
	}
}
