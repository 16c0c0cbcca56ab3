package redact

import (
	"regexp"
	"slices"

	"handrail/evidence/jsontree"
)

// Bounds of what a schema may tell.
const (
	maxToldTypes = 20_000
	maxToldPaths = 1_000   // of one type
	maxToldName  = 4 << 10 // bytes of a type and a path
)

// Tell says, by type of resource, which attributes the schemas of providers call sensitive: in a raw state they carry no mark.
func (r *Redactor) Tell(paths map[string][]string) {
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

// Note keeps what is new of paths for the journal, so that a later writer is told as well.
func (r *Redactor) Note(paths map[string][]string) {
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

// TakeNews is what Note kept since it was asked for last.
func (r *Redactor) TakeNews() map[string][]string {
	r.mu.Lock()
	defer r.mu.Unlock()
	news := r.news
	r.news = nil
	return news
}

// Told is what Tell said so far.
func (r *Redactor) Told() map[string][]string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.told // never changed, only replaced
}

func (r *Redactor) toldOf(typ string) []string {
	if typ == "" {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.told[typ]
}

// hidePath hides what path leads to below at. The schema names no elements, so that each is followed; a name that is not
// there may be the key of a map, whose values are followed then.
func (r *Redactor) hidePath(at *jsontree.Node, path []string, c Counts) {
	switch {
	case at == nil:
	case len(path) == 0:
		r.hideMarked(at, "", "tf-schema", c)
	case at.Kind == jsontree.Array:
		for _, m := range at.Members {
			r.hidePath(m.Value, path, c)
		}
	case at.Kind == jsontree.Object && at.Get(path[0]) != nil:
		r.hidePath(at.Get(path[0]), path[1:], c)
	case at.Kind == jsontree.Object:
		for _, m := range at.Members {
			if m.Value.Kind != jsontree.String && m.Value.Kind != jsontree.Literal {
				r.hidePath(m.Value, path, c)
			}
		}
	}
}
