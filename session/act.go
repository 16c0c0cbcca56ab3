package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"handrail/evidence"
	"handrail/steps"
	"handrail/triage"
)

// act reads the target once more; only when nothing moved it records act.start
// and lets the executor go. This file is the only caller of steps.Confirm and
// of a gate's Act.
func (s *Session) act(ctx context.Context, in triage.Intent) error {
	var g steps.Gater
	var params steps.Params
	// From here on the gate is confirmed: whoever turns away leaves it disarmed.
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
	fresh, blobs, err := s.read(ctx, in.Step, g, params)
	return s.call(whole, func() error {
		gate := s.state.Gates[in.Step]
		if gate.Phase != triage.GateConfirmed {
			return refusal(in, triage.Refusal{Law: 5, Why: "the gate was disarmed meanwhile: " + gate.Why, Cure: "preview it again"})
		}
		if err != nil {
			return s.disarm(in, gate, "the target could not be read again: "+err.Error(), nil)
		}
		if s.front == nil || s.front.step != in.Step {
			return s.disarm(in, gate, "another gate came in front", nil)
		}
		if moved := movedKeys(s.front.preview, fresh); fresh.Digest(s.state.Incident, in.Step) != steps.Digest(gate.Digest) {
			return s.disarm(in, gate, "the target moved between preview and act", moved)
		}
		if len(fresh.Unmet) > 0 {
			return s.disarm(in, gate, fresh.Unmet[0].Why, nil)
		}
		if why := s.unlawful(gate, fresh); why != "" {
			return s.disarm(in, gate, why, nil)
		}
		start := triage.ActStart{Step: in.Step, Digest: gate.Digest, Request: fresh.Request, Before: append(lines(fresh.Target), lines(fresh.Shown)...)}
		if !s.hold() {
			return s.disarm(in, gate, "the session is closing", nil)
		}
		if err := s.record(start, blobs); err != nil {
			s.work.Done()
			return err
		}
		s.launch(in.Step, gate, g, params)
		return nil
	})
}

// unlawful says what the laws have against acting now, although the target is
// the one shown: while it was read again the preview may have expired, evidence
// may have grown stale, and a controller that was paused may have resumed, which
// is no part of the digest.
func (s *Session) unlawful(gate triage.GateState, fresh steps.Preview) string {
	now := s.cfg.Now()
	if now.After(gate.Shown.Until) {
		return "the preview expired while the target was read again"
	}
	again := triage.Intent{Kind: triage.DoPreview, Step: gate.Step, Text: gate.Shown.Why}
	if r := triage.Check(s.state, again, now, s.judge); r != nil {
		return r.Refusals[0].Why
	}
	for _, o := range fresh.Owners {
		free := func(subject string) bool { return waived(s.state, triage.Waive{Law: 12, Subject: subject}) }
		if o.Paused != "yes" && !free(o.Name) && !free(gate.Step) {
			return o.Name + " may undo it and is not known to be paused"
		}
	}
	return ""
}

