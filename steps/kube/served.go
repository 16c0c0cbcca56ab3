package kube

import (
	"maps"
	"slices"
	"strings"
)

// served tells the kinds that this server has, by plural.group; blind names the
// API groups that did not say.
type sweepServed struct {
	by    map[string]resource
	all   []resource
	blind []string
}

func (c *client) sweepServed() sweepServed {
	s := sweepServed{by: map[string]resource{}}
	for _, namespaced := range []bool{true, false} {
		all, trouble := c.listable(namespaced)
		if trouble != "" && !slices.Contains(s.blind, trouble) {
			s.blind = append(s.blind, trouble)
		}
		s.all = append(s.all, all...)
		for _, r := range all {
			s.by[r.String()] = r
		}
	}
	return s
}

// in returns the kinds of an API group, in order.
func (s sweepServed) in(group string) []resource {
	var out []resource
	for _, name := range slices.Sorted(maps.Keys(s.by)) {
		if s.by[name].group == group {
			out = append(out, s.by[name])
		}
	}
	return out
}

// hides reports whether a group did not say what it serves, so that nobody
// knows that a kind of it is not there.
func (s sweepServed) hides(group string) bool {
	return slices.ContainsFunc(s.blind, func(b string) bool {
		return strings.Contains(b, group+"/") || strings.Contains(b, "every group") || strings.Contains(b, "apis/ (") || group == "" && strings.Contains(b, "v1 (")
	})
}
