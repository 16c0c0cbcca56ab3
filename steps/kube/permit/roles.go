package permit

import (
	"cmp"
	"slices"
	"strings"

	"handrail/steps"
)

// Need is what one step needs.
type Need struct {
	Step string // its kind
	steps.Right
}

// Rule is a rule of RBAC, and which kinds of step need it.
type Rule struct {
	Groups    []string `json:"apiGroups"`
	Resources []string `json:"resources"`
	Names     []string `json:"resourceNames,omitempty"`
	Verbs     []string `json:"verbs"`

	Steps []string `json:"-"`
	For   string   `json:"-"` // what it is for, where not every run needs it

	wide bool
}

// Roles are what a ClusterRole and a Role of one namespace hold.
type Roles struct {
	Wide, Here []Rule
	// Untold are the kinds of step of which only the run tells what they ask for,
	// each with the verbs.
	Untold []Need
}

// Grant is the smallest thing that can be granted.
type Grant struct {
	Wide                        bool // across namespaces, or of the cluster
	Group, Resource, Name, Verb string
}

// Covers reports whether what g grants holds o.
func (g Grant) Covers(o Grant) bool {
	return (g.Wide || !o.Wide) && g.Verb == o.Verb && (g.Name == "" || g.Name == o.Name) &&
		(g.Group == "*" || g.Group == o.Group) && (g.Resource == "*" || g.Resource == o.Resource)
}

// reason is who needs a grant.
type reason struct {
	steps []string
	whats []string // what it is for; with "" every run needs it
}

// stands reports whether what is needed for r is still granted when all that is granted for
// what no run needs here is left out.
func stands(of, r string) bool { return of == "" || of == r }

// Merge makes the least roles that grant what is needed and what have does not hold. A rule
// for something that a cluster may lack stands in for no other one.
func Merge(needs []Need, have Roles) Roles {
	var out Roles
	all := map[Grant]*reason{}
	for _, n := range needs {
		if n.Resource == "" {
			if !slices.ContainsFunc(out.Untold, func(o Need) bool { return o.Step == n.Step && slices.Equal(o.Verbs, n.Verbs) }) {
				out.Untold = append(out.Untold, n)
			}
			continue
		}
		for _, verb := range n.Verbs {
			g := Grant{n.Wide, n.Group, n.Resource, n.Name, verb}
			if all[g] == nil {
				all[g] = &reason{}
			}
			all[g].steps = append(all[g].steps, n.Step)
			all[g].whats = append(all[g].whats, n.For)
		}
	}
	type row struct {
		wide                     bool
		group, name, verbs, what string
	}
	verbsOf := map[Grant][]string{} // by all but the verb
	why := map[Grant]*reason{}
	for g, r := range all {
		covered := false
		for _, h := range have.rules() {
			covered = covered || stands(h.For, what(r)) && slices.ContainsFunc(h.grants(), func(o Grant) bool { return o.Covers(g) })
		}
		for o, of := range all {
			covered = covered || o != g && o.Covers(g) && stands(what(of), what(r))
		}
		if covered {
			continue
		}
		key := g
		key.Verb = what(r) // kept apart, so that it can be left out
		verbsOf[key] = append(verbsOf[key], g.Verb)
		if why[key] == nil {
			why[key] = &reason{}
		}
		why[key].steps = append(why[key].steps, r.steps...)
	}
	rules := map[row]*Rule{}
	for key, verbs := range verbsOf {
		slices.SortFunc(verbs, func(a, b string) int {
			return cmp.Or(slices.Index(verbOrder, a)-slices.Index(verbOrder, b), strings.Compare(a, b))
		})
		at := row{wide: key.Wide, group: key.Group, name: key.Name, verbs: strings.Join(verbs, ","), what: key.Verb}
		r := rules[at]
		if r == nil {
			r = &Rule{Groups: []string{key.Group}, Verbs: verbs, For: key.Verb, wide: key.Wide}
			if key.Name != "" {
				r.Names = []string{key.Name}
			}
			rules[at] = r
		}
		r.Resources = append(r.Resources, key.Resource)
		r.Steps = append(r.Steps, why[key].steps...)
	}
	for at, r := range rules {
		r.Resources, r.Steps = sorted(r.Resources), sorted(r.Steps)
		if at.wide {
			out.Wide = append(out.Wide, *r)
		} else {
			out.Here = append(out.Here, *r)
		}
	}
	for _, list := range [][]Rule{out.Wide, out.Here} {
		slices.SortFunc(list, func(a, b Rule) int {
			return cmp.Or(strings.Compare(a.For, b.For), strings.Compare(a.Groups[0], b.Groups[0]), slices.Compare(a.Resources, b.Resources), slices.Compare(a.Verbs, b.Verbs))
		})
	}
	return out
}

// Always are the rules that every run needs.
func (r Roles) Always() Roles {
	sometimes := func(rule Rule) bool { return rule.For != "" }
	return Roles{Wide: slices.DeleteFunc(slices.Clone(r.Wide), sometimes), Here: slices.DeleteFunc(slices.Clone(r.Here), sometimes), Untold: r.Untold}
}

// Grants are what the roles hold.
func (r Roles) Grants() []Grant {
	var out []Grant
	for _, rule := range r.rules() {
		out = append(out, rule.grants()...)
	}
	return out
}

func (r Roles) rules() []Rule { return slices.Concat(r.Wide, r.Here) }

func (r Rule) grants() []Grant {
	var out []Grant
	for _, resource := range r.Resources {
		for _, verb := range r.Verbs {
			g := Grant{Wide: r.wide, Group: r.Groups[0], Resource: resource, Verb: verb}
			if len(r.Names) > 0 {
				g.Name = r.Names[0]
			}
			out = append(out, g)
		}
	}
	return out
}

var verbOrder = []string{"get", "list", "watch", "create", "patch", "delete"}

// what it is for, "" where every run needs it.
func what(r *reason) string {
	if slices.Contains(r.whats, "") {
		return ""
	}
	return strings.Join(sorted(r.whats), "; ")
}

func sorted(list []string) []string {
	return slices.Compact(slices.Sorted(slices.Values(list)))
}

// Secrets reports whether a rule lets its subject read Secrets.
func (r Rule) Secrets() bool {
	return (slices.Contains(r.Groups, "") || slices.Contains(r.Groups, "*")) && (slices.Contains(r.Resources, "secrets") || slices.Contains(r.Resources, "*"))
}
