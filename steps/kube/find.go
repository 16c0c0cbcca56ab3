package kube

import (
	"context"
	"fmt"

	"handrail/steps"
	"handrail/steps/kube/patch"
)

// find reads the target again and says what an act came to whose end nobody
// recorded.
func find(ctx context.Context, env steps.Env, before []steps.KV, judged judge, out steps.Sink) (steps.Outcome, error) {
	return findWith(ctx, env, before, nil, judged, out)
}

// findWith is find for an act whose fields do not stand in its target.
func findWith(ctx context.Context, env steps.Env, before []steps.KV, ops []patch.Op, judged judge, out steps.Sink) (steps.Outcome, error) {
	o, err := orderOf(before)
	if err != nil {
		return steps.Outcome{}, err
	}
	if ops != nil {
		o.ops = ops
	}
	c, err := connect(env, out)
	if err != nil {
		return steps.Outcome{}, err
	}
	if c.Server != o.server {
		return steps.Outcome{}, fmt.Errorf("the kubeconfig leads to %s, the act was on %s: go back to that cluster", c.Server, o.server)
	}
	if uid, err := c.cluster(ctx); err != nil || uid != steps.Find(before, keyCluster) {
		return steps.Outcome{}, fmt.Errorf("the cluster at %s has UID %q, the act was on %q: go back to that cluster (%v)", c.Server, uid, steps.Find(before, keyCluster), err)
	}
	now, err := sightAt(ctx, c, o)
	if err != nil {
		return steps.Outcome{}, err
	}
	result, words := judged(o, now)
	if result == "" {
		result = steps.Failed // its connection ended with the program that sent it
	}
	return steps.Outcome{Result: result, Response: words, After: now.after("")}, nil
}
