// Package patch reads, judges and applies the part of JSON Patch (RFC 6902) that
// a gate may send: add, replace and remove of values below one object.
//
// A path may address an item of a list by what it is called, as in
// /spec/template/spec/containers/[name=app]/image, and an item that is a text, a
// number or a boolean by its value, as in /spec/args/[=--verbose]. [Resolve] turns
// that into the index that the item has, and into a test that it is still called so.
package patch

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"handrail/steps"
	"handrail/steps/kube/document"
)

// Operations that a person may ask for, and the one that is put before them.
const (
	Add     = "add"
	Replace = "replace"
	Remove  = "remove"
	Test    = "test"
)

const (
	// MaxOps bounds the operations of one patch: a change that a person can read.
	MaxOps = 50
	// MaxSize bounds its text.
	MaxSize = 64 << 10
)

// Op is one operation. Value is nil for a remove.
type Op struct {
	Op    string
	Path  string
	Value any
}

// MarshalJSON writes the members in the order in which a person reads them.
func (o Op) MarshalJSON() ([]byte, error) {
	if o.Op == Test && o.Path != "/metadata/resourceVersion" {
		// An API server compares what is written, byte by byte, and writes <, > and &
		// of its own objects as escapes.
		v, err := json.Marshal(o.Value)
		if err != nil {
			return nil, err
		}
		o.Value = json.RawMessage(v)
	}
	if o.Op == Remove {
		return marshal(struct {
			Op   string `json:"op"`
			Path string `json:"path"`
		}{o.Op, o.Path})
	}
	return marshal(struct {
		Op    string `json:"op"`
		Path  string `json:"path"`
		Value any    `json:"value"`
	}{o.Op, o.Path, o.Value})
}

// marshal writes <, > and & as they are.
func marshal(v any) ([]byte, error) {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return []byte(strings.TrimSuffix(b.String(), "\n")), err
}

// Encode writes operations as one line of JSON.
func Encode(ops []Op) (string, error) {
	b, err := marshal(ops)
	return string(b), err
}

// Parse reads a patch as a person writes it, as JSON or YAML.
func Parse(text string) ([]Op, error) {
	if len(text) > MaxSize {
		return nil, fmt.Errorf("the patch is longer than %d bytes", MaxSize)
	}
	doc, err := document.Parse([]byte(text))
	if err != nil {
		return nil, fmt.Errorf("the patch: %w", err)
	}
	list, ok := doc.([]any)
	switch {
	case !ok || len(list) == 0:
		return nil, fmt.Errorf("the patch is not a list of operations, such as [{op: replace, path: /spec/replicas, value: 2}]")
	case len(list) > MaxOps:
		return nil, fmt.Errorf("the patch has %d operations, more than %d", len(list), MaxOps)
	}
	var out []Op
	for i, item := range list {
		op, err := parseOp(item)
		if err != nil {
			return nil, fmt.Errorf("operation %d of the patch: %w", i+1, err)
		}
		for _, before := range out {
			if Overlap(before.Path, op.Path) {
				return nil, fmt.Errorf("operation %d of the patch: %s is what operation before it changes too; write each field once", i+1, op.Path)
			}
		}
		out = append(out, op)
	}
	return out, nil
}

func parseOp(item any) (Op, error) {
	m, ok := item.(map[string]any)
	if !ok {
		return Op{}, fmt.Errorf("it is not an operation, such as {op: replace, path: /spec/replicas, value: 2}")
	}
	var op Op
	op.Op, _ = m["op"].(string)
	op.Path, _ = m["path"].(string)
	value, has := m["value"]
	for key := range m {
		if key != "op" && key != "path" && key != "value" {
			return Op{}, fmt.Errorf("%q is not a member of an operation; op, path and value are", steps.Clip(key, 200))
		}
	}
	switch {
	case op.Op != Add && op.Op != Replace && op.Op != Remove:
		return Op{}, fmt.Errorf("%q is not one of add, replace and remove", steps.Clip(op.Op, 200))
	case op.Op == Remove && has:
		return Op{}, fmt.Errorf("a remove has no value")
	case op.Op != Remove && !has:
		return Op{}, fmt.Errorf("the value of the %s is missing", op.Op)
	case op.Op != Remove && value == nil:
		return Op{}, fmt.Errorf("null removes a field in some places and is a value in others; use remove")
	}
	op.Value = value
	if _, err := Split(op.Path); err != nil {
		return Op{}, err
	}
	return op, nil
}

