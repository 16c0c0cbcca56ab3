package centre

import (
	"context"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"handrail/steps"
	"handrail/steps/cluster"
)

// secrets finds what should have brought a Secret up to date and did not. No
// Secret is read: what syncs it says how it went.
func (s *Centre) secrets(ctx context.Context, w *answer) {
	for _, of := range []struct{ name, Condition string }{
		{"externalsecrets.external-secrets.io", "Ready"},
		{"pushsecrets.external-secrets.io", "Ready"},
		{"sealedsecrets.bitnami.com", "Synced"},
		{"certificates.cert-manager.io", "Ready"},
	} {
		r, ok := s.kind(ctx, w, of.name)
		if !ok {
			continue
		}
		s.every(ctx, w, r, cluster.AsJSON, nil, func(o cluster.Object) {
			row, is := s.finalizing(r, o)
			if !is {
				if row, is = s.unsynced(o, of.Condition); !is {
					return
				}
			}
			row.Where, row.Owner, row.Command = r.Label(o.GetNamespace(), o.GetName()), keptBy(o), s.get(r, o)
			if row.Owner == "" {
				row.Owner = storeOf(o)
			}
			w.row(row)
		})
	}
}

func (s *Centre) unsynced(o cluster.Object, kind string) (steps.Standing, bool) {
	row := steps.Standing{Level: steps.Warning}
	if c := conditionsOf(o)[kind]; c.status == "False" {
		row.What, row.Since, row.Detail = "not synced: "+c.reason, c.since, c.message
		return row, true
	}
	every, err := time.ParseDuration(textIn(o, "spec", "refreshInterval"))
	if err != nil || every <= 0 || slices.Contains([]string{"CreatedOnce", "OnChange"}, textIn(o, "spec", "refreshPolicy")) {
		return row, false
	}
	at := timeIn(o.Object, "status", "refreshTime")
	now, unsure := s.c.Now()
	if at.IsZero() || unsure != "" || now.Sub(at) <= 2*every {
		return row, false
	}
	row.What, row.Since = "not refreshed for twice its interval of "+every.String(), at
	row.Detail = "Its controller may be down: a failed fetch would be in its status."
	return row, true
}

// storeOf is where an ExternalSecret gets its values: one bad store fails many.
func storeOf(o cluster.Object) string {
	name, _, _ := unstructured.NestedString(o.Object, "spec", "secretStoreRef", "name")
	if name == "" {
		return ""
	}
	return "store " + steps.Clip(name, 253)
}
