package session

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"handrail/evidence"
	"handrail/session/policy"
	"handrail/steps"
	"handrail/triage"
)

// beginsWithin is how long after act.start an act may begin, by a clock that goes
// on while the machine sleeps: what a person saw and said was about then.
const beginsWithin = 2 * time.Minute

// clocksApart is how far the clocks of two machines are trusted to differ.
const clocksApart = time.Minute

// against says what there is against acting on a gate now, "" for nothing. Who is
// about to record an act asks it, and its executor once more directly before.
func (s *Session) against(gate triage.GateState, fresh steps.Preview, pair *policy.Pair, policyErr error) string {
	if why := alone(gate.Shown, pair, policyErr); why != "" {
		return why
	}
	if why := s.unlawful(gate, fresh); why != "" {
		return why
	}
	return s.revoked(gate, pair)
}

// revoked says why the approval that a gate stands on is none by the policy of
// now, "" where it is one or none is asked for.
func (s *Session) revoked(gate triage.GateState, pair *policy.Pair) string {
	a, ok := s.state.Holding(gate.Step, s.cfg.Now())
	if !ok || pair == nil || pair.Signers == nil {
		return "" // whether there is one was asked before
	}
	text, err := s.requests[gate.Step].Signed(a.Signed)
	if err == nil {
		_, err = pair.Signers.Approver([]byte(a.Sig), text, s.cfg.Now())
	}
	if err != nil {
		return "the approval by " + a.Person + " no longer counts: " + err.Error()
	}
	return ""
}

// lastWord says what there is against an act that an executor is about to carry
// out, "" for nothing: it reads what the journal tells by now, and asks all that
// the gate asked.
func (s *Session) lastWord(ctx context.Context, e confirmedAct, fresh steps.Preview) string {
	if err := s.readOn(); err != nil {
		return "the journal could not be read again: " + s.bundle.Redact(err.Error())
	}
	if !e.order.underWay(s.state) {
		return "the incident continued without this act"
	}
	slot, started := *s.state.Gates[e.step].Slot, s.startOf(e.step)
	s.state = s.state.BeforeAct()
	gate := s.state.Gates[e.step]
	where := append(policy.Shown(gate.Shown), policy.Resolve(policy.Place(e.params, append(slices.Clone(fresh.Target), fresh.Shown...)))...)
	pair, policyErr := s.askPolicy(ctx, policy.OfGate(s.state, s.header, e.step, where))
	if why := s.against(gate, fresh, pair, policyErr); why != "" {
		return s.bundle.Redact(why)
	}
	return s.tooLate(slot, started) // last, since the rest took time
}

// tooLate says that too long has passed since an act was recorded, by the clock of
// the machine since its start, and by that of the day where there is no other.
func (s *Session) tooLate(slot triage.Slot, started time.Time) string {
	m := s.machine()
	since := s.cfg.Now().Sub(started)
	if slot.Boot != "" {
		if why := m.ApartFrom(slot); why != "" {
			return why
		}
		if up, err := time.ParseDuration(slot.Up); err == nil && m.Up > 0 {
			since = m.Up - up
		}
	}
	if since > beginsWithin {
		return fmt.Sprintf("%s passed since it was last judged, and an act begins within %s of that or not at all", since.Round(time.Second), beginsWithin)
	}
	return ""
}

// beginSoon lets an act that was just judged begin within the same time again: it
// may read much before it sends the first thing, and a lid be closed meanwhile.
func (s *Session) beginSoon(ctx context.Context, step string) context.Context {
	slot, judged := *s.state.Gates[step].Slot, s.cfg.Now()
	slot.Up = s.machine().Up.String()
	return steps.BeginWhile(ctx, func() error {
		if why := s.tooLate(slot, judged); why != "" {
			return errors.New(why)
		}
		return nil
	})
}

func (s *Session) startOf(step string) time.Time {
	st, _ := s.state.Step(step)
	return st.Started
}

// readOn folds what the journal tells since it was read. A last line that is not
// whole is being written.
func (s *Session) readOn() error {
	r, err := evidence.OpenReadOnly(s.path)
	if err != nil {
		return err
	}
	defer r.Close()
	last := s.state.Seq
	for e, err := range r.Entries() {
		var torn *evidence.TornError
		switch {
		case errors.As(err, &torn):
			return nil
		case err != nil:
			return err
		case e.Seq <= last:
			continue
		}
		if err := s.fold(e); err != nil {
			return err
		}
	}
	return nil
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
	if rs := s.state.SecondLacks(gate.Step, now); len(rs) > 0 {
		return rs[0].Why
	}
	for _, o := range fresh.Owners {
		free := func(subject string) bool { return Waived(s.state, triage.Waive{Law: 12, Subject: subject}) }
		if o.Paused != "yes" && !free(o.Name) && !free(gate.Step) {
			return o.Name + " may undo it, and it is not confirmed to be paused"
		}
	}
	return ""
}

// Waived reports whether a state holds that waiver.
func Waived(st triage.State, w triage.Waive) bool {
	return slices.ContainsFunc(st.Waivers, func(x triage.Waiver) bool { return x.Law == w.Law && x.Subject == w.Subject })
}
