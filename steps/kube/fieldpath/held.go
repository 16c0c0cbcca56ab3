package fieldpath

import (
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/value"
)

// Hold says how an owner's set of fields holds a place.
type Hold struct {
	Exact bool // the field itself
	Below bool // something inside of it
	// Above is how many steps the deepest field on the way to it has that the
	// owner holds without holding anything inside, 0 for none. The field belongs
	// to that owner only where that one is owned as a whole.
	Above int
}

// Any reports whether the owner holds the field or something inside of it.
func (h Hold) Any() bool { return h.Exact || h.Below }

// Held says how set holds the place.
func (pl Place) Held(set *fieldpath.Set) Hold {
	var h Hold
	if set == nil {
		return h
	}
	if len(pl.spots) == 0 {
		return Hold{Below: !set.Empty()}
	}
	pl.descend(set, 0, &h)
	return h
}

func (pl Place) descend(set *fieldpath.Set, i int, h *Hold) {
	last := i == len(pl.spots)-1
	inside := false
	for pe := range set.Children.All() {
		if !pl.spots[i].is(pe) {
			continue
		}
		below, ok := set.Children.Get(pe)
		if !ok || below.Empty() {
			continue
		}
		inside = true
		if last {
			h.Below = true
		} else {
			pl.descend(below, i+1, h)
		}
	}
	for pe := range set.Members.All() {
		switch {
		case !pl.spots[i].is(pe):
		case last:
			h.Exact = true
		case !inside:
			h.Above = max(h.Above, i+1)
		}
	}
}

// is reports whether an element of an owner's set is the spot.
func (sp spot) is(pe fieldpath.PathElement) bool {
	switch {
	case pe.FieldName != nil:
		return sp.name != "" && *pe.FieldName == sp.name
	case sp.name != "":
		return false
	case pe.Index != nil:
		return sp.there && *pe.Index == sp.index
	case pe.Value != nil:
		return (sp.there || sp.keys == nil) && scalar((*pe.Value).Unstructured()) == scalar(sp.item)
	case pe.Key != nil && sp.there:
		m, ok := sp.item.(map[string]any)
		return ok && has(m, pairs(*pe.Key))
	case pe.Key != nil:
		if len(sp.keys) == 0 {
			return false
		}
		of := map[string]any{}
		for _, k := range pairs(*pe.Key) {
			of[k.Name] = k.Value
		}
		return has(of, sp.keys)
	}
	return false
}

func pairs(key value.FieldList) []Pair {
	var out []Pair
	for _, f := range key {
		out = append(out, Pair{f.Name, scalar(f.Value.Unstructured())})
	}
	return out
}

// Of is an element of an owner's set as a path names it.
func Of(p fieldpath.Path) Path {
	var out Path
	for _, pe := range p {
		switch {
		case pe.FieldName != nil:
			out = append(out, Step{Name: *pe.FieldName})
		case pe.Key != nil:
			out = append(out, Step{Keys: pairs(*pe.Key)})
		case pe.Value != nil:
			item := scalar((*pe.Value).Unstructured())
			out = append(out, Step{Item: &item})
		case pe.Index != nil:
			out = append(out, Step{Name: scalar(int64(*pe.Index)), Loose: true})
		}
	}
	return out
}
