package change

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"handrail/steps"
	"handrail/steps/cluster"
	"handrail/steps/kube/act"
	"handrail/steps/kube/patch"
)

// afterField is the parameter by which a runbook holds the order of its repairs:
// the gate reads by itself whether the earlier ones are there.
func afterField() steps.Field {
	return steps.Field{Name: "after", Type: steps.Strings,
		Doc: "repairs that come first, each as RESOURCE/NAME and the patch whose outcome the object must show; an empty one is passed over"}
}

// inOrder: what is to be repaired first is repaired, by what is there now.
func (pl *alterPlan) inOrder(ctx context.Context) error {
	for _, text := range pl.in["after"].Strings() {
		what, ops, _ := strings.Cut(strings.TrimSpace(text), " ")
		plural, name, named := strings.Cut(what, "/")
		if ops = strings.TrimSpace(ops); !named || name == "" || ops == "" {
			continue // that repair is not one of this incident
		}
		t, why, err := pl.shows(ctx, plural, name, ops)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			pl.unmet("ask for the right to read it, or for a person who has it", "Whether %s is repaired, which comes first, is not known: %v.", what, err)
		case why != "":
			pl.unmet(fmt.Sprintf("repair %s first", t), "%s comes first, and is not repaired: %s.", t, steps.Clip(why, 300))
		default:
			pl.show("comes after", "%s, which is repaired", t)
		}
	}
	return nil
}

// shows says what an object of the same namespace lacks of the outcome of a
// patch; "" for nothing.
func (pl *alterPlan) shows(ctx context.Context, plural, name, ops string) (t cluster.Target, why string, err error) {
	if !cluster.Matches(cluster.ObjectName, name) {
		return t, "", fmt.Errorf("%q is not a valid object name", steps.Clip(name, 100))
	}
	r, err := pl.c.Find(ctx, plural)
	if err != nil {
		return t, "", err
	}
	t = cluster.Target{Resource: r, Name: name}
	if r.Namespaced {
		t.Namespace = pl.t.Namespace
	}
	o, err := pl.c.Get(ctx, r, t.Namespace, name)
	if errors.Is(err, cluster.ErrAbsent) {
		return t, "it is not there", nil
	}
	if err != nil {
		return t, "", err
	}
	list, err := patch.Parse(ops)
	if err != nil {
		return t, "", err
	}
	doc, err := patch.Decode(o.Raw)
	if err != nil {
		return t, "", err
	}
	resolved, _, err := patch.Resolve(doc, list)
	if err != nil {
		return t, err.Error(), nil
	}
	for _, op := range resolved {
		if lack := act.Lacks(doc, op); lack != "" {
			return t, lack, nil
		}
	}
	return t, "", nil
}
