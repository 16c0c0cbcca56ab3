package inject

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	"gopkg.in/yaml.v3"

	"handrail/drills/stage"
)

// create is the verb kube.create.
type create struct{ objects []manifest }

func readCreate(p Parser, n *yaml.Node) action {
	f := p.Fields(n, "kube.create", "file")
	return create{p.manifests(p.Need(n, f, "file"))}
}

// apply creates the objects and waits until the controllers have made of them
// what they will: what is exported next must not change by itself.
func (c create) apply(ctx context.Context, st *stage.Stage) error {
	st.Say("creating objects: %d", len(c.objects))
	if err := hold(st, c.objects...); err != nil {
		return err
	}
	for _, m := range c.objects {
		if err := st.Robot.Create(ctx, m.path(st.Rec.Namespace.Name, ""), m.body); err != nil {
			return fmt.Errorf("%s: %w", m, err)
		}
	}
	for _, m := range c.objects {
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
	objectKind
	name string
}

func readDelete(p Parser, n *yaml.Node) action {
	f := p.Fields(n, "kube.delete", "resource", "name")
	return remove{p.resource(p.Need(n, f, "resource")), p.Form(p.Need(n, f, "name"), "name", IDForm)}
}

func (d remove) apply(ctx context.Context, st *stage.Stage) error {
	st.Say("deleting %s/%s", d.plural, d.name)
	return st.Robot.Remove(ctx, d.path(st.Rec.Namespace.Name, d.name))
}

// recreate is the verb kube.recreate. It takes the object from the file, since a
// live one carries what only the server may write.
type recreate struct{ manifest }

func readRecreate(p Parser, n *yaml.Node) action {
	f := p.Fields(n, "kube.recreate", "file", "resource", "name")
	kind, name := p.resource(p.Need(n, f, "resource")), p.Form(p.Need(n, f, "name"), "name", IDForm)
	for _, m := range p.manifests(p.Need(n, f, "file")) {
		if m.objectKind == kind && m.name == name {
			return recreate{m}
		}
	}
	if name != "" && kind != (objectKind{}) && len(p.Problems) == 0 {
		p.Fail(f["name"], "", "there is no %s %q in the file", kind.kind, name)
	}
	return recreate{}
}

// apply lets the object go, with the finalizers that hold it, and makes another
// one of its name.
func (c recreate) apply(ctx context.Context, st *stage.Stage) error {
	st.Say("making %s anew", c)
	path := c.path(st.Rec.Namespace.Name, c.name)
	if err := st.Robot.Remove(ctx, path); err != nil {
		return err
	}
	if err := st.Robot.Release(ctx, c.holds(st.Rec.Namespace.Name)); err != nil {
		return err
	}
	if err := st.Wait(ctx, c.String()+" did not go", func() (bool, error) {
		err := st.Robot.Get(ctx, path, nil)
		if stage.HasCode(err, http.StatusNotFound) {
			return true, nil
		}
		return false, err
	}); err != nil {
		return err
	}
	if err := hold(st, c.manifest); err != nil {
		return err
	}
	return st.Robot.Create(ctx, c.path(st.Rec.Namespace.Name, ""), c.body)
}
