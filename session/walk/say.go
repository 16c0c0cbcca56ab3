package walk

import (
	"context"
	"fmt"
	"strings"

	"handrail/session/journal"
	"handrail/session/view"
	"handrail/triage"
)

// What a script says of questions and topics. What it does not say is unknown, but
// for what the runbook requires, where the walk stops as the terminal would; and
// a word that is on record stands: only a word of the script takes its place, and
// where a person gave it, only one with a reason.

// word is what is on record of a question or a topic.
type word struct {
	value  string // "" for nothing
	person bool   // a person gave it
	seq    int64
}

// kept says why a walk may not put a value over what is on record, "" where it
// may. why is the reason that the script gives, if it says anything at all.
func (w word) kept(what, value string, said bool, why, key string) string {
	switch {
	case w.value == "" || !w.person && (said || w.value == triage.Unknown):
		return ""
	case !said:
		return fmt.Sprintf("%s is recorded as %s (entry %d), the loop asks again, and the script has no answer; add one under %s", what, w.value, w.seq, key)
	case value != w.value && strings.TrimSpace(why) == "":
		return fmt.Sprintf("a person recorded %s as %s (entry %d), and the script says %s without a reason; add one under %s", what, w.value, w.seq, value, key)
	}
	return ""
}

// over adds to a reason what it puts aside.
func (w word) over(value, why string) string {
	if !w.person || w.value == "" || w.value == value {
		return why
	}
	return fmt.Sprintf("%s (by the answers file, over %s of entry %d)", why, w.value, w.seq)
}

// noAnswer is how the walk knows an answer that the script does not give.
const noAnswer = "the script has no answer"

// factsPropose begins why the walk concludes unknown where the script says nothing.
const factsPropose = "the facts propose "

// lacks says what the script must add for a required step.
func lacks(st triage.Step, key string) string {
	id := journal.Bare(st.ID)
	return fmt.Sprintf("%s is required, and the script has no word for it; add %s%s (%s)", st.ID, key, id, st.Title)
}

// answer answers a question as the script says, and unknown where it does not.
func (p *player) answer(ctx context.Context, snap view.Snapshot, st triage.Step) (string, error) {
	g, said := p.Answers.Answers[journal.Bare(st.ID)]
	switch {
	case !said && st.Required:
		return lacks(st, "answers."), nil
	case !said:
		g = Answer{Value: triage.Unknown, How: noAnswer}
	}
	was := word{value: st.Answer, person: st.Answer != "" && !st.Script, seq: st.EndSeq}
	if stop := was.kept("the answer to "+st.ID, g.Value, said, g.How, "answers."+journal.Bare(st.ID)); stop != "" {
		return stop, nil
	}
	g.How = asNamed(snap, st.ID, g.Value, g.How)
	p.say("answer %s: %s (%s)", st.ID, g.Value, g.How)
	return "", p.do(ctx, triage.Intent{Kind: triage.DoAnswer, Step: st.ID, Value: g.Value, Text: was.over(g.Value, g.How), Script: true})
}

// namesMark stands in the words of a drill for what they must name.
const namesMark = "{names}"

// asNamed puts what the words must name into them. In a drill the people of the story
// looked; what a script was written for beforehand, in an incident, looked at nothing.
func asNamed(snap view.Snapshot, step, answer, words string) string {
	if snap.State.Drill == "" {
		return words
	}
	return strings.ReplaceAll(words, namesMark, strings.Join(snap.Cards[step].Names[answer], ", "))
}

// conclude accepts what the facts propose where the script says so, never an
// unknown, or gives the script's own value with its reason.
func (p *player) conclude(ctx context.Context, snap view.Snapshot, o triage.Option) (string, error) {
	proposed := o.Value
	if c, ok := snap.Cards[o.Step]; ok && c.Proposed != "" {
		proposed = c.Proposed
	}
	nothing := proposed == "" || proposed == triage.Unknown
	g, said := p.Answers.Conclude[string(o.Topic)]
	switch {
	case said && g.Value == accept && nothing:
		return fmt.Sprintf("the facts propose nothing for %s, and the script accepts only what they propose", o.Topic), nil
	case said && g.Value == accept:
		g.Value = proposed
	case !said && nothing:
		g = Conclusion{Value: triage.Unknown, Why: factsPropose + "nothing, and the script has no value"}
	case !said:
		g = Conclusion{Value: triage.Unknown, Why: factsPropose + proposed + ", and the script does not accept it"}
	}
	c, any := snap.State.Topics[o.Topic]
	was := word{}
	if any && !c.Lapsed {
		was = word{value: c.Value, person: !c.Script, seq: c.Seq}
	}
	if stop := was.kept(string(o.Topic), g.Value, said, g.Why, "conclude."+string(o.Topic)); stop != "" {
		return stop, nil
	}
	// The loop asks again for what is unknown; a script has nothing more to say.
	key := "conclude " + string(o.Topic)
	if any && c.Value == g.Value && p.tried[key] >= 2 {
		return fmt.Sprintf("%s is concluded as %s, the loop asks for more, and the script has nothing to add", o.Topic, g.Value), nil
	}
	p.tried[key]++
	p.say("conclude %s: %s", o.Topic, g.Value)
	return "", p.do(ctx, triage.Intent{Kind: triage.DoConclude, Topic: o.Topic, Step: o.Step, Value: g.Value, Text: was.over(g.Value, g.Why), Person: g.Person, Script: true})
}
