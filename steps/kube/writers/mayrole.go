package writers

import (
	"fmt"
	"slices"
	"strings"

	"handrail/steps"
	"handrail/steps/kube/rbac"
)

// mayNamed is the role that an account is to get.
type mayNamed struct {
	name  string // role/NAME or clusterrole/NAME, "" where none is named
	rules []rbac.Rule
	why   string // why the rules are not known
}

// maxRules is how many rules of a role are shown.
const maxRules = 40

// look finds the rules of the role among those that were read, by kind and name.
func (n *mayNamed) look(rules map[string][]rbac.Rule, read map[string]bool) {
	kind, name, _ := strings.Cut(n.name, "/")
	kind = map[string]string{"role": "Role", "clusterrole": "ClusterRole"}[kind]
	list, there := rules[kind+"/"+name]
	switch {
	case there:
		n.rules = list
	case read[kind]:
		n.why = n.name + " does not exist"
	default:
		n.why = n.name + " could not be read"
	}
}

// tellRole says what the role that is named would grant.
func (r *mayRun) tellRole() {
	switch {
	case r.role.name == "":
		r.facts.Unknown("no role is named", "would", "rules")
		return
	case r.role.why != "":
		r.facts.Unknown(r.role.why, "would", "rules")
		return
	}
	would := slices.ContainsFunc(r.role.rules, func(rule rbac.Rule) bool { return rule.Grants(r.verb, r.of) })
	var lines []string
	for _, rule := range r.role.rules {
		if len(rule.Resources) > 0 { // else it is for paths of the server
			lines = append(lines, steps.Clip(rule.String(), 300))
		}
	}
	if more := len(lines) - maxRules; more > 0 {
		lines = append(lines[:maxRules], fmt.Sprintf("and %d more rules", more))
	}
	r.facts.Set("would", steps.BoolOf(would))
	r.facts.Set("rules", steps.StringsOf(lines))
	if !would {
		r.Obs.Say(steps.Warning, "The rules of %s do not grant %s.", r.role.name, r.question())
	}
}
