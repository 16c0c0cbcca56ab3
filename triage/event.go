package triage

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// Event is one entry of the journal as the loop sees it.
type Event struct {
	Seq   int64
	At    time.Time
	Actor string // who was at the keyboard, proven
	Body  Body
}

// Body is the payload of an event: one of the structs below. Type is its name
// in the journal.
type Body interface{ Type() string }

// Value is a typed value as the journal stores it. The loop does not look
// inside; an unknown value has no V.
type Value struct {
	T       string          `json:"t"`
	V       json.RawMessage `json:"v,omitempty"`
	Unknown string          `json:"unknown,omitempty"`
}

// Known reports whether the value was read. A JSON null is not a value.
func (v Value) Known() bool { return v.V != nil && string(v.V) != "null" }

// KV is one line of a target.
type KV struct {
	Key   string `json:"k"`
	Value string `json:"v"`
}

// The events (docs/decisions.md, Events). Step ids are `<runbook>/<step>`.
type (
	// Open begins an incident; it is the first event after the store's own.
	Open struct {
		Incident string   `json:"incident"`
		Title    string   `json:"title"`
		Severity Severity `json:"severity"`
		Drill    string   `json:"drill,omitempty"`
		Rules    []KV     `json:"rules,omitempty"` // the team's files in force, by digest, or that there are none
	}
	// Person names somebody on the call and how that is known.
	Person struct {
		ID      string   `json:"id"`
		Name    string   `json:"name"`
		Proof   string   `json:"proof"` // kube, ssh, os or claimed
		Subject string   `json:"subject,omitempty"`
		Roles   []string `json:"roles,omitempty"`
	}
	// Handover says that somebody else is at the keyboard from here on. Without To
	// it gives the incident over: nobody is, until the one who goes on says so, with
	// no From.
	Handover struct {
		From string `json:"from"`
		To   string `json:"to"`
		For  string `json:"for,omitempty"` // who it is given over to, in words
		Why  string `json:"why"`
	}
	// Plan is the compiled skeleton of the runbook in force from now on.
	Plan struct {
		Runbook string           `json:"runbook"`
		Title   string           `json:"title"`
		Digest  string           `json:"digest"`
		Blob    string           `json:"blob,omitempty"` // sha256 of the stored YAML
		Params  map[string]Value `json:"params,omitempty"`
		Matrix  int              `json:"matrix,omitempty"` // row of the decision matrix, 0 for none
		From    string           `json:"from,omitempty"`   // the runbook that led here
		Steps   []PlanStep       `json:"steps"`
	}
	// PlanStep is one step of a Plan.
	PlanStep struct {
		ID       string   `json:"id"` // <runbook>/<step>
		Phase    Phase    `json:"phase"`
		Kind     StepKind `json:"kind"`
		Uses     string   `json:"uses,omitempty"` // the kind of a probe, watch or gate; the topic of a conclude
		Class    Class    `json:"class,omitempty"`
		Title    string   `json:"title,omitempty"`
		Required bool     `json:"required,omitempty"`
		Heavy    bool     `json:"heavy,omitempty"`
		Answers  []string `json:"answers,omitempty"` // of an ask, `unknown` not among them
		Green    []string `json:"green,omitempty"`   // of an ask in verify: the answers that prove the recovery
		Covers   []string `json:"covers,omitempty"`
		Refs     []string `json:"refs,omitempty"`   // steps whose facts or answers its conditions use
		Greens   int      `json:"greens,omitempty"` // of a watch
		Apart    string   `json:"apart,omitempty"`  // of a watch, a Go duration
		Fresh    string   `json:"fresh,omitempty"`  // a Go duration
		Pays     string   `json:"pays,omitempty"`   // kind of debt that a manual step pays
	}
	// SeveritySet changes the severity.
	SeveritySet struct {
		Level  Severity `json:"level"`
		Why    string   `json:"why"`
		Digest string   `json:"digest,omitempty"` // of the lowering that a second person signed; "" where one person set it
	}
	// SeverityAsk asks a second person for a lower severity, in the form in which a
	// gate asks for one.
	SeverityAsk struct{ GateShown }
	// PhaseSet moves the call to a phase, forward or back.
	PhaseSet struct {
		To  Phase  `json:"to"`
		Why string `json:"why,omitempty"`
	}
	// Skip passes over a step.
	Skip struct {
		Step string `json:"step"`
		Why  string `json:"why"`
	}
	// Note is free text.
	Note struct {
		Text string `json:"text"`
	}
	// Correct corrects an earlier entry without touching it.
	Correct struct {
		Seq  int64  `json:"seq"`
		Text string `json:"text"`
	}
	// Answer is a person's answer to an ask; the value "unknown" is unknown.
	Answer struct {
		Step  string `json:"step"`
		Value string `json:"value"`
		How   string `json:"how,omitempty"`
		// Script says that an answers file said so, and no person at the keyboard.
		Script bool `json:"script,omitempty"`
	}
	// Manual records something done outside, with its named proof.
	Manual struct {
		Step  string `json:"step"`
		Proof string `json:"proof"`
	}
	// Conclude settles a topic of the loop.
	Conclude struct {
		Topic       Topic    `json:"topic"`
		Value       string   `json:"value"`
		Proposed    string   `json:"proposed,omitempty"`
		Grounds     []string `json:"grounds,omitempty"`
		Why         string   `json:"why,omitempty"`
		Person      string   `json:"person,omitempty"`
		Provisional bool     `json:"provisional,omitempty"`
		Script      bool     `json:"script,omitempty"` // an answers file said so, and no person at the keyboard
	}
	// ProbeStart says that a probe began.
	ProbeStart struct {
		Step   string           `json:"step"`
		N      int              `json:"n"` // attempt, from 1
		Kind   string           `json:"kind"`
		With   map[string]Value `json:"with,omitempty"`
		Layers []string         `json:"layers,omitempty"` // what kept it read-only
	}
	// ProbeEnd says what a probe saw, or why it could not.
	ProbeEnd struct {
		Step     string           `json:"step"`
		N        int              `json:"n"`
		Outcome  string           `json:"outcome"` // ok, failed, denied, timeout or cancelled
		Summary  string           `json:"summary"`
		Command  string           `json:"command,omitempty"`
		Facts    map[string]Value `json:"facts,omitempty"`
		Findings []Finding        `json:"findings,omitempty"`
		Gaps     []string         `json:"gaps,omitempty"`
		Green    *Value           `json:"green,omitempty"` // of a watch
		Rows     []Compared       `json:"rows,omitempty"`  // of a compare step
		Audit    []string         `json:"audit,omitempty"` // Audit-IDs of the requests that it sent
	}
	// Finding is a fact worth a human's eye.
	Finding struct {
		Level   string   `json:"level"`
		Say     string   `json:"say"`
		Against []string `json:"against,omitempty"` // gates that stay shut while it stands
		Unsure  bool     `json:"unsure,omitempty"`  // whether it holds is not known
	}
	// GateShown arms a gate: the preview was shown and nothing was unmet.
	GateShown struct {
		Step     string    `json:"step"`
		Digest   string    `json:"digest"`
		Class    Class     `json:"class"`
		Effect   string    `json:"effect"`
		Target   []KV      `json:"target"`
		Shown    []KV      `json:"shown,omitempty"`
		Diff     []string  `json:"diff,omitempty"` // what a rehearsal said would change
		Request  string    `json:"request"`
		Command  string    `json:"command"`
		Phrase   string    `json:"phrase"`
		Undo     string    `json:"undo,omitempty"`
		Owners   []Owner   `json:"owners,omitempty"`
		Owes     []Owed    `json:"owes,omitempty"`
		Verdicts []Verdict `json:"verdicts,omitempty"`
		Until    time.Time `json:"until"`
		Why      string    `json:"why,omitempty"`    // the reason that a wider containment costs (law 7)
		Audit    []string  `json:"audit,omitempty"`  // Audit-IDs of the requests of the preview
		Second   *Second   `json:"second,omitempty"` // who besides the operator must agree; nil where nobody need
		Where    []KV      `json:"where,omitempty"`  // what policy was told of the place: cluster, workspace, directory, backend
		Rules    []KV      `json:"rules,omitempty"`  // the team's files in force, by digest, or that there are none
		Again    string    `json:"again,omitempty"`  // a Go duration: how long after the act its target is read again, "" for not at all
	}
	// Owner is a controller that would undo the act.
	Owner struct {
		Name   string `json:"name"`
		Paused string `json:"paused"` // yes, no or unknown
		How    string `json:"how,omitempty"`
	}
	// Owed is a debt that the act will open.
	Owed struct {
		Kind string `json:"kind"`
		Text string `json:"text"`
		Due  string `json:"due,omitempty"` // a Go duration from the act
	}
	// GateAnswered says that the phrase was typed and is equal.
	GateAnswered struct {
		Step   string `json:"step"`
		Digest string `json:"digest"`
		Typed  string `json:"typed"`
		Pasted bool   `json:"pasted,omitempty"`
	}
	// GateClosed disarms a gate.
	GateClosed struct {
		Step    string   `json:"step"`
		Digest  string   `json:"digest,omitempty"`
		Why     string   `json:"why"`
		Moved   []string `json:"moved,omitempty"`   // what of the target moved
		Refused bool     `json:"refused,omitempty"` // a floor or law refused the gate, and the step was wanted
		Audit   []string `json:"audit,omitempty"`   // Audit-IDs of the requests that found the reason
	}
	// Approve is a second person's signature under a digest. Sig is an SSH
	// signature; that it is one by Key is for the session and the audit to say.
	Approve struct {
		Digest string    `json:"digest"`
		Person string    `json:"person"`
		Sig    string    `json:"sig"`
		Key    string    `json:"key,omitempty"`   // fingerprint of the key that signed
		Signed time.Time `json:"signed,omitzero"` // by the clock of who signed; the approval lapses from then
	}
	// ActStart is durable before the first byte of an act leaves.
	ActStart struct {
		Step    string `json:"step"`
		Digest  string `json:"digest"`
		Request string `json:"request"`
		Before  []KV   `json:"before"`
		Undo    *Kept  `json:"undo,omitempty"` // what the act can be undone from; nil where nothing is
		Slot    *Slot  `json:"slot,omitempty"` // where alone it can be claimed; nil in journals of before
	}
	// Slot is the one place where an act can be claimed, made before the act is
	// recorded: found unclaimed where it was made, it proves that nothing began.
	Slot struct {
		Nonce   string `json:"nonce"`
		File    string `json:"file,omitempty"`    // which file it is, so that no copy of it counts
		Host    string `json:"host,omitempty"`    // name of the machine
		Boot    string `json:"boot,omitempty"`    // id of the boot of that machine
		Machine string `json:"machine,omitempty"` // id of the machine
		Up      string `json:"up,omitempty"`      // a Go duration: how long it was up, suspends counted
	}
	// Kept is what an act can be undone from: a file encrypted outside the
	// bundle, or, where nothing in it is secret, an artifact of the bundle.
	Kept struct {
		Command    string   `json:"command"` // puts it back
		Blob       string   `json:"blob"`    // the artifact, whole where there is no file
		Path       string   `json:"path,omitempty"`
		SHA256     string   `json:"sha256,omitempty"`
		Bytes      string   `json:"bytes,omitempty"` // before encryption
		Recipients []string `json:"recipients,omitempty"`
	}
	// ActEnd says what an act came to.
	ActEnd struct {
		Step     string `json:"step"`
		Digest   string `json:"digest"`
		Outcome  string `json:"outcome"` // done, refused, failed or unknown
		Response string `json:"response,omitempty"`
		After    []KV   `json:"after,omitempty"`
		// Audit are the Audit-IDs of the requests that handrail sent for the act:
		// the last reads before it, the write, and the reads after it.
		Audit []string `json:"audit,omitempty"`
	}
	// ActAgain says what stands of an act that was done, some time after its end.
	ActAgain struct {
		Step     string   `json:"step"`
		Digest   string   `json:"digest"`
		Outcome  string   `json:"outcome"` // holds, undone or unknown
		Response string   `json:"response,omitempty"`
		After    []KV     `json:"after,omitempty"`
		Audit    []string `json:"audit,omitempty"`
	}
	// DebtOpened is what an act leaves owing.
	DebtOpened struct {
		ID   string     `json:"id"`
		Kind string     `json:"kind"` // reconcile, resume or unfinished
		Of   string     `json:"of"`   // the step that owes it
		Text string     `json:"text"`
		Due  *time.Time `json:"due,omitempty"`
	}
	// Settle pays, carries or waives a debt.
	Settle struct {
		Debt   string `json:"debt"`
		How    string `json:"how"` // paid, carried or waived
		Proof  string `json:"proof,omitempty"`
		Owner  string `json:"owner,omitempty"`
		Until  string `json:"until,omitempty"` // a date, 2006-01-02
		Person string `json:"person,omitempty"`
		Why    string `json:"why,omitempty"`
	}
	// Waive sets aside law 1, 8 or 12 for one subject, or, as law 0, overrules what a
	// step found against gates.
	Waive struct {
		Law      int      `json:"law"`
		Subject  string   `json:"subject"`            // a step id (laws 0, 1 and 8) or an owner's name (law 12)
		Findings []string `json:"findings,omitempty"` // of law 0: the texts that are overruled
		Person   string   `json:"person"`
		Why      string   `json:"why"`
	}
	// Close ends the incident.
	Close struct {
		Outcome string `json:"outcome"` // recovered, open or aborted
		Why     string `json:"why,omitempty"`
	}
)

