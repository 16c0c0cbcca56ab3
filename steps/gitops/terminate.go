package gitops

import (
	"context"
	"fmt"

	"handrail/steps"
	"handrail/steps/cluster"
	"handrail/steps/gitops/app"
	"handrail/steps/kube/act"
	"handrail/steps/kube/change"
	"handrail/steps/kube/patch"
)

func terminateParams() []steps.Field {
	return cluster.ObjectParams(steps.Field{Name: "uid", Type: steps.Ident, Required: true, Doc: "UID of the application as it was read"})
}

// newTerminateGate makes the gate that ends an operation of Argo CD, as argocd app
// terminate-op does.
func newTerminateGate(env steps.Env) steps.Gater {
	return change.Alter(env, "terminate", planTerminate, judgeTerminate, nil)
}

func planTerminate(_ context.Context, p change.Plan) error {
	t := p.Target()
	a, err := app.Parse(t.Group, t.Kind, p.Object().Raw)
	if err != nil || a.Controller != app.ArgoCD {
		p.Unmet("suspend it with kube/suspend", "%s has no operation that could be ended: that is a thing of Argo CD.", t)
		return nil
	}
	op := a.Operation
	p.Hold(keyBefore, markOf(op))
	if op.Phase != app.Running || op.Began.IsZero() {
		p.Unmet("nothing: it is over, or never began", "No operation of %s runs; the last one is %s.", a, op.Phase)
		return nil
	}
	done, of := op.Applied()
	p.Show("so far", "%d of %d objects: %s", done, of, steps.OneLine(op.Message, 300))
	p.Change(fmt.Sprintf("end the operation of %s that began at %s. What it applied so far (%d of %d objects) stays; hooks that run are deleted.", a, stampOf(op.Began), done, of),
		"Cannot be undone: a new sync begins from the first object.",
		patch.Op{Op: patch.Replace, Path: "/status/operationState/phase", Value: "Terminating"})
	return nil
}

// judgeTerminate says whether that operation is over, or about to be.
func judgeTerminate(o act.Order, now act.Sighting) (result, words string) {
	if result, words = act.JudgeAlter(o, now); result == steps.Done || result == "" || now.Absent || now.Other != "" {
		return result, words
	}
	a, later, err := begun(o, now)
	switch {
	case err != nil:
		return steps.Failed, err.Error()
	case later:
		return steps.Failed, fmt.Sprintf("Another operation of %s began since: %s.", a, a.Operation.Phase)
	case a.Operation.Phase == app.Failed:
		return steps.Done, fmt.Sprintf("The operation of %s ended: %s", a, steps.OneLine(a.Operation.Message, 300))
	case a.Operation.Phase == app.Succeeded:
		return steps.Failed, fmt.Sprintf("The operation of %s came to its end before it was ended.", a)
	}
	return result, words
}
