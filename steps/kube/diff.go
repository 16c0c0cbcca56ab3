package kube

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"handrail/steps"
)

const (
	// mostChanges bounds the lines of a diff; the whole answer is an artifact.
	mostChanges = 100
	// widestValue bounds a value in a diff.
	widestValue = 200
)

// change is one field that two versions of an object do not share. A side
// without the field is nil.
type change struct {
	path     string
	old, new any
}

// changes are what tells two versions of an object apart, in order of path.
type changes []change

// moves reports whether every write moves the field.
func moves(path string) bool {
	switch path {
	case "metadata.resourceVersion", "metadata.managedFields", "metadata.generation":
		return true
	}
	return false
}

// diff compares two objects as the server sent them, field by field.
func diff(old, new []byte) (changes, error) {
	was, err := decode(old)
	if err != nil {
		return nil, err
	}
	is, err := decode(new)
	if err != nil {
		return nil, err
	}
	var out changes
	out.maps("", was, is)
	return out, nil
}

// decode keeps numbers as they are written: two large ones must not become one
// float.
func decode(raw []byte) (map[string]any, error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var m map[string]any
	if err := dec.Decode(&m); err != nil {
		return nil, fmt.Errorf("an object of the server cannot be read: %w", err)
	}
	if m == nil {
		return nil, fmt.Errorf("the server sent %q where an object was expected", steps.Clip(string(raw), 40))
	}
	return m, nil
}

func (cs *changes) values(path string, old, new any) {
	if moves(path) || reflect.DeepEqual(old, new) {
		return
	}
	switch was := old.(type) {
	case map[string]any:
		if is, ok := new.(map[string]any); ok {
			cs.maps(path, was, is)
			return
		}
	case []any:
		switch is := new.(type) {
		case []any:
			cs.lists(path, was, is)
			return
		case nil:
			if len(was) > 0 {
				cs.lists(path, was, nil)
				return
			}
		}
	case nil:
		if is, ok := new.([]any); ok && len(is) > 0 {
			cs.lists(path, nil, is)
			return
		}
	}
	*cs = append(*cs, change{path, old, new})
}

func (cs *changes) maps(path string, old, new map[string]any) {
	keys := slices.Collect(maps.Keys(old))
	for k := range new {
		if _, ok := old[k]; !ok {
			keys = append(keys, k)
		}
	}
	slices.Sort(keys)
	for _, k := range keys {
		was, had := old[k]
		is, has := new[k]
		if had != has && was == nil && is == nil {
			continue // null and absent are one
		}
		cs.values(fieldPath(path, k), was, is)
	}
}

// lists leaves out what both lists begin and end with, so that one item
// less is one line.
func (cs *changes) lists(path string, old, new []any) {
	from := 0
	for from < len(old) && from < len(new) && reflect.DeepEqual(old[from], new[from]) {
		from++
	}
	end := 0
	for end < len(old)-from && end < len(new)-from && reflect.DeepEqual(old[len(old)-1-end], new[len(new)-1-end]) {
		end++
	}
	was, is := old[from:len(old)-end], new[from:len(new)-end]
	for i := range max(len(was), len(is)) {
		at := path + "[" + strconv.Itoa(from+i) + "]"
		switch {
		case i >= len(was):
			*cs = append(*cs, change{at, nil, is[i]})
		case i >= len(is):
			*cs = append(*cs, change{at, was[i], nil})
		default:
			cs.values(at, was[i], is[i])
		}
	}
}

// fieldPath writes keys that hold a dot or a bracket as kubectl's paths do.
func fieldPath(path, key string) string {
	if key == "" || strings.ContainsAny(key, ".[]\"'") {
		return path + "[" + strconv.Quote(key) + "]"
	}
	if path == "" {
		return key
	}
	return path + "." + key
}

// lines writes changes as a preview shows them, without the values of a Secret.
func (cs changes) lines(secret bool) []string {
	var out []string
	shownValue := func(c change, v any) string {
		if secret && !strings.HasPrefix(c.path, "metadata.finalizers") {
			return "(hidden)"
		}
		return shownValue(v)
	}
	all := cs.spread()
	for i, c := range all {
		if i == mostChanges {
			return append(out, fmt.Sprintf("... and %d fields more; the artifact rehearsal has them", len(all)-i))
		}
		if c.old != nil {
			out = append(out, "- "+c.path+": "+shownValue(c, c.old))
		}
		if c.new != nil {
			out = append(out, "+ "+c.path+": "+shownValue(c, c.new))
		}
	}
	return out
}

// longestWhole is how long a value may be that is shown in one piece; what is cut
// off of a longer one would not be seen.
const longestWhole = 60

// spread takes long values that were added or taken away apart into their fields,
// so that all of an object that is made can be read.
func (cs changes) spread() changes {
	var out changes
	for _, c := range cs {
		v, was := c.new, c.old
		if (v == nil) == (was == nil) {
			out = append(out, c)
			continue
		}
		var parts changes
		part := func(path string, one any) {
			if moves(path) {
				return
			}
			if was == nil {
				parts = append(parts, change{path, nil, one})
			} else {
				parts = append(parts, change{path, one, nil})
			}
		}
		if v == nil {
			v = was
		}
		if len(shownValue(v)) > longestWhole {
			switch v := v.(type) {
			case map[string]any:
				for _, k := range slices.Sorted(maps.Keys(v)) {
					part(fieldPath(c.path, k), v[k])
				}
			case []any:
				for i, one := range v {
					part(c.path+"["+strconv.Itoa(i)+"]", one)
				}
			}
		}
		if len(parts) == 0 {
			out = append(out, c)
			continue
		}
		out = append(out, parts.spread()...)
	}
	return out
}

func shownValue(v any) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if enc.Encode(v) != nil {
		return "?"
	}
	return steps.Clip(strings.TrimSpace(b.String()), widestValue)
}

// only reports whether the changes are one finalizer less and nothing else.
func (cs changes) only(finalizer string) bool {
	if len(cs) != 1 || cs[0].old != finalizer || cs[0].new != nil {
		return false
	}
	index, ok := strings.CutPrefix(cs[0].path, "metadata.finalizers[")
	return ok && strings.Trim(index, "0123456789") == "]"
}
