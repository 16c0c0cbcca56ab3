package kube

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/http"
	"strings"

	"handrail/steps"
	"handrail/steps/transport"
)

// judge says what an act came to from what is there now: done, failed, or ""
// while it may still take effect.
type judge func(order, sighting) (result, words string)

// act sends the one request of an approved preview, once, and says what it came
// to.
func act(ctx context.Context, env steps.Env, p steps.Preview, build func(*order) (sent, shown request, err error), judged judge, out steps.Sink) (steps.Outcome, error) {
	c, o, why := ordered(env, p, out)
	if why != "" {
		return unsent(why), nil
	}
	sent, shown, err := build(&o)
	if err != nil {
		return unsent(err.Error()), nil
	}
	if shown.text() != p.Request {
		return unsent("the request is not the one that was shown"), nil
	}
	for tries := 1; ; tries++ {
		done, err := perform(ctx, c, o, sent, judged, out)
		if err != nil || done.Result != steps.Refused || tries == mostTries || !beats(ctx, c, &o) {
			return done, err
		}
		if sent, _, err = build(&o); err != nil {
			return done, nil
		}
		out.Line("the status of " + o.object + " moved since it was read, and nothing else of it: sent again")
	}
}

// unsent is the outcome of an act of which nothing left.
func unsent(why string) steps.Outcome {
	return steps.Outcome{Result: steps.Refused, Response: "Nothing was sent: " + why}
}

// ordered reads back what was approved, and makes a client for its server; why
// says that there is nothing to send.
func ordered(env steps.Env, p steps.Preview, out steps.Sink) (c *client, o order, why string) {
	o, err := orderOf(append(append([]steps.KV{}, p.Target...), p.Shown...))
	if err != nil {
		return nil, o, err.Error()
	}
	if c, err = connect(env, out); err != nil {
		return nil, o, err.Error()
	}
	if c.Server != o.server {
		return nil, o, fmt.Sprintf("the kubeconfig leads to %s now, what was shown is on %s", c.Server, o.server)
	}
	return c, o, ""
}

// perform sends one request of an order, once, and says what it came to.
func perform(ctx context.Context, c *client, o order, sent request, judged judge, out steps.Sink) (steps.Outcome, error) {
	id := auditID(c.env)
	w, err := newSender(c, once(c, sent, id))
	if err != nil {
		return unsent(err.Error()), nil
	}
	out.Line(sent.method + " " + o.object)
	began := c.env.Now()
	a, left, err := w.send(ctx, sent)
	if err != nil && !left {
		return unsent(c.explain(sent.method, o.path, err).Error()), nil
	}
	if a.audit != "" {
		id = a.audit // a proxy may have given it another
	}
	// The outcome matters even when the person has turned away.
	ctx = context.WithoutCancel(ctx)
	switch {
	case err == nil && a.ok() && answersOrder(a, o):
		if lacks := o.lacking(a.body); len(o.ops) > 0 && len(lacks) > 0 {
			return replaced(ctx, c, o, a, id, lacks), nil
		}
		return landed(ctx, c, o, a, id, judged), nil
	case err == nil && a.code >= 300 && a.code < 500:
		return turnedAway(ctx, c, o, a, id, judged)
	case err == nil:
		err = fmt.Errorf("the server answered %d: %q", a.code, a.said())
	}
	return settle(ctx, c, o, id, began, err, judged)
}

// once is the guard of an act: it lets sent through, one time.
func once(c *client, sent request, id string) func(http.RoundTripper) http.RoundTripper {
	allowed := []transport.Request{{Method: sent.method, Path: sent.address(), SHA256: transport.Sum(sent.body)}}
	opts := append(stamps(c.env), transport.Audit(func() string { return id }))
	return func(next http.RoundTripper) http.RoundTripper { return transport.Act(next, c.Server, allowed, opts...) }
}

// auditID names one request to the server, so that its audit log proves the act.
func auditID(env steps.Env) string {
	if env.Audit != nil {
		if id := env.Audit(); id != "" {
			return id
		}
	}
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// landed says what is there after the server took the request: its answer is
// the proof, and what is there now may be somebody else's work already.
func landed(ctx context.Context, c *client, o order, a answer, id string, judged judge) steps.Outcome {
	out := steps.Outcome{Result: steps.Done, After: []steps.KV{{Key: keyAudit, Value: id}}}
	now, err := sightAt(ctx, c, o)
	if err != nil {
		out.Response = fmt.Sprintf("The server did it (%d). What is there now could not be read: %v", a.code, err)
		return out
	}
	out.After = now.after(id)
	result, words := judged(o, now)
	if out.Response = words; result != steps.Done {
		out.Response = fmt.Sprintf("The server did it (%d), and it was undone since. %s", a.code, o.moved(now))
	}
	return out
}

// replaced says what the server made of a request that it took: its admission
// put something else in its place, as it answered.
func replaced(ctx context.Context, c *client, o order, a answer, id string, lacks []string) steps.Outcome {
	out := steps.Outcome{Result: steps.Failed, After: []steps.KV{{Key: keyAudit, Value: id}}, Response: fmt.Sprintf(
		"The server took the request (%d) and put something else in its place: %s. A mutating webhook or admission policy does that in the same request; find it before you try again.",
		a.code, strings.Join(lacks, "; "))}
	if now, err := sightAt(ctx, c, o); err == nil {
		out.After = now.after(id)
	}
	return out
}

// turnedAway says which condition of the request no longer held. The server
// refused it as a whole. Where the refusal is not about the object and the object
// is as it was to be, nobody knows who is right: something on the way may have
// answered for a server that did it.
func turnedAway(ctx context.Context, c *client, o order, a answer, id string, judged judge) (steps.Outcome, error) {
	out := steps.Outcome{Result: steps.Refused, Response: fmt.Sprintf("The server refused it (%d): %q. Nothing was changed from here.", a.code, a.said())}
	now, err := sightAt(ctx, c, o)
	if err != nil {
		out.After = []steps.KV{{Key: keyAudit, Value: id}}
		out.Response += fmt.Sprintf(" What is there now could not be read: %v", err)
		return out, nil
	}
	if result, words := judged(o, now); result == steps.Done && !a.aboutState() {
		return steps.Outcome{}, fmt.Errorf("%s: the answer says that it was refused (%d: %q), and it was done: %s Somebody else did the same, or something between here and the server answered; the audit log of the server can tell (audit id %s); read it again before anything else",
			o.object, a.code, a.said(), words, id)
	}
	out.After = now.after(id)
	out.Response += " " + o.moved(now)
	return out, nil
}
