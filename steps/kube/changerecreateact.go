package kube

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"handrail/steps"
)

// goneWithin bounds how long a deleted object may take to go, before the second
// half is given up.
const goneWithin = 30 * time.Second

// recreation are the requests of an approved recreate.
type recreation struct {
	first        request // the delete
	old, changed made
}

// recreationOf reads them back from what was shown.
func recreationOf(p steps.Preview, o order) (recreation, error) {
	lines := strings.Split(p.Request, "\n")
	if len(lines) != 3 {
		return recreation{}, fmt.Errorf("the requests are not those that were shown")
	}
	shown, err := deleteRequest(o.path, o.uid, later)
	if err != nil {
		return recreation{}, err
	}
	var r recreation
	if r.first, err = deleteRequest(o.path, o.uid, o.version); err != nil {
		return r, err
	}
	if r.changed, err = shownMake(lines[1], o.path); err != nil {
		return r, err
	}
	if r.old, err = shownMake(strings.TrimPrefix(lines[2], onlyThen), o.path); err != nil {
		return r, err
	}
	if lacks := lackingIn(order{ops: o.ops}, r.changed); lines[0] != shown.text() || len(o.ops) == 0 || len(lacks) > 0 {
		return r, fmt.Errorf("the requests are not those that were shown")
	}
	return r, nil
}

// lackingIn is lacking for an object that was not sent by a server.
func lackingIn(o order, m made) []string {
	raw, err := compact(map[string]any(m))
	if err != nil {
		return []string{err.Error()}
	}
	return o.lacking(raw)
}

// Act implements steps.Gater.
func (g recreateGate) Act(ctx context.Context, a *steps.Approval, out steps.Sink) (steps.Outcome, error) {
	p, err := a.Spend()
	if err != nil {
		return steps.Outcome{}, err
	}
	c, o, why := ordered(g.env, p, out)
	if why != "" {
		return unsent(why), nil
	}
	r, err := recreationOf(p, o)
	if err != nil {
		return unsent(err.Error()), nil
	}
	ctx2 := context.WithoutCancel(ctx) // half of it is worse than all of it
	first := o
	first.ops, first.removed = nil, nil
	done, err := perform(ctx, c, first, r.first, judgeDelete, out)
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
	return slices.DeleteFunc(slices.Clone(o.After), func(kv steps.KV) bool { return kv.Key != keyAudit })
}

// untilGone waits for a deleted object to go; "" says that it has.
func untilGone(ctx context.Context, c *client, o order) string {
	for began := c.env.Now(); ; {
		now, err := sightAt(ctx, c, o)
		switch {
		case err == nil && now.absent:
			return ""
		case err == nil && now.other != "":
			return fmt.Sprintf("%s was deleted, and somebody made another of its name at once, UID %s%s.", o.object, now.other, now.by())
		case c.env.Now().Sub(began) > goneWithin && err != nil:
			return fmt.Sprintf("%s was deleted, and whether it is gone cannot be read: %v.", o.object, err)
		case c.env.Now().Sub(began) > goneWithin:
			return fmt.Sprintf("%s is being deleted and does not go: %s.", o.object, waits(now))
		}
		if err := pause(ctx, settlePause); err != nil {
			return err.Error()
		}
	}
}

// secondHalf makes the new object, and puts the old one back where that fails.
func secondHalf(ctx context.Context, c *client, o order, r recreation, out steps.Sink) (steps.Outcome, error) {
	fresh := o
	fresh.uid, fresh.version, fresh.finalizers, fresh.deletion, fresh.removed = nothing, nothing, nil, nothing, nil
	post := func(m made) (steps.Outcome, error) {
		sent, err := makeRequest(collectionOf(o.path), m)
		if err != nil {
			return unsent(err.Error()), nil
		}
		fresh.ops = m.ops()
		return perform(ctx, c, fresh, sent, judgeMake, out)
	}
	second, err := post(r.changed)
	switch {
	case err != nil:
		return steps.Outcome{}, fmt.Errorf("%s was deleted, and what became of the new one is not known: %w", o.object, err)
	case second.Result == steps.Done:
		second.Response = fmt.Sprintf("The old one is gone by UID %s. %s", o.uid, second.Response)
		return second, nil
	}
	why := "The second half failed. " + second.Response
	if now, err := sightAt(ctx, c, fresh); err == nil && !now.absent {
		second.Result, second.After = steps.Failed, append(now.after(""), audits(second)...)
		second.Response = fmt.Sprintf("%s One of its name is there, UID %s%s; the old content was not put back over it.", why, now.UID, now.by())
		return second, nil
	}
	back, err := post(r.old)
	switch {
	case err != nil:
		return steps.Outcome{}, fmt.Errorf("%s was deleted. %s Whether the old one is back is not known: %w", o.object, why, err)
	case back.Result == steps.Done:
		back.Response = fmt.Sprintf("%s The old content is back, under a new UID. %s", why, back.Response)
	default:
		back.Response = fmt.Sprintf("%s Putting the old content back failed too: %s %s is gone: make it again from the copy that the act is undone from.", why, back.Response, o.object)
	}
	back.Result, back.After = steps.Failed, append(back.After, audits(second)...)
	return back, nil
}

// judgeRecreate says what a recreate came to, from what has the name now.
func judgeRecreate(o order, now sighting) (result, words string) {
	switch {
	case now.absent:
		return steps.Failed, fmt.Sprintf("Its first half took effect: %s is gone by UID, and nothing was made in its place. Make it again from the copy that the act is undone from.", o.object)
	case now.other == "" && now.DeletionTimestamp != nil:
		return steps.Failed, fmt.Sprintf("Its first half took effect: %s is being deleted; %s. Once it is gone, make it again from the copy that the act is undone from.", o.object, waits(now))
	case now.other == "":
		return "", fmt.Sprintf("%s is as it was.", o.object)
	}
	if lacks := o.lacking(now.raw); len(lacks) > 0 {
		return steps.Failed, fmt.Sprintf("%s was made again, UID %s, and not as the patch wants it: %s. Its old content was put back, or somebody else made it%s.", o.object, now.other, strings.Join(lacks, "; "), now.by())
	}
	return steps.Done, fmt.Sprintf("%s was made again as the patch wants it, UID %s.", o.object, now.other)
}

// Find implements steps.Finder.
func (g recreateGate) Find(ctx context.Context, before []steps.KV, _ steps.Params, out steps.Sink) (steps.Outcome, error) {
	return find(ctx, g.env, before, judgeRecreate, out)
}

// Again implements steps.Rereader.
func (g recreateGate) Again(ctx context.Context, before []steps.KV, _ steps.Params, out steps.Sink) (steps.Outcome, error) {
	o, err := again(ctx, g.env, before, nil, standsMade(judgeRecreate), out)
	if err == nil && o.Result == steps.Done { // the other object of its name is the one that was made
		for i := range o.After {
			if o.After[i].Key == keyObject {
				o.After[i].Value = "there"
			}
		}
	}
	return o, err
}
