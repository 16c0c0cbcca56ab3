package evidence

import (
	"bytes"
	"errors"
	"fmt"

	"handrail/evidence/jsontree"
)

const maxMeta = 64 << 10

// Meta is bundle.json: what a bundle says of itself. Entry 0 holds its hash.
type Meta struct {
	Format   string `json:"format"`
	ID       string `json:"id"`
	Created  string `json:"created"`
	Handrail string `json:"handrail"`
}

func encodeMeta(m Meta) []byte {
	out := jsontree.AppendString([]byte(`{"format":`), m.Format)
	out = jsontree.AppendString(append(out, `,"id":`...), m.ID)
	out = jsontree.AppendString(append(out, `,"created":`...), m.Created)
	out = jsontree.AppendString(append(out, `,"handrail":`...), m.Handrail)
	return append(out, '}', '\n')
}

func parseMeta(raw []byte) (Meta, error) {
	if len(raw) > maxMeta {
		return Meta{}, errors.New("bundle.json is over 64 KiB")
	}
	n, err := jsontree.Parse(raw, jsontree.StrictKeys)
	if err != nil {
		return Meta{}, fmt.Errorf("bundle.json: %w", err)
	}
	m := Meta{Format: n.Str("format"), ID: n.Str("id"), Created: n.Str("created"), Handrail: n.Str("handrail")}
	if m.Format != Format {
		return Meta{}, fmt.Errorf("bundle.json: format %q, this handrail knows %q", m.Format, Format)
	}
	if !validID.MatchString(m.ID) {
		return Meta{}, fmt.Errorf("bundle.json: id %q is not a bundle id", m.ID)
	}
	if !bytes.Equal(encodeMeta(m), raw) {
		return Meta{}, errors.New("bundle.json is not in canonical form")
	}
	return m, nil
}
