// Package catalog is the table of step kinds: the one place that knows every
// world. It is passed to the code that looks kinds up; nothing registers itself.
package catalog

import (
	"slices"
	"strings"

	"handrail/steps"
	"handrail/steps/cloud"
	"handrail/steps/compare"
	"handrail/steps/endpoint"
	"handrail/steps/forge"
	"handrail/steps/forge/propose"
	"handrail/steps/git"
	"handrail/steps/gitops"
	"handrail/steps/keycloak"
	"handrail/steps/kube"
	"handrail/steps/own"
	"handrail/steps/policy"
	"handrail/steps/prometheus"
	"handrail/steps/rabbitmq"
	"handrail/steps/references"
	"handrail/steps/registry"
	"handrail/steps/store"
	"handrail/steps/terraform"
)

// Catalog is a fixed table of kinds. It is safe to share.
type Catalog struct {
	kinds []steps.Kind
}

var _ steps.Catalog = (*Catalog)(nil)

// New returns the table of all kinds.
func New() *Catalog {
	kinds := slices.Concat(
		kube.Kinds(),
		terraform.Kinds(compare.Look),
		compare.Kinds(),
		rabbitmq.Kinds(),
		own.Kinds(),
		endpoint.Kinds(),
		cloud.Kinds(),
		gitops.Kinds(),
		keycloak.Kinds(),
		forge.Kinds(),
		propose.Kinds(),
		git.Kinds(),
		policy.Kinds(),
		prometheus.Kinds(),
		references.Kinds(),
		registry.Kinds(),
		store.Kinds(),
	)
	slices.SortFunc(kinds, func(a, b steps.Kind) int { return strings.Compare(a.Name, b.Name) })
	return &Catalog{kinds: kinds}
}

// Lookup returns the kind with this name.
func (c *Catalog) Lookup(name string) (steps.Kind, bool) {
	i, found := slices.BinarySearchFunc(c.kinds, name, func(k steps.Kind, n string) int { return strings.Compare(k.Name, n) })
	if !found {
		return steps.Kind{}, false
	}
	return c.kinds[i], true
}

// Kinds returns all kinds in order of name.
func (c *Catalog) Kinds() []steps.Kind { return slices.Clone(c.kinds) }
