package triage

import (
	"maps"
	"strings"
)

// Users tells as which user of the system an act was done: of the API server where
// the gate changes a cluster, of the machine where it runs a program. The zero value
// knows of none.
type Users struct {
	cluster map[string]string // by the operator at whose keyboard the API server named it
	machine map[string]string // by the id of the operator
}

// With knows of the next person of the journal besides, which was recorded at the
// keyboard of an operator.
func (u Users) With(p Person, operator string) Users {
	switch p.Proof {
	case "kube":
		u.cluster = put(u.cluster, operator, p.Subject)
	case "os":
		u.machine = put(u.machine, p.ID, p.Subject)
	}
	return u
}

func put(m map[string]string, key, value string) map[string]string {
	out := map[string]string{}
	maps.Copy(out, m)
	out[key] = value
	return out
}

// Of is the user of an act by a gate of a kind that an operator confirmed, ""
// where the journal does not tell. A user that is known already is not recorded for
// the next operator again: where the API server named only one, it was that one.
func (u Users) Of(uses, operator string) string {
	if !strings.HasPrefix(uses, "kube/") {
		return u.machine[operator]
	}
	if user, ok := u.cluster[operator]; ok {
		return user
	}
	only := ""
	for _, user := range u.cluster {
		if only != "" && user != only {
			return ""
		}
		only = user
	}
	return only
}

// StandsOn names the steps, in order, whose facts and answers a gate stood on when
// it was shown.
func StandsOn(st PlanStep, g GateShown) []string {
	out := append([]string(nil), st.Refs...)
	for _, v := range g.Verdicts {
		for _, ref := range v.Refs {
			if !strings.Contains(ref, "/") {
				ref = runbookOf(g.Step) + "/" + ref
			}
			out = append(out, ref)
		}
	}
	return out
}
