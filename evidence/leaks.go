package evidence

import (
	"errors"
	"io"
	"slices"

	"handrail/evidence/jsontree"
	"handrail/evidence/redact"
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
func (r *Reader) Leaks(values []string, team []redact.TeamRule) ([]Leak, error) {
	s, err := redact.NewScrubber(values, team)
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
		data, err := jsontree.Parse(e.Data, jsontree.StrictKeys)
		if err != nil {
			return out, err
		}
		for _, f := range s.FindInData(data, e.Actor, e.Step) {
			out = append(out, Leak{Entry: e.Seq, Offset: f.Offset, Kind: f.Kind})
		}
		for _, b := range e.Blobs {
			if seen[b.SHA256] {
				continue
			}
			seen[b.SHA256] = true
			found, err := r.leaksIn(s, b)
			if err != nil {
				return out, err
			}
			for _, f := range found {
				out = append(out, Leak{Entry: e.Seq, Blob: b.SHA256, Offset: f.Offset, Kind: f.Kind})
			}
		}
	}
	return out, nil
}

func (r *Reader) leaksIn(s *redact.Scrubber, b Blob) ([]redact.Finding, error) {
	f, err := r.OpenBlob(b.SHA256)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return s.FindIn(io.LimitReader(f, maxBlob), b.Media, !slices.Contains(b.Rules, redact.Unparsed))
}
