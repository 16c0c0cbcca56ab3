package session

import (
	"context"
	"errors"
	"fmt"
	"time"

	"handrail/evidence"
	"handrail/session/pin"
	"handrail/steps"
	"handrail/steps/fault"
	"handrail/triage"
)

// gatherTime bounds how long the surroundings of an incident are looked at.
const gatherTime = 15 * time.Second

// Gather tells what an incident is worked with and on, by name: the machine, the
// program, the cluster. What could not be had is unknown and says why. It runs
// beside the incident and may be cut off; it runs nothing and changes nothing.
type Gather func(ctx context.Context, env steps.Env, st triage.State) map[string]steps.Value

// custody records, each time an incident is opened, who works on it with what.
// Nothing waits for it, and nothing fails by it.
func (s *Session) custody() {
	st := s.state
	if s.cfg.Here != nil {
		s.work.Go(func() {
			defer fault.To(unheard)
			s.gather(s.ctx, s.cfg.Here, st, nil)
		})
	}
	if s.cfg.Identify == nil && s.cfg.Server == nil {
		return
	}
	a := s.asking("")
	s.work.Go(func() {
		defer fault.To(unheard)
		ctx := steps.WithSecret(steps.WithAudit(s.ctx, a.next), s.secret)
		if s.cfg.Identify != nil {
			s.identify(ctx)
		}
		if s.cfg.Server != nil {
			s.gather(ctx, s.cfg.Server, st, a)
		}
	})
}

// unheard takes a fault that nothing depends on: what was not seen is not in the
// journal, and a step that needs it asks again.
func unheard(error) {}

// gather records what one look around gave. Close waits for it, so that what was
// seen until then is kept.
func (s *Session) gather(ctx context.Context, look Gather, st triage.State, a *asks) {
	ctx, cancel := context.WithTimeout(ctx, gatherTime)
	defer cancel()
	about := look.safely(ctx, s.cfg.Env, st)
	_ = s.call(context.Background(), func() error {
		if s.dead != nil || s.sealed || len(about) == 0 {
			return nil // a seal is not reopened for it
		}
		return s.surround(about, a)
	})
}

// surround writes surroundings down.
func (s *Session) surround(about map[string]steps.Value, a *asks) error {
	e, err := s.bundle.Append(s.ctxForDisk(), evidence.Draft{Type: "env", Actor: "system",
		Data: pin.Surroundings{Context: about, Audit: a.ids()}})
	switch {
	case errors.Is(err, evidence.ErrDead):
		return s.die(err)
	case err != nil:
		return err // nothing was written, and the incident goes on
	}
	if err := s.fold(e); err != nil {
		return s.die(err)
	}
	s.touch()
	return nil
}

// safely is what look sees; a panic in it is something that could not be seen.
func (look Gather) safely(ctx context.Context, env steps.Env, st triage.State) (about map[string]steps.Value) {
	defer func() {
		if v := recover(); v != nil {
			about = map[string]steps.Value{"surroundings": steps.Unknown(steps.String, fmt.Sprintf("could not check: an internal error in handrail: %v", v))}
		}
	}()
	return look(ctx, env, st)
}
