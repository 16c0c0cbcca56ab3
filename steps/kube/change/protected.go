package change

import (
	"context"
	"errors"
	"fmt"

	"handrail/steps"
	"handrail/steps/cluster"
	"handrail/steps/kube/object"
	kubeowner "handrail/steps/kube/owner"
	"handrail/steps/kube/report"
)

// protect finds out whether the object of a gate may be changed at all: it, its
// namespace and its owners may each say no.
func (s *subject) protect(ctx context.Context) error {
	p, err := object.ProtectionOf(s.c.Env)
	if err != nil {
		return err
	}
	s.marks = p
	if !s.absent {
		if why, is := p.Of(s.o); is {
			s.marked = append(s.marked, fmt.Sprintf("%s bears %s", s.t, why))
		}
		if err := s.protectedOwners(ctx); err != nil {
			return err
		}
	}
	if !s.t.Namespaced {
		return nil
	}
	ns, err := s.c.Get(ctx, cluster.Namespaces(), "", s.t.Namespace)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, cluster.ErrAbsent):
	case err != nil:
		s.unseen = append(s.unseen, unreadObject{of: cluster.Target{Resource: cluster.Namespaces(), Name: s.t.Namespace}, rule: s.t.Namespace, err: err})
	default:
		if why, is := p.Of(ns); is {
			s.marked = append(s.marked, fmt.Sprintf("the namespace %s bears %s", s.t.Namespace, why))
		}
	}
	return nil
}

// protectedOwners walks up to the top: what is made by a protected object is
// part of it.
func (s *subject) protectedOwners(ctx context.Context) error {
	seen := map[string]bool{string(s.o.GetUID()): true}
	t, queue := s.t, []cluster.Object{s.o}
	for ; len(queue) > 0; queue = queue[1:] {
		for _, ref := range queue[0].GetOwnerReferences() {
			if seen[string(ref.UID)] {
				continue
			}
			if len(seen) > kubeowner.MostParents {
				s.unseen = append(s.unseen, unreadObject{of: cluster.Target{Resource: cluster.Resource{Kind: steps.Clip(ref.Kind, 100)}, Name: steps.Clip(ref.Name, 300)},
					err: fmt.Errorf("the owners of %s go on beyond %d", s.t, kubeowner.MostParents)})
				return nil
			}
			seen[string(ref.UID)] = true
			of, owner, err := kubeowner.Parent(ctx, s.c, t, ref)
			switch {
			case ctx.Err() != nil:
				return ctx.Err()
			case errors.Is(err, cluster.ErrAbsent), errors.Is(err, cluster.ErrNoKind):
				continue
			case err != nil:
				s.unseen = append(s.unseen, unreadObject{of: of, rule: of.Namespace, err: err})
				continue
			}
			if why, is := s.marks.Of(owner); is {
				s.marked = append(s.marked, fmt.Sprintf("%s, which owns it, bears %s", of, why))
			}
			queue = append(queue, owner)
		}
	}
	return nil
}

// unreadObject is an object whose marks could not be read. It may be protected.
type unreadObject struct {
	of   cluster.Target
	rule string // namespace whose Role can give the right to read it; "" where only a ClusterRole can
	err  error
}

// cure says what lets the marks be read: who lacks a right is told the rule that
// gives it, and how to see that it holds.
func (u unreadObject) cure(c *cluster.Client) string {
	switch {
	case u.of.Plural == "":
		return "read its ownerReferences yourself: what they name is no object of this cluster that can be read"
	case !cluster.IsForbidden(u.err):
		return "look why it cannot be read, then preview again"
	}
	where := "ClusterRole"
	if u.rule != "" {
		where = "Role of the namespace " + u.rule
	}
	built := ""
	if u.of.Plural == "namespaces" && u.of.Group == "" {
		built = "; the built-in roles view, edit and admin, bound in that namespace, hold it"
	}
	return fmt.Sprintf("get the right to read it, then preview again: in a %s, the rule {apiGroups: [%q], resources: [%s], resourceNames: [%q], verbs: [get]}%s. `%s` says yes once it is there",
		where, u.of.Group, u.of.Plural, u.of.Name, built, c.Kubectl(u.rule, "auth", "can-i", "get", u.of.Resource.String()+"/"+u.of.Name))
}

// protected: the object is not marked as not to be changed, and all that can bear
// such a mark was read. Who may see one namespace alone loses nothing by it: a
// Role there gives the right to read that namespace.
func (f floors) protected(s *subject) {
	for _, why := range s.marked {
		f.unmet("leave it alone; the person who set the mark can say why; it cannot be waived here",
			"%s is protected: %s.", s.t, why)
	}
	for _, u := range s.unseen {
		f.unmet(u.cure(s.c), "Whether %s is protected is not known, since the marks of %s could not be read: %s.", s.t, u.of, report.Ended(steps.Clip(u.err.Error(), 500)))
	}
}
