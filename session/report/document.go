// Package report writes what an incident came to: for people as Markdown and HTML, for a channel as a few lines, for
// other programs as JSON, CSV, a terminal recording and a troubleshoot directory.
//
// Everything is made from one [Document], which [New] builds from a folded state. Each text in it that came from
// outside is a visible.Text, made harmless once, while the document is built; what each form needs besides (escaping
// of markup, quoting of cells, fences) is done by its writer. [Page] puts a Document on one page of blocks: Markdown
// is one drawing of it and the screen another. A Document has no methods, so that a team's own template gets data and
// nothing that acts.
package report

import (
	"time"

	"handrail/evidence/visible"
)

// Format names the structure of a Document. It changes when a field changes its meaning or goes away.
const Format = "handrail/report/v1"

// Document is an incident as every form of the report shows it. Times are UTC; a zero time is not known.
type Document struct {
	Format       string        `json:"format"`
	Incident     visible.Text  `json:"incident"`
	Title        visible.Text  `json:"title"`
	Drill        visible.Text  `json:"drill,omitempty"` // the drill this was, "" for the real thing
	Severity     visible.Text  `json:"severity"`
	Outcome      visible.Text  `json:"outcome"`          // recovered, open or aborted; "" while it goes on
	Phase        visible.Text  `json:"phase"`            // where the call stands, or stood at the close
	Place        Place         `json:"place"`            // what it is about
	Review       *Review       `json:"review,omitempty"` // of a review of readiness; nil for an incident
	Runbooks     []Runbook     `json:"runbooks"`
	Opened       time.Time     `json:"opened,omitzero"`
	Closed       time.Time     `json:"closed,omitzero"`
	Updated      time.Time     `json:"updated,omitzero"` // of the newest entry
	Took         string        `json:"took"`             // from the opening to the close, or to the newest entry
	Entry        int64         `json:"entry"`            // the newest entry
	Brief        []Line        `json:"brief"`            // the short update, see Status
	People       []Person      `json:"people"`
	Legs         []Leg         `json:"legs"`
	Conclusions  []Conclusion  `json:"conclusions"`
	Steps        []Step        `json:"steps"`
	Findings     []Finding     `json:"findings"`                  // critical ones first
	RuledOut     []Remark      `json:"ruled_out"`                 // what was looked at and is not it, with nothing to point at
	Unchecked    []Remark      `json:"unchecked"`                 // what could not be looked at, or was not
	Gates        []Gate        `json:"gates"`                     // those that were wanted
	Matrix       visible.Text  `json:"matrix,omitempty"`          // the row of the decision matrix, and what it prefers
	Departs      visible.Text  `json:"departs,omitempty"`         // why the runbook goes another way, in its words
	Conditions   []PostShown   `json:"post_conditions,omitempty"` // PC1 to PC7, and what shows each
	Difference   []Remark      `json:"difference,omitempty"`      // what is known of the difference where the record was written
	Unproven     visible.Text  `json:"unproven,omitempty"`        // the evidence that a change happened without
	Answered     []Remark      `json:"answered,omitempty"`        // answers to critical findings that shut no gate
	ByHand       []ByHand      `json:"by_hand,omitempty"`         // repairs outside of handrail
	Debts        []Debt        `json:"debts"`                     // what acts left owing
	Waivers      []Waiver      `json:"waivers"`                   // laws set aside, by whom and why
	FollowUps    []FollowUp    `json:"follow_ups"`                // what is left to do, and who does it
	Covered      visible.Text  `json:"covered"`                   // coverage in one line
	Coverage     []Coverage    `json:"coverage"`                  // E1 to E14, then the required captures
	Artifacts    []Artifact    `json:"artifacts"`                 // the raw files behind it, where the journal was at hand
	Verification *Verification `json:"verification,omitempty"`
	Handled      []Handling    `json:"handled,omitempty"`     // exports, verifications and copies of the bundle, by the log beside it
	HandledSay   visible.Text  `json:"handled_say,omitempty"` // what is wrong with that log
	Timeline     []Moment      `json:"timeline"`
}

// PostShown says how one post-condition of recovery stands, and by what.
type PostShown struct {
	Code  string       `json:"code"`
	Means string       `json:"means"`
	State string       `json:"state"` // shown, accepted, open, not so or not asked
	By    []ShownProof `json:"by,omitempty"`
}

// ShownProof is one proof of a post-condition.
type ShownProof struct {
	Step  visible.Text `json:"step,omitempty"`
	What  visible.Text `json:"what,omitempty"` // its kind or answer, or the item of evidence
	State string       `json:"state"`
	Who   visible.Text `json:"who,omitempty"` // who accepts that it is not shown
	Why   visible.Text `json:"why,omitempty"`
	Entry int64        `json:"entry,omitempty"`
}

