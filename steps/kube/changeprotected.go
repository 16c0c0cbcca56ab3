package kube

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"handrail/steps"
)

// builtinMarkers protect an object in every cluster, whoever wrote them.
func builtinMarkers() []steps.Marker {
	return []steps.Marker{
		{Key: "*/role", Value: "protected"},
		{Key: "*/purpose", Value: "chaos-canary"},
	}
}

// protection is by what the objects of a cluster are known to be nobody's to
// change.
type protection []steps.Marker

// protectionOf reads the markers of the team. Where they cannot be read nothing
// may be changed.
func protectionOf(env steps.Env) (protection, error) {
	all := protection(builtinMarkers())
	if env.Protected == nil {
		return all, nil
	}
	team, err := env.Protected()
	if err != nil {
		return nil, fmt.Errorf("which objects are protected: %w", err)
	}
	for _, m := range team {
		if m.Key != "" { // would be every object
			all = append(all, m)
		}
	}
	return all, nil
}

// marks reports whether m is about a label or an annotation. Values are compared
// without their case: a marker that was written in another one is meant.
func marks(m steps.Marker, key, value string) bool {
	name, any := strings.CutPrefix(m.Key, "*/")
	if any && name != "" {
		if key != name && !strings.HasSuffix(key, "/"+name) {
			return false
		}
	} else if key != m.Key {
		return false
	}
	return m.Value == "" || strings.EqualFold(strings.TrimSpace(value), m.Value)
}

// on names the marker that one set of labels or annotations bears.
func (p protection) on(what string, set map[string]string) (string, bool) {
	for _, key := range slices.Sorted(maps.Keys(set)) {
		for _, m := range p {
			if marks(m, key, set[key]) {
				return fmt.Sprintf("the %s %s=%s", what, clip(key, 200), clip(set[key], 100)), true
			}
		}
	}
	return "", false
}

// of names the marker that an object bears, on itself or on what it makes.
func (p protection) of(o object) (string, bool) {
	if why, is := p.on("label", o.GetLabels()); is {
		return why, true
	}
	if why, is := p.on("annotation", o.GetAnnotations()); is {
		return why, true
	}
	for _, at := range [][]string{{"spec", "template"}, {"spec", "jobTemplate"}, {"spec", "jobTemplate", "spec", "template"}} {
		for _, kind := range []string{"labels", "annotations"} {
			set, _, _ := unstructured.NestedFieldNoCopy(o.Object, append(slices.Clone(at), "metadata", kind)...)
			if why, is := p.on(strings.TrimSuffix(kind, "s"), texts(set)); is {
				return why + " of what it makes", true
			}
		}
	}
	return "", false
}

// texts are the text values of a map that nobody has checked: the accessors of
// unstructured drop the whole of a map that holds one number.
func texts(set any) map[string]string {
	m, _ := set.(map[string]any)
	out := map[string]string{}
	for key, v := range m {
		out[key] = fmt.Sprint(v)
	}
	return out
}

// protect finds out whether the object of a gate may be changed at all: it, its
// namespace and its owners may each say no.
func (s *subject) protect(ctx context.Context) error {
	p, err := protectionOf(s.c.env)
	if err != nil {
		return err
	}
	s.c.protect = p
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
				s.unseen = append(s.unseen, unseen{of: target{resource: resource{kind: clip(ref.Kind, 100)}, name: clip(ref.Name, 300)},
					err: fmt.Errorf("the owners of %s go on beyond %d", s.t, mostParents)})
				return nil
			}
			seen[string(ref.UID)] = true
			of, owner, err := s.c.parent(ctx, t, ref)
			switch {
			case ctx.Err() != nil:
				return ctx.Err()
			case errors.Is(err, errAbsent), errors.Is(err, errNoKind):
				continue
			case err != nil:
				s.unseen = append(s.unseen, unseen{of: of, rule: of.namespace, err: err})
				continue
			}
			if why, is := s.c.protect.of(owner); is {
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
		f.unmet(u.cure(s.c), "Whether %s is protected is not known, since the marks of %s could not be read: %s.", s.t, u.of, ended(clip(u.err.Error(), 500)))
	}
}
