package session

import (
	"time"

	"handrail/steps"
	"handrail/triage"
)

// Snapshot is what a driver may show: the state of the incident, what can be
// done now, and what is running. It is immutable; a new one is made after every
// event.
type Snapshot struct {
	State   triage.State
	Options []triage.Option // computed once an event, for the moment Made
	Made    time.Time
	Running []Running
	Cards   map[string]Card     // by step id: the texts of each step with facts filled in
	Gate    *Gate               // the gate in front of the call, nil for none
	Header  []steps.KV          // cluster, workspace, host: what the incident is about
	Next    []Lead              // runbooks that the present one proposes to go on with
	Blobs   map[int64][]BlobRef // by entry
	Bundle  string              // path of the bundle
	Anchor  Anchor              // what to post in the channel of the incident
	Dead    string              // why nothing can be recorded any more, "" while all is well
}

// Running is a step in flight.
type Running struct {
	Step    string
	Kind    string
	Started time.Time
	Lines   []string // the newest lines of progress, redacted, oldest first, at most 200
	Act     bool     // an act, which cannot be cancelled but only interrupted
}

// Card is what a step says to the people on the call.
type Card struct {
	Title    string
	Say      string // guidance, what to do and why
	Ask      string // of an ask
	Evidence string // what the answer must name
	Show     []steps.KV
	Answers  []Choice
	Doc      string   // of the kind
	Touches  []string // of the kind
	With     []steps.KV
	Missing  []string // facts that must be known before the step can start
	Proposed string   // of a conclude: the value that the facts propose
	Grounds  []string
	Why      string
	Values   []Choice // of a conclude: what may be concluded
	Aside    string   // why it does not apply here, "" where it does or nobody can tell
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
	Until    time.Time        // when the preview expires, zero while it is not armed
	Wrong    int              // wrong phrases so far; the third closes the gate
	WrongAt  int              // the character at which the newest wrong phrase differs, from 1
	Moved    []string         // what moved, after a re-read that differed
	Outcome  string
	Response string
	After    []steps.KV
}

// Cited is a piece of evidence that a gate stands on.
type Cited struct {
	Step string
	Text string
	At   time.Time
	Seq  int64
}

// Lead is a runbook that the present one proposes to go on with.
type Lead struct {
	Runbook string
	Why     string
	Params  map[string]string
}

// BlobRef is a raw artifact of an entry.
type BlobRef struct {
	Role  string
	SHA   string
	Size  int64
	Media string
}
