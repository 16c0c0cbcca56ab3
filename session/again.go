package session

import (
	"context"
	"fmt"
	"time"

	"handrail/evidence"
	"handrail/steps"
	"handrail/steps/fault"
	"handrail/triage"
)

// readAgain lets each target that is to be read again wait for its time, beside
// the owner. What an earlier session owed is due at once.
func (s *Session) readAgain() {
	for _, r := range s.state.Rereads {
		if s.waiting[r] || !s.hold() {
			continue
		}
		s.waiting[r] = true
		go func() { // ends with the reading, or with the session
			defer s.work.Done()
			defer fault.To(func(err error) { s.keepAgain(r, s.untold(r, err), nil) })
			wait := time.NewTimer(r.Due.Sub(s.cfg.Now()))
			defer wait.Stop()
			select {
			case <-wait.C:
				s.lookAgain(r)
			case <-s.ctx.Done():
			}
		}()
	}
}

// lookAgain reads the target of one act and records what stands of it.
func (s *Session) lookAgain(r triage.Reread) {
	var g steps.Gater
	var params steps.Params
	var before []steps.KV
	var asked *asks
	err := s.call(s.ctx, func() (err error) {
		before = s.state.Gates[r.Step].Before
		asked = s.asking(r.Step)
		g, params, _, err = s.gaterAsking(r.Step, asked)
		return err
	})
	said := s.untold(r, err)
	k := &sink{s: s, step: r.Step, tell: func(string) {}}
	if err == nil {
		said = s.stands(g, r, before, params, k)
	}
	blobs, kept := k.done()
	if kept != nil && said.Outcome != triage.Undone {
		said = s.untold(r, kept)
	}
	if s.ctx.Err() != nil {
		return // the resume reads it
	}
	said.Audit = asked.ids()
	s.keepAgain(r, said, blobs)
}

// stands asks the gate what stands of its act.
func (s *Session) stands(g steps.Gater, r triage.Reread, before []steps.KV, in steps.Params, k *sink) triage.ActAgain {
	ctx, cancel := context.WithTimeout(s.ctx, previewTime)
	defer cancel()
	got, err := standsSafely(ctx, g, before, in, k)
	said := s.untold(r, err)
	if err != nil {
		return said
	}
	switch got.Result {
	case steps.Done:
		said.Outcome = triage.Holds
	case steps.Failed:
		said.Outcome = triage.Undone
	}
	said.Response, said.After = s.bundle.Redact(got.Response), s.redactedKVs(got.After)
	return said
}

// untold says that what stands of an act is not known, and why.
func (s *Session) untold(r triage.Reread, why error) triage.ActAgain {
	said := triage.ActAgain{Step: r.Step, Digest: r.Digest, Outcome: triage.Unknown}
	if why != nil {
		said.Response = s.bundle.Redact(why.Error())
	}
	return said
}

// keepAgain records what stands of an act.
func (s *Session) keepAgain(r triage.Reread, said triage.ActAgain, blobs []evidence.Blob) {
	_ = s.call(context.Background(), func() error {
		if !s.owed(r) {
			return nil // another act took its place, or the incident was closed
		}
		if by := actedSince(s.state.Gates, r); by != "" && said.Outcome == triage.Undone {
			said.Outcome, said.Response = triage.Unknown, "The act of "+by+" has changed the same object since.  "+said.Response
		}
		if err := s.record(said, blobs); err != nil || said.Outcome != triage.Undone {
			return err
		}
		return s.openDebt(r.Step, undoneDebt(r.Step))
	})
}

// actedSince names the gate whose act changed the same object after the one that
// is read again: what the incident does itself undoes nothing. "" is none.
func actedSince(gates map[string]triage.GateState, r triage.Reread) string {
	object := func(g triage.GateState) string {
		if steps.Find(g.Before, "object") == "" {
			return ""
		}
		return steps.Find(g.Before, "server") + " " + steps.Find(g.Before, "object")
	}
	mine, out, last := object(gates[r.Step]), "", r.Seq
	for id, g := range gates {
		if id != r.Step && mine != "" && g.StartSeq > last && object(g) == mine {
			out, last = id, g.StartSeq
		}
	}
	return out
}

// undoneDebt is what an act leaves owing that did not last.
func undoneDebt(step string) steps.Debt {
	return steps.Debt{Kind: "unfinished", Text: "the act of " + step + " was undone; find out by whom before you repeat it"}
}

// owed reports whether a target is still to be read again.
func (s *Session) owed(r triage.Reread) bool {
	for _, now := range s.state.Rereads {
		if now == r {
			return s.state.Outcome == ""
		}
	}
	return false
}

func standsSafely(ctx context.Context, g steps.Gater, before []steps.KV, in steps.Params, k steps.Sink) (o steps.Outcome, err error) {
	defer fault.To(func(e error) { err = e })
	r, ok := g.(steps.Rereader)
	if !ok {
		return steps.Outcome{}, fmt.Errorf("this gate cannot determine whether its act is still in effect; check the target by hand")
	}
	return r.Again(ctx, before, in, k)
}
