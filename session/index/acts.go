package index

import (
	"fmt"
	"strings"
	"time"

	"handrail/triage"
	"handrail/triage/record"
)

// Act is one act on the world.
type Act struct {
	Step    string
	Uses    string // kind of the gate
	Class   triage.Class
	Seq     int64 // of the entry that ended it, or began it while it has no end
	At      time.Time
	Outcome string // done, refused, failed or unknown; ByHand for a repair outside of handrail
	Effect  string
	Command string
	Actor   string // who confirmed it
	As      string // as which user of the system it was done, "" where that is not recorded
	Target  []triage.KV
	Grounds []Ground
	Part    bool // one object of a batch, of which the act itself stands before it
}

// Ground is one reading or word that an act stood on.
type Ground struct {
	Step string
	Seq  int64 // of the entry
	Who  string
	Text string
}

// ByHand is the outcome of a repair that a person made outside of handrail.
const ByHand = "by hand"

// Who is who acted, and as which user of the system.
func (a Act) Who() string {
	if a.As == "" {
		return a.Actor
	}
	return a.Actor + " as " + a.As
}

// Line is an act on one line: what it came to, and what it does by its first
// sentence.
func (a Act) Line() string {
	effect, _, _ := strings.Cut(a.Effect, ". ")
	return strings.Join(strings.Fields(a.Outcome+": "+strings.TrimSuffix(effect, ".")), " ")
}

// searched is all that a search for an act looks at.
func (a Act) searched() string {
	parts := []string{a.Outcome, a.Effect, a.Command, a.Step, a.Uses, string(a.Class), a.Who()}
	for _, kv := range a.Target {
		parts = append(parts, kv.Key+" "+kv.Value)
	}
	for _, g := range a.Grounds {
		parts = append(parts, g.Step+": "+g.Text+" "+g.Who)
	}
	return strings.Join(parts, " ")
}

// actLog pairs each act with the gate that was shown for it, with who acted and
// with what the gate stood on. State keeps the newest act of a gate; here every one
// counts.
type actLog struct {
	shown map[string]triage.GateShown
	on    map[string][]Ground // what a gate stood on when it was shown
	plan  map[string]triage.PlanStep
	said  map[string]Ground // the newest word of each step
	users triage.Users
	list  []Act

	newest map[string]int   // of each gate, in list
	owed   map[string]int64 // the entry of a repair by hand, by the debt that it left
}

func newActLog() actLog {
	return actLog{shown: map[string]triage.GateShown{}, on: map[string][]Ground{}, plan: map[string]triage.PlanStep{}, said: map[string]Ground{}, newest: map[string]int{}, owed: map[string]int64{}}
}

func (l *actLog) add(e triage.Event) {
	say := func(step, text string) { l.said[step] = Ground{step, e.Seq, e.Actor, text} }
	switch b := e.Body.(type) {
	case triage.Plan:
		for _, s := range b.Steps {
			l.plan[s.ID] = s
		}
	case triage.Person:
		l.users = l.users.With(b, e.Actor)
	case triage.ProbeEnd:
		say(b.Step, b.Summary)
	case triage.Answer:
		say(b.Step, with(b.Value, b.How))
	case triage.Manual:
		say(b.Step, b.Proof)
	case triage.GateShown:
		l.shown[b.Step], l.on[b.Step] = b, l.grounds(b)
	case triage.ActStart:
		g, uses := l.shown[b.Step], l.plan[b.Step].Uses
		l.newest[b.Step] = len(l.list)
		l.list = append(l.list, Act{Step: b.Step, Uses: uses, Class: g.Class, Seq: e.Seq, At: e.At, Outcome: "unknown",
			Effect: g.Effect, Command: g.Command, Actor: e.Actor, As: l.users.Of(uses, e.Actor), Target: g.Target, Grounds: l.on[b.Step]})
	case triage.HandAct:
		l.owed[b.ID] = e.Seq
		// No user of the system is known of it, and what it stood on is a person's word.
		l.list = append(l.list, Act{Step: b.Proof, Uses: ByHand, Seq: e.Seq, At: e.At, Outcome: ByHand, Effect: b.What + " (" + b.Object + ")", Command: b.What,
			Actor: b.Person, Target: []triage.KV{{Key: "object", Value: b.Object}}, Grounds: []Ground{{Step: b.Proof, Seq: e.Seq, Who: e.Actor, Text: "recorded; what shows it is owed"}}})
	case triage.Settle:
		for i := range l.list {
			if a := &l.list[i]; a.Outcome == ByHand && l.owed[b.Debt] == a.Seq && b.How == "paid" {
				a.Grounds = append(a.Grounds, Ground{Step: a.Step, Seq: e.Seq, Who: e.Actor, Text: "shown: " + b.Proof})
			}
		}
	case triage.ActEnd:
		i, begun := l.newest[b.Step]
		if !begun {
			return
		}
		l.list[i].Seq, l.list[i].At, l.list[i].Outcome = e.Seq, e.At, b.Outcome
		// An end that was found later says what each item came to anew; nothing else
		// acts before it.
		l.list = append(l.list[:i+1], items(l.list[i], b)...)
	}
}

// items are the acts of a batch that were begun, each found by its own object.
func items(of Act, end triage.ActEnd) []Act {
	var out []Act
	for _, it := range end.Items {
		if it.Outcome != record.Left {
			one := of
			one.Outcome, one.Effect, one.Command, one.Target, one.Part = it.Outcome, it.Effect, it.Command, it.Before, true
			out = append(out, one)
		}
	}
	return out
}

// grounds are the newest words of the steps that the conditions of a gate use.
func (l *actLog) grounds(g triage.GateShown) []Ground {
	var out []Ground
	seen := map[string]bool{}
	for _, step := range triage.StandsOn(l.plan[g.Step], g) {
		if said, ok := l.said[step]; ok && !seen[step] {
			seen[step] = true
			out = append(out, said)
		}
	}
	return out
}

// with adds to a word how it is known.
func with(value, how string) string {
	if how == "" {
		return value
	}
	return fmt.Sprintf("%s, %s", value, how)
}