func (Open) Type() string         { return "open" }
func (Person) Type() string       { return "person" }
func (Handover) Type() string     { return "handover" }
func (Plan) Type() string         { return "plan" }
func (SeveritySet) Type() string  { return "severity" }
func (SeverityAsk) Type() string  { return "severity.ask" }
func (PhaseSet) Type() string     { return "phase" }
func (Skip) Type() string         { return "skip" }
func (Note) Type() string         { return "note" }
func (Correct) Type() string      { return "correct" }
func (Answer) Type() string       { return "answer" }
func (Manual) Type() string       { return "manual" }
func (Conclude) Type() string     { return "conclude" }
func (ProbeStart) Type() string   { return "probe.start" }
func (ProbeEnd) Type() string     { return "probe.end" }
func (GateShown) Type() string    { return "gate.shown" }
func (GateAnswered) Type() string { return "gate.answered" }
func (GateClosed) Type() string   { return "gate.closed" }
func (Approve) Type() string      { return "approve" }
func (ActStart) Type() string     { return "act.start" }
func (ActEnd) Type() string       { return "act.end" }
func (ActAgain) Type() string     { return "act.again" }
func (DebtOpened) Type() string   { return "debt" }
func (Settle) Type() string       { return "settle" }
func (Waive) Type() string        { return "waive" }
func (Close) Type() string        { return "close" }

