package session

import (
	"errors"
	"fmt"
	"maps"

	"handrail/evidence"
	"handrail/session/journal"
	"handrail/session/view"
	"handrail/steps"
	"handrail/triage"
)

// record appends one event and folds the bytes that were stored; the call that it
// is part of shows them. An event that would not fold is refused before anything is written.
func (s *Session) record(body triage.Body, blobs []evidence.Blob) error {
	if s.dead != nil {
		return s.dead
	}
	if err := triage.Follows(s.state, triage.Event{Seq: s.state.Seq + 1, At: s.cfg.Now(), Actor: s.actor, Body: body}); err != nil {
		return fmt.Errorf("recording %s: %w", body.Type(), err)
	}
	e, err := s.append(body, blobs)
	switch {
	case errors.Is(err, evidence.ErrTooLarge):
		return err // nothing was written
	case err != nil:
		return s.die(err)
	}
	if err := s.fold(e); err != nil {
		return s.die(err)
	}
	s.touch()
	return nil
}

// die marks the session read-only after a write that may not have reached the
// disk; fsync is never tried again.
func (s *Session) die(err error) error {
	s.dead = fmt.Errorf("incident %s: nothing can be recorded any more: %w", s.state.Incident, err)
	s.touch()
	return s.dead
}

// oweRest records what an unfinished change leaves owing, if nothing did yet.
func (s *Session) oweRest() error {
	d, ok := s.state.Owing()
	if !ok {
		return nil
	}
	return s.openDebt(d.Of, steps.Debt{Kind: d.Kind, Text: d.Text})
}

// openDebt records what a step owes, due counted from now.
func (s *Session) openDebt(step string, d steps.Debt) error {
	debt := triage.DebtOpened{ID: s.state.NextDebt(d.Kind), Kind: d.Kind, Of: step, Text: d.Text}
	if d.Due > 0 {
		due := s.cfg.Now().Add(d.Due).UTC()
		debt.Due = &due
	}
	return s.record(debt, nil)
}

// fold applies one stored entry.
func (s *Session) fold(e evidence.Entry) error {
	st, err := journal.Fold(s.state, e)
	if err != nil {
		return err
	}
	s.state = st
	s.requests.Note(st.Incident, e)
	s.pins.Note(e)
	s.due = anchorDue(s.due, e)
	s.sealed = e.Type == "seal"
	if len(e.Blobs) > 0 && s.snap.Load() != nil {
		s.blobs = maps.Clone(s.blobs) // snapshots share the old one
	}
	for _, b := range e.Blobs {
		s.blobs[e.Seq] = append(s.blobs[e.Seq], view.BlobRef{Role: b.Role, SHA: b.SHA256, Size: b.Size, Media: b.Media})
	}
	return nil
}

// enter moves the call to the phase of what is about to be done, so that the
// journal says where the call was at any moment.
func (s *Session) enter(in triage.Intent) error {
	switch in.Kind {
	case triage.DoProbe, triage.DoAnswer, triage.DoManual, triage.DoConclude, triage.DoPreview:
	default:
		return nil
	}
	to := s.state.PhaseOf(triage.Option{Kind: in.Kind, Step: in.Step, Topic: in.Topic})
	if to == "" || to == s.state.Phase {
		return nil
	}
	if err := s.record(triage.PhaseSet{To: to}, nil); err != nil {
		return err
	}
	return s.oweRest()
}
