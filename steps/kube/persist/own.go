package persist

import (
	_ "embed"
	"slices"
	"strings"

	"handrail/steps"
)

// ownText is what API servers make by themselves, at each start. It was taken from
// what they record of it for their own tests, of several versions. Rights of a
// version that is not among them are entries, until they stand here.
//
//go:embed own.txt
var ownText string

// own is what API servers give by themselves.
type own struct {
	bound map[string]bool    // binding, role and subject, with spaces between
	roles map[string]bool    // that such a binding gives
	gives map[string][]right // role to what it lets its subjects write
}

// right is one thing that a role lets its subjects write.
type right struct{ verb, group, resource, name string }

func (r right) String() string {
	s := r.verb + " " + r.group + "/" + r.resource
	if r.name != "" {
		s += " named " + steps.Clip(r.name, 200)
	}
	return s
}

// covers reports whether r includes that.
func (r right) covers(that right) bool {
	any := func(mine, its string) bool { return mine == its || mine == "*" }
	return any(r.verb, that.verb) && any(r.group, that.group) && any(r.resource, that.resource) && (r.name == "" || r.name == that.name)
}

func newOwn() own {
	o := own{bound: map[string]bool{}, roles: map[string]bool{}, gives: map[string][]right{}}
	for line := range strings.Lines(ownText) {
		words := strings.Fields(line)
		switch {
		case len(words) == 4 && words[0] == "bind":
			o.bound[strings.Join(words[1:], " ")] = true
			o.roles[words[2]] = true
		case len(words) >= 5 && words[0] == "rule":
			names := []string{""}
			if len(words) > 5 {
				names = strings.Split(words[5], ",")
			}
			o.gives[words[1]] = append(o.gives[words[1]], rightsOf(strings.Split(words[2], ","), []string{strings.TrimPrefix(words[3], "core")}, strings.Split(words[4], ","), names)...)
		}
	}
	return o
}

func rightsOf(verbs, groups, resources, names []string) []right {
	var out []right
	for _, v := range verbs {
		for _, g := range groups {
			for _, r := range resources {
				for _, n := range names {
					out = append(out, right{v, g, r, n})
				}
			}
		}
	}
	return out
}

// binds reports whether an API server makes such a binding: it, its role and its
// subject, each by its kind, namespace and name.
func (o own) binds(binding, role, subject string) bool {
	return o.bound[binding+" "+role+" "+subject]
}

// beyond says what the rules of a role let its subjects write that no API server
// gives it: it was put there later, and a restart of the server leaves it there.
// It is told by what the role says, not by who is said to have written it.
func (o own) beyond(role string, rules []map[string]any) []string {
	var out []string
	for _, rule := range rules {
		verbs, _ := writing(rule)
		names := Texts(rule, "resourceNames")
		if len(names) == 0 {
			names = []string{""}
		}
		for _, resource := range Texts(rule, "resources") {
			var has []right
			switch {
			case !counts(rule, resource):
			case len(verbs) == 0:
				has = rightsOf([]string{"get"}, Texts(rule, "apiGroups"), []string{resource}, names)
			default:
				has = rightsOf(verbs, Texts(rule, "apiGroups"), []string{resource}, names)
			}
			if reachesKubelets(rule, resource) { // by whichever of its names
				has = append(has, rightsOf([]string{"get"}, []string{""}, []string{"nodes/proxy"}, names)...)
			}
			for _, r := range has {
				if !slices.ContainsFunc(o.gives[role], func(given right) bool { return given.covers(r) }) {
					out = append(out, r.String())
				}
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
