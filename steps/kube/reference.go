package kube

import (
	"context"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"handrail/steps"
)

// lookup reads an object that another one names. errAbsent and errNoKind are
// positive knowledge here: the server itself said so, with every group of kinds
// heard.
func (c *client) lookup(ctx context.Context, apiVersion, kind, namespace, name string) (target, object, error) {
	r, err := c.kindOf(apiVersion, kind)
	if errors.Is(err, errNoKind) {
		r, err = c.anyVersion(apiVersion, kind)
	}
	if err != nil {
		return target{}, object{}, err
	}
	t := target{resource: r, name: name}
	if r.namespaced {
		t.namespace = namespace
		if namespace == "" {
			return t, object{}, fmt.Errorf("%s %q: its namespace is not known", kind, name)
		}
		if !plain(namespace) {
			return t, object{}, fmt.Errorf("%s %q: %q can be no namespace", kind, name, steps.Clip(namespace, 100))
		}
	}
	if !plain(name) {
		return t, object{}, fmt.Errorf("%q can be no name of a %s", steps.Clip(name, 100), kind)
	}
	o, err := c.get(ctx, r, t.namespace, name)
	return t, o, err
}

// anyVersion resolves a kind whatever version a reference names: references
// outlive versions.
func (c *client) anyVersion(apiVersion, kind string) (resource, error) {
	gv, err := schema.ParseGroupVersion(apiVersion)
	if err != nil {
		return resource{}, fmt.Errorf("apiVersion %q: %w", steps.Clip(apiVersion, 100), err)
	}
	m, err := c.mapper.RESTMapping(schema.GroupKind{Group: gv.Group, Kind: kind})
	if err != nil {
		return resource{}, c.unknownKind(steps.Clip(kind, 100)+"."+gv.Group, err)
	}
	return mapped(m), nil
}
