package drills

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"gopkg.in/yaml.v3"
)

// settleLimit is for a machine under load; a controller answers in a second.
const settleLimit = 2 * time.Minute

// create is the verb kube.create.
type create struct{ objects []manifest }

func readCreate(p parser, n *yaml.Node) action {
	f := p.Fields(n, "kube.create", "file")
	return create{p.manifests(p.need(n, f, "file"))}
}

// apply creates the objects and waits until the controllers have made of them
// what they will: what is exported next must not change by itself.
func (c create) apply(ctx context.Context, st *stage) error {
	st.say("creating objects: %d", len(c.objects))
	if err := st.hold(c.objects...); err != nil {
		return err
	}
	for _, m := range c.objects {
		if err := st.robot.create(ctx, m.path(st.rec.Namespace.Name, ""), m.body); err != nil {
			return fmt.Errorf("%s: %w", m, err)
		}
	}
	for _, m := range c.objects {
		if m.kind != "Deployment" {
			continue
		}
		if _, err := st.rollout(ctx, m.name, "be taken up by its controller", func(d deployment) bool {
			return d.Status.ObservedGeneration >= d.Metadata.Generation && d.Metadata.Annotations["deployment.kubernetes.io/revision"] != ""
		}); err != nil {
			return err
		}
	}
	return nil
}

// hold writes down what of these objects would keep the namespace from going,
// before they are made: a drill that is killed in between must be stopped too.
func (st *stage) hold(objects ...manifest) error {
	for _, m := range objects {
		h := m.holds(st.rec.Namespace.Name)
		if len(h.Finalizers) > 0 && !slices.ContainsFunc(st.rec.Held, func(o held) bool { return o.Path == h.Path }) {
			st.rec.Held = append(st.rec.Held, h)
		}
	}
	return st.save()
}

// remove is the verb kube.delete.
type remove struct {
	objectKind
	name string
}

func readDelete(p parser, n *yaml.Node) action {
	f := p.Fields(n, "kube.delete", "resource", "name")
	return remove{p.resource(p.need(n, f, "resource")), p.form(p.need(n, f, "name"), "name", idForm)}
}

func (d remove) apply(ctx context.Context, st *stage) error {
	st.say("deleting %s/%s", d.plural, d.name)
	return st.robot.remove(ctx, d.path(st.rec.Namespace.Name, d.name))
}

// recreate is the verb kube.recreate. It takes the object from the file, since a
// live one carries what only the server may write.
type recreate struct{ manifest }

func readRecreate(p parser, n *yaml.Node) action {
	f := p.Fields(n, "kube.recreate", "file", "resource", "name")
	kind, name := p.resource(p.need(n, f, "resource")), p.form(p.need(n, f, "name"), "name", idForm)
	for _, m := range p.manifests(p.need(n, f, "file")) {
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
func (c recreate) apply(ctx context.Context, st *stage) error {
	st.say("making %s anew", c)
	path := c.path(st.rec.Namespace.Name, c.name)
	if err := st.robot.remove(ctx, path); err != nil {
		return err
	}
	if err := st.robot.release(ctx, c.holds(st.rec.Namespace.Name)); err != nil {
		return err
	}
	if err := st.wait(ctx, c.String()+" did not go", func() (bool, error) {
		err := st.robot.get(ctx, path, nil)
		if hasCode(err, http.StatusNotFound) {
			return true, nil
		}
		return false, err
	}); err != nil {
		return err
	}
	if err := st.hold(c.manifest); err != nil {
		return err
	}
	return st.robot.create(ctx, c.path(st.rec.Namespace.Name, ""), c.body)
}

// wait asks until it is so. What is said is the reason when it never is.
func (st *stage) wait(ctx context.Context, otherwise string, so func() (bool, error)) error {
	ctx, cancel := context.WithTimeoutCause(ctx, settleLimit, errors.New(otherwise+" within "+settleLimit.String()))
	defer cancel()
	tick := time.NewTicker(look)
	defer tick.Stop()
	for {
		if done, err := so(); done || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-tick.C:
		}
	}
}
