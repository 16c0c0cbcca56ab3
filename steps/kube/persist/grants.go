package persist

import (
	"fmt"
	"slices"
	"strings"

	"handrail/steps"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Grant is one way in which a subject may write.
type Grant struct {
	Binding string   `json:"binding"` // kind/namespace/name
	Role    string   `json:"role"`
	Where   string   `json:"where"` // namespace, "" for everywhere
	Writes  []string `json:"writes"`
}

// Grants is the graph of RBAC as far as it lets anyone write. It tells nothing
// of other authorizers, such as the Node authorizer, a webhook or a cloud.
type Grants struct {
	roles    map[string][]string // kind/namespace/name to what it may write
	stars    map[string]bool     // roles that may get everything of the core group
	bindings []binding
	own      own
	beyond   map[string][]string // roles of the API server to what others put into them
	servers  map[string][]Grant  // what the API server itself gives
	Own      int                 // grants that are the API server's own
	Dangling []string            // bindings of a role that is not there
}

type binding struct {
	name      string // kind/namespace/name
	namespace string // "" for everywhere
	role      string
	subjects  []string
	own       []bool // whether the API server makes it so
}

// NewGrants returns an empty graph.
func NewGrants() *Grants {
	return &Grants{roles: map[string][]string{}, stars: map[string]bool{}, own: newOwn(), beyond: map[string][]string{}, servers: map[string][]Grant{}}
}

// Role adds a role; kind is role or clusterrole.
func (g *Grants) Role(kind string, o *unstructured.Unstructured) {
	name := kind + "/" + o.GetNamespace() + "/" + o.GetName()
	g.roles[name] = []string{}
	rules := Maps(o.Object, "rules")
	for _, rule := range rules {
		g.roles[name] = append(g.roles[name], writesOf(rule)...)
		if slices.ContainsFunc(Texts(rule, "resources"), func(r string) bool { return reachesKubelets(rule, r) }) {
			g.stars[name] = true
		}
	}
	if g.own.roles[name] {
		g.beyond[name] = g.own.beyond(name, rules)
	}
}

// writeVerbs change something, or let one account act as another.
var writeVerbs = []string{"*", "create", "update", "patch", "delete", "deletecollection", "impersonate", "escalate", "bind"}

// connects are subresources through which a program in a Pod is reached. They
// begin as GET, so that a right to get is enough on servers before 1.35.
var connects = []string{"pods/exec", "pods/attach", "pods/portforward", "pods/proxy", "services/proxy", "pods/*"}

// idle are resources whose writes change nothing that anyone else reads as
// wanted: what a controller elects itself and reports with, and questions that
// are stored nowhere.
var idle = []string{"events", "leases", "tokenreviews", "subjectaccessreviews", "localsubjectaccessreviews", "selfsubjectaccessreviews",
	"selfsubjectrulesreviews", "selfsubjectreviews"}

// writesOf says what one rule lets a subject write, as "verbs group/resource".
func writesOf(rule map[string]any) []string {
	verbs, _ := writing(rule)
	if len(verbs) == 0 {
		verbs = []string{"get"}
	}
	var out []string
	for _, r := range Texts(rule, "resources") {
		if counts(rule, r) {
			out = append(out, strings.Join(verbs, ",")+" "+strings.Join(Texts(rule, "apiGroups"), ",")+"/"+r+only(rule))
		}
	}
	return out
}

func only(rule map[string]any) string {
	names := Texts(rule, "resourceNames")
	if len(names) == 0 {
		return ""
	}
	slices.Sort(names)
	return " named " + steps.Clip(strings.Join(names, ","), 200)
}

// Bind adds a binding; kind is rolebinding or clusterrolebinding.
func (g *Grants) Bind(kind string, o *unstructured.Unstructured) {
	ref := Part(o.Object, "roleRef")
	b := binding{name: kind + "/" + o.GetNamespace() + "/" + o.GetName(), namespace: o.GetNamespace()}
	b.role = "clusterrole//" + Text(ref, "name")
	if Text(ref, "kind") == "Role" {
		b.role = "role/" + o.GetNamespace() + "/" + Text(ref, "name")
	}
	for _, s := range Maps(o.Object, "subjects") {
		name := subjectOf(s, o.GetNamespace())
		b.subjects = append(b.subjects, name)
		b.own = append(b.own, g.own.binds(b.name, b.role, name))
	}
	g.bindings = append(g.bindings, b)
}

// subjectOf names a subject: serviceaccount/NAMESPACE/NAME, user/NAME or
// group/NAME. A user or group that stands for a service account is that.
func subjectOf(s map[string]any, namespace string) string {
	name := Text(s, "name")
	switch Text(s, "kind") {
	case "ServiceAccount":
		if ns := Text(s, "namespace"); ns != "" {
			namespace = ns
		}
		return "serviceaccount/" + namespace + "/" + name
	case "User":
		if rest, ok := strings.CutPrefix(name, "system:serviceaccount:"); ok {
			if ns, account, ok := strings.Cut(rest, ":"); ok {
				return "serviceaccount/" + ns + "/" + account
			}
		}
		return "user/" + name
	}
	return "group/" + name
}

// May joins bindings with roles: subject to what it may write, and where.
func (g *Grants) May() map[string][]Grant {
	out := map[string][]Grant{}
	for _, b := range g.bindings {
		writes, there := g.roles[b.role]
		if !there {
			g.Dangling = append(g.Dangling, b.name)
			continue
		}
		if b.namespace == "" && g.stars[b.role] {
			writes = append(slices.Clone(writes), "get nodes/proxy: to run anything in any Pod through its kubelet")
		}
		if len(writes) == 0 {
			continue
		}
		writes = slices.Clone(writes)
		slices.Sort(writes)
		for i, s := range b.subjects {
			grant := Grant{b.name, b.role, b.namespace, writes}
			if b.own[i] && len(g.beyond[b.role]) == 0 {
				g.Own++
				g.servers[s] = append(g.servers[s], grant)
				continue
			}
			if b.own[i] {
				grant.Writes = g.beyond[b.role] // the rest is the server's
			}
			out[s] = append(out[s], grant)
		}
	}
	for s := range out {
		slices.SortFunc(out[s], func(a, b Grant) int { return strings.Compare(a.Binding+" "+a.Role, b.Binding+" "+b.Role) })
	}
	return out
}

// Servers is what the API server itself lets a subject write, once May was called.
func (g *Grants) Servers(subject string) []Grant { return g.servers[subject] }

// Subjects are the names under which a service account is granted something.
func Subjects(namespace, account string) []string {
	return []string{"serviceaccount/" + namespace + "/" + account, "group/system:serviceaccounts", "group/system:serviceaccounts:" + namespace, "group/system:authenticated"}
}

// Say is what grants come to, in one line.
func Say(gs []Grant) string {
	var out []string
	for _, g := range gs {
		where := "everywhere"
		if g.Where != "" {
			where = "in " + g.Where
		}
		out = append(out, fmt.Sprintf("%s by %s (%s)", where, g.Binding, steps.Clip(strings.Join(g.Writes, "; "), 160)))
	}
	return Line(strings.Join(out, " | "), 500)
}
