package change

import (
	"context"
	"fmt"

	"handrail/steps"
	"handrail/steps/kube/act"
	"handrail/steps/kube/patch"
)

// newPatchGate makes the gate that changes what a person names.
func newPatchGate(env steps.Env) steps.Gater {
	return alterGate{env: env, verb: "patch", plan: planPatch, find: act.JudgeAlter}
}

func planPatch(_ context.Context, pl *alterPlan) error {
	ops, err := patch.Parse(pl.in.Text("patch"))
	if err != nil {
		return err
	}
	if pl.changeable(ops); !pl.clear() {
		return nil
	}
	if resolved, _, err := patch.Resolve(pl.doc, ops); err == nil { // else it is refused below
		pl.rewritten(resolved)
		if err := pl.weakens(pl.doc, resolved); err != nil {
			return err
		}
	}
	fields := "1 field"
	if len(ops) != 1 {
		fields = fmt.Sprintf("%d fields", len(ops))
	}
	pl.ops = ops
	pl.p.Effect = fmt.Sprintf("change %s of %s, and nothing else of it. What reads the object acts on it at once.%s", fields, pl.t, pl.rollsOut(ops))
	pl.p.Owes = []steps.Debt{{Kind: "reconcile", Text: fmt.Sprintf("what %s is made from (Git, a chart, a script) must say the same, or the next rollout takes the change back", pl.t)}}
	return nil
}

// rollsOut warns of what a changed template does.
func (pl *alterPlan) rollsOut(ops []patch.Op) string {
	if pl.t.Group != "apps" {
		return ""
	}
	for _, op := range ops {
		if segs, err := patch.Split(op.Path); err == nil && len(segs) > 1 && segs[0] == "spec" && segs[1] == "template" {
			return " Its template changes: all its Pods are replaced."
		}
	}
	return ""
}
