package inject

import (
	"context"
	"fmt"
	"slices"

	"handrail/drills/lab"
	"handrail/drills/stage"
	"handrail/steps/strict"
)

// doom is the verb space.doom: a namespace beside that of the drill, whose
// deletion was asked for while something in it is held.
type doom struct {
	Objects []manifest `key:"file,required" as:"manifests"`
	Closed  bool       `key:"closed"` // a webhook refuses, and no finalizer holds
}

// Check wants something that holds the namespace.
func (d *doom) Check(r *strict.Reader, n *strict.Node) {
	if !d.Closed && !slices.ContainsFunc(d.Objects, func(m manifest) bool { return len(m.finalizers) > 0 }) {
		r.Fail(strict.At(n, "file"), "give one of its objects a finalizer", "nothing in the file holds a namespace")
	}
}

// apply makes the objects as robot, and asks for the deletion as robot. In a
// namespace that is being deleted no binding of a role lasts, so that what robot
// and operator may still do there is granted for these objects by name.
func (d doom) apply(ctx context.Context, st *stage.Stage) error {
	name, err := st.World.Beside(ctx, st.Rec.Namespace.Name)
	if err != nil {
		return err
	}
	st.Say("a namespace beside it: %s", name)
	end := lab.Rule{Resources: []string{"namespaces"}, Names: []string{name}, Verbs: []string{"delete"}}
	var rules []lab.Rule
	for _, m := range d.Objects {
		h := m.holds(name)
		if len(h.Finalizers) == 0 {
			continue
		}
		if !slices.ContainsFunc(st.Rec.Held, func(o stage.HeldObject) bool { return o.Path == h.Path }) {
			st.Rec.Held = append(st.Rec.Held, h)
		}
		rules = append(rules, lab.Rule{Group: m.group(), Resources: []string{m.plural}, Names: []string{m.name}, Verbs: []string{"get", "patch", "delete"}})
	}
	if d.Closed {
		rules = append(rules, lab.Rule{Group: "admissionregistration.k8s.io", Resources: []string{"mutatingwebhookconfigurations"}, Names: []string{lab.Closed(name)}, Verbs: []string{"get", "patch"}})
	}
	if err := st.Save(); err != nil {
		return err
	}
	if err := st.Admit(ctx, stage.NameRobot, nil, append(append(survey(), end), rules...)); err != nil {
		return err
	}
	if err := st.Admit(ctx, stage.NameOperator, nil, append(survey(), rules...)); err != nil {
		return err
	}
	for _, m := range d.Objects {
		if err := st.Robot.Create(ctx, m.path(name, ""), m.body); err != nil {
			return fmt.Errorf("%s: %w", m, err)
		}
	}
	says := "NamespaceFinalizersRemaining"
	if d.Closed {
		says = "NamespaceDeletionContentFailure"
		if err := st.World.CloseBeside(ctx, st.Rec.Namespace.Name); err != nil {
			return err
		}
	}
	path := "/api/v1/namespaces/" + name
	if err := st.Robot.Remove(ctx, path); err != nil {
		return err
	}
	return st.Wait(ctx, "the namespace controller did not say what holds namespace "+name, func() (bool, error) {
		var ns struct {
			Status struct {
				Conditions []struct{ Type, Status string }
			}
		}
		if err := st.Robot.Get(ctx, path, &ns); err != nil {
			return false, err
		}
		for _, c := range ns.Status.Conditions {
			if c.Type == says && c.Status == "True" {
				return true, nil
			}
		}
		return false, nil
	})
}
