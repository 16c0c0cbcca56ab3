package kube

import (
	"context"
	"errors"
	"fmt"

	"handrail/steps"
)

// protect finds out whether the object of a gate may be changed at all: it, its
// namespace and its owners may each say no.
func (s *subject) protect(ctx context.Context) error {
	p, err := protectionOf(s.c.env)
	if err != nil {
		return err
	}
	s.marks = p
	if !s.absent {
		if why, is := p.of(s.o); is {
			s.marked = append(s.marked, fmt.Sprintf("%s bears %s", s.t, why))
		}
		if err := s.protectedOwners(ctx); err != nil {
			return err
		}
	}
	if !s.t.namespaced {
		return nil
	}
	ns, err := s.c.get(ctx, namespaces(), "", s.t.namespace)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, errAbsent):
	case err != nil:
		s.unseen = append(s.unseen, unseen{of: target{resource: namespaces(), name: s.t.namespace}, rule: s.t.namespace, err: err})
	default:
		if why, is := p.of(ns); is {
			s.marked = append(s.marked, fmt.Sprintf("the namespace %s bears %s", s.t.namespace, why))
		}
	}
	return nil
}

// protectedOwners walks up to the top: what is made by a protected object is
// part of it.
func (s *subject) protectedOwners(ctx context.Context) error {
	seen := map[string]bool{string(s.o.GetUID()): true}
	t, queue := s.t, []object{s.o}
	for ; len(queue) > 0; queue = queue[1:] {
		for _, ref := range queue[0].GetOwnerReferences() {
			if seen[string(ref.UID)] {
				continue
			}
			if len(seen) > mostParents {
				s.unseen = append(s.unseen, unseen{of: target{resource: resource{kind: steps.Clip(ref.Kind, 100)}, name: steps.Clip(ref.Name, 300)},
					err: fmt.Errorf("the owners of %s go on beyond %d", s.t, mostParents)})
				return nil
			}
			seen[string(ref.UID)] = true
			of, owner, err := parentOf(ctx, s.c, t, ref)
			switch {
			case ctx.Err() != nil:
				return ctx.Err()
			case errors.Is(err, errAbsent), errors.Is(err, errNoKind):
				continue
			case err != nil:
				s.unseen = append(s.unseen, unseen{of: of, rule: of.namespace, err: err})
				continue
			}
			if why, is := s.marks.of(owner); is {
				s.marked = append(s.marked, fmt.Sprintf("%s, which owns it, bears %s", of, why))
			}
			queue = append(queue, owner)
		}
	}
	return nil
}

// unseen is an object whose marks could not be read. It may be protected.
type unseen struct {
	of   target
	rule string // namespace whose Role can give the right to read it; "" where only a ClusterRole can
	err  error
}

// cure says what lets the marks be read: who lacks a right is told the rule that
// gives it, and how to see that it holds.
func (u unseen) cure(c *client) string {
	switch {
	case u.of.plural == "":
		return "read its ownerReferences yourself: what they name is no object of this cluster that can be read"
	case !isForbidden(u.err):
		return "look why it cannot be read, then preview again"
	}
	where := "ClusterRole"
	if u.rule != "" {
		where = "Role of the namespace " + u.rule
	}
	built := ""
	if u.of.plural == "namespaces" && u.of.group == "" {
		built = "; the built-in roles view, edit and admin, bound in that namespace, hold it"
	}
	return fmt.Sprintf("have somebody give you the right to read it, then preview again: in a %s, the rule {apiGroups: [%q], resources: [%s], resourceNames: [%q], verbs: [get]}%s. `%s` says yes once it is there",
		where, u.of.group, u.of.plural, u.of.name, built, c.kubectl(u.rule, "auth", "can-i", "get", u.of.resource.String()+"/"+u.of.name))
}

// protected: nobody marked the object as not to be changed, and all that can bear
// such a mark was read. Who may see one namespace alone loses nothing by it: a
// Role there gives the right to read that namespace.
func (f floors) protected(s *subject) {
	for _, why := range s.marked {
		f.unmet("leave it alone; whoever set the mark can say why, and nobody can waive it here",
			"%s is protected: %s.", s.t, why)
	}
	for _, u := range s.unseen {
		f.unmet(u.cure(s.c), "Whether %s is protected is not known, since the marks of %s could not be read: %s.", s.t, u.of, ended(steps.Clip(u.err.Error(), 500)))
	}
}
