package evidence

import (
	"bytes"
	"errors"
	"io"
	"slices"
)

// Leak is a place in a bundle where today's rules find a secret. It never holds the value.
type Leak struct {
	Entry  int64  // seq of the entry, or of the first that names the blob
	Blob   string // hash of the blob; "" when it is in the entry itself
	Offset int64  // in the blob; -1 when only its structure tells, or in an entry
	Kind   string
}

// Leaks searches a bundle again: its entries as data, its blobs as text, and by structure where they have one. values are
// searched for as known values. The tokens of the bundle are no leaks.
func (r *Reader) Leaks(values []string, team []TeamRule) ([]Leak, error) {
	s, err := NewScrubber(values, team)
	if err != nil {
		return nil, err
	}
	var out []Leak
	seen := map[string]bool{}
	for e, err := range r.Entries() {
		var torn *TornError
		if errors.As(err, &torn) {
			break
		}
		if err != nil {
			return out, err
		}
		found, err := s.r.inEntry(e)
		if err != nil {
			return out, err
		}
		out = append(out, found...)
		for _, b := range e.Blobs {
			if seen[b.SHA256] {
				continue
			}
			seen[b.SHA256] = true
			found, err := s.r.inBlob(r, b)
			if err != nil {
				return out, err
			}
			for i := range found {
				found[i].Entry = e.Seq
			}
			out = append(out, found...)
		}
	}
	return out, nil
}

func (r *redactor) inEntry(e Entry) ([]Leak, error) {
	data, err := parseJSON(e.Data, strictKeys)
	if err != nil {
		return nil, err
	}
	n := counts{}
	r.inEntryData(data, n)
	for _, s := range []string{e.Actor, e.Step} {
		r.bytes([]byte(s), n)
	}
	return leaksOf(n, Leak{Entry: e.Seq, Offset: -1}), nil
}

func leaksOf(n counts, l Leak) []Leak {
	var out []Leak
	for kind, times := range n {
		l.Kind = kind
		for range times {
			out = append(out, l)
		}
	}
	slices.SortFunc(out, func(a, b Leak) int { return bytes.Compare([]byte(a.Kind), []byte(b.Kind)) })
	return out
}

func (r *redactor) inBlob(from *Reader, b Blob) ([]Leak, error) {
	var out []Leak
	f, err := from.OpenBlob(b.SHA256)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	report := func(kind string, at int64) { out = append(out, Leak{Blob: b.SHA256, Offset: at, Kind: kind}) }
	text := &textStream{r: r, out: io.Discard, n: counts{}, size: window, ahead: ahead, bare: true, found: report}
	known := &knownFinder{set: r.knownValues(), found: report}
	structure := r.artifact(b.Media, io.Discard)
	byStructure := structure.tree != nil || structure.whole != nil
	into := []io.Writer{text, known}
	if byStructure = byStructure && !slices.Contains(b.Rules, unparsed); byStructure {
		into = append(into, &structure)
	}
	if _, err := io.Copy(io.MultiWriter(into...), io.LimitReader(f, maxBlob)); err != nil {
		return nil, err
	}
	if err := text.finish(); err != nil {
		return nil, err
	}
	if byStructure && len(out) == 0 {
		if err := structure.end(); err != nil {
			return nil, err
		}
		out = leaksOf(structure.n, Leak{Blob: b.SHA256, Offset: -1})
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