// Line is one line of the short update.
type Line struct {
	Label string       `json:"label"`
	Text  visible.Text `json:"text"`
}

// Runbook is a plan that was in force, the newest last.
type Runbook struct {
	ID     visible.Text `json:"id"`
	Title  visible.Text `json:"title"`
	Digest visible.Text `json:"digest"`
	From   visible.Text `json:"from,omitempty"` // the runbook that led here
	Params []Fact       `json:"params,omitempty"`
}

// Person is one person on the call, with how that is known.
type Person struct {
	Name    visible.Text `json:"name"`
	Subject visible.Text `json:"subject"`
	Proof   visible.Text `json:"proof"` // kube, ssh, os or claimed
	Roles   visible.Text `json:"roles,omitempty"`
	Since   time.Time    `json:"since,omitzero"`
}

// Leg is a stay in one phase of the loop.
type Leg struct {
	Phase visible.Text `json:"phase"`
	Why   visible.Text `json:"why,omitempty"`
	Entry int64        `json:"entry"`
	From  time.Time    `json:"from,omitzero"`
	Took  string       `json:"took"`
	Back  bool         `json:"back"` // the call went back to an earlier phase
}

// Conclusion is what was settled about a topic.
type Conclusion struct {
	Topic       visible.Text   `json:"topic"`
	Question    string         `json:"question"` // the topic in plain words
	Value       visible.Text   `json:"value"`
	Proposed    visible.Text   `json:"proposed,omitempty"` // what the rules proposed
	Provisional bool           `json:"provisional,omitempty"`
	Person      visible.Text   `json:"person,omitempty"`
	Actor       visible.Text   `json:"actor,omitempty"` // who recorded it
	Why         visible.Text   `json:"why,omitempty"`
	Grounds     []visible.Text `json:"grounds,omitempty"`
	Contradicts visible.Text   `json:"contradicts,omitempty"` // what the decision matrix expects instead
	Entry       int64          `json:"entry"`
	At          time.Time      `json:"at,omitzero"`
}

// Step is a step that was worked on, with what it found and the evidence of it.
type Step struct {
	ID        visible.Text   `json:"id"`
	Title     visible.Text   `json:"title"`
	Phase     visible.Text   `json:"phase"`
	Kind      visible.Text   `json:"kind"`
	Uses      visible.Text   `json:"uses,omitempty"`
	Status    visible.Text   `json:"status"`
	Covers    []visible.Text `json:"covers,omitempty"`
	Attempts  int            `json:"attempts,omitempty"`
	Started   time.Time      `json:"started,omitzero"`
	Ended     time.Time      `json:"ended,omitzero"`
	Entry     int64          `json:"entry"` // that settled it last
	Summary   visible.Text   `json:"summary,omitempty"`
	Command   visible.Text   `json:"command,omitempty"` // to run it without handrail; may have newlines
	Answer    visible.Text   `json:"answer,omitempty"`
	How       visible.Text   `json:"how,omitempty"`
	Facts     []Fact         `json:"facts,omitempty"`
	Drawing   visible.Text   `json:"drawing,omitempty"` // what the step drew, in lines
	Compared  *Compared      `json:"compared,omitempty"`
	Findings  []Finding      `json:"findings,omitempty"`
	Gaps      []visible.Text `json:"gaps,omitempty"`
	Artifacts []Artifact     `json:"artifacts,omitempty"`
}

// Compared is a comparison: fields by sources.
type Compared struct {
	Sources []visible.Text  `json:"sources"`
	Fields  []ComparedField `json:"fields"`
}

// ComparedField is one field of a comparison, with a cell for each source.
type ComparedField struct {
	Field   visible.Text   `json:"field"`
	Is      visible.Text   `json:"is"`   // agree, differ or unknown
	Word    visible.Text   `json:"word"` // the same for a person, with the direction
	Entries []int64        `json:"entries,omitempty"`
	Cells   []ComparedCell `json:"cells"`
}

// ComparedCell is what one source says of a field.
type ComparedCell struct {
	Value visible.Text `json:"value"` // for an unknown one, why
	Known bool         `json:"known"`
	None  bool         `json:"none,omitempty"` // the field does not have this source
	From  []int64      `json:"from,omitempty"` // the entries that it stands on
}

// Fact is a value that was read.
type Fact struct {
	Name  visible.Text `json:"name"`
	Type  visible.Text `json:"type"`
	Value visible.Text `json:"value"` // for an unknown one, why
	Known bool         `json:"known"`
}

