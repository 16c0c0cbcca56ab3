package compare

import (
	"context"
	"regexp"
	"strings"

	"handrail/steps/cluster"
	"handrail/steps/terraform/tfplan"
)

// inventory asks the cluster for each kind and namespace once.
type inventory struct {
	look   *cluster.Looker
	listed map[string]list
}

type list struct {
	byName map[string]cluster.Seen
	why    string // it could not be read whole, "" where it was
}

func newInventory(look *cluster.Looker) *inventory {
	return &inventory{look: look, listed: map[string]list{}}
}

func sought(o tfplan.Object) cluster.Sought {
	return cluster.Sought{APIVersion: o.APIVersion, Kind: o.Kind, Resource: o.Resource}
}

// in returns what is where an object would be, and a name for that place.
func (v *inventory) in(ctx context.Context, o tfplan.Object) (string, list) {
	id := sought(o).String() + "/" + o.Namespace
	if l, done := v.listed[id]; done {
		return id, l
	}
	l := list{byName: map[string]cluster.Seen{}}
	all, err := v.look.All(ctx, sought(o), o.Namespace)
	if err != nil {
		l.why = err.Error()
	}
	for _, s := range all {
		l.byName[s.Name] = s
	}
	v.listed[id] = l
	return id, l
}

// toolNames are what the providers of tofu and terraform call themselves in
// managedFields. They are leads: any client can take a name.
var toolNames = regexp.MustCompile(`(?i)terraform|opentofu|hashicorp`)

func madeByTool(s cluster.Seen) bool {
	for _, m := range s.Managers {
		if toolNames.MatchString(m) {
			return true
		}
	}
	return false
}

// origin says who seems to have made an object.
func origin(s cluster.Seen) string {
	var parts []string
	if s.Release != "" {
		parts = append(parts, "Helm release "+s.Release)
	}
	if len(s.Owners) > 0 {
		parts = append(parts, "owned by "+strings.Join(s.Owners, ", "))
	}
	if len(s.Managers) > 0 {
		parts = append(parts, "written by "+strings.Join(s.Managers, ", "))
	}
	if !s.Created.IsZero() {
		parts = append(parts, "created "+s.Created.UTC().Format("2006-01-02T15:04:05Z"))
	}
	return strings.Join(parts, "; ")
}
