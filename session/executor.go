package session

import (
	"context"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"handrail/evidence"
	"handrail/session/claim"
	"handrail/steps"
	"handrail/steps/fault"
	"handrail/triage"
)

// Order is one act that was confirmed and recorded, as it is handed to its
// executor. It holds secrets: it goes through a pipe, never to a disk or an argv.
type Order struct {
	Bundle  string           `json:"bundle"` // path of the incident
	Seq     int64            `json:"seq"`    // of act.start
	Nonce   string           `json:"nonce"`  // of its slot
	Step    string           `json:"step"`
	Digest  string           `json:"digest"`
	Phrase  string           `json:"phrase"`
	Prior   string           `json:"prior,omitempty"` // SHA-256 of what it would be undone from, "" where nothing is
	Learned evidence.Learned `json:"learned"`

	slot *triage.Slot // as it was recorded; the executor reads it in the journal
}

func (o Order) incident() string { return strings.TrimSuffix(filepath.Base(o.Bundle), ".hrb") }

// dir is the directory of the act.
func (o Order) dir(acts string) string {
	return claim.SlotDir(acts, o.incident(), &triage.Slot{Nonce: o.Nonce}, o.Seq)
}

// Carry carries out one act (docs/decisions.md, Acts): it reads the journal up to act.start,
// claims the act so that it is not done twice, previews once more, confirms with
// the recorded phrase, acts, and leaves the outcome in the directory of the act.
// The session that ordered it, or a later one, records it from there. The end of
// ctx interrupts the act. An error says that no outcome could be left.
func Carry(ctx context.Context, c Config, o Order) (err error) {
	hold, err := claim.Take(c.Acts, o.dir(c.Acts))
	if err != nil {
		return fmt.Errorf("act %d of %s: %w", o.Seq, o.incident(), err)
	}
	defer hold.Close() // the lock ends with the process
	side, err := evidence.Beside(hold.Dir, o.incident(), c.evidence())
	if err != nil {
		return hold.Leave(claim.Outcome{End: o.unsent("nothing was sent, the output of the act could not be kept: " + err.Error())})
	}
	defer side.Close() // what was committed is durable
	x := newSession(c, side, o.Bundle)
	x.carrying = true
	side.Learn(o.Learned)
	// A panic in a gate is caught where it is called; this is for ours.
	defer fault.To(func(fell error) {
		end := o.unsent(side.Redact(fell.Error()))
		end.Outcome = triage.Unknown
		err = hold.Leave(claim.Outcome{End: end})
	})
	out := x.carry(ctx, hold, o)
	if err := side.KeepBeside(o.part()); err != nil {
		hold.Say("the secrets that the act learned could not be passed on: " + side.Redact(err.Error()))
	}
	if len(out.Blobs) > 0 {
		if _, err := side.Append(context.Background(), evidence.Draft{Type: "note", Actor: "system", Data: triage.Note{Text: "kept by the act " + o.Step}, Blobs: out.Blobs}); err != nil {
			hold.Say("the artifacts of the act could not be recorded: " + side.Redact(err.Error()))
		}
	}
	return hold.Leave(out)
}

// part names what the executor leaves beside the incident.
func (o Order) part() string { return strconv.FormatInt(o.Seq, 10) }

func (o Order) unsent(why string) triage.ActEnd {
	return triage.ActEnd{Step: o.Step, Digest: o.Digest, Outcome: steps.Refused, Response: why}
}

// underWay reports whether a journal tells of the act that was ordered, and of no
// end of it.
func (o Order) underWay(st triage.State) bool {
	gate := st.Gates[o.Step]
	return st.Acting == o.Step && gate.StartSeq == o.Seq && gate.Digest == o.Digest &&
		gate.Slot != nil && gate.Slot.Nonce == o.Nonce
}

// carry is the act in the world that the journal tells of.
func (s *Session) carry(ctx context.Context, hold *claim.Claim, o Order) claim.Outcome {
	if err := s.readUpTo(o.Seq); err != nil {
		return claim.Outcome{End: o.unsent("nothing was sent, the journal could not be read: " + s.bundle.Redact(err.Error()))}
	}
	if !o.underWay(s.state) {
		return claim.Outcome{End: o.unsent(fmt.Sprintf("nothing was sent: the journal has no act of %s at entry %d", o.Step, o.Seq))}
	}
	g, params, _, err := s.gater(o.Step)
	if err != nil {
		return claim.Outcome{End: o.unsent("nothing was sent: " + s.bundle.Redact(err.Error()))}
	}
	k := &sink{s: s, step: o.Step, tell: hold.Say}
	e := confirmedAct{incident: s.state.Incident, step: o.Step, digest: o.Digest, typed: o.Phrase, g: g, params: params, order: o, asked: s.asked[o.Step]}
	if b, err := hex.DecodeString(o.Prior); err == nil {
		copy(e.prior[:], b)
	}
	end, owes := s.execute(ctx, e, k)
	blobs, _ := k.done() // what could not be kept was told as a line
	return claim.Outcome{End: end, Owes: owes, Blobs: blobs}
}