// disarm closes a confirmed gate whose target is not what was confirmed.
func (s *Session) disarm(in triage.Intent, gate triage.GateState, why string, moved []string) error {
	if s.front != nil && s.front.step == in.Step {
		s.front.moved = moved
		s.front.refusals = []triage.Refusal{{Law: 5, Why: why, Cure: "look at what moved, then preview again"}}
	}
	if err := s.record(triage.GateClosed{Step: in.Step, Digest: gate.Digest, Why: why, Moved: moved, Refused: true, Audit: s.named(in.Step)}, nil); err != nil {
		return err
	}
	return refusal(in, triage.Refusal{Law: 5, Why: why, Cure: "look at what moved, then preview again"})
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

// launch runs the executor beside the owner, for a caller that holds the
// session open. An act outlives the cancelling of probes: Close waits for it.
func (s *Session) launch(step string, gate triage.GateState, g steps.Gater, params steps.Params) {
	ctx, cancel := context.WithCancel(context.Background())
	seq := s.state.Seq
	incident := s.state.Incident
	s.flight[step] = &flight{step: step, kind: "act", started: s.cfg.Now(), cancel: cancel, act: true}
	s.publish()
	typed, asked := s.front.preview.Phrase, s.asked[step]
	go func() { // Close waits for it
		defer s.work.Done()
		defer cancel()
		k := &sink{s: s, step: step}
		end, owes := s.execute(ctx, incident, step, seq, gate.Digest, typed, g, params, k, asked)
		blobs, _ := k.done()
		_ = s.call(context.Background(), func() error { return s.finishAct(end, owes, blobs) })
	}()
}

// outcome is what the executor leaves behind for a session that died meanwhile.
type outcome struct {
	End  triage.ActEnd `json:"end"`
	Owes []steps.Debt  `json:"owes"`
}

// execute claims the act, previews once more, confirms with the recorded phrase
// and acts (DECISIONS S8). It runs in process until the first long act exists;
// the claim and the outcome file are already those of a detached executor.
func (s *Session) execute(ctx context.Context, incident, step string, seq int64, digest, typed string, g steps.Gater, params steps.Params, k *sink, asked *asks) (triage.ActEnd, []steps.Debt) {
	end := triage.ActEnd{Step: step, Digest: digest}
	claim, err := claimAct(s.cfg.Acts, incident, seq)
	if err != nil {
		end.Outcome, end.Response = steps.Refused, "the act could not be claimed: "+err.Error()
		return end, nil
	}
	defer claim.Close()
	readCtx, cancel := context.WithTimeout(ctx, previewTime)
	fresh, err := previewSafely(readCtx, g, params, k)
	cancel()
	if err != nil {
		end.Outcome, end.Response = steps.Refused, "the target could not be read again: "+s.bundle.Redact(err.Error())
		return end, nil
	}
	fresh = s.redacted(fresh)
	approval, err := steps.Confirm(fresh, incident, step, steps.Digest(digest), typed)
	if err != nil {
		end.Outcome, end.Response = steps.Refused, "nothing was sent: "+err.Error()
		return end, nil
	}
	got, err := actSafely(ctx, g, approval, k)
	var owes []steps.Debt
	switch {
	case err != nil:
		end.Outcome, end.Response = triage.Unknown, s.bundle.Redact(err.Error())
	default:
		end.Outcome, end.Response, end.After = got.Result, s.bundle.Redact(got.Response), lines(s.redactedKVs(got.After))
		if got.Result == steps.Done {
			owes = fresh.Owes
		}
	}
	end.Audit = asked.ids()
	if err := claim.leave(outcome{end, owes}); err != nil {
		k.Line("the outcome could not be kept beside the bundle: " + err.Error())
	}
	return end, owes
}

func actSafely(ctx context.Context, g steps.Gater, a *steps.Approval, k steps.Sink) (o steps.Outcome, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("a fault in handrail itself: %v", v)
		}
	}()
	return g.Act(ctx, a, k)
}

// finishAct records how an act ended and what it leaves owing.
func (s *Session) finishAct(end triage.ActEnd, owes []steps.Debt, blobs []evidence.Blob) error {
	defer s.landed(end.Step)
	if ids := s.named(end.Step); ids != nil {
		end.Audit = ids
	}
	if err := s.record(end, blobs); err != nil {
		return err
	}
	for _, d := range owes {
		if err := s.openDebt(end.Step, d); err != nil {
			return err
		}
	}
	return nil
}

// openDebt records what a step owes, due counted from now.
func (s *Session) openDebt(step string, d steps.Debt) error {
	debt := triage.DebtOpened{ID: debtID(d.Kind, s.state), Kind: d.Kind, Of: step, Text: d.Text}
	if d.Due > 0 {
		due := s.cfg.Now().Add(d.Due).UTC()
		debt.Due = &due
	}
	return s.record(debt, nil)
}

