package session

import (
	"context"
	"time"

	"handrail/triage"
)

// freshProof is how old what a proof saw last may be when the incident is closed as
// recovered by it.
const freshProof = time.Minute

// closeIncident closes the incident. As recovered it does so only by proofs that hold
// now: a watch that was complete a while ago is read once more, and what turned red
// since refuses the close (law 8).
func (s *Session) closeIncident(ctx context.Context, in triage.Intent) error {
	if in.Value == "recovered" {
		reads, err := s.readProofs(ctx, in)
		if err != nil {
			return err
		}
		for _, over := range reads {
			select {
			case <-over:
			case <-ctx.Done():
				return ctx.Err()
			case <-s.ctx.Done():
				return ErrClosed
			}
		}
	}
	return s.call(ctx, func() error { return s.plain(in) })
}

// readProofs begins to read the proofs that are too old, and returns what tells the end
// of each. It reads nothing where the close is refused already.
func (s *Session) readProofs(ctx context.Context, in triage.Intent) (over []<-chan struct{}, err error) {
	err = s.call(ctx, func() error {
		if r := triage.Check(s.state, in, s.cfg.Now(), s.judge); r != nil {
			return r
		}
		for i := range s.state.Steps {
			st := s.state.Steps[i]
			if !st.Proof() || s.cfg.Now().Sub(st.LastSample()) <= freshProof {
				continue
			}
			if s.flight[st.ID] == nil {
				if err := s.startProbe(triage.Intent{Kind: triage.DoProbe, Step: st.ID}); err != nil {
					return err
				}
			}
			if f := s.flight[st.ID]; f != nil {
				over = append(over, f.over)
			}
		}
		return nil
	})
	return over, err
}