// ErrUnknownType is returned by Decode for a type that is neither an event of
// the loop nor one of the store's own.
var ErrUnknownType = errors.New("unknown event type")

// Decode reads the payload of an entry. The store's own entries (env,
// checkpoint, reveal, recover, seal, reopen) give a nil Body, which the fold
// ignores. Unknown fields inside a known type are tolerated (docs/decisions.md, Envelope
// and data).
func Decode(typ string, data []byte) (Body, error) {
	switch typ {
	case "env", "checkpoint", "reveal", "recover", "seal", "reopen":
		return nil, nil
	case "open":
		return decode[Open](typ, data)
	case "person":
		return decode[Person](typ, data)
	case "handover":
		return decode[Handover](typ, data)
	case "plan":
		return decode[Plan](typ, data)
	case "severity":
		return decode[SeveritySet](typ, data)
	case "severity.ask":
		return decode[SeverityAsk](typ, data)
	case "phase":
		return decode[PhaseSet](typ, data)
	case "skip":
		return decode[Skip](typ, data)
	case "note":
		return decode[Note](typ, data)
	case "correct":
		return decode[Correct](typ, data)
	case "answer":
		return decode[Answer](typ, data)
	case "manual":
		return decode[Manual](typ, data)
	case "conclude":
		return decode[Conclude](typ, data)
	case "probe.start":
		return decode[ProbeStart](typ, data)
	case "probe.end":
		return decode[ProbeEnd](typ, data)
	case "gate.shown":
		return decode[GateShown](typ, data)
	case "gate.answered":
		return decode[GateAnswered](typ, data)
	case "gate.closed":
		return decode[GateClosed](typ, data)
	case "approve":
		return decode[Approve](typ, data)
	case "act.start":
		return decode[ActStart](typ, data)
	case "act.end":
		return decode[ActEnd](typ, data)
	case "act.again":
		return decode[ActAgain](typ, data)
	case "debt":
		return decode[DebtOpened](typ, data)
	case "settle":
		return decode[Settle](typ, data)
	case "waive":
		return decode[Waive](typ, data)
	case "close":
		return decode[Close](typ, data)
	}
	return nil, fmt.Errorf("%w %q", ErrUnknownType, typ)
}

func decode[T Body](typ string, data []byte) (Body, error) {
	var v T
	if err := json.Unmarshal(data, &v); err != nil {
		return nil, fmt.Errorf("reading a %s event: %w", typ, err)
	}
	return v, nil
}
