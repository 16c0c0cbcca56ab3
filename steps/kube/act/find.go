package act

import (
	"context"
	"fmt"

	"handrail/steps"
	"handrail/steps/cluster"
	"handrail/steps/kube/patch"
)

// Find reads the target again and says what an act came to whose end was not
// recorded.
func Find(ctx context.Context, env steps.Env, before []steps.KV, judged Judge, out steps.Sink) (steps.Outcome, error) {
	return FindWith(ctx, env, before, nil, judged, out)
}

// FindWith is find for an act whose fields do not stand in its target.
func FindWith(ctx context.Context, env steps.Env, before []steps.KV, ops []patch.Op, judged Judge, out steps.Sink) (steps.Outcome, error) {
	o, err := orderOf(before)
	if err != nil {
		return steps.Outcome{}, err
	}
	if ops != nil {
		o.Ops = ops
	}
	c, err := cluster.Connect(env, out)
	if err != nil {
		return steps.Outcome{}, err
	}
	if c.Server != o.server {
		return steps.Outcome{}, fmt.Errorf("the kubeconfig leads to %s, the act was on %s: go back to that cluster", c.Server, o.server)
	}
	if uid, err := c.UID(ctx); err != nil || uid != steps.Find(before, KeyCluster) {
		return steps.Outcome{}, fmt.Errorf("the cluster at %s has UID %q, the act was on %q: go back to that cluster (%v)", c.Server, uid, steps.Find(before, KeyCluster), err)
	}
	now, err := SightAt(ctx, c, o)
	if err != nil {
		return steps.Outcome{}, err
	}
	result, words := judged(o, now)
	if result == "" {
		result = steps.Failed // its connection ended with the program that sent it
	}
	return steps.Outcome{Result: result, Response: words, After: now.After("")}, nil
}
