package change

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"handrail/steps"
	"handrail/steps/kube/act"
)

// Act implements steps.Gater. Each object is previewed once more directly before its
// request: one of which anything differs from what was shown is a surprise.
func (g stripBatchGate) Act(ctx context.Context, a *steps.Approval, out steps.Sink) (steps.Outcome, error) {
	p, err := a.Spend()
	if err != nil {
		return steps.Outcome{}, err
	}
	approved, err := steps.ArgsOf[[]stripItem](p)
	if err != nil {
		return act.Unsent(err.Error()), nil
	}
	if why := strayed(p, approved); why != "" {
		return act.Unsent(why), nil
	}
	return steps.Batch(ctx, stripItems(approved), func(i int) (steps.Outcome, error) {
		shown := approved[i]
		fresh, err := readAtTurn(ctx, shown.p, func() (steps.Preview, error) { return g.one(ctx, shown.in, out) })
		switch now := (stripItem{shown.in, fresh}); {
		case err != nil:
			return act.Unsent("it could not be read again: " + err.Error()), nil
		case now.line() != shown.line():
			return act.Unsent(fmt.Sprintf("it is not what was shown any more: %s, and it was %s", now.line(), shown.line())), nil
		}
		if why := strayedFrom(fresh, shown.p); why != "" {
			return act.Unsent(why), nil
		}
		return act.Send(ctx, g.env, fresh, (*act.Order).Strip, judgeStrip, out)
	})
}

// strayed holds the arguments of an act against what was approved.
func strayed(p steps.Preview, items []stripItem) string {
	var requests []string
	for n, it := range items {
		if steps.Find(p.Target, keyItem(n)) != it.line() {
			return fmt.Sprintf("%s is not the object that was shown as %s", it.object(), keyItem(n))
		}
		requests = append(requests, it.p.Request)
	}
	switch {
	case steps.Find(p.Target, keyItem(len(items))) != "":
		return "more objects were shown than would be acted on"
	case strings.Join(requests, "\n") != p.Request:
		return "the requests are not those that were shown"
	}
	return ""
}

// stripItems are the acts of a batch, for the record.
func stripItems(items []stripItem) []steps.Item {
	var out []steps.Item
	for _, it := range items {
		effect, _, _ := strings.Cut(it.p.Effect, ". ")
		out = append(out, steps.Item{Object: it.object(), Effect: effect, Command: it.p.Command, Before: it.p.Target})
	}
	return out
}

// recordedItems reads the items of an act back from what was recorded when it began.
func recordedItems(before []steps.KV) ([]steps.Item, error) {
	versions := strings.Split(steps.Find(before, keyVersions), ", ")
	var out []steps.Item
	for n := 0; ; n++ {
		line := steps.Find(before, keyItem(n))
		if line == "" {
			break
		}
		kvs, err := itemOf(line)
		if err != nil {
			return nil, err
		}
		if n >= len(versions) {
			return nil, errors.New("the versions of the objects were not recorded")
		}
		for _, key := range []string{act.KeyServer, act.KeyCluster} {
			kvs = append(kvs, steps.KV{Key: key, Value: steps.Find(before, key)})
		}
		kvs = append(kvs, steps.KV{Key: act.KeyVersion, Value: versions[n]})
		object := steps.Find(kvs, act.KeyObject)
		out = append(out, steps.Item{Object: object, Effect: fmt.Sprintf("remove %s from %s", steps.Find(kvs, act.KeyFinalizer), object), Before: kvs})
	}
	if len(out) == 0 {
		return nil, errors.New("no object was recorded")
	}
	return out, nil
}

// Find implements steps.Finder.
func (g stripBatchGate) Find(ctx context.Context, before []steps.KV, _ steps.Params, out steps.Sink) (steps.Outcome, error) {
	items, err := recordedItems(before)
	if err != nil {
		return steps.Outcome{}, err
	}
	return steps.FindBatch(items, func(i int) (steps.Outcome, error) {
		return act.Find(ctx, g.env, items[i].Before, judgeStrip, out)
	})
}

// Again implements steps.Rereader.
func (g stripBatchGate) Again(ctx context.Context, before []steps.KV, in steps.Params, out steps.Sink) (steps.Outcome, error) {
	return g.Find(ctx, before, in, out)
}
