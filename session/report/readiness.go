package report

import (
	"fmt"
	"strings"
	"time"

	"handrail/evidence/visible"
	"handrail/triage"
)

// Review is what a review of readiness came to.
type Review struct {
	Items      []ReviewItem      `json:"items"`
	Components []ReviewComponent `json:"components"`
	Where      visible.Text      `json:"where,omitempty"` // what it is about, in one line
	Since      visible.Text      `json:"since,omitempty"` // the bundle of the review before this one
	Changed    []ReviewChange    `json:"changed"`         // what changed since
	Yes        int               `json:"yes"`
}

// ReviewItem is one question, with what was said and what was read of it.
type ReviewItem struct {
	ID       visible.Text `json:"id"`
	Number   int          `json:"number"`
	Question visible.Text `json:"question"`
	Value    visible.Text `json:"value"`           // yes, partly, no or unknown: of what was said and what was read the worse; "" for no answer
	Said     visible.Text `json:"said,omitempty"`  // the answer
	Why      visible.Text `json:"why,omitempty"`   // where it stands, or who knows it
	Who      visible.Text `json:"who,omitempty"`   // at whose keyboard it was said
	Reads    visible.Text `json:"reads,omitempty"` // what the readings say
	Disagree bool         `json:"disagree"`        // what was said is not what was read
	Entry    int64        `json:"entry,omitempty"`
	At       time.Time    `json:"at,omitzero"`
	Evidence []ReviewRead `json:"evidence"`
	Gap      *Debt        `json:"gap,omitempty"` // who closes it, until when
	Last     visible.Text `json:"last,omitempty"`
}

// ReviewRead is one reading for a question, or why there is none.
type ReviewRead struct {
	Step  visible.Text `json:"step"`
	What  visible.Text `json:"what"`
	Says  visible.Text `json:"says"`
	Known bool         `json:"known"`
	Entry int64        `json:"entry,omitempty"`
	At    time.Time    `json:"at,omitzero"`
}

// ReviewComponent is the failure model of a component, with what was said of it.
type ReviewComponent struct {
	Name  visible.Text `json:"name"`
	Parts []ReviewPart `json:"parts"`
	Said  *ReviewItem  `json:"said,omitempty"` // nil in a review that did not ask
}

// ReviewPart is a heading of a failure model with what stands below it.
type ReviewPart struct {
	Head visible.Text `json:"head"`
	Text visible.Text `json:"text"`
}

// ReviewChange is a question whose answer is another one now.
type ReviewChange struct {
	ID       visible.Text `json:"id"`
	Question visible.Text `json:"question"`
	Was      visible.Text `json:"was"`
	Is       visible.Text `json:"is"`
}

// review is nil for an incident.
func (b *builder) review() {
	if b.st.Kind != triage.Readiness {
		return
	}
	params := map[string]string{}
	for name, v := range b.st.Plan().Params {
		if v.Known() {
			params[name] = v.Text()
		}
	}
	r := &Review{Where: line(b.d.Place.words()), Items: []ReviewItem{}, Components: []ReviewComponent{}, Changed: []ReviewChange{}, Since: line(params["last"])}
	models := map[string]*ReviewItem{}
	for _, s := range b.st.Steps {
		if s.Kind != triage.AskStep || s.Retired {
			continue
		}
		id := s.ID[strings.LastIndexByte(s.ID, '/')+1:]
		value := s.Holds()
		it := ReviewItem{
			ID: line(id), Number: len(r.Items) + 1, Question: line(s.Title), Value: line(value), Said: line(s.Answer), Why: line(s.How), Who: line(b.by[s.EndSeq]),
			Reads: line(s.Proposed), Entry: s.EndSeq, At: b.at[s.EndSeq], Last: line(params["last_"+id]), Evidence: b.reviewReads(s, params),
		}
		it.Disagree = s.Answer != "" && s.Answer != triage.Unknown && s.Proposed != "" && s.Proposed != triage.Unknown && s.Answer != s.Proposed
		for i := range b.d.Debts {
			if b.d.Debts[i].Of == line(s.ID) {
				it.Gap = &b.d.Debts[i]
			}
		}
		if it.Last != "" && value != "" && it.Last != it.Value {
			r.Changed = append(r.Changed, ReviewChange{ID: it.ID, Question: it.Question, Was: it.Last, Is: it.Value})
		}
		if strings.HasPrefix(id, triage.ModelPrefix) {
			it.Number = 0
			models[id] = &it
			continue
		}
		if value == "yes" {
			r.Yes++
		}
		r.Items = append(r.Items, it)
	}
	for _, c := range b.st.Parts {
		out := ReviewComponent{Name: line(c.Name), Said: models[c.Question()]}
		for _, p := range c.Parts {
			out.Parts = append(out.Parts, ReviewPart{Head: line(p.Key), Text: line(p.Value)})
		}
		r.Components = append(r.Components, out)
	}
	b.d.Review = r
}

// reviewReads are the readings that a question stands on: steps, and what the plan was given of this machine.
func (b *builder) reviewReads(s triage.Step, params map[string]string) []ReviewRead {
	out := []ReviewRead{}
	book, id, _ := strings.Cut(s.ID, "/")
	for _, name := range reviewSteps[id] {
		ref := book + "/" + name
		x, ok := b.st.Step(ref)
		if !ok || x.Kind != triage.ProbeStep {
			continue
		}
		says := x.Summary
		if x.Status == triage.Pending || says == "" {
			says = "it was not read (" + string(x.Status) + ")"
		}
		out = append(out, ReviewRead{Step: line(ref), What: line(x.Title), Says: line(says), Known: x.Status == triage.Settled, Entry: x.EndSeq, At: b.at[x.EndSeq]})
	}
	var plan int64
	for _, m := range b.st.Timeline {
		if m.Type == (triage.Plan{}).Type() {
			plan = m.Seq
		}
	}
	for _, c := range machineCounts[id] {
		if n, ok := params[c.param]; ok {
			out = append(out, ReviewRead{What: line(c.what), Says: line(n), Known: true, Entry: plan, At: b.at[plan]})
		}
	}
	return out
}

