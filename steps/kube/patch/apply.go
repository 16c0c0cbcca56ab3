package patch

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"handrail/steps"
)

// Decode reads an object of a server; numbers stay as they are written.
func Decode(raw []byte) (map[string]any, error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var m map[string]any
	if err := dec.Decode(&m); err != nil {
		return nil, fmt.Errorf("an object of the server cannot be read: %w", err)
	}
	if m == nil {
		return nil, fmt.Errorf("the server sent no object")
	}
	return m, nil
}

// Get returns the value at a path, ok false where there is none.
func Get(doc any, path string) (v any, ok bool) {
	segs, err := Split(path)
	if err != nil {
		return nil, false
	}
	for _, seg := range segs {
		switch at := doc.(type) {
		case map[string]any:
			if doc, ok = at[seg]; !ok {
				return nil, false
			}
		case []any:
			i, err := strconv.Atoi(seg)
			if err != nil || !isIndex(seg) || i >= len(at) {
				return nil, false
			}
			doc = at[i]
		default:
			return nil, false
		}
	}
	return doc, true
}

// Resolve writes the paths of ops with the indexes that items have in doc, and
// returns what must still hold when the patch is applied: what items are called,
// and each value that is replaced or removed.
func Resolve(doc map[string]any, ops []Op) (resolved, tests []Op, err error) {
	tested := map[string]bool{}
	test := func(path string, v any) {
		if !tested[path] {
			tested[path] = true
			tests = append(tests, Op{Test, path, v})
		}
	}
	for _, op := range ops {
		segs, err := Split(op.Path)
		if err != nil {
			return nil, nil, err
		}
		var at any = doc
		for i, seg := range segs {
			list, ok := at.([]any)
			if !ok {
				at, _ = Get(at, Join(segs[i:i+1]))
				continue
			}
			if seg == "-" {
				if op.Op != Add || i != len(segs)-1 {
					return nil, nil, fmt.Errorf("%s: - stands for the end of a list, where only something can be added", op.Path)
				}
				test(Join(segs[:i]), list) // so that it is added to the list that was read
				at = nil
				continue
			}
			n, err := index(list, seg, i == len(segs)-1 && op.Op == Add)
			if err != nil {
				return nil, nil, fmt.Errorf("%s: %w", op.Path, err)
			}
			segs[i] = strconv.Itoa(n)
			at = nil
			if n < len(list) {
				at = list[n]
				if key, name, ok := called(list[n], seg); ok && i < len(segs)-1 {
					test(Join(append(slices.Clone(segs[:i+1]), key)), name)
				}
			}
		}
		op.Path = Join(segs)
		old, there := Get(doc, op.Path)
		switch {
		case op.Op != Add && !there:
			return nil, nil, fmt.Errorf("%s: there is nothing at this path to %s", op.Path, op.Op)
		case op.Op == Add && !there:
			if err := parentOf(doc, segs); err != nil {
				return nil, nil, err
			}
		case op.Op == Add && inList(doc, segs):
			// It is put before what is there; the list itself is what is relied on.
		default:
			test(op.Path, old)
		}
		resolved = append(resolved, op)
	}
	return resolved, tests, nil
}

// index finds the item that a segment addresses.
func index(list []any, seg string, add bool) (int, error) {
	if key, want, ok := named(seg); ok {
		found := -1
		for i, item := range list {
			if !is(item, key, want) {
				continue
			}
			if found >= 0 {
				return 0, fmt.Errorf("more than one item has %s %q: use the index", cmp.Or(key, "the value"), want)
			}
			found = i
		}
		if found < 0 {
			return 0, fmt.Errorf("no item has %s %q", cmp.Or(key, "the value"), want)
		}
		return found, nil
	}
	if !isIndex(seg) {
		return 0, fmt.Errorf("%q addresses no item of a list: write an index, [name=...], or - for its end", steps.Clip(seg, 200))
	}
	n, _ := strconv.Atoi(seg)
	if n < len(list) || add && n == len(list) {
		return n, nil
	}
	return 0, fmt.Errorf("the list has %d items, no item %d", len(list), n)
}

// is reports whether an item has want under key, or is want itself where there is no key.
func is(item any, key, want string) bool {
	switch v := item.(type) {
	case map[string]any:
		got, has := v[key]
		return key != "" && has && fmt.Sprint(got) == want
	case []any, nil:
		return false
	}
	return key == "" && fmt.Sprint(item) == want
}

