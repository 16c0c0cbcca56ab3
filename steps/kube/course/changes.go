package course

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"handrail/steps"
	"handrail/steps/cluster"
	"handrail/steps/kube/document"
	"handrail/steps/kube/patch"
)

// Most bounds the objects of one list: a person must be able to read all of them.
const Most = 40

// Change is one entry of a list.
type Change struct {
	Name  Name           // empty for one that makes an object
	Patch string         // operations, as a gate takes them
	Make  map[string]any // manifest of the object to make
}

// Read reads the list of changes in a file.
func Read(env steps.Env, file string) ([]Change, error) {
	src, err := steps.ReadFile(steps.Below(env.Dir, file), document.MaxSize)
	if err != nil {
		return nil, fmt.Errorf("the list of changes: %w", err)
	}
	out, err := Parse(src)
	if err != nil {
		return nil, fmt.Errorf("the list of changes %q: %w", file, err)
	}
	return out, nil
}

// Parse reads a list of changes.
func Parse(src []byte) ([]Change, error) {
	doc, err := document.Parse(src)
	if err != nil {
		return nil, err
	}
	top, _ := doc.(map[string]any)
	if err := only("the list", top, "apiVersion", "kind", "changes"); err != nil {
		return nil, err
	}
	if top["apiVersion"] != "handrail/v1" || top["kind"] != "Changes" {
		return nil, fmt.Errorf("it is not a list of changes: apiVersion must be handrail/v1 and kind Changes")
	}
	list, _ := top["changes"].([]any)
	if len(list) == 0 || len(list) > Most {
		return nil, fmt.Errorf("it has %d changes; give at least one and at most %d", len(list), Most)
	}
	var out []Change
	for i, item := range list {
		c, err := change(item)
		if err != nil {
			return nil, fmt.Errorf("change %d: %w", i+1, err)
		}
		out = append(out, c)
	}
	return out, nil
}

// only refuses keys that are not known: one that is misspelt would be passed over.
func only(what string, m map[string]any, keys ...string) error {
	for _, key := range slices.Sorted(maps.Keys(m)) {
		if !slices.Contains(keys, key) {
			return fmt.Errorf("%s has no key %q; it has %s", what, steps.Clip(key, 60), strings.Join(keys, ", "))
		}
	}
	return nil
}

func change(item any) (Change, error) {
	m, is := item.(map[string]any)
	if !is {
		return Change{}, fmt.Errorf("it is not a mapping")
	}
	if err := only("a change", m, "object", "why", "patch", "create"); err != nil {
		return Change{}, err
	}
	if made, is := m["create"].(map[string]any); is {
		if m["object"] != nil || m["patch"] != nil {
			return Change{}, fmt.Errorf("it makes an object or changes one, not both")
		}
		return Change{Make: made}, nil
	}
	text, _ := m["object"].(string)
	name, err := ParseName(text)
	if err != nil {
		return Change{}, err
	}
	ops, err := json.Marshal(m["patch"])
	if err != nil {
		return Change{}, err
	}
	if _, err := patch.Parse(string(ops)); err != nil {
		return Change{}, fmt.Errorf("%s: its patch: %w", name, err)
	}
	return Change{Name: name, Patch: string(ops)}, nil
}

// Name is an object as a person names it.
type Name struct{ Resource, Namespace, Name string }

func (n Name) String() string {
	return strings.Join(slices.DeleteFunc([]string{n.Resource, n.Namespace, n.Name}, func(s string) bool { return s == "" }), "/")
}

// Params are those of a step about the one object; namespace is for what names none.
func (n Name) Params(namespace string) steps.Params {
	in := steps.Params{"resource": steps.StringOf(n.Resource), "name": steps.StringOf(n.Name)}
	if n.Namespace != "" {
		namespace = n.Namespace
	}
	if namespace != "" {
		in["namespace"] = steps.StringOf(namespace)
	}
	return in
}

// ParseName reads resource/namespace/name or resource/name.
func ParseName(text string) (Name, error) {
	parts := strings.Split(text, "/")
	n := Name{Resource: parts[0], Name: parts[len(parts)-1]}
	if len(parts) == 3 {
		n.Namespace = parts[1]
	}
	switch {
	case len(parts) != 2 && len(parts) != 3,
		!cluster.Matches(cluster.ResourceName, n.Resource), !cluster.Matches(cluster.ObjectName, n.Name),
		len(parts) == 3 && !cluster.Matches(cluster.NamespaceName, n.Namespace):
		return Name{}, fmt.Errorf("%q is no resource/namespace/name and no resource/name", steps.Clip(text, 200))
	}
	return n, nil
}

// Names reads a list of objects, with spaces or commas between them. No object
// stands in it twice.
func Names(text string) ([]Name, error) {
	var out []Name
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == ',' || r == '\n' || r == '\t' }) {
		n, err := ParseName(word)
		if err != nil {
			return nil, err
		}
		if slices.Contains(out, n) {
			return nil, fmt.Errorf("%s stands in the list twice", n)
		}
		if out = append(out, n); len(out) > Most {
			return nil, fmt.Errorf("the list names more than %d objects: take the first, and then the rest", Most)
		}
	}
	return out, nil
}

// Shows says whether an object is as an operation of a patch leaves it.
func Shows(doc map[string]any, op patch.Op) bool {
	list, isEnd := strings.CutSuffix(op.Path, "/-")
	if isEnd {
		held, _ := patch.Get(doc, list)
		items, _ := held.([]any)
		return slices.ContainsFunc(items, func(v any) bool { return equal(v, op.Value) })
	}
	resolved, _, err := patch.Resolve(doc, []patch.Op{op})
	if err != nil || len(resolved) != 1 {
		return op.Op == patch.Remove // what is to go is not there
	}
	now, there := patch.Get(doc, resolved[0].Path)
	if op.Op == patch.Remove {
		return !there
	}
	return there && equal(now, op.Value)
}

func equal(a, b any) bool {
	x, err := json.Marshal(a)
	y, err2 := json.Marshal(b)
	return err == nil && err2 == nil && string(x) == string(y)
}
