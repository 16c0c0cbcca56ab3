package triage

import (
	"strings"
	"time"
)

// State is everything the loop knows after some prefix of the journal. It is a
// value: Fold never changes the maps and slices of the state it was given
// (slices only grow at the end, and the state that was given keeps its length).
type State struct {
	Incident string
	Title    string
	Drill    string
	Kind     string      // Readiness for a review, "" for an incident
	Parts    []Component // of a review: the components whose failure model is stated
	Opened   time.Time
	Updated  time.Time
	Seq      int64 // of the newest event folded
	Severity Severity
	Worst    Severity // that it ever had: rules of two persons look at it
	Rules    []KV     // the team's files in force when it was opened
	Phase    Phase
	Walk     []Stay // the phases in the order they were entered; the last is Phase
	People   []Person
	Users    Users  // as which user of the system each acts
	Operator string // whose keyboard it is, "" in a journal that does not tell and once it was given over
	Handed   Handed // the newest hand-over
	Plans    []Plan // the newest is in force; facts of the earlier ones stay
	Steps    []Step // of all plans, in the order of the loop
	Topics   map[Topic]Conclusion
	Gates    map[string]GateState // by step id
	Past     []GateState          // as gates stood after an act, when they were shown again
	Lowering GateState            // a lower severity that waits for a second person, Phase idle for none
	Hands    []Hand               // repairs by hand, outside of handrail
	Debts    []Debt
	Waivers  []Waiver
	Drift    []DriftSaid
	Answered []Answered // critical findings that shut no gate
	Gone     []Gone     // critical findings that a later reading does not find any more
	Timeline []Moment
	Acting   string   // the step whose act is running, "" for none
	Rereads  []Reread // targets to read again, in the order of their acts
	Outcome  string   // set by close: recovered, open or aborted
	Closed   time.Time

	// Return is the phase that the loop proposes to go back to, "" for none: a
	// moved target or a red sample proposes compare. A phase event clears it.
	Return    Phase
	ReturnWhy string

	log *timelog // backs Timeline
}

// Handed is a hand-over: from whom, to whom, and why. To is "" and For says who is
// meant while it is not taken.
type Handed struct {
	From, To, For, Why string
	At                 time.Time
	Seq                int64 // 0 for none
}

// Stay is a stay in one phase of the loop, until the next begins.
type Stay struct {
	Phase Phase
	Seq   int64 // the entry that began it
	From  time.Time
	Why   string
	Back  bool // the call came back from a later phase
}

// Here is the stay in the phase at hand, the zero Stay before the opening.
func (s State) Here() Stay {
	if len(s.Walk) == 0 {
		return Stay{}
	}
	return s.Walk[len(s.Walk)-1]
}

// Status of a step.
type Status string

// The states of a step.
const (
	Pending    Status = "pending"
	Running    Status = "running"
	Settled    Status = "settled" // probe ok, answered, proven, concluded, done
	CannotTell Status = "unknown" // probe failed, answered or concluded unknown
	Skipped    Status = "skipped"
	Waived     Status = "waived"
	Stale      Status = "stale" // its target moved after it was read
)

// Step is one step of a plan with what is known of it.
type Step struct {
	PlanStep
	Status    Status
	Attempts  int
	Started   time.Time
	Ended     time.Time
	StartSeq  int64 // the entry that began the newest attempt
	EndSeq    int64 // the entry that settled it last
	KeptSeq   int64 // the entry of the newest attempt that read this target, 0 for none
	KeptAt    time.Time
	Outcome   string
	Summary   string
	Command   string
	Facts     map[string]Value // of the newest attempt
	Findings  []Finding
	With      map[string]Value // the parameters of the newest attempt
	Elsewhere bool             // the newest attempt reads something else than the one before
	Gives     []Given          // of a manual step: the items that its proof names; nil where its journal does not say
	Overruled []string         // texts of findings that stand and that a person answers for
	Answered  []string         // texts of critical findings that shut no gate, and that have an answer
	Gaps      []string
	Rows      []Compared // of a compare step
	Answer    string     // of an ask
	How       string
	Script    bool        // of an ask: an answers file gave its answer
	Proposed  string      // of an ask: what the facts said when it was answered, "" for nothing
	Green     string      // of a watch: true, false, unknown or ""
	Streak    int         // of a watch: consecutive greens that are far enough apart
	Greens    []time.Time // when the newest greens of the streak were seen, at most 32
	Samples   []Sample    // of a watch: the newest, at most 64, newest last
	Retired   bool        // of an earlier plan, and not in the one in force
	Void      bool        // its parameters changed while it was read
	Moved     int64       // the entry that changed its parameters last, 0 for none
}

