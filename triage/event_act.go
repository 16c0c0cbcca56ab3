package triage

import (
	"maps"
	"slices"
	"time"
)

// Events of an act. Between the two of them nothing else may change the world.

// ActStart is durable before the first byte of an act leaves.
type ActStart struct {
	Step    string `json:"step"`
	Digest  string `json:"digest"`
	Request string `json:"request"`
	Before  []KV   `json:"before"`
	Undo    *Kept  `json:"undo,omitempty"` // what the act can be undone from; nil where nothing is
	Slot    *Slot  `json:"slot,omitempty"` // where alone it can be claimed; nil in journals of before
}

// Type implements [Body].
func (ActStart) Type() string { return "act.start" }

func (b ActStart) fold(f *folder) error {
	g, err := f.gate(b.Step)
	switch {
	case err != nil:
		return err
	case g.Phase != GateConfirmed:
		return f.refuse("gate %q is not confirmed", b.Step)
	case b.Digest != g.Digest:
		return f.refuse("the act of %q is not the one confirmed", b.Step)
	case f.e.At.After(g.Shown.Until):
		return f.refuse("the confirmation of %q has expired", b.Step)
	}
	i := f.find(b.Step)
	rs := append(gateLaws(&f.s, &f.s.Steps[i]), secondLaws(&f.s, g, f.e.At, f.e.Actor)...)
	if len(rs) > 0 {
		return f.unlawful(rs)
	}
	for _, id := range f.armed() {
		if id != b.Step {
			f.disarm(id, b.Step+" began to act")
		}
	}
	g.Phase, g.Before, g.Kept, g.After, g.Response, g.Items, g.StartSeq = GateActing, b.Before, b.Undo, nil, "", nil, f.e.Seq
	g.Slot, g.Again, g.AgainSeq = b.Slot, ActAgain{}, 0
	g.Actor, g.As = f.e.Actor, f.s.Users.Of(f.s.Steps[i].Uses, f.e.Actor)
	f.dropReread(b.Step)
	f.setGate(g)
	f.s.Acting = b.Step
	st := f.step(i)
	st.Status, st.Started, st.Attempts = Running, f.e.At, st.Attempts+1
	return nil
}

func (b ActStart) moment(_ *folder) Moment {
	return Moment{Step: b.Step, Text: because(b.Step+" acts", b.Request), Level: "critical"}
}

// Slot is the one place where an act can be claimed, made before the act is
// recorded: found unclaimed where it was made, it proves that nothing began.
type Slot struct {
	Nonce   string `json:"nonce"`
	File    string `json:"file,omitempty"`    // which file it is, so that no copy of it counts
	Host    string `json:"host,omitempty"`    // name of the machine
	Boot    string `json:"boot,omitempty"`    // id of the boot of that machine
	Machine string `json:"machine,omitempty"` // id of the machine
	Up      string `json:"up,omitempty"`      // a Go duration: how long it was up, suspends counted
}

// Kept is what an act can be undone from: a file encrypted outside the
// bundle, or, where nothing in it is secret, an artifact of the bundle.
type Kept struct {
	Command    string   `json:"command"` // puts it back
	Blob       string   `json:"blob"`    // the artifact, whole where there is no file
	Path       string   `json:"path,omitempty"`
	SHA256     string   `json:"sha256,omitempty"`
	Bytes      string   `json:"bytes,omitempty"` // before encryption
	Recipients []string `json:"recipients,omitempty"`
}

// ActEnd says what an act came to.
type ActEnd struct {
	Step     string `json:"step"`
	Digest   string `json:"digest"`
	Outcome  string `json:"outcome"` // done, refused, failed or unknown
	Response string `json:"response,omitempty"`
	After    []KV   `json:"after,omitempty"`
	// Items are the acts of a batch, in order; nil for a gate that acts once.
	Items []Item `json:"items,omitempty"`
	// Audit are the Audit-IDs of the requests that handrail sent for the act:
	// the last reads before it, the write, and the reads after it.
	Audit []string `json:"audit,omitempty"`
}

// Type implements [Body].
func (ActEnd) Type() string { return "act.end" }

// fold ends an act, or says what was found of one whose end was lost.
func (b ActEnd) fold(f *folder) error {
	g, ok := f.s.Gates[b.Step]
	switch {
	case !ok || (g.Phase != GateActing && g.Phase != GateUnknown):
		return f.refuse("no act of %q has begun", b.Step)
	case b.Digest != g.Digest:
		return f.refuse("the end of %q is not of the act that began", b.Step)
	}
	ends := map[string]GatePhase{"done": GateDone, "refused": GateRefused, "failed": GateFailed, Unknown: GateUnknown}
	to, ok := ends[b.Outcome]
	if !ok {
		return f.refuse("%q is not an outcome of an act", b.Outcome)
	}
	g.Found = g.Phase == GateUnknown
	g.Phase, g.After, g.Response, g.Items, g.EndSeq = to, b.After, b.Response, b.Items, f.e.Seq
	f.setGate(g)
	f.owesReread(g)
	f.s.Acting = ""
	st := f.step(f.find(b.Step))
	st.Outcome, st.Summary = b.Outcome, b.Response
	switch to {
	case GateDone:
		f.settled(st, Settled)
	case GateUnknown:
		f.settled(st, CannotTell)
	default:
		f.settled(st, Pending)
	}
	if to != GateRefused {
		f.unprove()
		f.overtake(b.Step, g.StartSeq, to == GateFailed)
	}
	return nil
}

