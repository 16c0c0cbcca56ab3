package change

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"handrail/steps"
	"handrail/steps/cluster"
	"handrail/steps/kube/act"
	"handrail/steps/kube/report"
)

// goneWithin bounds how long a deleted object may take to go, before the second
// half is given up.
const goneWithin = 30 * time.Second

// recreation is an object as it was and as it is to be.
type recreation struct{ old, changed manifest }

// approved is the first request of a recreation, and refuses where the three are
// not those that were shown.
func (r recreation) approved(p steps.Preview, o act.Order) (first act.Request, err error) {
	if first, err = act.DeleteRequest(o.Path, o.UID, o.Version); err != nil {
		return first, err
	}
	shown, err := act.DeleteRequest(o.Path, o.UID, act.Later)
	if err != nil {
		return first, err
	}
	second, err := makeRequest(collectionOf(o.Path), r.changed)
	if err != nil {
		return first, err
	}
	back, err := makeRequest(collectionOf(o.Path), r.old)
	if err != nil {
		return first, err
	}
	switch lacks := lackingIn(act.Order{Ops: o.Ops}, r.changed); {
	case recreateText(shown, second, back) != p.Request, len(o.Ops) == 0, len(lacks) > 0, !r.old.at(o.Path), !r.changed.at(o.Path):
		return first, fmt.Errorf("the requests are not those that were shown")
	}
	return first, nil
}

// lackingIn is lacking for an object that was not sent by a server.
func lackingIn(o act.Order, m manifest) []string {
	raw, err := act.Compact(map[string]any(m))
	if err != nil {
		return []string{err.Error()}
	}
	return o.Lacking(raw)
}

// Act implements steps.Gater.
func (g recreateGate) Act(ctx context.Context, a *steps.Approval, out steps.Sink) (steps.Outcome, error) {
	p, err := a.Spend()
	if err != nil {
		return steps.Outcome{}, err
	}
	c, o, why := act.Approved(g.env, p, out)
	if why != "" {
		return act.Unsent(why), nil
	}
	r, err := steps.ArgsOf[recreation](p)
	if err != nil {
		return act.Unsent(err.Error()), nil
	}
	gone, err := r.approved(p, o)
	if err != nil {
		return act.Unsent(err.Error()), nil
	}
	ctx2 := context.WithoutCancel(ctx) // half of it is worse than all of it
	first := o
	first.Ops, first.Removed = nil, nil
	done, err := act.Perform(ctx, c, first, gone, judgeDelete, out)
	if err != nil || done.Result != steps.Done {
		return done, err
	}
	if why := untilGone(ctx2, c, first); why != "" {
		done.Result, done.Response = steps.Failed, "Its first half took effect: "+why+" Nothing was made in its place; once it is gone, the copy that the act is undone from makes it again."
		return done, nil
	}
	o2, err := secondHalf(ctx2, c, o, r, out)
	// Each of its requests is in the audit log by an id of its own.
	o2.After = append(o2.After, audits(done)...)
	return o2, err
}

// audits are the ids by which the server knows the requests of an outcome.
func audits(o steps.Outcome) []steps.KV {
	return slices.DeleteFunc(slices.Clone(o.After), func(kv steps.KV) bool { return kv.Key != act.KeyAudit })
}

// untilGone waits for a deleted object to go; "" says that it has.
func untilGone(ctx context.Context, c *cluster.Client, o act.Order) string {
	for began := c.Env.Now(); ; {
		now, err := act.SightAt(ctx, c, o)
		switch {
		case err == nil && now.Absent:
			return ""
		case err == nil && now.Other != "":
			return fmt.Sprintf("%s was deleted, and another of its name was created at once, UID %s%s.", o.Object, now.Other, now.By())
		case c.Env.Now().Sub(began) > goneWithin && err != nil:
			return fmt.Sprintf("%s was deleted, and whether it is gone cannot be read: %v.", o.Object, err)
		case c.Env.Now().Sub(began) > goneWithin:
			return fmt.Sprintf("%s is being deleted and does not go: %s.", o.Object, waits(now))
		}
		if err := act.Pause(ctx, act.SettlePause); err != nil {
			return err.Error()
		}
	}
}