// Overlap reports whether two paths are about the same value, or one about a part
// of the other's. Two of which one puts or takes an item by its index, and the
// other is about an item of the same list, do as well: one moves what the other
// counts. What is added at the end of a list moves nothing.
func Overlap(a, b string) bool {
	x, errX := Split(a)
	y, errY := Split(b)
	if errX != nil || errY != nil {
		return true
	}
	for i := range min(len(x), len(y)) {
		if x[i] == "-" || y[i] == "-" {
			return false
		}
		if x[i] == y[i] {
			continue
		}
		last := i == len(x)-1 || i == len(y)-1
		return last && listed(x[i]) && listed(y[i])
	}
	return true
}

func listed(seg string) bool { return isIndex(seg) || isNamed(seg) }

// Split returns the segments of a path, unescaped. Each begins with a slash;
// neither the whole object nor an empty name can be addressed.
func Split(path string) ([]string, error) {
	if !strings.HasPrefix(path, "/") {
		return nil, fmt.Errorf("the path %q does not begin with a slash, as /spec/replicas does", steps.Clip(path, 200))
	}
	var out []string
	for _, seg := range cut(path[1:]) {
		if seg == "" {
			return nil, fmt.Errorf("the path %q has an empty part", steps.Clip(path, 200))
		}
		for i := 0; i < len(seg); i++ {
			if seg[i] == '~' && (i+1 == len(seg) || seg[i+1] != '0' && seg[i+1] != '1') {
				return nil, fmt.Errorf("the path %q has a ~ that is neither ~0 nor ~1", steps.Clip(path, 200))
			}
		}
		out = append(out, strings.ReplaceAll(strings.ReplaceAll(seg, "~1", "/"), "~0", "~"))
	}
	return out, nil
}

// cut splits at slashes, but not at those between brackets.
func cut(path string) []string {
	var out []string
	from, deep := 0, false
	for i := 0; i < len(path); i++ {
		switch {
		case path[i] == '[' && i == from:
			deep = strings.Contains(path[i:], "]")
		case path[i] == ']':
			deep = false
		case path[i] == '/' && !deep:
			out, from = append(out, path[from:i]), i+1
		}
	}
	return append(out, path[from:])
}

// Join writes segments as a path.
func Join(segs []string) string {
	var b strings.Builder
	for _, s := range segs {
		b.WriteString("/" + strings.ReplaceAll(strings.ReplaceAll(s, "~", "~0"), "/", "~1"))
	}
	return b.String()
}

func isIndex(seg string) bool {
	return seg != "" && len(seg) <= 6 && strings.Trim(seg, "0123456789") == "" && (seg == "0" || seg[0] != '0')
}

// isNamed tells a segment that addresses an item by a field of it, or by its value.
func isNamed(seg string) bool {
	_, _, ok := named(seg)
	return ok
}

// named reads such a segment; the key is empty where it is by the value.
func named(seg string) (key, value string, ok bool) {
	if !strings.HasPrefix(seg, "[") || !strings.HasSuffix(seg, "]") {
		return "", "", false
	}
	key, value, ok = strings.Cut(seg[1:len(seg)-1], "=")
	return key, value, ok && value != ""
}

// UnmarshalJSON reads what MarshalJSON writes.
func (o *Op) UnmarshalJSON(b []byte) error {
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.UseNumber()
	dec.DisallowUnknownFields()
	var m struct {
		Op    string `json:"op"`
		Path  string `json:"path"`
		Value any    `json:"value"`
	}
	if err := dec.Decode(&m); err != nil {
		return err
	}
	*o = Op{m.Op, m.Path, m.Value}
	return nil
}