// reviewSteps are the reads of each question.
var reviewSteps = map[string][]string{
	"bound": {"saved"}, "state": {"versions", "lock"}, "pause": {"everyone"}, "exception": {"excepted"}, "secret": {"delivered"},
}

type machineCount struct{ param, what string }

// machineCounts are what a review is given of the bundles of the machine, by question.
var machineCounts = map[string][]machineCount{
	"unlock":    {{"unlocks", "forced unlocks in the bundles of this machine"}},
	"partial":   {{"practised_apply", "drills of an apply that broke off, won on this machine"}},
	"reconcile": {{"by_hand", "changes by hand that still owe their proof"}, {"unmerged", "changes by gates that Git does not have yet"}},
	"drift":     {{"drift_open", "incidents of drift that are not closed"}},
	"learned":   {{"overdue", "follow-ups past their date"}, {"practised", "drills won on this machine"}},
}

// told says what was said of a failure model, by whom, and who closes its gap.
func (it ReviewItem) told() visible.Text {
	out := visible.Text("")
	if it.Said != "" {
		out += line(fmt.Sprintf(": said %s by %s, entry %d, %s", it.Said, it.Who, it.Entry, orText(it.Why, "without a word")))
	}
	if it.Disagree {
		out += line(fmt.Sprintf("; read %s", it.Reads))
	}
	if it.Gap != nil {
		out += line(fmt.Sprintf("; %s, until %s", orText(it.Gap.By, "no owner"), orText(it.Gap.Until, "no date")))
	}
	return out
}

// reviewPage is a review as one page.
func reviewPage(d Document) []Block {
	p := &page{}
	r := d.Review
	p.add(TitleBlock, spans("%s", d.Title)...)
	p.gap()
	p.add(QuoteBlock, spans("**%d of %d** hold. %s", r.Yes, len(r.Items), orText(d.Outcome, "The review goes on."))...)
	p.gap()
	p.item("Bundle", d.Incident)
	p.item("Begun", line(stamp(d.Opened)))
	p.item("Where", line(d.Place.words()))
	for _, x := range d.People {
		p.item("With", line(fmt.Sprintf("%s (%s)", x.Name, x.Proof)))
	}
	p.section("The fourteen")
	p.table("", "question", "is", "said", "read", "by whom", "owner", "until")
	for _, it := range r.Items {
		owner, until := visible.Text(""), visible.Text("")
		if it.Gap != nil {
			owner, until = it.Gap.By, it.Gap.Until
		}
		p.row(line(fmt.Sprint(it.Number)), it.Question, orText(it.Value, "not answered"), it.Said, it.Reads, it.Who, owner, until)
	}
	p.section("Said and read are not the same")
	none := true
	for _, it := range r.Items {
		if it.Disagree {
			none = false
			p.add(ItemBlock, spans("**%s** Said: **%s** by %s, %s. Read: **%s**. It counts as %s.", it.Question, it.Said, it.Who, orText(it.Why, "without a word"), it.Reads, it.Value)...)
		}
	}
	if none {
		p.text("Nothing that was said is contradicted by what was read.")
	}
	p.section("What changed since the last review")
	switch {
	case r.Since == "":
		p.text("There is no earlier review on this machine.")
	case len(r.Changed) == 0:
		p.text("Nothing changed since %s.", r.Since)
	}
	for _, c := range r.Changed {
		p.add(ItemBlock, spans("%s Was %s, is %s.", c.Question, c.Was, c.Is)...)
	}
	p.section("Follow-ups")
	for _, f := range d.FollowUps {
		p.add(TaskBlock, spans("%s (%s, until %s)", f.What, orText(f.Who, "no owner"), orText(f.Until, "no date"))...)
	}
	if len(d.FollowUps) == 0 {
		p.text("None.")
	}
	p.section("Evidence")
	for _, it := range r.Items {
		p.heading("%d. %s", it.Number, it.Question)
		if it.Said != "" {
			p.add(ItemBlock, spans("said %s by %s, entry %d, %s: %s", it.Said, it.Who, it.Entry, line(stamp(it.At)), orText(it.Why, "without a word"))...)
		}
		for _, e := range it.Evidence {
			p.add(ItemBlock, spans("read: %s: %s (entry %d, %s)", e.What, e.Says, e.Entry, orText(line(stamp(e.At)), "not read"))...)
		}
		if it.Said == "" && len(it.Evidence) == 0 {
			p.add(ItemBlock, spans("nothing was said or read")...)
		}
		p.gap()
	}
	p.section("Failure models")
	for _, c := range r.Components {
		p.heading("%s", c.Name)
		if it := c.Said; it != nil {
			p.add(ItemBlock, spans("%s **%s**%s", it.Question, orText(it.Value, "not answered"), it.told())...)
		}
		p.table("", "")
		for _, part := range c.Parts {
			p.row(part.Head, part.Text)
		}
		p.gap()
	}
	p.verification(d)
	return p.blocks
}
