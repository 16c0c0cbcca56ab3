package cluster

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"handrail/steps"
)

// Resource is one kind of object as this server serves it.
type Resource struct {
	Group      string // "" for core
	Version    string
	Plural     string
	Kind       string
	Namespaced bool
}

// String is the name as kubectl takes it without a doubt: jobs.batch.
func (r Resource) String() string {
	if r.Group == "" {
		return r.Plural
	}
	return r.Plural + "." + r.Group
}

// Path is the address of one object, or of the collection with name "".
func (r Resource) Path(namespace, name string) string {
	p := "/api/" + r.Version
	if r.Group != "" {
		p = "/apis/" + r.Group + "/" + r.Version
	}
	if r.Namespaced && namespace != "" {
		p += "/namespaces/" + namespace
	}
	p += "/" + r.Plural
	if name != "" {
		p += "/" + name
	}
	return p
}

// Label is how a person names one object: job/ns/name, or node/name.
func (r Resource) Label(namespace, name string) string {
	if r.Namespaced {
		return strings.ToLower(r.Kind) + "/" + namespace + "/" + name
	}
	return strings.ToLower(r.Kind) + "/" + name
}

// Find resolves what a person calls a resource: job, jobs, jobs.batch or
// jobs.v1.batch, or a short name such as deploy.
func (c *Client) Find(ctx context.Context, name string) (Resource, error) {
	if err := ctx.Err(); err != nil {
		return Resource{}, err
	}
	if err := c.Discover(ctx); err != nil {
		return Resource{}, c.Explain("discovery of", name, err)
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
		return Resource{}, c.unknownKind(name, err)
	}
	m, err := c.mapper.RESTMapping(gvk.GroupKind(), gvk.Version)
	if err != nil {
		return Resource{}, c.unknownKind(name, err)
	}
	return mapped(m), nil
}

// KindOf resolves an apiVersion and a kind, as references between objects name
// them.
func (c *Client) KindOf(apiVersion, kind string) (Resource, error) {
	gv, err := schema.ParseGroupVersion(apiVersion)
	if err != nil {
		return Resource{}, fmt.Errorf("apiVersion %q: %w", apiVersion, err)
	}
	m, err := c.mapper.RESTMapping(schema.GroupKind{Group: gv.Group, Kind: kind}, gv.Version)
	if err != nil {
		return Resource{}, c.unknownKind(kind+"."+gv.Group, err)
	}
	return mapped(m), nil
}

func mapped(m *meta.RESTMapping) Resource {
	return Resource{Group: m.Resource.Group, Version: m.Resource.Version, Plural: m.Resource.Resource,
		Kind: m.GroupVersionKind.Kind, Namespaced: m.Scope.Name() == meta.RESTScopeNameNamespace}
}

// ErrNoKind says that the server has no such kind of object. It is positive
// knowledge only where discovery was whole.
var ErrNoKind = errors.New("no such kind of object")

func (c *Client) unknownKind(name string, err error) error {
	switch {
	case meta.IsNoMatchError(err):
		if groups := c.Silent(); len(groups) > 0 {
			return fmt.Errorf("%s does not say whether it serves %q: its API groups %s do not answer; see `kubectl get apiservices`", c.Server, name, strings.Join(groups, ", "))
		}
		return fmt.Errorf("%w: %s serves no resource %q; see `kubectl api-resources`", ErrNoKind, c.Server, name)
	default:
		return c.Explain("discovery of", name, err)
	}
}

// Target is the object that a step is about.
type Target struct {
	Resource
	Namespace, Name string
}

func (t Target) String() string { return t.Label(t.Namespace, t.Name) }

// Target resolves the parameters that name one object.
func (c *Client) Target(ctx context.Context, in steps.Params) (Target, error) {
	r, err := c.Find(ctx, in.Text("resource"))
	if err != nil {
		return Target{}, err
	}
	t := Target{Resource: r, Name: in.Text("name")}
	if r.Namespaced {
		if t.Namespace = in.Text("namespace"); t.Namespace == "" {
			t.Namespace = c.Namespace
		}
	}
	return t, nil
}

// Reach makes the client and resolves the object that a step is about.
func Reach(ctx context.Context, env steps.Env, in steps.Params, out steps.Sink) (*Client, Target, error) {
	c, err := Connect(env, out)
	if err != nil {
		return nil, Target{}, err
	}
	t, err := c.Target(ctx, in)
	return c, t, err
}

// NamespaceOf is the namespace of a probe that is about one.
func (c *Client) NamespaceOf(in steps.Params) string {
	if ns := in.Text("namespace"); ns != "" {
		return ns
	}
	return c.Namespace
}
