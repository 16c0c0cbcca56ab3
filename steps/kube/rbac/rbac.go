// Package rbac walks the graph of roles and bindings: who may do what to one
// object. It knows RBAC alone: other authorizers of a server, such as a webhook
// or the one of its nodes, are not in this graph, and members of system:masters
// pass by it.
package rbac

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// Rule is one rule of a role.
type Rule struct {
	Verbs         []string `json:"verbs"`
	APIGroups     []string `json:"apiGroups"`
	Resources     []string `json:"resources"`
	ResourceNames []string `json:"resourceNames"`
}

// String shows the rule as verbs, what they are for, and of which names.
func (r Rule) String() string {
	var of []string
	for _, g := range r.APIGroups {
		for _, name := range r.Resources {
			if g != "" {
				name += "." + g
			}
			of = append(of, name)
		}
	}
	text := strings.Join(r.Verbs, ",") + " " + strings.Join(of, ",")
	if len(r.ResourceNames) > 0 {
		text += " " + strings.Join(r.ResourceNames, ",")
	}
	return text
}

// Role is a Role or a ClusterRole.
type Role struct {
	Namespace string // "" of a ClusterRole
	Name      string
	Rules     []Rule
}

// Subject is an account or group that is granted a role.
type Subject struct {
	Kind      string `json:"kind"`
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
}

// String names the subject as kind/name.
func (s Subject) String() string {
	if s.Kind == "ServiceAccount" {
		return "serviceaccount/" + s.Namespace + "/" + s.Name
	}
	return strings.ToLower(s.Kind) + "/" + s.Name
}

// Binding is a RoleBinding or a ClusterRoleBinding.
type Binding struct {
	Namespace string // "" of a ClusterRoleBinding
	Name      string
	RoleKind  string
	RoleName  string
	Subjects  []Subject
}

// Object is what a rule is about.
type Object struct {
	Group, Resource, Subresource string
	Namespace                    string // "" for what has none
	Name                         string
}

// resource is the resource as a rule names it.
func (o Object) resource() string {
	if o.Subresource == "" {
		return o.Resource
	}
	return o.Resource + "/" + o.Subresource
}

// Grants reports whether the rule allows verb on o.
func (r Rule) Grants(verb string, o Object) bool {
	return matches(r.Verbs, verb) && matches(r.APIGroups, o.Group) && r.covers(o) && r.names(verb, o)
}

func matches(list []string, word string) bool {
	return slices.Contains(list, "*") || slices.Contains(list, word)
}

// covers: a rule for a resource is none for its subresources.
func (r Rule) covers(o Object) bool {
	return matches(r.Resources, o.resource()) || o.Subresource != "" && slices.Contains(r.Resources, "*/"+o.Subresource)
}

// names: a rule for some names is none for requests that name no object. A list
// or watch of one name does, by its field selector, and so does the creation of a
// subresource.
func (r Rule) names(verb string, o Object) bool {
	if len(r.ResourceNames) == 0 {
		return true
	}
	return o.Named(verb) && slices.Contains(r.ResourceNames, o.Name)
}

// Named reports whether a request for o by verb tells the server its name.
func (o Object) Named(verb string) bool {
	return o.Name != "" && verb != "deletecollection" && (verb != "create" || o.Subresource != "")
}

// Reach says how wide the rules are that grant something.
type Reach int

// The widths of rules, narrowest first.
const (
	Named    Reach = iota // for this name
	Resource              // for the resource
	Wild                  // for everything, by a star
)

// Grant is one way to a right.
type Grant struct {
	Subject Subject
	Binding string   // as rolebinding/ns/name
	Role    string   // as clusterrole/name
	Verbs   []string // with the subresource where there is one, as update/scale
	Reach   Reach    // of the narrowest rule
}

// Walk finds who may do any of some verbs to any of some objects. All roles are
// told to it first, then all bindings.
type Walk struct {
	verbs    []string
	objects  []Object
	roles    map[key]roleGrant
	grants   []Grant
	dangling []string
}

type key struct{ namespace, name string }

type roleGrant struct {
	verbs []string
	reach Reach
}

// NewWalk looks for who may do verbs to objects, which lie in one namespace.
func NewWalk(verbs []string, objects ...Object) *Walk {
	return &Walk{verbs: verbs, objects: objects, roles: map[key]roleGrant{}}
}

