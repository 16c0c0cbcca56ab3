package view

import (
	"strings"
	"time"

	"handrail/runbooks"
	"handrail/session/approval"
	"handrail/session/live"
	"handrail/steps"
	"handrail/triage"
)

// Snapshot is what a driver may show: the state of the incident, what can be
// done now, and what is running. It is immutable; a new one is made of all that one
// call of the session recorded, and one for each line that a step prints.
type Snapshot struct {
	Serial   int64 // how many the session published before; 0 in a replay
	State    triage.State
	Options  []triage.Option // computed once an event, for the moment Made
	Made     time.Time
	Running  []Running
	Cards    map[string]Card     // by step id: the texts of each step with facts filled in
	Gate     *Gate               // the gate in front of the call, nil for none
	Lowers   *Second             // the second person for whom a lower severity waits, nil for none
	Header   []steps.KV          // cluster, workspace, host: what the incident is about
	Where    []steps.KV          // what it is about by its own targets: directory, workspace, backend, context
	Next     []Lead              // runbooks that the present one proposes to go on with
	Blobs    map[int64][]BlobRef // by entry
	Bundle   string              // path of the bundle
	Anchor   Anchor              // what to post in the channel of the incident
	Sealed   bool                // the bundle ends with a seal
	ReadOnly string              // by what no gate of the incident can be armed, "" for nothing
	Dead     string              // why nothing can be recorded any more, "" while all is well
}

// Running is a step in flight.
type Running struct {
	Step    string
	Kind    string
	Started time.Time
	Until   time.Time // when it is cut off; zero where nothing cuts it off, and in a replay
	Log     *live.Log // all that it printed, as far as that is kept; nil in a replay
	Lines   []string  // the newest lines of progress, redacted, oldest first, at most 200
	Act     bool      // an act, which cannot be cancelled but only interrupted
}

// Naming says what the words of an answer, or of a step by hand under "", must name; ""
// for nothing.
func (c Card) Naming(answer string) string { return runbooks.Naming(c.Names[answer]) }

// Card is what a step says to the people on the call.
type Card struct {
	Title    string
	Say      string              // guidance, what to do and why
	Ask      string              // of an ask
	Evidence string              // what the answer must name
	Names    map[string][]string // what the words must name, by answer; of a manual step under ""
	Practice string              // of a manual step in a drill: where a person does it
	Show     []steps.KV
	Graph    *steps.Graph // what a probe drew, and what a question is about that shows it; nil for none
	Rows     []steps.KV   // of a compare: what it sets side by side, by field
	Answers  []Choice
	Doc      string   // of the kind
	Touches  []string // of the kind
	With     []steps.KV
	Missing  []string         // facts that must be known before the step can start
	Proposed string           // of a conclude and an ask: the value that the facts propose
	Grounds  []string         // the facts and answers that decided
	Why      string           // in words; recorded with the answer of a person who agrees
	Values   []Choice         // of a conclude: what may be concluded
	Shut     []triage.Refusal // why a probe or a watch that is open cannot be started now, beyond its Option
	Aside    string           // why it does not apply here, "" where it does or is not known
}

// Choice is one value and what it means.
type Choice struct {
	Value string
	Help  string
}

// Gate is the gate in front of the call, shown whether or not it can be armed.
type Gate struct {
	Step     string
	Title    string
	Phase    triage.GatePhase
	Class    triage.Class
	Preview  steps.Preview
	Digest   steps.Digest
	Verdicts []triage.Verdict
	Refusals []triage.Refusal // laws and floors that are not met; empty when armed
	Evidence []Cited          // what its conditions stand on
	Waived   []triage.Waiver  // what a person answers for in the place of an owner that is paused
	Until    time.Time        // when the preview expires, zero while it is not armed
	Wrong    int              // wrong phrases so far; the gate closes after as many as Tries
	WrongAt  int              // the character at which the newest wrong phrase differs, from 1
	Moved    []string         // what moved, after a re-read that differed
	Outcome  string
	Response string
	After    []steps.KV
	Second   *Second // the second person that policy asks for; nil where it asks for none
}

// Second is what is known of the second person that a gate needs.
type Second struct {
	Why     string
	May     []string         // who may approve
	Lacks   []triage.Refusal // why no approval holds; nil while one does
	By      []triage.Approve // the approvals of what is shown, oldest first
	Request string           // to send to who may, "" while the gate is not armed
}

// Cited is a piece of evidence that a gate stands on.
type Cited struct {
	Step string
	Text string
	At   time.Time
	Seq  int64
}

// BlobRef is a raw artifact of an entry.
type BlobRef struct {
	Role  string
	SHA   string
	Size  int64
	Media string
}

// ApprovalOf is what waits for a second person and what an approval that was handed in
// is of: a lower severity, else the gate in front; "" where nothing waits.
func (s Snapshot) ApprovalOf(line string) string {
	a, err := approval.ParseApproval(line)
	if s.Lowers != nil && (s.Gate == nil || s.Gate.Second == nil || err == nil && strings.HasPrefix(s.State.Lowering.Digest, a.Digest)) {
		return triage.SeverityGate
	}
	if s.Gate != nil {
		return s.Gate.Step
	}
	return ""
}

// NoGate says, once the call came to the repair, that no gate of the runbook opens for it,
// and lists why, in words; ok is false while one may still open, and once something was
// repaired. Where a gate applies, head says that it is shut, and those that do not apply
// are named in one line: their conditions say nothing of what to do now.
func (s Snapshot) NoGate() (head string, list []string, ok bool) {
	unserved, ok := s.State.NoGate(s.Options)
	shut := 0
	var aside []string
	for _, u := range unserved {
		if u.Aside {
			aside = append(aside, s.Title(u.Gate))
			continue
		}
		shut++
		list = append(list, s.Title(u.Gate)+": "+s.Words(u.Gate, u.Why))
	}
	switch {
	case shut == 0:
		for _, u := range unserved {
			why := u.Why
			if aside := s.Cards[u.Gate].Aside; aside != "" {
				why = aside
			}
			list = append(list, s.Title(u.Gate)+": "+s.Words(u.Gate, why))
		}
		return "No gate of this runbook serves the repair.", list, ok
	case len(aside) > 0:
		list = append(list, "Not needed here, or passed over: "+strings.Join(aside, "; "))
	}
	if shut > 1 {
		return "The gates of the repair are shut.", list, ok
	}
	return "The gate of the repair is shut.", list, ok
}

// Anchor is the line that stands for the journal as it is now. Posted where the
// author of the bundle cannot change it, it proves later that nothing before it
// was changed or cut.
type Anchor struct {
	Line string
	Due  string // why it should be posted now, "" while it need not be
}
