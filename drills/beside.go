package drills

import (
	"context"
	"fmt"
	"slices"

	"gopkg.in/yaml.v3"

	"handrail/drills/lab"
)

// doom is the verb space.doom: a namespace beside that of the drill, whose
// deletion was asked for while something in it is held.
type doom struct {
	objects []manifest
	closed  bool // a webhook refuses, and no finalizer holds
}

func readDoom(p parser, n *yaml.Node) action {
	f := p.Fields(n, "space.doom", "file", "closed")
	file := p.need(n, f, "file")
	d := doom{p.manifests(file), p.Flag(f["closed"], "closed")}
	if len(p.Problems) == 0 && !d.closed && !slices.ContainsFunc(d.objects, func(m manifest) bool { return len(m.finalizers) > 0 }) {
		p.Fail(file, "give one of its objects a finalizer", "nothing in the file holds a namespace")
	}
	return d
}

// apply makes the objects as robot, and asks for the deletion as robot. In a
// namespace that is being deleted no binding of a role lasts, so that what robot
// and operator may still do there is granted for these objects by name.
func (d doom) apply(ctx context.Context, st *stage) error {
	name, err := st.world.Beside(ctx, st.rec.Namespace.Name)
	if err != nil {
		return err
	}
	st.say("a namespace beside it: %s", name)
	end := lab.Rule{Resources: []string{"namespaces"}, Names: []string{name}, Verbs: []string{"delete"}}
	var rules []lab.Rule
	for _, m := range d.objects {
		h := m.holds(name)
		if len(h.Finalizers) == 0 {
			continue
		}
		if !slices.ContainsFunc(st.rec.Held, func(o held) bool { return o.Path == h.Path }) {
			st.rec.Held = append(st.rec.Held, h)
		}
		rules = append(rules, lab.Rule{Group: m.group(), Resources: []string{m.plural}, Names: []string{m.name}, Verbs: []string{"get", "patch", "delete"}})
	}
	if d.closed {
		rules = append(rules, lab.Rule{Group: "admissionregistration.k8s.io", Resources: []string{"mutatingwebhookconfigurations"}, Names: []string{lab.Closed(name)}, Verbs: []string{"get", "patch"}})
	}
	if err := st.save(); err != nil {
		return err
	}
	if err := st.admit(ctx, nameRobot, nil, append(append(survey(), end), rules...)); err != nil {
		return err
	}
	if err := st.admit(ctx, nameOperator, nil, append(survey(), rules...)); err != nil {
		return err
	}
	for _, m := range d.objects {
		if err := st.robot.create(ctx, m.path(name, ""), m.body); err != nil {
			return fmt.Errorf("%s: %w", m, err)
		}
	}
	says := "NamespaceFinalizersRemaining"
	if d.closed {
		says = "NamespaceDeletionContentFailure"
		if err := st.world.CloseBeside(ctx, st.rec.Namespace.Name); err != nil {
			return err
		}
	}
	path := "/api/v1/namespaces/" + name
	if err := st.robot.remove(ctx, path); err != nil {
		return err
	}
	return st.wait(ctx, "the namespace controller did not say what holds namespace "+name, func() (bool, error) {
		var ns struct {
			Status struct {
				Conditions []struct{ Type, Status string }
			}
		}
		if err := st.robot.get(ctx, path, &ns); err != nil {
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
