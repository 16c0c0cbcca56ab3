package object

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
	// MostChanges bounds the lines of a diff; the whole answer is an artifact.
	MostChanges = 100
	// widestValue bounds a value in a diff.
	widestValue = 200
)

// Change is one field that two versions of an object do not share. A side
// without the field is nil.
type Change struct {
	Path     string
	old, new any
}

// Changes are what tells two versions of an object apart, in order of path.
type Changes []Change

// moves reports whether every write moves the field.
func moves(path string) bool {
	switch path {
	case "metadata.resourceVersion", "metadata.managedFields", "metadata.generation":
		return true
	}
	return false
}

// Diff compares two objects as the server sent them, field by field.
func Diff(old, new []byte) (Changes, error) {
	was, err := decode(old)
	if err != nil {
		return nil, err
	}
	is, err := decode(new)
	if err != nil {
		return nil, err
	}
	var out Changes
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

func (cs *Changes) values(path string, old, new any) {
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
	*cs = append(*cs, Change{path, old, new})
}

func (cs *Changes) maps(path string, old, new map[string]any) {
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
		cs.values(FieldPath(path, k), was, is)
	}
}

// lists leaves out what both lists begin and end with, so that one item
// less is one line.
func (cs *Changes) lists(path string, old, new []any) {
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
			*cs = append(*cs, Change{at, nil, is[i]})
		case i >= len(is):
			*cs = append(*cs, Change{at, was[i], nil})
		default:
			cs.values(at, was[i], is[i])
		}
	}
}

// FieldPath writes keys that hold a dot or a bracket as kubectl's paths do.
func FieldPath(path, key string) string {
	if key == "" || strings.ContainsAny(key, ".[]\"'") {
		return path + "[" + strconv.Quote(key) + "]"
	}
	if path == "" {
		return key
	}
	return path + "." + key
}

// Lines writes changes as a preview shows them, without the values of a Secret.
func (cs Changes) Lines(secret bool) []string {
	var out []string
	shownValue := func(c Change, v any) string {
		if secret && !strings.HasPrefix(c.Path, "metadata.finalizers") {
			return "(hidden)"
		}
		return ShowValue(v)
	}
	all := cs.spread()
	for i, c := range all {
		if i == MostChanges {
			return append(out, fmt.Sprintf("... and %d fields more; the artifact rehearsal has them", len(all)-i))
		}
		if c.old != nil {
			out = append(out, "- "+c.Path+": "+shownValue(c, c.old))
		}
		if c.new != nil {
			out = append(out, "+ "+c.Path+": "+shownValue(c, c.new))
		}
	}
	return out
}

// longestWhole is how long a value may be that is shown in one piece; what is cut
// off of a longer one would not be seen.
const longestWhole = 60

// spread takes long values that were added or taken away apart into their fields,
// so that all of an object that is made can be read.
func (cs Changes) spread() Changes {
	var out Changes
	for _, c := range cs {
		v, was := c.new, c.old
		if (v == nil) == (was == nil) {
			out = append(out, c)
			continue
		}
		var parts Changes
		part := func(path string, one any) {
			if moves(path) {
				return
			}
			if was == nil {
				parts = append(parts, Change{path, nil, one})
			} else {
				parts = append(parts, Change{path, one, nil})
			}
		}
		if v == nil {
			v = was
		}
		if len(ShowValue(v)) > longestWhole {
			switch v := v.(type) {
			case map[string]any:
				for _, k := range slices.Sorted(maps.Keys(v)) {
					part(FieldPath(c.Path, k), v[k])
				}
			case []any:
				for i, one := range v {
					part(c.Path+"["+strconv.Itoa(i)+"]", one)
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

// ShowValue writes a value as a preview shows it, clipped.
func ShowValue(v any) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if enc.Encode(v) != nil {
		return "?"
	}
	return steps.Clip(strings.TrimSpace(b.String()), widestValue)
}

// OnlyFinalizer reports whether the changes are one finalizer less and nothing else.
func (cs Changes) OnlyFinalizer(finalizer string) bool {
	if len(cs) != 1 || cs[0].old != finalizer || cs[0].new != nil {
		return false
	}
	index, ok := strings.CutPrefix(cs[0].Path, "metadata.finalizers[")
	return ok && strings.Trim(index, "0123456789") == "]"
}
