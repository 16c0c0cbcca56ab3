package kube

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"handrail/steps"
)

// resource is one kind of object as this server serves it.
type resource struct {
	group      string // "" for core
	version    string
	plural     string
	kind       string
	namespaced bool
}

// String is the name as kubectl takes it without a doubt: jobs.batch.
func (r resource) String() string {
	if r.group == "" {
		return r.plural
	}
	return r.plural + "." + r.group
}

// path is the address of one object, or of the collection with name "".
func (r resource) path(namespace, name string) string {
	p := "/api/" + r.version
	if r.group != "" {
		p = "/apis/" + r.group + "/" + r.version
	}
	if r.namespaced && namespace != "" {
		p += "/namespaces/" + namespace
	}
	p += "/" + r.plural
	if name != "" {
		p += "/" + name
	}
	return p
}

// label is how a person names one object: job/ns/name, or node/name.
func (r resource) label(namespace, name string) string {
	if r.namespaced {
		return strings.ToLower(r.kind) + "/" + namespace + "/" + name
	}
	return strings.ToLower(r.kind) + "/" + name
}

// find resolves what a person calls a resource: job, jobs, jobs.batch or
// jobs.v1.batch, or a short name such as deploy.
func (c *client) find(ctx context.Context, name string) (resource, error) {
	if err := ctx.Err(); err != nil {
		return resource{}, err
	}
	if err := c.discover(ctx); err != nil {
		return resource{}, c.explain("discovery of", name, err)
	}
	full, bare := schema.ParseResourceArg(strings.ToLower(name))
	var gvk schema.GroupVersionKind
	var err error
	if full != nil {
		gvk, err = c.mapper.KindFor(*full)
	}
	if full == nil || err != nil {
		gvk, err = c.mapper.KindFor(bare.WithVersion(""))
	}
	if err != nil {
		return resource{}, c.unknownKind(name, err)
	}
	m, err := c.mapper.RESTMapping(gvk.GroupKind(), gvk.Version)
	if err != nil {
		return resource{}, c.unknownKind(name, err)
	}
	return mapped(m), nil
}

// kindOf resolves an apiVersion and a kind, as references between objects name
// them.
func (c *client) kindOf(apiVersion, kind string) (resource, error) {
	gv, err := schema.ParseGroupVersion(apiVersion)
	if err != nil {
		return resource{}, fmt.Errorf("apiVersion %q: %w", apiVersion, err)
	}
	m, err := c.mapper.RESTMapping(schema.GroupKind{Group: gv.Group, Kind: kind}, gv.Version)
	if err != nil {
		return resource{}, c.unknownKind(kind+"."+gv.Group, err)
	}
	return mapped(m), nil
}

func mapped(m *meta.RESTMapping) resource {
	return resource{group: m.Resource.Group, version: m.Resource.Version, plural: m.Resource.Resource,
		kind: m.GroupVersionKind.Kind, namespaced: m.Scope.Name() == meta.RESTScopeNameNamespace}
}

// errNoKind says that the server has no such kind of object. It is positive
// knowledge only where discovery was whole.
var errNoKind = errors.New("no such kind of object")

func (c *client) unknownKind(name string, err error) error {
	switch {
	case meta.IsNoMatchError(err):
		if groups := c.silent(); len(groups) > 0 {
			return fmt.Errorf("%s does not say whether it serves %q: its API groups %s do not answer; see `kubectl get apiservices`", c.Server, name, strings.Join(groups, ", "))
		}
		return fmt.Errorf("%w: %s serves no resource %q; see `kubectl api-resources`", errNoKind, c.Server, name)
	default:
		return c.explain("discovery of", name, err)
	}
}

// target is the object that a step is about.
type target struct {
	resource
	namespace, name string
}

func (t target) String() string { return t.label(t.namespace, t.name) }

// target resolves the parameters that name one object.
func (c *client) target(ctx context.Context, in steps.Params) (target, error) {
	r, err := c.find(ctx, in.Text("resource"))
	if err != nil {
		return target{}, err
	}
	t := target{resource: r, name: in.Text("name")}
	if r.namespaced {
		if t.namespace = in.Text("namespace"); t.namespace == "" {
			t.namespace = c.Namespace
		}
	}
	return t, nil
}

// reach makes the client and resolves the object that a step is about.
func reach(ctx context.Context, env steps.Env, in steps.Params, out steps.Sink) (*client, target, error) {
	c, err := connect(env, out)
	if err != nil {
		return nil, target{}, err
	}
	t, err := c.target(ctx, in)
	return c, t, err
}

// workloadSpace is the namespace of a probe that is about one.
func (c *client) workloadSpace(in steps.Params) string {
	if ns := in.Text("namespace"); ns != "" {
		return ns
	}
	return c.Namespace
}