// Sample is one look of a watch. Green is true, false or unknown, Counts whether
// it made the streak longer.
type Sample struct {
	At     time.Time
	Green  string
	Counts bool
}

// Conclusion is the value of a topic.
type Conclusion struct {
	Topic       Topic
	Value       string
	Proposed    string
	Provisional bool
	Person      string
	Why         string
	Grounds     []string
	Seq         int64
	At          time.Time
	Script      bool   // an answers file said so, and no person at the keyboard
	Lapsed      bool   // no conclusion stands: the earlier one fell when the target moved
	Contradicts string // what the decision matrix says instead, "" for no contradiction
}

// GatePhase is where a gate stands (docs/decisions.md, Gates).
type GatePhase string

// The phases of a gate. Closed and open differ only by Options.
const (
	GateIdle      GatePhase = ""
	GateArmed     GatePhase = "armed"
	GateConfirmed GatePhase = "confirmed"
	GateActing    GatePhase = "acting"
	GateDone      GatePhase = "done"
	GateRefused   GatePhase = "refused"
	GateFailed    GatePhase = "failed"
	GateUnknown   GatePhase = "unknown" // an act began and its end is not known
)

// GateState is what is known of one gate.
type GateState struct {
	Step       string
	Phase      GatePhase
	Shown      GateShown
	Digest     string
	Before     []KV
	Kept       *Kept // what its newest act can be undone from; nil where nothing is
	Slot       *Slot // where alone its newest act can be claimed; nil where it is not known
	After      []KV
	Response   string
	Items      []Item // of its newest act, where that was a batch
	Why        string // of the newest close
	Moved      []string
	WasRefused bool      // the newest close was a refusal
	ClosedSeq  int64     // of that refusal
	Opens      time.Time // when what only takes time no longer refuses it; zero where nothing of the refusal does
	Refuses    []string  // the parameters whose values it refuses
	ByItself   bool      // its newest preview, shown or refused, began by itself
	Found      bool      // how its act ended was found by reading the target
	Approvals  []Approve
	Actor      string // who confirmed its newest act
	As         string // as which user of the system it was done, "" where the journal does not tell
	ShownSeq   int64
	StartSeq   int64
	EndSeq     int64
	Again      ActAgain // what stood of its newest act some time after it, Outcome "" until it is read again
	AgainSeq   int64
}

// Debt is what is owed, and how it was settled.
type Debt struct {
	DebtOpened
	Seq     int64
	Settled Settle // How is "" while it is open
}

// Waiver is a law set aside for one subject.
type Waiver struct {
	Waive
	Seq   int64
	Actor string
	At    time.Time
}

// Moment is one line of the timeline.
type Moment struct {
	Seq   int64
	At    time.Time
	Actor string
	Type  string
	Step  string
	Text  string // one line for a person
	Level string // info, warning, critical or ""
}

// Step returns the step with this id, and whether there is one.
func (s State) Step(id string) (Step, bool) {
	for i := range s.Steps {
		if s.Steps[i].ID == id {
			return s.Steps[i], true
		}
	}
	return Step{}, false
}

// Acts are the acts of a gate in order, each as the gate stood then, and last the
// gate as it stands where it came to no act since.
func (s State) Acts(step string) []GateState {
	g, ok := s.Gates[step]
	if !ok {
		return nil
	}
	var out []GateState
	for _, p := range s.Past {
		if p.Step != step {
			continue
		}
		if p.StartSeq == g.StartSeq { // shown again since, and not done again
			g.Before, g.Kept, g.After, g.Response, g.Items, g.Actor, g.As = nil, nil, nil, "", nil, "", ""
			g.StartSeq, g.EndSeq, g.Again, g.AgainSeq = 0, 0, ActAgain{}, 0
		}
		out = append(out, p)
	}
	if g.StartSeq > 0 || len(out) == 0 || g.Phase != GateIdle || g.WasRefused {
		out = append(out, g)
	}
	return out
}

// Plan returns the plan in force, the zero Plan before the first.
func (s State) Plan() Plan {
	if len(s.Plans) == 0 {
		return Plan{}
	}
	return s.Plans[len(s.Plans)-1]
}

// runbookOf is the runbook part of a step id.
func runbookOf(id string) string {
	rb, _, _ := strings.Cut(id, "/")
	return rb
}
