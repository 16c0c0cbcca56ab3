package session

import (
	"handrail/evidence"
	"handrail/triage"
)

// sayForgot records that this session does not know what earlier ones learned to
// be secret.
func (s *Session) sayForgot() error {
	why := s.bundle.Forgot()
	if why == "" || s.dead != nil {
		return nil
	}
	text := "The secrets learned by earlier steps are lost: " + why +
		". Until the incident ends, every word that looks like a secret is removed from stored text. Read states and plans again before logs, so that their values are known."
	e, err := s.bundle.Append(s.ctxForDisk(), evidence.Draft{Type: "note", Actor: "system", Data: triage.Note{Text: text}})
	if err != nil {
		return s.die(err)
	}
	if err := s.fold(e); err != nil {
		return s.die(err)
	}
	return nil
}

// relearn tells what earlier sessions learned to the processes beside this one.
func (s *Session) relearn() {
	if s.cfg.Learned == nil {
		return
	}
	for _, v := range s.bundle.Learned().Secrets {
		s.cfg.Learned(v)
	}
}
