// Package triage is the universal triage loop as a pure state machine.
//
// [Fold] takes a state and an event and gives the next state; [Options] says
// which intents are available in a state and why each other one is refused. What
// an event says of values, targets and debts is in the nouns of package record.
// There is no I/O, no clock and no randomness in it: the same events give the
// same state on every machine, in a resume, a replay, a report and an audit.
//
// The laws that a gate must satisfy (docs/decisions.md, Laws) are checked in [Options]
// and again, for events that claim them, in [Fold]: a journal in which an act
// starts without a confirmed gate does not fold.
package triage

import (
	"time"

	"handrail/triage/record"
)

// Phase is one of the ten phases of the loop.
type Phase string

// The phases, in the order of the loop. Going back is normal.
const (
	Declare   Phase = "declare"
	Preserve  Phase = "preserve"
	Locate    Phase = "locate"
	Mutation  Phase = "mutation"
	Compare   Phase = "compare"
	Classify  Phase = "classify"
	Authority Phase = "authority"
	Recover   Phase = "recover"
	Verify    Phase = "verify"
	Learn     Phase = "learn"
)

// Phases lists the phases in the order of the loop.
func Phases() []Phase {
	return []Phase{Declare, Preserve, Locate, Mutation, Compare, Classify, Authority, Recover, Verify, Learn}
}

// StepKind is what a step of a runbook is.
type StepKind string

// The kinds of steps.
const (
	ProbeStep    StepKind = "probe"
	AskStep      StepKind = "ask"
	ManualStep   StepKind = "manual"
	CompareStep  StepKind = "compare"
	ConcludeStep StepKind = "conclude"
	GateStep     StepKind = "gate"
	WatchStep    StepKind = "watch"
	NoteStep     StepKind = "note"
)

// Class is the class of a gate: on which terms it opens (docs/decisions.md, Gates).
type Class = record.Class

// The classes of gates.
const (
	Contain = record.Contain
	Release = record.Release
	Repair  = record.Repair
	Rerun   = record.Rerun
)

// Severity is SEV-1 (worst) to SEV-4.
type Severity string

// The severities (docs/decisions.md, Severities).
const (
	Sev1 Severity = "SEV-1"
	Sev2 Severity = "SEV-2"
	Sev3 Severity = "SEV-3"
	Sev4 Severity = "SEV-4"
)

// Topic is a question that the loop settles by conclusion.
type Topic string

// The topics, with the values each may take beside `unknown`.
const (
	TopicDomain     Topic = "domain"     // a row of [Domains], by its slug
	TopicMutation   Topic = "mutation"   // yes, no
	TopicConsistent Topic = "consistent" // yes, no
	TopicClass      Topic = "class"      // a row of [FailureStates]
	TopicOwner      Topic = "owner"      // free text: who owns the next transition
	TopicReverts    Topic = "reverts"    // yes, no
)

// Unknown is the value of a topic or an answer that is not known.
const Unknown = "unknown"

// Verdict is one condition of a gate as it was judged. Only Result "true"
// opens; "false", "unknown", "error" and "stale" refuse.
type Verdict struct {
	Expr    string   `json:"expr,omitempty"`
	Result  string   `json:"result"`
	Why     string   `json:"why,omitempty"`     // the runbook's else, or what is missing
	Missing []string `json:"missing,omitempty"` // facts or answers that are unknown
	Refs    []string `json:"refs,omitempty"`    // the steps it depends on
	Aged    []string `json:"-"`                 // of a stale one: the steps that are too old, without their runbook
	Unread  bool     `json:"-"`                 // what a question is about was not read
	Aside   bool     `json:"-"`                 // it says whether the step applies at all, and nothing of whether it may open
	Params  []string `json:"-"`                 // of a false one that rests on parameters alone: those that were not given

	// At is when a condition that does not hold will, by the age of what was read
	// alone; zero where time does not make it true. Then it takes a new reading.
	At time.Time `json:"at,omitzero"`
}

// IntentKind names what a person or a script may ask for.
type IntentKind string

