package kube

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// mostOffspring bounds the children in a diff.
const mostOffspring = 30

// offspring names what the garbage collector deletes after the object: what
// names it as an owner by UID. What could not be listed is said.
func (s *subject) offspring(ctx context.Context) []string {
	all, trouble := s.c.listable(s.t.namespaced)
	var lines, gaps []string
	if trouble != "" {
		gaps = append(gaps, trouble)
	}
	if !s.t.namespaced {
		gaps = append(gaps, "what is in a namespace")
	}
	for _, r := range all {
		err := s.c.sweep(ctx, r.path(s.t.namespace, ""), asMetaList, nil, func(o object) {
			for _, ref := range o.GetOwnerReferences() {
				if ref.UID == s.o.GetUID() {
					shared := ""
					if len(o.GetOwnerReferences()) > 1 {
						shared = ", unless another owner is left"
					}
					lines = append(lines, fmt.Sprintf("- %s (UID %s), in the background%s", r.label(o.GetNamespace(), o.GetName()), o.GetUID(), shared))
				}
			}
		})
		if err != nil {
			gaps = append(gaps, r.String())
		}
	}
	slices.Sort(lines)
	if n := len(lines); n > mostOffspring {
		lines = append(lines[:mostOffspring], fmt.Sprintf("- and %d more that it owns", n-mostOffspring))
	}
	if len(gaps) > 0 {
		lines = append(lines, "- perhaps more, in the background: could not be listed: "+clip(strings.Join(gaps, ", "), 300))
	}
	return lines
}