// Finding is a fact worth a human's eye.
type Finding struct {
	Level visible.Text `json:"level"`
	Say   visible.Text `json:"say"`
	Step  visible.Text `json:"step"`
	Entry int64        `json:"entry"`
}

// Remark is something said of a step.
type Remark struct {
	Step  visible.Text `json:"step"`
	What  visible.Text `json:"what"`
	Why   visible.Text `json:"why"`
	Entry int64        `json:"entry,omitempty"`
}

// Gate is a gate that was wanted: what was shown, what was answered, and the target before and after.
type Gate struct {
	Step        visible.Text   `json:"step"`
	Title       visible.Text   `json:"title"`
	Class       visible.Text   `json:"class"`
	Phase       visible.Text   `json:"phase"` // armed, confirmed, acting, done, refused, failed, unknown, "stayed shut" or closed
	Effect      visible.Text   `json:"effect,omitempty"`
	Request     visible.Text   `json:"request,omitempty"`
	Command     visible.Text   `json:"command,omitempty"`
	Phrase      visible.Text   `json:"phrase,omitempty"`
	Undo        visible.Text   `json:"undo,omitempty"`
	UndoCommand visible.Text   `json:"undo_command,omitempty"` // with the copy that was kept
	UndoCopy    visible.Text   `json:"undo_copy,omitempty"`    // where it lies encrypted, outside the bundle
	Digest      visible.Text   `json:"digest,omitempty"`
	Why         visible.Text   `json:"why,omitempty"`       // of the newest close
	ByItself    bool           `json:"by_itself,omitempty"` // it stayed shut at a preview that began by itself: no person asked for it
	Widen       visible.Text   `json:"widen,omitempty"`     // why a wider containment was taken
	Response    visible.Text   `json:"response,omitempty"`
	Items       []Item         `json:"items,omitempty"` // the acts of a batch, in order
	Actor       visible.Text   `json:"actor,omitempty"` // who confirmed its newest act
	As          visible.Text   `json:"as,omitempty"`    // as which user of the system it was done, "" where the journal does not tell
	Again       visible.Text   `json:"again,omitempty"` // holds, undone or unknown, when the target was read some time after the act
	AgainSays   visible.Text   `json:"again_says,omitempty"`
	Diff        []visible.Text `json:"diff,omitempty"` // what a rehearsal said would change
	Moved       []visible.Text `json:"moved,omitempty"`
	Grounds     []Remark       `json:"grounds,omitempty"`  // the readings and answers that it stood on when it was shown
	Owners      []Remark       `json:"owners,omitempty"`   // controllers that would undo it, and whether they are paused
	Verdicts    []Verdict      `json:"verdicts,omitempty"` // its conditions, as judged
	Approvals   []visible.Text `json:"approvals,omitempty"`
	Shown       []Side         `json:"shown,omitempty"`  // what the preview said besides the target; Before only
	Sides       []Side         `json:"sides,omitempty"`  // the target before and after
	HasAfter    bool           `json:"has_after"`        // the target was read again after the act
	Unread      int            `json:"unread,omitempty"` // how many sides were not read again
	ShownAt     time.Time      `json:"shown_at,omitzero"`
	ActedAt     time.Time      `json:"acted_at,omitzero"`
	EndedAt     time.Time      `json:"ended_at,omitzero"`
	AgainAt     time.Time      `json:"again_at,omitzero"`
	Entries     []int64        `json:"entries,omitempty"` // shown, act begun, act ended, read again
	Artifacts   []Artifact     `json:"artifacts,omitempty"`
}

// Item is one act of a batch.
type Item struct {
	Object   visible.Text `json:"object"`
	Effect   visible.Text `json:"effect"`
	Command  visible.Text `json:"command,omitempty"`
	Outcome  visible.Text `json:"outcome"` // done, refused, failed, unknown, or left where the batch stopped before it
	Response visible.Text `json:"response,omitempty"`
	Sides    []Side       `json:"sides,omitempty"`
}

// Side is one line of a target, before and after.
type Side struct {
	Key     visible.Text `json:"key"`
	Before  visible.Text `json:"before"`
	After   visible.Text `json:"after,omitempty"`
	Changed bool         `json:"changed"`
	Unread  bool         `json:"unread,omitempty"` // it was not read again after the act
	Added   bool         `json:"added,omitempty"`  // only the reading after the act has it
}

// Verdict is one condition of a gate.
type Verdict struct {
	Expr   visible.Text `json:"expr"`
	Result visible.Text `json:"result"`
	Why    visible.Text `json:"why,omitempty"`
}