// The intents.
const (
	DoProbe     IntentKind = "probe"     // Step: run a probe or one sample of a watch
	DoCancel    IntentKind = "cancel"    // Step: stop a running probe
	DoAnswer    IntentKind = "answer"    // Step, Value, Text (how)
	DoManual    IntentKind = "manual"    // Step, Text (proof)
	DoSkip      IntentKind = "skip"      // Step, Text (why)
	DoConclude  IntentKind = "conclude"  // Topic, Value, Text (why), Person, Provisional
	DoPreview   IntentKind = "preview"   // Step: show a gate's preview, arm it when nothing is unmet
	DoConfirm   IntentKind = "confirm"   // Step, Typed, Pasted: confirm, re-read and act
	DoDisarm    IntentKind = "disarm"    // Step, Text (why)
	DoApprove   IntentKind = "approve"   // Step, Sig: the approval as it was sent back; the session fills in the rest
	DoInterrupt IntentKind = "interrupt" // Step: one interrupt to a running act
	DoSeverity  IntentKind = "severity"  // Severity, Text
	DoPhase     IntentKind = "phase"     // Phase, Text
	DoNote      IntentKind = "note"      // Text
	DoCorrect   IntentKind = "correct"   // Entry, Text
	DoPerson    IntentKind = "person"    // Who
	DoHand      IntentKind = "hand"      // Hand: record a repair that was made outside of handrail
	DoSettle    IntentKind = "settle"    // Debt
	DoWaive     IntentKind = "waive"     // Law, Step (subject), Person, Text, Findings (of law 0)
	DoResolve   IntentKind = "resolve"   // Finding: answer a critical finding that shuts no gate
	DoDrift     IntentKind = "drift"     // Drift: answer what is not known of the difference
	DoClose     IntentKind = "close"     // Value (outcome), Text; Person, of another outcome than recovered
	DoHandOver  IntentKind = "handover"  // Person (for whom), Text (why): give the incident over
	DoPlan      IntentKind = "plan"      // Value: another runbook, with parameters in Params
)

// Intent is what the operator wants. Seen is the sequence number of the newest
// entry that the person saw.
type Intent struct {
	Kind        IntentKind
	Step        string
	Topic       Topic
	Value       string
	Proposed    string // of a conclude: what the rules propose; filled in by the session, never by the asker
	Text        string
	Person      string
	Provisional bool
	Phase       Phase
	Severity    Severity
	Typed       string
	Pasted      bool
	Digest      string
	Sig         string
	Key         string    // of an approve; filled in by the session, never by the asker
	Signed      time.Time // of an approve; filled in by the session, never by the asker
	Law         int
	Findings    []string // of a waive that overrules: the texts that the person saw
	Entry       int64
	Who         Person
	Debt        Settle
	Finding     FindingAnswer
	Drift       DriftAnswer
	Hand        HandAct // its ID is given by the loop
	Params      map[string]string
	Seen        int64
	Script      bool // of an answer or a conclude: an answers file says so
	ByItself    bool // of a preview: it began after a person's words, and no key asked for it
}

// Refusal says why an intent is not available, and what would make it so. Law
// is 0 where no law (docs/decisions.md, Laws) is the reason.
type Refusal struct {
	Law  int       `json:"law,omitempty"`
	Why  string    `json:"why"`
	Cure string    `json:"cure,omitempty"`
	At   time.Time `json:"at,omitzero"` // when time alone has met it; zero where it does not

	Params []string `json:"-"` // one of which meets it, once it is given
}

// Opens is when time has met all that time alone meets of a list of refusals, zero
// where it meets none. alone says that nothing else stands in the way then.
func Opens(rs []Refusal) (at time.Time, alone bool) {
	alone = true
	for _, r := range rs {
		if r.At.After(at) {
			at = r.At
		}
		alone = alone && !r.At.IsZero()
	}
	return at, alone && !at.IsZero()
}

// Option is one intent that the state knows of: available when Refusals is
// empty. Recommended marks what the loop would do next; at most one option is.
type Option struct {
	Kind        IntentKind
	Step        string
	Topic       Topic
	Subject     string // debt id, owner, capture or text of a finding, where Step and Topic do not say it
	Value       string // a proposed value, where there is one
	Refusals    []Refusal
	Stale       []string // steps that only have to be read or answered again for a gate to open
	Aside       bool     // of a preview: the gate does not apply, by its own condition
	Recommended bool
	Sheet       int  // of a word: its place among those that stand on one sheet, from 1; 0 for none
	Follows     bool // of a heavy read: it is what the loop wants after the words of the sheet
	Leans       bool // only where the facts propose a conclusion, or all before it, that waits for another word of the sheet
}

// Available reports whether the intent may be sent.
func (o Option) Available() bool { return len(o.Refusals) == 0 }

// Refused is the error of an intent that is not available. It is not a fault:
// it says what the loop needs first.
type Refused struct {
	Intent   IntentKind
	Step     string
	Refusals []Refusal
}

func (r *Refused) Error() string {
	out := string(r.Intent)
	if r.Step != "" {
		out += " " + r.Step
	}
	out += " refused"
	for i, f := range r.Refusals {
		if i == 0 {
			out += ": "
		} else {
			out += "; "
		}
		out += f.Why
	}
	return out
}
