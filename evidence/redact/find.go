package redact

import (
	"bytes"
	"cmp"
	"io"
	"slices"

	"handrail/evidence/jsontree"
)

// Finding is a place where the rules find a secret in what was redacted before. It never holds the value.
type Finding struct {
	Offset int64 // -1 when only the structure tells
	Kind   string
}

// FindInData searches the data of an entry, and texts that belong to it.
func (s *Scrubber) FindInData(data *jsontree.Node, texts ...string) []Finding {
	n := Counts{}
	s.r.inEntryData(data, n)
	for _, t := range texts {
		s.r.Bytes([]byte(t), n)
	}
	return findingsOf(n)
}

func findingsOf(n Counts) []Finding {
	var out []Finding
	for kind, times := range n {
		for range times {
			out = append(out, Finding{-1, kind})
		}
	}
	slices.SortFunc(out, func(a, b Finding) int { return cmp.Compare(a.Kind, b.Kind) })
	return out
}

// FindIn searches an artifact as text and, where it has the structure that its media type promises, by that.
func (s *Scrubber) FindIn(from io.Reader, media string, parsed bool) ([]Finding, error) {
	var out []Finding
	report := func(kind string, at int64) { out = append(out, Finding{at, kind}) }
	text := &textStream{r: s.r, out: io.Discard, n: Counts{}, size: window, ahead: ahead, bare: true, found: report}
	known := &knownFinder{set: s.r.knownValues(), found: report}
	structure := s.r.Artifact(media, io.Discard)
	parsed = parsed && structure.Structured()
	into := []io.Writer{text, known}
	if parsed {
		into = append(into, &structure)
	}
	if _, err := io.Copy(io.MultiWriter(into...), from); err != nil {
		return nil, err
	}
	if err := text.finish(); err != nil {
		return nil, err
	}
	if parsed && len(out) == 0 {
		if err := structure.end(); err != nil {
			return nil, err
		}
		out = findingsOf(structure.n)
	}
	return out, nil
}

// knownFinder looks for known values in a stream.
type knownFinder struct {
	set   *knownSet
	found func(kind string, at int64)
	buf   []byte
	base  int64
}

func (k *knownFinder) Write(p []byte) (int, error) {
	if len(k.set.bits) == 0 {
		return len(p), nil
	}
	k.buf = append(k.buf, p...)
	done := 0
	for i := k.set.find(k.buf, 0, len(k.buf)); i < len(k.buf); i = k.set.find(k.buf, i, len(k.buf)) {
		if f, ok := k.set.at(k.buf[i:]); ok {
			k.found("known", k.base+int64(i))
			i += len(f.form)
			done = i
			continue
		}
		i++
	}
	done = max(done, len(k.buf)-k.set.longest+1)
	k.base += int64(done)
	k.buf = append(k.buf[:0], k.buf[done:]...)
	return len(p), nil
}

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
