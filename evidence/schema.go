package evidence

import "slices"

// Bounds of what a schema may tell.
const (
	maxToldTypes = 20_000
	maxToldPaths = 1_000 // of one type
)

// Sensitive tells, by type of resource, which attributes the schemas of providers call sensitive: in a raw state they carry no
// mark. A path is attribute names with dots between them, through lists, sets and maps of objects alike. It holds for what
// is stored from now on, and adds to what was told before.
func (b *Bundle) Sensitive(paths map[string][]string) { b.red.tell(paths) }

func (r *redactor) tell(paths map[string][]string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	told := make(map[string][]string, len(r.told)+len(paths)) // the old one may be in use
	for typ, list := range r.told {
		told[typ] = list
	}
	for typ, list := range paths {
		all := slices.Compact(slices.Sorted(slices.Values(slices.Concat(told[typ], list))))
		if _, known := told[typ]; !known && len(told) >= maxToldTypes {
			continue
		}
		told[typ] = all[:min(len(all), maxToldPaths)]
	}
	r.told = told
}

func (r *redactor) toldOf(typ string) []string {
	if typ == "" {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.told[typ]
}

// hidePath hides what path leads to below at. The schema names no elements, so that each is followed; a name that is not
// there may be the key of a map, whose values are followed then.
func (r *redactor) hidePath(at *node, path []string, c counts) {
	switch {
	case at == nil:
	case len(path) == 0:
		r.hideMarked(at, "", "tf-schema", c)
	case at.kind == arrayNode:
		for _, m := range at.members {
			r.hidePath(m.value, path, c)
		}
	case at.kind == objectNode && at.get(path[0]) != nil:
		r.hidePath(at.get(path[0]), path[1:], c)
	case at.kind == objectNode:
		for _, m := range at.members {
			if m.value.kind != stringNode && m.value.kind != literalNode {
				r.hidePath(m.value, path, c)
			}
		}
	}
}
