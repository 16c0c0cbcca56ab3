package triage

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
)

// Digest is the SHA-256, in hex, of everything that a state says: equal for
// states that mean the same, whether they were folded live, after a crash or
// from a copy. It is "" for a state that cannot be written down as JSON.
func Digest(s State) string {
	raw, err := json.Marshal(s)
	if err != nil {
		return ""
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return ""
	}
	if raw, err = json.Marshal(pruned(v)); err != nil {
		return ""
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:])
}

// Equal reports whether two states say the same.
func (s State) Equal(o State) bool {
	d := Digest(s)
	return d != "" && d == Digest(o)
}

// pruned drops what is empty from objects: nil and empty mean the same in a
// state.
func pruned(v any) any {
	switch x := v.(type) {
	case map[string]any:
		for k, e := range x {
			if e = pruned(e); empty(e) {
				delete(x, k)
			} else {
				x[k] = e
			}
		}
	case []any:
		for i := range x {
			x[i] = pruned(x[i])
		}
	}
	return v
}

func empty(v any) bool {
	switch x := v.(type) {
	case nil:
		return true
	case map[string]any:
		return len(x) == 0
	case []any:
		return len(x) == 0
	}
	return false
}
