package session

import (
	"context"
	"crypto/sha256"
	"fmt"
	"slices"

	"handrail/evidence"
	"handrail/session/policy"
	"handrail/steps"
	"handrail/triage"
	"handrail/triage/record"
)

// act reads the target once more; only when nothing moved it records act.start
// and lets the executor go. This file is the only caller of steps.Confirm and
// of a gate's Act.
func (s *Session) act(ctx context.Context, in triage.Intent) error {
	var g steps.Gater
	var params steps.Params
	// From here on the gate is confirmed: turning away leaves it disarmed.
	whole := context.WithoutCancel(ctx)
	err := s.call(whole, func() (err error) {
		if g, params, _, err = s.gater(in.Step); err != nil {
			return s.disarm(in, s.state.Gates[in.Step], err.Error(), nil)
		}
		return nil
	})
	if err != nil {
		return err
	}
	fresh, prior, blobs, err := s.read(ctx, in.Step, g, params)
	pair, policyErr := s.sought(whole, in.Step, policy.Resolve(policy.Place(params, append(slices.Clone(fresh.Target), fresh.Shown...))))
	return s.call(whole, func() error {
		gate := s.state.Gates[in.Step]
		if gate.Phase != triage.GateConfirmed {
			return refusal(in, triage.Refusal{Law: 5, Why: "the gate was disarmed in the meantime: " + gate.Why, Cure: "preview it again"})
		}
		if err != nil {
			return s.disarm(in, gate, "the target could not be read again: "+err.Error(), nil)
		}
		if s.front == nil || s.front.Step != in.Step {
			return s.disarm(in, gate, "another gate was opened", nil)
		}
		if moved := movedKeys(s.front.Preview, fresh); fresh.Digest(s.state.Incident, in.Step) != steps.Digest(gate.Digest) {
			return s.disarm(in, gate, "the target moved between preview and act", moved)
		}
		if len(fresh.Unmet) > 0 {
			return s.disarm(in, gate, fresh.Unmet[0].Why, nil)
		}
		if why := s.against(gate, fresh, pair, policyErr); why != "" {
			return s.disarm(in, gate, why, nil)
		}
		kept, err := s.keep(prior)
		if err != nil {
			return s.disarm(in, gate, s.bundle.Redact(err.Error()), nil)
		}
		slot, err := s.makeSlot()
		if err != nil {
			return s.disarm(in, gate, s.bundle.Redact(err.Error()), nil)
		}
		start := triage.ActStart{Step: in.Step, Digest: gate.Digest, Request: fresh.Request, Before: append(lines(fresh.Target), fresh.Shown...), Undo: kept, Slot: slot}
		if !s.hold() {
			s.dropSlot(slot)
			return s.disarm(in, gate, "the session is closing", nil)
		}
		if err := s.record(start, blobs); err != nil {
			s.work.Done() // the slot stays: the entry may have reached the disk
			return err
		}
		return s.launch(Order{Nonce: slot.Nonce, slot: slot, Step: in.Step, Digest: gate.Digest, Phrase: fresh.Phrase, Prior: prior.sumHex()})
	})
}

// movedKeys names what differs between two previews, old value and new.
func movedKeys(shown, fresh steps.Preview) []string {
	var out []string
	for _, kv := range shown.Target {
		if now := steps.Find(fresh.Target, kv.Key); now != kv.Value {
			out = append(out, fmt.Sprintf("%s: %s -> %s", kv.Key, kv.Value, orNone(now)))
		}
	}
	for _, kv := range fresh.Target {
		if steps.Find(shown.Target, kv.Key) == "" && kv.Value != "" {
			out = append(out, fmt.Sprintf("%s: none -> %s", kv.Key, kv.Value))
		}
	}
	if len(out) == 0 && shown.Request != fresh.Request { // else it moved with its target
		out = append(out, "request: "+shown.Request+" -> "+fresh.Request)
	}
	return out
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}

// confirmedAct is one act as it was confirmed.
type confirmedAct struct {
	incident, step, digest, typed string
	g                             steps.Gater
	params                        steps.Params
	prior                         [sha256.Size]byte // of what it would be undone from, as it was kept
	order                         Order
	asked                         *asks
}

