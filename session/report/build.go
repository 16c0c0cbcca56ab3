package report

import (
	"time"

	"handrail/evidence/visible"
	"handrail/triage"
)

// Option adds to a document what a folded state does not hold.
type Option func(*Document)

// Verified adds the verdict of a verification.
func Verified(v Verification) Option { return func(d *Document) { d.Verification = &v } }

// With adds the artifacts of the journal, as Artifacts reads them.
func With(list []Artifact) Option { return func(d *Document) { d.Artifacts = list } }

// WithHandling adds what was done with the bundle since, as the log beside it says; say is what is wrong with that log.
func WithHandling(list []Handling, say visible.Text) Option {
	return func(d *Document) { d.Handled, d.HandledSay = list, say }
}

// New builds the document of a folded state.
func New(st triage.State, options ...Option) Document {
	d := Document{
		Format: Format, Incident: line(st.Incident), Title: line(st.Title), Drill: line(st.Drill),
		Severity: line(string(st.Severity)), Outcome: line(st.Outcome), Phase: line(string(st.Phase)),
		Opened: st.Opened.UTC(), Closed: st.Closed.UTC(), Updated: st.Updated.UTC(), Entry: st.Seq,
		Took: span(st.Opened, st.Updated),
	}
	if !st.Closed.IsZero() {
		d.Took = span(st.Opened, st.Closed)
	}
	for _, o := range options {
		o(&d)
	}
	d.Place = place(st, string(d.Place.Cluster))
	b := builder{st: st, d: &d, at: map[int64]time.Time{}, by: map[int64]string{}}
	for _, m := range st.Timeline {
		b.at[m.Seq], b.by[m.Seq] = m.At.UTC(), m.Actor
		d.Timeline = append(d.Timeline, Moment{
			Entry: m.Seq, At: m.At.UTC(), Actor: line(m.Actor), Type: line(m.Type), Step: line(m.Step),
			Level: line(m.Level), Text: line(m.Text),
		})
	}
	b.runbooks()
	b.people()
	b.legs()
	b.conclusions()
	b.steps()
	b.findings()
	b.ruledOut()
	b.unchecked()
	b.gates()
	b.byHand()
	b.answered()
	b.debts()
	b.followUps()
	b.coverage()
	b.doctrine()
	b.review()
	d.Brief = brief(st, d.Place)
	return d
}

// questions are the topics in plain words.
var questions = map[triage.Topic]string{
	triage.TopicDomain: "What failed", triage.TopicMutation: "Did the failed change begin", triage.TopicConsistent: "Do recorded and actual state agree",
	triage.TopicClass: "Class of the failure", triage.TopicOwner: "Who owns the next move", triage.TopicReverts: "Would something undo a repair",
}

// cut is how much of one value a report shows; the whole is in the bundle.
const cut = 600
