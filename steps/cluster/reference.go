package cluster

import (
	"context"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"handrail/steps"
)

// Lookup reads an object that another one names. [ErrAbsent] and [ErrNoKind] are
// positive knowledge here: the server itself said so, with every group of kinds
// heard.
func (c *Client) Lookup(ctx context.Context, apiVersion, kind, namespace, name string) (Target, Object, error) {
	r, err := c.KindOf(apiVersion, kind)
	if errors.Is(err, ErrNoKind) {
		r, err = c.AnyVersion(apiVersion, kind)
	}
	if err != nil {
		return Target{}, Object{}, err
	}
	t := Target{Resource: r, Name: name}
	if r.Namespaced {
		t.Namespace = namespace
		if namespace == "" {
			return t, Object{}, fmt.Errorf("%s %q: its namespace is not known", kind, name)
		}
		if !Plain(namespace) {
			return t, Object{}, fmt.Errorf("%s %q: %q can be no namespace", kind, name, steps.Clip(namespace, 100))
		}
	}
	if !Plain(name) {
		return t, Object{}, fmt.Errorf("%q can be no name of a %s", steps.Clip(name, 100), kind)
	}
	o, err := c.Get(ctx, r, t.Namespace, name)
	return t, o, err
}

// AnyVersion resolves a kind whatever version a reference names: references
// outlive versions.
func (c *Client) AnyVersion(apiVersion, kind string) (Resource, error) {
	gv, err := schema.ParseGroupVersion(apiVersion)
	if err != nil {
		return Resource{}, fmt.Errorf("apiVersion %q: %w", steps.Clip(apiVersion, 100), err)
	}
	m, err := c.mapper.RESTMapping(schema.GroupKind{Group: gv.Group, Kind: kind})
	if err != nil {
		return Resource{}, c.unknownKind(steps.Clip(kind, 100)+"."+gv.Group, err)
	}
	return mapped(m), nil
}
