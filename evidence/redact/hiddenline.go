package redact

import "bytes"

// HiddenLine returns the number of the first line of an artifact that a bundle would
// not store as it is, from 1, or 0. team are the rules of the team, which may be
// nil. What must be read back to the letter, such as a runbook, is asked about
// before an incident. The error says that a rule of the team cannot be used.
func HiddenLine(media string, src []byte, team []TeamRule) (line int, err error) {
	r, err := New(nil, team)
	if err != nil {
		return 0, err
	}
	var stored bytes.Buffer
	a := r.Artifact(media, &stored)
	if _, err := a.Write(src); err != nil {
		return 0, err
	}
	if err := a.end(); err != nil {
		return 0, err
	}
	was, is := bytes.SplitAfter(src, []byte("\n")), bytes.SplitAfter(stored.Bytes(), []byte("\n"))
	for i := range was {
		if i >= len(is) || !bytes.Equal(was[i], is[i]) {
			return i + 1, nil
		}
	}
	return 0, nil
}