// secondHalf makes the new object, and puts the old one back where that fails.
func secondHalf(ctx context.Context, c *cluster.Client, o act.Order, r recreation, out steps.Sink) (steps.Outcome, error) {
	fresh := o
	fresh.UID, fresh.Version, fresh.Finalizers, fresh.Deletion, fresh.Removed = report.Nothing, report.Nothing, nil, report.Nothing, nil
	post := func(m manifest) (steps.Outcome, error) {
		sent, err := makeRequest(collectionOf(o.Path), m)
		if err != nil {
			return act.Unsent(err.Error()), nil
		}
		fresh.Ops = m.ops()
		return act.Perform(ctx, c, fresh, sent, judgeMake, out)
	}
	second, err := post(r.changed)
	switch {
	case err != nil:
		return steps.Outcome{}, fmt.Errorf("%s was deleted, and what became of the new one is not known: %w", o.Object, err)
	case second.Result == steps.Done:
		second.Response = fmt.Sprintf("The old one is gone by UID %s. %s", o.UID, second.Response)
		return second, nil
	}
	why := "The second half failed. " + second.Response
	if now, err := act.SightAt(ctx, c, fresh); err == nil && !now.Absent {
		second.Result, second.After = steps.Failed, append(now.After(""), audits(second)...)
		second.Response = fmt.Sprintf("%s One of its name is there, UID %s%s; the old content was not put back over it.", why, now.UID, now.By())
		return second, nil
	}
	back, err := post(r.old)
	switch {
	case err != nil:
		return steps.Outcome{}, fmt.Errorf("%s was deleted. %s Whether the old one is back is not known: %w", o.Object, why, err)
	case back.Result == steps.Done:
		back.Response = fmt.Sprintf("%s The old content is back, under a new UID. %s", why, back.Response)
	default:
		back.Response = fmt.Sprintf("%s Putting the old content back failed too: %s %s is gone: make it again from the copy that the act is undone from.", why, back.Response, o.Object)
	}
	back.Result, back.After = steps.Failed, append(back.After, audits(second)...)
	return back, nil
}

// judgeRecreate says what a recreate came to, from what has the name now.
func judgeRecreate(o act.Order, now act.Sighting) (result, words string) {
	switch {
	case now.Absent:
		return steps.Failed, fmt.Sprintf("Its first half took effect: %s is gone by UID, and nothing was made in its place. Make it again from the copy that the act is undone from.", o.Object)
	case now.Other == "" && now.DeletionTimestamp != nil:
		return steps.Failed, fmt.Sprintf("Its first half took effect: %s is being deleted; %s. Once it is gone, make it again from the copy that the act is undone from.", o.Object, waits(now))
	case now.Other == "":
		return "", fmt.Sprintf("%s is as it was.", o.Object)
	}
	if lacks := o.Lacking(now.Raw); len(lacks) > 0 {
		return steps.Failed, fmt.Sprintf("%s was made again, UID %s, and not as the patch wants it: %s. Its old content was put back, or someone else created it%s.", o.Object, now.Other, strings.Join(lacks, "; "), now.By())
	}
	return steps.Done, fmt.Sprintf("%s was made again as the patch wants it, UID %s.", o.Object, now.Other)
}

// Find implements steps.Finder.
func (g recreateGate) Find(ctx context.Context, before []steps.KV, _ steps.Params, out steps.Sink) (steps.Outcome, error) {
	return act.Find(ctx, g.env, before, judgeRecreate, out)
}

// Again implements steps.Rereader.
func (g recreateGate) Again(ctx context.Context, before []steps.KV, _ steps.Params, out steps.Sink) (steps.Outcome, error) {
	o, err := act.Reread(ctx, g.env, before, nil, act.StandsMade(judgeRecreate), out)
	if err == nil && o.Result == steps.Done { // the other object of its name is the one that was made
		for i := range o.After {
			if o.After[i].Key == act.KeyObject {
				o.After[i].Value = "there"
			}
		}
	}
	return o, err
}
