package evidence

import (
	"cmp"
	"io"
	"slices"
)

// finding is a place where the rules find a secret in what was redacted before. It never holds the value.
type finding struct {
	offset int64 // -1 when only the structure tells
	kind   string
}

// findInData searches the data of an entry, and texts that belong to it.
func (s *Scrubber) findInData(data *node, texts ...string) []finding {
	n := counts{}
	s.r.inEntryData(data, n)
	for _, t := range texts {
		s.r.bytes([]byte(t), n)
	}
	return findingsOf(n)
}

func findingsOf(n counts) []finding {
	var out []finding
	for kind, times := range n {
		for range times {
			out = append(out, finding{-1, kind})
		}
	}
	slices.SortFunc(out, func(a, b finding) int { return cmp.Compare(a.kind, b.kind) })
	return out
}

// findIn searches an artifact as text and, where it has the structure that its media type promises, by that.
func (s *Scrubber) findIn(from io.Reader, media string, parsed bool) ([]finding, error) {
	var out []finding
	report := func(kind string, at int64) { out = append(out, finding{at, kind}) }
	text := &textStream{r: s.r, out: io.Discard, n: counts{}, size: window, ahead: ahead, bare: true, found: report}
	known := &knownFinder{set: s.r.knownValues(), found: report}
	structure := s.r.artifact(media, io.Discard)
	parsed = parsed && structure.structured()
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