// Counted reports whether op puts or takes an item of a list in doc by its index. What is
// done moves the others, so that the object does not show whether it was done.
func Counted(doc map[string]any, op Op) bool {
	segs, err := Split(op.Path)
	if err != nil || op.Op == Replace || len(segs) < 2 || !isIndex(segs[len(segs)-1]) {
		return false
	}
	list, _, err := Resolve(doc, []Op{{Op: Replace, Path: Join(segs[:len(segs)-1])}})
	if err != nil {
		return false
	}
	v, _ := Get(doc, list[0].Path)
	_, is := v.([]any)
	return is
}

// called is by what an item is known: what the path said, else its name.
func called(item any, seg string) (key string, v any, ok bool) {
	m, _ := item.(map[string]any)
	if key, _, ok := named(seg); ok {
		return key, m[key], true
	}
	v, ok = m["name"]
	_, text := v.(string)
	return "name", v, ok && text
}

// parentOf says what is missing above a path that something is to be added at.
func parentOf(doc map[string]any, segs []string) error {
	if len(segs) == 1 {
		return nil
	}
	above := Join(segs[:len(segs)-1])
	v, ok := Get(doc, above)
	if !ok {
		return fmt.Errorf("%s: there is no %s yet: add that as a whole", Join(segs), above)
	}
	switch v.(type) {
	case map[string]any, []any:
		return nil
	}
	return fmt.Errorf("%s: %s is no map and no list", Join(segs), above)
}

func inList(doc map[string]any, segs []string) bool {
	if len(segs) < 2 {
		return false
	}
	v, _ := Get(doc, Join(segs[:len(segs)-1]))
	_, is := v.([]any)
	return is
}

// Apply returns doc with resolved operations applied; doc stays as it is.
func Apply(doc map[string]any, ops []Op) (map[string]any, error) {
	var out any = doc
	for _, op := range ops {
		segs, err := Split(op.Path)
		if err != nil {
			return nil, err
		}
		if out, err = set(out, segs, op); err != nil {
			return nil, fmt.Errorf("%s %s: %w", op.Op, op.Path, err)
		}
	}
	m, ok := out.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("the patch leaves no object")
	}
	return m, nil
}

// set copies what is above the change, and nothing else.
func set(at any, segs []string, op Op) (any, error) {
	last := len(segs) == 1
	switch in := at.(type) {
	case map[string]any:
		old, ok := in[segs[0]]
		if !ok && (!last || op.Op != Add) {
			return nil, fmt.Errorf("there is no %q", steps.Clip(segs[0], 200))
		}
		out := maps.Clone(in)
		switch {
		case last && op.Op == Remove:
			delete(out, segs[0])
		case last:
			out[segs[0]] = op.Value
		default:
			below, err := set(old, segs[1:], op)
			if err != nil {
				return nil, err
			}
			out[segs[0]] = below
		}
		return out, nil
	case []any:
		if last && op.Op == Add && segs[0] == "-" {
			return append(slices.Clone(in), op.Value), nil
		}
		n, err := index(in, segs[0], last && op.Op == Add)
		if err != nil {
			return nil, err
		}
		switch {
		case last && op.Op == Add:
			return slices.Insert(slices.Clone(in), n, op.Value), nil
		case last && op.Op == Remove:
			return slices.Delete(slices.Clone(in), n, n+1), nil
		}
		out := slices.Clone(in)
		if last {
			out[n] = op.Value
			return out, nil
		}
		if out[n], err = set(in[n], segs[1:], op); err != nil {
			return nil, err
		}
		return out, nil
	}
	return nil, fmt.Errorf("what stands there is no map and no list")
}

// Inverse returns the operations that undo resolved ones: applied after them they
// give doc again.
func Inverse(doc map[string]any, ops []Op) ([]Op, error) {
	var out []Op
	now := doc
	for _, op := range ops {
		old, there := Get(now, op.Path)
		segs, err := Split(op.Path)
		if err != nil {
			return nil, err
		}
		back := Op{Remove, op.Path, nil}
		switch {
		case op.Op == Add && segs[len(segs)-1] == "-":
			list, _ := Get(now, Join(segs[:len(segs)-1]))
			items, _ := list.([]any)
			back.Path = Join(append(slices.Clone(segs[:len(segs)-1]), strconv.Itoa(len(items))))
		case op.Op == Add && (!there || inList(now, segs)):
		case op.Op == Remove:
			back = Op{Add, op.Path, old}
		default:
			back = Op{Replace, op.Path, old}
		}
		out = append(out, back)
		if now, err = Apply(now, []Op{op}); err != nil {
			return nil, err
		}
	}
	slices.Reverse(out)
	return out, nil
}