// Role takes one role. The rules of those that it aggregates are in it already.
func (w *Walk) Role(r Role) {
	g := roleGrant{reach: Wild}
	for _, rule := range r.Rules {
		for _, o := range w.objects {
			for _, v := range w.verbs {
				if !rule.Grants(v, o) {
					continue
				}
				if o.Subresource != "" {
					v += "/" + o.Subresource
				}
				if !slices.Contains(g.verbs, v) {
					g.verbs = append(g.verbs, v)
				}
				g.reach = min(g.reach, rule.reach())
			}
		}
	}
	w.roles[key{r.Namespace, r.Name}] = g
}

func (r Rule) reach() Reach {
	switch {
	case len(r.ResourceNames) > 0:
		return Named
	case slices.Contains(r.Resources, "*") || slices.Contains(r.APIGroups, "*"):
		return Wild
	}
	return Resource
}

// Binding takes one binding.
func (w *Walk) Binding(b Binding) {
	role := key{"", b.RoleName}
	name := "clusterrole/" + b.RoleName
	if b.RoleKind == "Role" {
		role.namespace = b.Namespace
		name = "role/" + b.Namespace + "/" + b.RoleName
	}
	by := "clusterrolebinding/" + b.Name
	if b.Namespace != "" {
		by = "rolebinding/" + b.Namespace + "/" + b.Name
	}
	g, there := w.roles[role]
	if !there {
		w.dangling = append(w.dangling, by+" names "+name+", which is not there")
		return
	}
	if len(g.verbs) == 0 || b.Namespace != "" && !slices.ContainsFunc(w.objects, func(o Object) bool { return o.Namespace == b.Namespace }) {
		return
	}
	for _, s := range b.Subjects {
		if s.Kind == "ServiceAccount" && s.Namespace == "" {
			s.Namespace = b.Namespace
		}
		w.grants = append(w.grants, Grant{Subject: s, Binding: by, Role: name, Verbs: g.verbs, Reach: g.reach})
	}
}

// Grants are the ways that were found, in order of who and by what.
func (w *Walk) Grants() []Grant {
	slices.SortFunc(w.grants, func(a, b Grant) int {
		return cmp.Or(cmp.Compare(a.Subject.String(), b.Subject.String()), cmp.Compare(a.Binding, b.Binding))
	})
	return w.grants
}

// Dangling are the bindings whose role is not there: the server takes them
// without a word.
func (w *Walk) Dangling() []string { return slices.Sorted(slices.Values(w.dangling)) }

// Groups are the groups that every service account of a namespace is in.
func Groups(namespace string) []string {
	return []string{"system:serviceaccounts", "system:serviceaccounts:" + namespace, "system:authenticated"}
}

// Holds reports whether a grant to s is one to the service account.
func (s Subject) Holds(namespace, name string) bool {
	switch s.Kind {
	case "ServiceAccount":
		return s.Namespace == namespace && s.Name == name
	case "User":
		return s.Name == "system:serviceaccount:"+namespace+":"+name
	case "Group":
		return slices.Contains(Groups(namespace), s.Name)
	}
	return false
}

// Account is the service account that a subject is, whichever way it is named.
func (s Subject) Account() (namespace, name string, ok bool) {
	if s.Kind == "ServiceAccount" {
		return s.Namespace, s.Name, true
	}
	rest, ok := strings.CutPrefix(s.Name, "system:serviceaccount:")
	if !ok || s.Kind != "User" {
		return "", "", false
	}
	namespace, name, ok = strings.Cut(rest, ":")
	return namespace, name, ok
}

// Merge joins the grants of one subject: who may do what by which ways.
func Merge(grants []Grant) []Grant {
	by := map[Subject]*Grant{}
	for _, g := range grants {
		m := by[g.Subject]
		if m == nil {
			g.Verbs = slices.Clone(g.Verbs)
			by[g.Subject] = &g
			continue
		}
		for _, v := range g.Verbs {
			if !slices.Contains(m.Verbs, v) {
				m.Verbs = append(m.Verbs, v)
			}
		}
		m.Binding += ", " + g.Binding
		m.Role += ", " + g.Role
		m.Reach = min(m.Reach, g.Reach)
	}
	var out []Grant
	for _, s := range slices.SortedFunc(maps.Keys(by), func(a, b Subject) int { return cmp.Compare(a.String(), b.String()) }) {
		out = append(out, *by[s])
	}
	return out
}
