package inject

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	"handrail/drills/stage"
	"handrail/steps/strict"
)

// create is the verb kube.create.
type create struct {
	Objects []manifest `key:"file,required" as:"manifests"`
}

// apply creates the objects and waits until the controllers have made of them
// what they will: what is exported next must not change by itself.
func (c create) apply(ctx context.Context, st *stage.Stage) error {
	st.Say("creating objects: %d", len(c.Objects))
	if err := hold(st, c.Objects...); err != nil {
		return err
	}
	for _, m := range c.Objects {
		if err := st.Robot.Create(ctx, m.path(st.Rec.Namespace.Name, ""), m.body); err != nil {
			return fmt.Errorf("%s: %w", m, err)
		}
	}
	for _, m := range c.Objects {
		if m.kind != "Deployment" {
			continue
		}
		if _, err := rollout(ctx, st, m.name, "be taken up by its controller", func(d deployment) bool {
			return d.Status.ObservedGeneration >= d.Metadata.Generation && d.Metadata.Annotations["deployment.kubernetes.io/revision"] != ""
		}); err != nil {
			return err
		}
	}
	return nil
}

// hold writes down what of these objects would keep the namespace from going,
// before they are made: a drill that is killed in between must be stopped too.
func hold(st *stage.Stage, objects ...manifest) error {
	for _, m := range objects {
		h := m.holds(st.Rec.Namespace.Name)
		if len(h.Finalizers) > 0 && !slices.ContainsFunc(st.Rec.Held, func(o stage.HeldObject) bool { return o.Path == h.Path }) {
			st.Rec.Held = append(st.Rec.Held, h)
		}
	}
	return st.Save()
}

// remove is the verb kube.delete.
type remove struct {
	Resource objectKind `key:"resource,required" as:"resource"`
	Name     string     `key:"name,required" as:"id"`
}

func (d remove) apply(ctx context.Context, st *stage.Stage) error {
	st.Say("deleting %s/%s", d.Resource.plural, d.Name)
	return st.Robot.Remove(ctx, d.Resource.path(st.Rec.Namespace.Name, d.Name))
}

// recreate is the verb kube.recreate. It takes the object from the file, since a
// live one carries what only the server may write.
type recreate struct {
	File     []manifest `key:"file,required" as:"manifests"`
	Resource objectKind `key:"resource,required" as:"resource"`
	Name     string     `key:"name,required" as:"id"`
}

// Check wants the object in the file.
func (c *recreate) Check(r *strict.Reader, n *strict.Node) {
	if _, ok := c.object(); !ok {
		r.Fail(strict.At(n, "name"), "", "there is no %s %q in the file", c.Resource.kind, c.Name)
	}
}

func (c recreate) object() (manifest, bool) {
	i := slices.IndexFunc(c.File, func(m manifest) bool { return m.objectKind == c.Resource && m.name == c.Name })
	if i < 0 {
		return manifest{}, false
	}
	return c.File[i], true
}

// apply lets the object go, with the finalizers that hold it, and makes another
// one of its name.
func (c recreate) apply(ctx context.Context, st *stage.Stage) error {
	o, _ := c.object()
	st.Say("making %s anew", o)
	path := o.path(st.Rec.Namespace.Name, o.name)
	if err := st.Robot.Remove(ctx, path); err != nil {
		return err
	}
	if err := st.Robot.Release(ctx, o.holds(st.Rec.Namespace.Name)); err != nil {
		return err
	}
	if err := st.Wait(ctx, o.String()+" did not go", func() (bool, error) {
		err := st.Robot.Get(ctx, path, nil)
		if stage.HasCode(err, http.StatusNotFound) {
			return true, nil
		}
		return false, err
	}); err != nil {
		return err
	}
	if err := hold(st, o); err != nil {
		return err
	}
	return st.Robot.Create(ctx, o.path(st.Rec.Namespace.Name, ""), o.body)
}

// class is the verb kube.class. Its claims wait for the first Pod that uses them.
type class struct {
	Name        string `key:"name,required" as:"id"`
	Provisioner string `key:"provisioner,required"`
}

func (c class) apply(ctx context.Context, st *stage.Stage) error {
	st.Say("a storage class %s", c.Name)
	return st.World.StorageClass(ctx, c.Name, c.Provisioner)
}
