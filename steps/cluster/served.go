package cluster

import (
	"maps"
	"slices"
	"strings"
)

// Served tells the kinds that this server has, by plural.group; blind names the
// API groups that did not say.
type Served struct {
	By    map[string]Resource
	All   []Resource
	blind []string
}

// Served lists what the server has to list, as far as it says.
func (c *Client) Served() Served {
	s := Served{By: map[string]Resource{}}
	for _, namespaced := range []bool{true, false} {
		all, trouble := c.Listable(namespaced)
		if trouble != "" && !slices.Contains(s.blind, trouble) {
			s.blind = append(s.blind, trouble)
		}
		s.All = append(s.All, all...)
		for _, r := range all {
			s.By[r.String()] = r
		}
	}
	return s
}

// In returns the kinds of an API group, in order.
func (s Served) In(group string) []Resource {
	var out []Resource
	for _, name := range slices.Sorted(maps.Keys(s.By)) {
		if s.By[name].Group == group {
			out = append(out, s.By[name])
		}
	}
	return out
}

// Hides reports whether a group did not say what it serves, so that it is not
// known that a kind of it is not there.
func (s Served) Hides(group string) bool {
	return slices.ContainsFunc(s.blind, func(b string) bool {
		return strings.Contains(b, group+"/") || strings.Contains(b, "every group") || strings.Contains(b, "apis/ (") || group == "" && strings.Contains(b, "v1 (")
	})
}
