package tfstate

import (
	"encoding/json"
	"strconv"
	"strings"
)

// minSecret keeps words like "on" from being hidden everywhere.
const minSecret = 4

// step is one step of a sensitive path.
type step struct {
	Type  string          `json:"type"`
	Value json.RawMessage `json:"value"`
}

// sensitive counts the sensitive paths of an instance and tells their values.
func (w *walker) sensitive(i *Instance) {
	var paths [][]step
	if json.Unmarshal(w.sure, &paths) != nil || len(paths) == 0 {
		return
	}
	w.d.Sensitive += len(paths)
	var root any
	if json.Unmarshal(i.Attributes, &root) != nil {
		return
	}
	for _, path := range paths {
		at, name := root, ""
		for _, s := range path {
			var word string
			at, word = child(at, s.Value)
			name += word
		}
		if len(i.paths) < maxMarks {
			i.paths = append(i.paths, name)
		}
		w.hide(at)
	}
}

// child follows one step of a path: the name of an attribute, or an index that
// is written as {"value":…,"type":…}.
func child(at any, raw json.RawMessage) (any, string) {
	var key any
	if json.Unmarshal(raw, &key) != nil {
		return nil, "[?]"
	}
	indexed := false
	if m, ok := key.(map[string]any); ok {
		key, indexed = m["value"], true
	}
	switch k := key.(type) {
	case string:
		word := "." + k
		if indexed {
			word = "[" + strconv.Quote(k) + "]"
		}
		m, _ := at.(map[string]any)
		return m[k], word
	case float64:
		word := "[" + strconv.FormatFloat(k, 'f', -1, 64) + "]"
		if list, ok := at.([]any); ok && k >= 0 && int(k) < len(list) {
			return list[int(k)], word
		}
		return nil, word
	}
	return nil, "[?]"
}

// tell names every string in raw as a secret.
func (w *walker) tell(raw []byte) {
	var v any
	if json.Unmarshal(raw, &v) == nil {
		w.hide(v)
	}
}

func (w *walker) hide(v any) {
	if w.o.Secret == nil {
		return
	}
	switch v := v.(type) {
	case string:
		if len(strings.TrimSpace(v)) >= minSecret {
			w.o.Secret(v)
		}
	case []any:
		for _, e := range v {
			w.hide(e)
		}
	case map[string]any:
		for _, e := range v {
			w.hide(e)
		}
	}
}