func (b ActEnd) moment(_ *folder) Moment {
	m := Moment{Step: b.Step, Text: because(b.Step+" "+b.Outcome, b.Response), Level: "info"}
	if b.Outcome != "done" {
		m.Level = "critical"
	}
	return m
}

// overtake outdates what was read before an act of a gate that stands in front of it: what
// such a step is to read is what the gate leaves. Of an act that failed it outdates as well what the gate itself stands on in
// recover: it is to be done again, on what is there now. To pause and to resume change nothing of that.
func (f *folder) overtake(gate string, since int64, failed bool) {
	at := f.find(gate)
	if st := &f.s.Steps[at]; st.Class == Contain || resumes(st.Uses) || st.Retired {
		return
	}
	var behind []string
	for i := range f.s.Steps {
		st := &f.s.Steps[i]
		read := st.Kind == ProbeStep || st.Kind == CompareStep
		if (i > at || failed && slices.Contains(f.s.Steps[at].Refs, st.ID)) && read && !st.Retired && st.EndSeq < since && (st.Phase == Recover || st.Phase == Verify) {
			behind = append(behind, st.ID)
		}
	}
	f.stale(behind, gate+" acted after it was read")
}

// DebtOpened is what an act leaves owing.
type DebtOpened struct {
	ID   string     `json:"id"`
	Kind string     `json:"kind"` // reconcile, resume or unfinished
	Of   string     `json:"of"`   // the step that owes it
	Text string     `json:"text"`
	Due  *time.Time `json:"due,omitempty"`
}

// Type implements [Body].
func (DebtOpened) Type() string { return "debt" }

func (b DebtOpened) fold(f *folder) error {
	switch {
	case blank(b.ID) || f.debt(b.ID) >= 0:
		return f.refuse("debt %q has no name of its own", b.ID)
	case f.s.Kind == Readiness:
		if i := f.find(b.Of); i < 0 || f.s.Steps[i].Kind != AskStep || b.Kind != questionOf(b.Of) || blank(b.Text) {
			return f.refuse("a review owes what its questions find, and %q is none of them", b.Kind)
		}
	case !slices.Contains([]string{"reconcile", "resume", "unfinished"}, b.Kind):
		return f.refuse("%q is not a kind of debt", b.Kind)
	case f.find(b.Of) < 0:
		return f.refuse("debt %q is of %q, which no plan has", b.ID, b.Of)
	}
	if !f.own.debts {
		f.s.Debts, f.own.debts = slices.Clone(f.s.Debts), true
	}
	f.s.Debts = append(f.s.Debts, Debt{DebtOpened: b, Seq: f.e.Seq})
	return nil
}

func (b DebtOpened) moment(_ *folder) Moment {
	return Moment{Step: b.Of, Text: because("owes "+b.Kind+" "+b.ID, b.Text), Level: "warning"}
}

// Settle pays, carries or waives a debt.
type Settle struct {
	Debt   string `json:"debt"`
	How    string `json:"how"` // paid, carried or waived
	Proof  string `json:"proof,omitempty"`
	Owner  string `json:"owner,omitempty"`
	Until  string `json:"until,omitempty"` // a date, 2006-01-02
	Person string `json:"person,omitempty"`
	Why    string `json:"why,omitempty"`
}

// Type implements [Body].
func (Settle) Type() string { return "settle" }

// fold pays, carries or waives a debt. One that is carried may be settled
// again, also after the close.
func (b Settle) fold(f *folder) error {
	i := f.debt(b.Debt)
	if i < 0 {
		return f.refuse("there is no debt %q", b.Debt)
	}
	if how := f.s.Debts[i].Settled.How; how != "" && how != "carried" {
		return f.refuse("debt %q is already %s", b.Debt, how)
	}
	if lacks := settleLacks(b); lacks != "" {
		return f.refuse("settling debt %q needs %s", b.Debt, lacks)
	}
	if lacks := f.s.proofLacks(f.s.Debts[i]); lacks != "" && b.How == "paid" {
		return f.refuse("debt %q is paid by a read after the repair, and %s", b.Debt, lacks)
	}
	if !f.own.debts {
		f.s.Debts, f.own.debts = slices.Clone(f.s.Debts), true
	}
	f.s.Debts[i].Settled = b
	return nil
}

func (b Settle) moment(_ *folder) Moment {
	m := Moment{Text: because("debt "+b.Debt+" waived by "+b.Person, b.Why), Level: "info"}
	switch b.How {
	case "paid":
		m.Text = because("debt "+b.Debt+" paid", b.Proof)
	case "carried":
		m.Text = "debt " + b.Debt + " carried by " + b.Owner + " until " + b.Until
	}
	return m
}

// BeforeAct is the state as it would be had the act under way not begun: its gate
// is confirmed, and whatever was recorded since stands. An executor asks the laws
// of it once more.
func (s State) BeforeAct() State {
	id := s.Acting
	g, ok := s.Gates[id]
	if !ok {
		return s
	}
	s.Acting = ""
	g.Phase = GateConfirmed
	s.Gates = maps.Clone(s.Gates)
	s.Gates[id] = g
	s.Steps = slices.Clone(s.Steps)
	if i := slices.IndexFunc(s.Steps, func(st Step) bool { return st.ID == id }); i >= 0 {
		s.Steps[i].Status = Pending
	}
	return s
}