// execute previews once more, confirms with the recorded phrase and acts, for an
// executor that has claimed the act.
func (s *Session) execute(ctx context.Context, e confirmedAct, k *sink) (triage.ActEnd, []steps.Debt) {
	end := triage.ActEnd{Step: e.step, Digest: e.digest}
	unsent := func(why string) (triage.ActEnd, []steps.Debt) {
		end.Outcome, end.Response = steps.Refused, why
		return end, nil
	}
	readCtx, cancel := context.WithTimeout(ctx, previewTime)
	fresh, err := previewSafely(readCtx, e.g, e.params, k)
	cancel()
	if err != nil {
		return unsent("the target could not be read again: " + s.bundle.Redact(err.Error()))
	}
	if e.prior != [sha256.Size]byte{} && sumOf(fresh) != e.prior && len(fresh.Unmet) == 0 {
		return unsent("nothing was sent: the target was written after its undo copy was made; preview it again")
	}
	args := fresh.Args
	fresh = s.redacted(fresh)
	fresh.Args = args
	if why := s.lastWord(ctx, e, fresh); why != "" {
		return unsent("nothing was sent: " + why)
	}
	approval, err := steps.Confirm(fresh, e.incident, e.step, steps.Digest(e.digest), e.typed)
	if err != nil {
		return unsent("nothing was sent: " + err.Error())
	}
	got, err := actSafely(s.beginSoon(ctx, e.step), e.g, approval, k)
	var owes []steps.Debt
	switch {
	case err != nil:
		end.Outcome, end.Response = triage.Unknown, s.bundle.Redact(err.Error())
	default:
		end.Outcome, end.Response, end.After = got.Result, s.bundle.Redact(got.Response), s.redactedKVs(got.After)
		owes = got.Owing(fresh.Owes)
	}
	end.Items = s.redactedItems(got.Items)
	end.Audit = e.asked.ids()
	return end, owes
}

func actSafely(ctx context.Context, g steps.Gater, a *steps.Approval, k steps.Sink) (o steps.Outcome, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("an internal error in handrail: %v", v)
		}
	}()
	return g.Act(ctx, a, k)
}

// finishAct records how an act ended and what it leaves owing, and shows it as no
// longer running.
func (s *Session) finishAct(end triage.ActEnd, owes []steps.Debt, blobs []evidence.Blob) error {
	defer s.landed(end.Step)
	return s.recordEnd(end, owes, blobs)
}

func (s *Session) recordEnd(end triage.ActEnd, owes []steps.Debt, blobs []evidence.Blob) error {
	end.Audit = append(s.named(end.Step), end.Audit...) // those of the re-read come first
	if err := s.record(end, blobs); err != nil {
		return err
	}
	for _, d := range record.Together(owes) {
		if err := s.openDebt(end.Step, d); err != nil {
			return err
		}
	}
	if end.Outcome == steps.Done {
		if err := s.payDebts(end); err != nil {
			return err
		}
	}
	s.readAgain()
	return nil
}

// payDebts settles the open debts that an act which is done pays.
func (s *Session) payDebts(end triage.ActEnd) error {
	for _, p := range s.state.Gates[end.Step].Shown.Pays {
		for _, d := range s.state.Debts {
			if d.Kind != p.Kind || d.Text != p.Text || d.Settled.How != "" && d.Settled.How != "carried" {
				continue
			}
			if err := s.record(triage.Settle{Debt: d.ID, How: "paid", Proof: end.Step + ": " + end.Response}, nil); err != nil {
				return err
			}
		}
	}
	return nil
}

// findOut reads the target of an act whose outcome is unknown and records what
// was found.
func (s *Session) findOut(ctx context.Context, step string) error {
	var g steps.Gater
	var params steps.Params
	var gate triage.GateState
	var later string
	err := s.call(ctx, func() (err error) {
		gate = s.state.Gates[step]
		later = s.stillToCome(gate)
		g, params, _, err = s.gater(step)
		return err
	})
	if err != nil {
		return err
	}
	if later != "" {
		return refusal(triage.Intent{Kind: triage.DoPreview, Step: step}, triage.Refusal{
			Law: 11, Why: "the outcome of the act cannot be determined yet: " + later, Cure: "Read its target again once it has ended, or can no longer begin."})
	}
	f, ok := g.(steps.Finder)
	if !ok {
		return fmt.Errorf("step %s: this gate cannot determine the outcome of an interrupted act; check the target by hand and record a note", step)
	}
	if !s.hold() {
		return ErrClosed
	}
	defer s.work.Done()
	k := &sink{s: s, step: step}
	ctx, cancel := context.WithTimeout(ctx, previewTime)
	defer cancel()
	stop := context.AfterFunc(s.ctx, cancel)
	defer stop()
	got, err := f.Find(ctx, gate.Before, params, k)
	blobs, kept := k.done()
	if err == nil {
		err = kept
	}
	if err != nil {
		return fmt.Errorf("step %s: the outcome is still unknown: %w", step, s.said(err))
	}
	end := triage.ActEnd{Step: step, Digest: gate.Digest, Outcome: got.Result, Response: got.Response, After: got.After, Items: s.redactedItems(got.Items)}
	owes := got.Owing(gate.Shown.Owes)
	return s.call(context.WithoutCancel(ctx), func() error {
		// Two people may have looked, and another act may have begun since.
		if now := s.state.Gates[step]; now.Phase != triage.GateUnknown || now.StartSeq != gate.StartSeq {
			return fmt.Errorf("step %s: its outcome was already found", step)
		}
		return s.finishAct(end, owes, blobs)
	})
}
