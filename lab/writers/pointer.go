package main

import (
	"encoding/json"
	"strconv"
	"strings"
)

// at is what stands at a JSON pointer, nil for nothing.
func at(v any, pointer string) any {
	for part := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		part = strings.NewReplacer("~1", "/", "~0", "~").Replace(part)
		switch in := v.(type) {
		case object:
			v = in[part]
		case []any:
			i, err := strconv.Atoi(part)
			if err != nil || i < 0 || i >= len(in) {
				return nil
			}
			v = in[i]
		default:
			return nil
		}
	}
	return v
}

// same compares as JSON does: a number is a number.
func same(a, b any) bool {
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	return errX == nil && errY == nil && string(x) == string(y)
}

// name is that of the request, or of its object: a create names it there.
func name(given string, o object) string {
	if given != "" {
		return given
	}
	s, _ := at(o, "/metadata/name").(string)
	return s
}

func (r rewrite) matches(resource, operation, name string) bool {
	ok := false
	for _, o := range r.Operations {
		ok = ok || o == operation
	}
	return ok && r.Resource == resource && strings.Contains(name, r.Names)
}
