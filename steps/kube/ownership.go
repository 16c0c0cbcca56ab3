package kube

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"handrail/steps"
)

// ownership gathers who writes an object.
type ownership struct {
	owners    []steps.Owner
	findings  []steps.Finding
	gaps      []string
	confirmed bool     // one of the owners was read and claims the object
	doubts    []string // why nobody can say that there is no other
}

// The answers to whether an owner is paused.
const (
	pausedYes     = "yes"
	pausedNo      = "no"
	pausedUnknown = "unknown"
)

// add names one owner; the first word on it stays, since two marks may lead to
// the same one.
func (w *ownership) add(name, paused, how string) {
	for _, o := range w.owners {
		if o.Name == name {
			return
		}
	}
	w.owners = append(w.owners, steps.Owner{Name: name, Paused: paused, How: how})
	if paused != pausedUnknown {
		w.confirmed = true
	}
}

// doubt names an owner that could not be read.
func (w *ownership) doubt(name, why, how string) {
	w.add(name, pausedUnknown, how)
	w.doubts = append(w.doubts, name+": "+why)
	w.gaps = append(w.gaps, name+": "+why)
}

func (w *ownership) find(level steps.Level, format string, args ...any) {
	w.findings = append(w.findings, steps.Finding{Level: level, Say: fmt.Sprintf(format, args...)})
}

// ownership resolves who would undo a change of o: its parents by UID, and the
// tools whose marks it bears. The error is for a caller that turned away; what
// cannot be read is an owner that nobody knows to be paused.
func (c *client) ownership(ctx context.Context, t target, o object) (*ownership, error) {
	w := &ownership{}
	for _, resolve := range []func(context.Context, target, object, *ownership) error{c.parents, c.argo, c.flux, c.helm} {
		if err := resolve(ctx, t, o, w); err != nil {
			return nil, err
		}
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("owners of %s: %w", t, err)
		}
	}
	return w, nil
}

// owners says who would undo a change of o (law 12), and what nobody could
// tell.
func (c *client) owners(ctx context.Context, t target, o object) ([]steps.Owner, []string, error) {
	w, err := c.ownership(ctx, t, o)
	if err != nil {
		return nil, nil, err
	}
	gaps := w.gaps
	for _, f := range w.findings {
		if f.Level != steps.Info {
			gaps = append(gaps, f.Say)
		}
	}
	return w.owners, gaps, nil
}

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
			return t, object{}, fmt.Errorf("%s %q: %q can be no namespace", kind, name, clip(namespace, 100))
		}
	}
	if !plain(name) {
		return t, object{}, fmt.Errorf("%q can be no name of a %s", clip(name, 100), kind)
	}
	o, err := c.get(ctx, r, t.namespace, name)
	return t, o, err
}

// plain reports whether outside text can be one segment of a path.
func plain(s string) bool {
	return s != "" && len(s) <= 253 && len(content.IsPathSegmentName(s)) == 0 && !strings.ContainsAny(s, " ?#\\\x00\r\n\t")
}

// anyVersion resolves a kind whatever version a reference names: references
// outlive versions.
func (c *client) anyVersion(apiVersion, kind string) (resource, error) {
	gv, err := schema.ParseGroupVersion(apiVersion)
	if err != nil {
		return resource{}, fmt.Errorf("apiVersion %q: %w", clip(apiVersion, 100), err)
	}
	m, err := c.mapper.RESTMapping(schema.GroupKind{Group: gv.Group, Kind: kind})
	if err != nil {
		return resource{}, c.unknownKind(clip(kind, 100)+"."+gv.Group, err)
	}
	return mapped(m), nil
}
