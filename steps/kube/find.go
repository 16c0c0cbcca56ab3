package kube

import (
	"context"
	"fmt"
	"strings"

	"handrail/steps"
	"handrail/steps/kube/patch"
)

// judgeDelete says what a delete came to.
func judgeDelete(o order, now sighting) (result, words string) {
	switch {
	case now.absent:
		return steps.Done, fmt.Sprintf("%s is gone by UID.", o.object)
	case now.other != "":
		return steps.Done, fmt.Sprintf("%s is gone by UID; another object has its name, UID %s: somebody makes it.", o.object, now.other)
	case now.DeletionTimestamp != nil:
		return steps.Done, fmt.Sprintf("%s is being deleted; %s.", o.object, waits(now))
	case now.ResourceVersion != o.version:
		return steps.Failed, fmt.Sprintf("%s is there and not being deleted. %s", o.object, o.moved(now))
	}
	return "", fmt.Sprintf("%s is as it was.", o.object)
}

func waits(now sighting) string {
	if len(now.Finalizers) > 0 {
		return "it waits for " + strings.Join(now.Finalizers, ", ")
	}
	if n := now.DeletionGracePeriodSeconds; n != nil && *n > 0 {
		return fmt.Sprintf("its node has %d s to let go of it", *n)
	}
	return "nothing holds it"
}

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

// Find implements steps.Finder.
func (g stripGate) Find(ctx context.Context, before []steps.KV, _ steps.Params, out steps.Sink) (steps.Outcome, error) {
	return find(ctx, g.env, before, judgeStrip, out)
}

// Find implements steps.Finder.
func (g deleteGate) Find(ctx context.Context, before []steps.KV, _ steps.Params, out steps.Sink) (steps.Outcome, error) {
	return find(ctx, g.env, before, judgeDelete, out)
}
