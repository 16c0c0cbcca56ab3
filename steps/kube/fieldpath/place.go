package fieldpath

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Place is a path as it lies in one object.
type Place struct {
	Path    Path
	Present bool
	Value   any // of the field, when present
	spots   []spot
}

// spot is one step of a place: what it matches among the owners' entries.
type spot struct {
	name  string // of a field
	item  any    // of a list, as it is in the object; nil where it is not there
	there bool   // item was found
	index int    // of item, -1 where it is not known
	keys  []Pair // by which an item is meant that is not there
}

var errWhich = errors.New("say which item, by a field of it, as [name=app]")

// In finds a path in an object. An error says that the path cannot be one of
// this object; a field that is not there is no error.
func (p Path) In(object map[string]any) (Place, error) {
	pl := Place{Present: true}
	var at any = object
	for left := p; len(left) > 0; {
		taken, sp, next, ok, err := step(pl.Path, at, left)
		if err != nil {
			return Place{}, fmt.Errorf("field %q: at %q: %w", shorten(p.String()), shorten(pl.Path.String()), err)
		}
		pl.spots = append(pl.spots, sp)
		pl.Path = append(pl.Path, sp.step(left[0]))
		pl.Present = pl.Present && ok
		at, left = next, left[taken:]
	}
	if pl.Present {
		pl.Value = at
	}
	return pl, nil
}

// step takes one step of left, or several that are one key with dots.
func step(above Path, at any, left Path) (taken int, sp spot, next any, ok bool, err error) {
	s := left[0]
	switch at := at.(type) {
	case []any:
		sp, next, ok, err = inList(at, s)
		return 1, sp, next, ok, err
	case map[string]any:
		if len(s.Keys) > 0 || s.Item != nil {
			return 0, sp, nil, false, errors.New("it has fields, not items")
		}
		name, n := dotted(above, at, left)
		next, ok = at[name]
		return n, spot{name: name, index: -1}, next, ok, nil
	}
	// Nothing is here: what is meant can only be compared with the owners.
	switch {
	case len(s.Keys) > 0:
		return 1, spot{keys: s.Keys, index: -1}, nil, false, nil
	case s.Item != nil:
		return 1, spot{item: *s.Item, index: -1}, nil, false, nil
	}
	name, n := dotted(above, nil, left)
	return n, spot{name: name, index: -1}, nil, false, nil
}

func inList(list []any, s Step) (spot, any, bool, error) {
	found := func(i int) (spot, any, bool, error) {
		return spot{item: list[i], there: true, index: i}, list[i], true, nil
	}
	scalars := !slices.ContainsFunc(list, func(v any) bool { _, is := v.(map[string]any); return is })
	switch {
	case len(s.Keys) > 0:
		var hits []int
		for i, v := range list {
			if m, is := v.(map[string]any); is && has(m, s.Keys) {
				hits = append(hits, i)
			}
		}
		switch len(hits) {
		case 0:
			return spot{keys: s.Keys, index: -1}, nil, false, nil
		case 1:
			return found(hits[0])
		}
		return spot{}, nil, false, fmt.Errorf("%d items match: %w", len(hits), errWhich)
	case s.Item != nil, scalars && s.Loose:
		want := s.Name
		if s.Item != nil {
			want = *s.Item
		}
		for i, v := range list {
			if scalar(v) == want {
				return found(i)
			}
		}
		if i, ok := indexOf(s, len(list)); ok {
			return found(i)
		}
		return spot{item: want, index: -1}, nil, false, nil
	}
	if i, ok := indexOf(s, len(list)); ok {
		return found(i)
	}
	if n, err := strconv.Atoi(s.Name); err == nil && n >= 0 || s.Name == "-" {
		return spot{index: -1, keys: []Pair{}}, nil, false, nil // behind its end
	}
	return spot{}, nil, false, errWhich
}

// indexOf is the place in a list that a step means.
func indexOf(s Step, n int) (int, bool) {
	i, err := strconv.Atoi(s.Name)
	return i, err == nil && s.Item == nil && strconv.Itoa(i) == s.Name && i >= 0 && i < n
}

// dotted reads a name, together with the names behind it where the map has a key
// with dots, or is one whose keys have them.
func dotted(above Path, m map[string]any, left Path) (string, int) {
	name := left[0].Name
	if _, ok := m[name]; ok || left[0].Loose {
		return name, 1
	}
	names := []string{name}
	for _, s := range left[1:] {
		if s.Loose || len(s.Keys) > 0 || s.Item != nil {
			break
		}
		names = append(names, s.Name)
	}
	for n := len(names); n > 1; n-- {
		joined := strings.Join(names[:n], ".")
		if _, ok := m[joined]; ok {
			return joined, n
		}
	}
	if len(names) == len(left) && textual(above) {
		return strings.Join(names, "."), len(names)
	}
	return name, 1
}

// textual reports whether what is below a path are texts, so that every dot
// belongs to a key.
func textual(p Path) bool {
	if len(p) == 0 {
		return false
	}
	last := p[len(p)-1].Name
	switch len(p) {
	case 1:
		return last == "data" || last == "stringData" || last == "binaryData"
	default:
		return last == "labels" || last == "annotations" || last == "matchLabels" || last == "nodeSelector"
	}
}

// step writes a spot as a person would name it.
func (sp spot) step(as Step) Step {
	switch {
	case sp.name != "":
		return Step{Name: sp.name}
	case len(as.Keys) > 0 || as.Item != nil:
		return as
	}
	if m, ok := sp.item.(map[string]any); ok {
		// By its name, where it has one: an index is another item tomorrow.
		if name, ok := m["name"].(string); ok && name != "" {
			return Step{Keys: []Pair{{"name", name}}}
		}
	}
	return Step{Name: as.Name, Loose: true}
}

func has(m map[string]any, keys []Pair) bool {
	for _, k := range keys {
		v, ok := m[k.Name]
		if !ok || scalar(v) != k.Value {
			return false
		}
	}
	return true
}

// scalar is a value of JSON as a person writes it.
func scalar(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case nil:
		return "null"
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return fmt.Sprint(v)
}

// Text is a single value as a person writes it; a list or a map is none.
func Text(v any) (string, bool) {
	switch v.(type) {
	case map[string]any, []any:
		return "", false
	}
	return scalar(v), true
}
