package triage

import "slices"

// Events about the call itself: who, how bad, where in the loop, what was said.

func (f *folder) open(b Open) error {
	if blank(b.Incident) {
		return f.refuse("it names no incident")
	}
	if !slices.Contains(severities(), b.Severity) {
		return f.refuse("%q is no severity", b.Severity)
	}
	f.s.Incident, f.s.Title, f.s.Drill = b.Incident, b.Title, b.Drill
	f.s.Severity, f.s.Worst, f.s.Opened, f.s.Rules = b.Severity, b.Severity, f.e.At, b.Rules
	f.s.Operator = f.e.Actor
	f.enter(Declare, "")
	return nil
}

// handover changes whose keyboard it is. It says from whom, so that a journal in
// which somebody else just goes on does not fold.
func (f *folder) handover(b Handover) error {
	gives := blank(b.To)
	switch {
	case blank(b.Why) || gives && blank(b.For):
		return f.refuse("a hand-over names who goes on, and why")
	case gives && f.s.Operator == "":
		return f.refuse("nobody is at the keyboard who could hand over")
	case gives && f.s.Acting != "":
		return f.refuse("%s is acting, and somebody must see how that ends", f.s.Acting)
	case b.From != f.s.Operator:
		return f.refuse("it is handed over by %q, and %q is at the keyboard", b.From, f.s.Operator)
	case b.To == b.From:
		return f.refuse("%q cannot hand over to themselves", b.From)
	}
	from := b.From
	if from == "" {
		from = f.s.Handed.From
	}
	f.s.Operator = b.To
	f.s.Handed = Handed{From: from, To: b.To, For: b.For, Why: b.Why, At: f.e.At, Seq: f.e.Seq}
	return nil
}

// GivenOver reports whether the one at the keyboard handed over, and nobody has
// taken it yet.
func (s State) GivenOver() bool { return s.Operator == "" && s.Handed.Seq > 0 }

func (f *folder) person(b Person) error {
	if blank(b.ID) {
		return f.refuse("the person has no id")
	}
	if !slices.Contains([]string{"kube", "ssh", "os", "claimed"}, b.Proof) {
		return f.refuse("%q is no proof of who somebody is", b.Proof)
	}
	if !f.own.people {
		f.s.People, f.own.people = slices.Clone(f.s.People), true
	}
	for i := range f.s.People {
		if f.s.People[i].ID == b.ID {
			f.s.People[i] = b
			return nil
		}
	}
	f.s.People = append(f.s.People, b)
	return nil
}

func (f *folder) phase(b PhaseSet) error {
	if !slices.Contains(Phases(), b.To) {
		return f.refuse("%q is no phase", b.To)
	}
	f.enter(b.To, b.Why)
	f.s.Return, f.s.ReturnWhy = "", ""
	return nil
}

func (f *folder) note(b Note) error {
	if blank(b.Text) {
		return f.refuse("the note is empty")
	}
	return nil
}

func (f *folder) correct(b Correct) error {
	if b.Seq < 0 || b.Seq > f.s.Seq {
		return f.refuse("there is no earlier entry %d to correct", b.Seq)
	}
	if blank(b.Text) {
		return f.refuse("the correction of entry %d is empty", b.Seq)
	}
	return nil
}

// waive sets a law aside for one subject. The waiver is what counts, not the
// status: a waived capture that is tried again and fails stays waived.
func (f *folder) waive(b Waive) error {
	if !slices.Contains([]int{LawNone, 1, 8, 12}, b.Law) {
		return f.refuse("law %d cannot be waived", b.Law)
	}
	if blank(b.Person) || blank(b.Why) {
		return f.refuse("a waiver needs a named person and a reason")
	}
	if blank(b.Subject) {
		return f.refuse("the waiver has no subject")
	}
	switch b.Law {
	case LawNone:
		return f.overrule(b)
	case 12:
		f.addWaiver(b)
		return nil
	}
	i := f.find(b.Subject)
	if i < 0 {
		return f.refuse("the plan has no step %q", b.Subject)
	}
	if b.Law == 1 && !isCapture(&f.s.Steps[i]) {
		return f.refuse("step %q is not a required capture", b.Subject)
	}
	if st := &f.s.Steps[i]; b.Law == 8 && !isProof(st) && (st.Phase != Verify || st.Kind != AskStep) {
		return f.refuse("step %q proves no recovery", b.Subject)
	}
	if st := f.step(i); st.Status != Settled && st.Status != Running {
		st.Status = Waived
	}
	f.addWaiver(b)
	return nil
}

func (f *folder) addWaiver(b Waive) {
	if !f.own.waivers {
		f.s.Waivers, f.own.waivers = slices.Clone(f.s.Waivers), true
	}
	f.s.Waivers = append(f.s.Waivers, Waiver{Waive: b, Seq: f.e.Seq, Actor: f.e.Actor, At: f.e.At})
}

func (f *folder) close(b Close) error {
	if rs := closeLaws(&f.s, b.Outcome); len(rs) > 0 {
		return f.unlawful(rs)
	}
	for _, id := range f.armed() {
		f.disarm(id, "the incident was closed")
	}
	f.s.Outcome, f.s.Closed = b.Outcome, f.e.At
	return nil
}