// ByHand is a repair that a person made outside of handrail, behind no gate.
type ByHand struct {
	What   visible.Text `json:"what"` // the command, or what was done in words
	Object visible.Text `json:"object"`
	Person visible.Text `json:"person"` // who did it
	Actor  visible.Text `json:"actor"`  // at whose keyboard it was recorded
	Proof  visible.Text `json:"proof"`  // the step whose read shows it
	Shown  visible.Text `json:"shown"`  // what that read showed, "" while it is owed
	At     time.Time    `json:"at,omitzero"`
	Entry  int64        `json:"entry"`
}

// Debt is what an act left owing, and how it was settled.
type Debt struct {
	ID    visible.Text `json:"id"`
	Kind  visible.Text `json:"kind"`
	Of    visible.Text `json:"of"`
	Text  visible.Text `json:"text"`
	Due   time.Time    `json:"due,omitzero"`
	How   visible.Text `json:"how"` // paid, carried or waived; "" while it is open
	By    visible.Text `json:"by,omitempty"`
	Until visible.Text `json:"until,omitempty"`
	Why   visible.Text `json:"why,omitempty"` // the proof, or the reason
	Entry int64        `json:"entry"`
}

// Waiver is a law set aside for one subject.
type Waiver struct {
	Law      int            `json:"law"` // 0 where what a step found is overruled
	Subject  visible.Text   `json:"subject"`
	Findings []visible.Text `json:"findings,omitempty"` // that are overruled
	Person   visible.Text   `json:"person"`
	Why      visible.Text   `json:"why"`
	Actor    visible.Text   `json:"actor"` // who recorded it
	At       time.Time      `json:"at,omitzero"`
	Entry    int64          `json:"entry"`
}

// FollowUp is something left to do.
type FollowUp struct {
	What  visible.Text `json:"what"`
	Who   visible.Text `json:"who,omitempty"`
	Until visible.Text `json:"until,omitempty"`
	From  visible.Text `json:"from"` // the debt or step it comes from
}

// Coverage says how one of the fourteen items of evidence, or a required capture, stands.
type Coverage struct {
	Code  visible.Text `json:"code"`            // E1 to E14, or the id of a required capture
	Item  visible.Text `json:"item"`            // what it is
	State string       `json:"state"`           // captured, waived, missing or not applicable
	Steps visible.Text `json:"steps,omitempty"` // the step that captured it, or that should have
	Why   visible.Text `json:"why,omitempty"`
	Entry int64        `json:"entry,omitempty"` // that captured or waived it
}

// Artifact is a stored file: redacted bytes under the name of their hash.
type Artifact struct {
	SHA256    visible.Text `json:"sha256"`
	Role      visible.Text `json:"role"`
	Media     visible.Text `json:"media"`
	Size      int64        `json:"size"`
	Truncated bool         `json:"truncated"`
	Redacted  visible.Text `json:"redacted,omitempty"` // which rules fired
	Step      visible.Text `json:"step,omitempty"`
	Entry     int64        `json:"entry"`
}

// Verification is the verdict of a verification that ran when the report was made.
type Verification struct {
	OK       bool         `json:"ok"`       // nothing failed
	Unproven int          `json:"unproven"` // how many properties only the bundle itself vouches for
	Entries  int64        `json:"entries"`
	Head     visible.Text `json:"head"`
	Root     visible.Text `json:"root"`
	Checks   []Check      `json:"checks"`
}

// Handling is one thing that was done with the bundle as a whole.
type Handling struct {
	At      time.Time    `json:"at,omitzero"`
	Actor   visible.Text `json:"actor"`
	What    visible.Text `json:"what"` // export, verify, push, pull, leaks or redact
	Form    visible.Text `json:"form,omitempty"`
	Place   visible.Text `json:"place,omitempty"`
	Result  visible.Text `json:"result"`
	Exit    int          `json:"exit"`
	Entries int64        `json:"entries"` // of the bundle then
	Fits    bool         `json:"fits"`    // it was this bundle, as far as it went then
}

// Check is the verdict on one property: ok is proven, unproven is said by the bundle and contradicted by nothing, and
// anything else failed.
type Check struct {
	Property visible.Text `json:"property"`
	Verdict  visible.Text `json:"verdict"`
	Detail   visible.Text `json:"detail"`
}

// Moment is one line of the timeline.
type Moment struct {
	Entry int64        `json:"entry"`
	At    time.Time    `json:"at,omitzero"`
	Actor visible.Text `json:"actor"`
	Type  visible.Text `json:"type"`
	Step  visible.Text `json:"step,omitempty"`
	Level visible.Text `json:"level,omitempty"`
	Text  visible.Text `json:"text"`
}
