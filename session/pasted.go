package session

import (
	"fmt"
	"maps"
	"strings"

	"handrail/evidence"
	"handrail/steps"
	"handrail/triage"
)

// keepPasted keeps a text that a person pasted as evidence, redacted, and has the parameters
// that stand for it name what was kept: a log that is read from the bundle is the one that the
// bundle holds.
func (s *Session) keepPasted(params steps.Params, text string) (steps.Params, error) {
	if strings.TrimSpace(text) == "" {
		return params, nil
	}
	w, err := s.bundle.Blob("pasted", steps.MediaText)
	if err != nil {
		return nil, s.die(err)
	}
	if _, err := w.Write([]byte(text)); err != nil {
		w.Abort()
		return nil, s.die(err)
	}
	blob, err := w.Commit()
	if err != nil {
		return nil, s.die(err)
	}
	said := fmt.Sprintf("Pasted: a text of %d bytes, kept redacted with this entry.", len(text))
	if err := s.record(triage.Note{Text: said}, []evidence.Blob{blob}); err != nil {
		return nil, err
	}
	out := maps.Clone(params)
	for name, v := range out {
		if v.Type() == steps.Path && v.Text() == triage.Pasted {
			out[name] = steps.PathOf(s.bundle.BlobPath(blob.SHA256))
		}
	}
	return out, nil
}
