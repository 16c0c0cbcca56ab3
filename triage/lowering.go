package triage

import (
	"slices"
	"time"
)

// Lowering the severity. Where policy asks two persons by severity, one does not
// take the incident out of its rules: what would be lowered is shown and signed as a
// gate is, and the severity that follows names what was signed. The worst severity
// that the incident had stands beside the present one, by whom it was lowered or not, so that a
// journal from before this opens nothing.

// SeverityGate names a lowering among the gates that wait for a second person. No
// step has the name: those have a runbook before them.
const SeverityGate = "severity"

// The lines of the target of a lowering.
const (
	severityNow = "severity"
	severityTo  = "to"
)

// LoweringTo is the target of a lowering: what is, what shall be, what was, and why.
func (s State) LoweringTo(to Severity, why string) []KV {
	return []KV{{Key: severityNow, Value: string(s.Severity)}, {Key: severityTo, Value: string(to)}, {Key: "worst", Value: string(s.worst())}, {Key: "because", Value: why}}
}

// Lowers is the severity that a lowering would set.
func (b SeverityAsk) Lowers() Severity { return Severity(valueOf(b.Target, severityTo)) }

func valueOf(kvs []KV, key string) string {
	if i := slices.IndexFunc(kvs, func(kv KV) bool { return kv.Key == key }); i >= 0 {
		return kvs[i].Value
	}
	return ""
}

// worst is the worst severity that the incident had: SEV-1 is the worst.
func (s State) worst() Severity {
	if s.Worst == "" {
		return s.Severity
	}
	return min(s.Worst, s.Severity)
}

// Waits is a gate, or the lowering of the severity, by the name under which it waits
// for a second person.
func (s State) Waits(name string) GateState {
	if name == SeverityGate {
		return s.Lowering
	}
	return s.Gates[name]
}

// Lowered is what an approved lowering sets, and whether it is approved at a moment.
func (s State) Lowered(now time.Time) (SeveritySet, bool) {
	g := s.Lowering
	if _, ok := holding(g, now, s.Operator); !ok || now.After(g.Shown.Until) {
		return SeveritySet{}, false
	}
	return SeveritySet{Level: SeverityAsk{g.Shown}.Lowers(), Why: valueOf(g.Shown.Target, "because"), Digest: g.Digest}, true
}

// SeverityAsk asks a second person for a lower severity, in the form in which a
// gate asks for one.
type SeverityAsk struct{ GateShown }

// Type implements [Body].
func (SeverityAsk) Type() string { return "severity.ask" }

func (b SeverityAsk) fold(f *folder) error {
	to := b.Lowers()
	switch {
	case b.Step != SeverityGate || b.Second == nil || b.Digest == "":
		return f.refuse("it does not ask a second person to lower a severity")
	case !slices.Contains(severities(), to) || to <= f.s.Severity:
		return f.refuse("%q is not lower than %s", to, f.s.Severity)
	case valueOf(b.Target, severityNow) != string(f.s.Severity):
		return f.refuse("it is for another severity than %s", f.s.Severity)
	case !b.Until.After(f.e.At):
		return f.refuse("it had expired before it was shown")
	}
	f.s.Lowering = GateState{Step: SeverityGate, Phase: GateArmed, Shown: b.GateShown, Digest: b.Digest, ShownSeq: f.e.Seq}
	return nil
}

func (b SeverityAsk) moment(_ *folder) Moment {
	return Moment{Text: because("severity "+string(b.Lowers())+" is waiting for a second person", valueOf(b.Target, "because")), Level: "warning"}
}

// SeveritySet changes the severity.
type SeveritySet struct {
	Level  Severity `json:"level"`
	Why    string   `json:"why"`
	Digest string   `json:"digest,omitempty"` // of the lowering that a second person signed; "" where one person set it
}

// Type implements [Body].
func (SeveritySet) Type() string { return "severity" }

func (b SeveritySet) fold(f *folder) error {
	g := f.s.Lowering
	asked := g.Phase == GateArmed && !f.e.At.After(g.Shown.Until)
	switch {
	case !slices.Contains(severities(), b.Level):
		return f.refuse("%q is not a severity", b.Level)
	case b.Digest != "":
		if !asked || b.Digest != g.Digest || b.Level != (SeverityAsk{g.Shown}).Lowers() {
			return f.refuse("no such request waits for a second person")
		}
		if rs := secondLaws(&f.s, g, f.e.At, f.e.Actor); len(rs) > 0 {
			return f.unlawful(rs)
		}
	case asked && b.Level >= (SeverityAsk{g.Shown}).Lowers():
		return f.refuse("this severity needs a second person")
	}
	f.s.Severity, f.s.Worst = b.Level, min(f.s.worst(), b.Level)
	f.s.Lowering = GateState{} // what it showed is not so any more
	return nil
}

func (b SeveritySet) moment(_ *folder) Moment {
	return Moment{Text: because("severity is "+string(b.Level), b.Why), Level: "warning"}
}
