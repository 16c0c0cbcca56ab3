package cluster

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"handrail/steps"
)

// Looker tells other worlds which objects are in the operator's cluster. It reads
// metadata alone, so that no value of a Secret crosses the wire, and it cannot
// write.
type Looker struct{ c *Client }

// OpenLooker makes a Looker for the operator's cluster; nothing is asked yet.
func OpenLooker(env steps.Env, out steps.Sink) (*Looker, error) {
	c, err := Connect(env, out)
	if err != nil {
		return nil, err
	}
	return &Looker{c}, nil
}

// Server is the address of the cluster that is asked.
func (l *Looker) Server() string { return l.c.Server }

// Sought names a kind of object: by apiVersion and kind, or as kubectl does.
type Sought struct {
	APIVersion, Kind string
	Resource         string
}

func (s Sought) String() string {
	if s.Resource != "" {
		return s.Resource
	}
	return s.Kind + "." + s.APIVersion
}

// Seen is what the metadata of one object says.
type Seen struct {
	Namespace, Name, UID string
	Created              time.Time
	Managers             []string // who wrote it, by managedFields: leads, not proofs
	Owners               []string // as Kind/name
	Release              string   // of Helm, as namespace/name, "" for none
	Leaving              bool     // its deletion was asked for
	Finalizers           []string // what has to agree before it is gone
}

// spaceOf is the namespace of objects that name none: "default", as the providers
// take it.
func spaceOf(r Resource, namespace string) string {
	switch {
	case !r.Namespaced:
		return ""
	case namespace == "":
		return "default"
	}
	return namespace
}

func (l *Looker) find(ctx context.Context, s Sought) (Resource, error) {
	if s.Resource != "" {
		return l.c.Find(ctx, s.Resource)
	}
	if err := l.c.Discover(ctx); err != nil {
		return Resource{}, l.c.Explain("discovery of", s.Kind, err)
	}
	r, err := l.c.KindOf(s.APIVersion, s.Kind)
	if errors.Is(err, ErrNoKind) {
		r, err = l.c.AnyVersion(s.APIVersion, s.Kind)
	}
	return r, err
}

// All lists the objects of a kind in one namespace. An error means that not all
// was seen, and so that nothing is known to be absent. A kind that the whole
// cluster does not serve has no objects.
func (l *Looker) All(ctx context.Context, s Sought, namespace string) ([]Seen, error) {
	r, err := l.find(ctx, s)
	if errors.Is(err, ErrNoKind) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	space := spaceOf(r, namespace)
	if space != "" && !Plain(space) {
		return nil, fmt.Errorf("%q can be no namespace", steps.Clip(space, 100))
	}
	var out []Seen
	err = l.c.ListItems(ctx, r.Path(space, ""), AsMetaList, nil, WholeItem, func(o Object) { out = append(out, seenOf(o)) })
	return out, err
}

func seenOf(o Object) Seen {
	s := Seen{Namespace: o.GetNamespace(), Name: o.GetName(), UID: string(o.GetUID()), Created: o.GetCreationTimestamp().Time, Leaving: o.GetDeletionTimestamp() != nil}
	for _, m := range o.GetManagedFields() {
		if m.Manager != "" && !slices.Contains(s.Managers, m.Manager) && len(s.Managers) < 20 {
			s.Managers = append(s.Managers, steps.Clip(m.Manager, 100))
		}
	}
	for _, f := range o.GetFinalizers() {
		s.Finalizers = append(s.Finalizers, steps.Clip(f, 200))
	}
	for _, ref := range o.GetOwnerReferences() {
		s.Owners = append(s.Owners, steps.Clip(ref.Kind+"/"+ref.Name, 200))
	}
	notes := o.GetAnnotations()
	if name := notes["meta.helm.sh/release-name"]; name != "" {
		s.Release = steps.Clip(strings.TrimPrefix(notes["meta.helm.sh/release-namespace"]+"/"+name, "/"), 200)
	}
	return s
}
