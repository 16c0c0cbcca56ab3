package session

import (
	"context"

	"handrail/session/pin"
	"handrail/steps"
	"handrail/steps/fault"
	"handrail/triage"
)

// pin implements steps.Pin: it refuses a context that leads elsewhere than the
// journal says, and writes down what is new.
func (s *Session) pin(ctx context.Context, seen steps.Cluster) error {
	seen = s.asStored(seen)
	if s.carrying {
		if seen.Own && !s.pins.HasOwn() {
			return &steps.PinError{Context: seen.Context, Why: "the journal does not say which cluster this incident is about", Cure: "nothing was sent; preview the gate again"}
		}
		return s.pins.Judge(seen)
	}
	return s.call(ctx, func() error {
		if err := s.pins.Judge(seen); err != nil {
			return err
		}
		if err := s.keepPin(seen); err != nil {
			return err
		}
		if !seen.Own && !s.told[seen.Context] {
			s.told[seen.Context] = true
			s.custodyOf(seen.Context)
		}
		return nil
	})
}

// asStored is a cluster as the journal holds it, so that both can be compared.
func (s *Session) asStored(c steps.Cluster) steps.Cluster {
	for _, text := range []*string{&c.Context, &c.Server, &c.UID, &c.User, &c.CA, &c.Way} {
		*text = s.bundle.RedactKnown(*text)
	}
	c.Unread = s.bundle.Redact(c.Unread)
	return c
}

// keepPin writes a pin down where the journal does not have it.
func (s *Session) keepPin(seen steps.Cluster) error {
	about := s.pins.Draft(seen)
	if about == nil {
		return nil
	}
	if s.dead != nil {
		return s.dead
	}
	return s.surround(about, nil)
}

// custodyOf records what another context leads to and as whom, as custody does
// for the incident's own.
func (s *Session) custodyOf(name string) {
	if s.cfg.Server == nil || !s.hold() {
		return
	}
	st, a := s.state, s.asking("")
	look := Gather(func(ctx context.Context, env steps.Env, st triage.State) map[string]steps.Value {
		about := s.cfg.Server(ctx, env.At(name), st)
		if about != nil {
			about[pin.Other] = steps.IdentOf(name)
		}
		return about
	})
	go func() { // ends with the look, which gatherTime bounds
		defer s.work.Done()
		defer fault.To(unheard)
		s.gather(steps.WithSecret(steps.WithAudit(s.ctx, a.next), s.secret), look, st, a)
	}()
}