// debtID is the kind of the debt, numbered from the second of its kind.
func debtID(kind string, st triage.State) string {
	n := 1
	for _, d := range st.Debts {
		if d.Kind == kind {
			n++
		}
	}
	if n == 1 {
		return kind
	}
	return kind + strconv.Itoa(n)
}

// recoverAct finds out what is known of an act that a crash cut off: an outcome
// that its executor left, or nothing, and then the outcome is unknown.
func (s *Session) recoverAct(step string) error {
	gate := s.state.Gates[step]
	left, err := readOutcome(s.cfg.Acts, s.state.Incident, gate.StartSeq)
	if err == nil && left.End.Digest == gate.Digest {
		return s.finishAct(left.End, left.Owes, nil)
	}
	why := "handrail ended during the act"
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		why += "; its outcome file cannot be read: " + err.Error()
	}
	return s.record(triage.ActEnd{Step: step, Digest: gate.Digest, Outcome: triage.Unknown, Response: why}, nil)
}

// findOut reads the target of an act whose outcome is unknown and records what
// was found.
func (s *Session) findOut(ctx context.Context, step string) error {
	var g steps.Gater
	var params steps.Params
	var gate triage.GateState
	err := s.call(ctx, func() (err error) {
		gate = s.state.Gates[step]
		g, params, _, err = s.gater(step)
		return err
	})
	if err != nil {
		return err
	}
	f, ok := g.(steps.Finder)
	if !ok {
		return fmt.Errorf("step %s: this gate cannot tell what an interrupted act came to; look at the target yourself and record a note", step)
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
	got, err := f.Find(ctx, shownLinesOf(gate.Before), params, k)
	blobs, kept := k.done()
	if err == nil {
		err = kept
	}
	if err != nil {
		return fmt.Errorf("step %s: the outcome is still unknown: %w", step, s.said(err))
	}
	end := triage.ActEnd{Step: step, Digest: gate.Digest, Outcome: got.Result, Response: got.Response, After: lines(got.After)}
	var owes []steps.Debt
	if got.Result == steps.Done {
		for _, o := range gate.Shown.Owes {
			due, _ := time.ParseDuration(o.Due) // "" means no time
			owes = append(owes, steps.Debt{Kind: o.Kind, Text: o.Text, Due: due})
		}
	}
	return s.call(context.WithoutCancel(ctx), func() error {
		// Two people may have looked, and another act may have begun since.
		if now := s.state.Gates[step]; now.Phase != triage.GateUnknown || now.StartSeq != gate.StartSeq {
			return fmt.Errorf("step %s: its outcome was found meanwhile", step)
		}
		return s.finishAct(end, owes, blobs)
	})
}

// claim is the executor's hold on one act.
type claim struct {
	dir string
	f   *os.File
}

// claimAct makes acts/<incident>/<seq>; it fails where the act was claimed
// before, so that no act runs twice.
func claimAct(acts, incident string, seq int64) (*claim, error) {
	parent := filepath.Join(acts, incident)
	if err := os.MkdirAll(parent, 0o700); err != nil {
		return nil, err
	}
	dir := filepath.Join(parent, strconv.FormatInt(seq, 10))
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(filepath.Join(dir, "claim"), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	return &claim{dir: dir, f: f}, nil
}

// leave renames the outcome into place.
func (c *claim) leave(o outcome) error {
	b, err := json.Marshal(o)
	if err != nil {
		return err
	}
	tmp := filepath.Join(c.dir, "outcome.tmp")
	f, err := os.OpenFile(tmp, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	if _, err := f.Write(b); err != nil {
		_ = f.Close()
		return err
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(tmp, filepath.Join(c.dir, "outcome.json"))
}

// Close gives the claim up; the directory stays as the record of the act.
func (c *claim) Close() error { return c.f.Close() }

func readOutcome(acts, incident string, seq int64) (outcome, error) {
	var o outcome
	b, err := os.ReadFile(filepath.Join(acts, incident, strconv.FormatInt(seq, 10), "outcome.json"))
	if err != nil {
		return o, err
	}
	return o, json.Unmarshal(b, &o)
}
