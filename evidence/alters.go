package evidence

import (
	"bytes"
	"encoding/json"
	"io"
	"reflect"

	"handrail/evidence/redact"
)

// Alters says whether what is stored of an artifact is less than the artifact: whether redaction takes anything out of raw.
// Layout does not count, nor do the two fields that Kubernetes keeps for itself and that no object needs to be made again.
func (b *Bundle) Alters(media string, raw []byte) bool {
	var out bytes.Buffer
	a := b.red.Artifact(media, &out)
	_, err := a.Write(raw)
	if err == nil {
		_, err = a.Close()
	}
	if err != nil {
		return true
	}
	if bytes.Equal(bytes.TrimSpace(out.Bytes()), bytes.TrimSpace(raw)) {
		return false
	}
	before, err := plainJSON(raw)
	after, aerr := plainJSON(out.Bytes())
	return err != nil || aerr != nil || !reflect.DeepEqual(before, after)
}

// plainJSON is one JSON document without the fields that are dropped because they only repeat others.
func plainJSON(raw []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, io.ErrUnexpectedEOF
	}
	dropRepeated(v)
	return v, nil
}

func dropRepeated(v any) {
	switch v := v.(type) {
	case map[string]any:
		delete(v, "managedFields")
		delete(v, redact.LastApplied)
		for _, m := range v {
			dropRepeated(m)
		}
	case []any:
		for _, m := range v {
			dropRepeated(m)
		}
	}
}
