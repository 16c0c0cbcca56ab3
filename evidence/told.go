package evidence

import (
	"regexp"
	"slices"
)

// Bounds of what a schema may tell.
const (
	maxToldTypes = 20_000
	maxToldPaths = 1_000   // of one type
	maxToldName  = 4 << 10 // bytes of a type and a path
)

// tell says, by type of resource, which attributes the schemas of providers call sensitive: in a raw state they carry no mark.
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

// toldName is how types and attributes are called. What is called otherwise comes from no provider.
var toldName = regexp.MustCompile(`^[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*$`)

// note keeps what is new of paths for the journal, so that a later writer is told as well.
func (r *redactor) note(paths map[string][]string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for typ, list := range paths {
		for _, path := range list {
			if _, at := slices.BinarySearch(r.told[typ], path); at || len(r.told[typ]) >= maxToldPaths || len(typ)+len(path) > maxToldName || !toldName.MatchString(typ) || !toldName.MatchString(path) {
				continue
			}
			if r.news == nil {
				r.news = map[string][]string{}
			}
			r.news[typ] = append(r.news[typ], path)
		}
	}
}

// takeNews is what note kept since it was asked for last.
func (r *redactor) takeNews() map[string][]string {
	r.mu.Lock()
	defer r.mu.Unlock()
	news := r.news
	r.news = nil
	return news
}

// allTold is what tell said so far.
func (r *redactor) allTold() map[string][]string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.told // never changed, only replaced
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
