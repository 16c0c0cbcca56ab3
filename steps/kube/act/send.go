package act

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/http"
	"strings"

	"handrail/steps"
	"handrail/steps/cluster"
	"handrail/steps/transport"
)

// Judge says what an act came to from what is there now: done, failed, or ""
// while it may still take effect.
type Judge func(Order, Sighting) (result, words string)

// Send sends the one request of an approved preview, once, and says what it came
// to.
func Send(ctx context.Context, env steps.Env, p steps.Preview, build func(*Order) (sent, shown Request, err error), judged Judge, out steps.Sink) (steps.Outcome, error) {
	c, o, why := Approved(env, p, out)
	if why != "" {
		return Unsent(why), nil
	}
	sent, shown, err := build(&o)
	if err != nil {
		return Unsent(err.Error()), nil
	}
	if shown.Text() != p.Request {
		return Unsent("the request is not the one that was shown"), nil
	}
	for tries := 1; ; tries++ {
		done, err := Perform(ctx, c, o, sent, judged, out)
		if err != nil || done.Result != steps.Refused || tries == mostTries || !beats(ctx, c, &o) {
			return done, err
		}
		if sent, _, err = build(&o); err != nil {
			return done, nil
		}
		out.Line("the status of " + o.Object + " moved since it was read, and nothing else of it: sent again")
	}
}

// Unsent is the outcome of an act of which nothing left.
func Unsent(why string) steps.Outcome {
	return steps.Outcome{Result: steps.Refused, Response: "Nothing was sent: " + why}
}

// Approved reads back what was approved, and makes a client for its server; why
// says that there is nothing to send.
func Approved(env steps.Env, p steps.Preview, out steps.Sink) (c *cluster.Client, o Order, why string) {
	o, err := orderOf(append(append([]steps.KV{}, p.Target...), p.Shown...))
	if err != nil {
		return nil, o, err.Error()
	}
	if c, err = cluster.Connect(env, out); err != nil {
		return nil, o, err.Error()
	}
	if c.Server != o.server {
		return nil, o, fmt.Sprintf("the kubeconfig leads to %s now, what was shown is on %s", c.Server, o.server)
	}
	return c, o, ""
}

// Perform sends one request of an order, once, and says what it came to.
func Perform(ctx context.Context, c *cluster.Client, o Order, sent Request, judged Judge, out steps.Sink) (steps.Outcome, error) {
	id := auditID(c.Env)
	w, err := NewSender(c, once(c, sent, id))
	if err != nil {
		return Unsent(err.Error()), nil
	}
	out.Line(sent.Method + " " + o.Object)
	began := c.Env.Now()
	a, left, err := w.Send(ctx, sent)
	if err != nil && !left {
		return Unsent(c.Explain(sent.Method, o.Path, err).Error()), nil
	}
	if a.audit != "" {
		id = a.audit // a proxy may have given it another
	}
	// The outcome matters even when the person has turned away.
	ctx = context.WithoutCancel(ctx)
	switch {
	case err == nil && a.OK() && answersOrder(a, o):
		if lacks := o.Lacking(a.Body); len(o.Ops) > 0 && len(lacks) > 0 {
			return replaced(ctx, c, o, a, id, lacks), nil
		}
		return landed(ctx, c, o, a, id, judged), nil
	case err == nil && a.Code >= 300 && a.Code < 500:
		return turnedAway(ctx, c, o, a, id, judged)
	case err == nil:
		err = fmt.Errorf("the server answered %d: %q", a.Code, a.Said())
	}
	return settle(ctx, c, o, id, began, err, judged)
}

// once is the guard of an act: it lets sent through, one time.
func once(c *cluster.Client, sent Request, id string) func(http.RoundTripper) http.RoundTripper {
	allowed := []transport.Request{{Method: sent.Method, Path: sent.Address(), SHA256: transport.Sum(sent.Body)}}
	opts := append(cluster.Stamps(c.Env), transport.Audit(func() string { return id }))
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
// the proof, and what is there now may be someone else's work already.
func landed(ctx context.Context, c *cluster.Client, o Order, a Answer, id string, judged Judge) steps.Outcome {
	out := steps.Outcome{Result: steps.Done, After: []steps.KV{{Key: KeyAudit, Value: id}}}
	now, err := SightAt(ctx, c, o)
	if err != nil {
		out.Response = fmt.Sprintf("The server did it (%d). What is there now could not be read: %v", a.Code, err)
		return out
	}
	out.After = now.After(id)
	result, words := judged(o, now)
	if out.Response = words; result != steps.Done {
		out.Response = fmt.Sprintf("The server did it (%d), and it was undone since. %s", a.Code, o.Moved(now))
	}
	return out
}

// replaced says what the server made of a request that it took: its admission
// put something else in its place, as it answered.
func replaced(ctx context.Context, c *cluster.Client, o Order, a Answer, id string, lacks []string) steps.Outcome {
	out := steps.Outcome{Result: steps.Failed, After: []steps.KV{{Key: KeyAudit, Value: id}}, Response: fmt.Sprintf(
		"The server took the request (%d) and put something else in its place: %s. A mutating webhook or admission policy does that in the same request; find it before you try again.",
		a.Code, strings.Join(lacks, "; "))}
	if now, err := SightAt(ctx, c, o); err == nil {
		out.After = now.After(id)
	}
	return out
}

// turnedAway says which condition of the request no longer held. The server
// refused it as a whole. Where the refusal is not about the object and the object
// is as it was to be, it is not known which is right: something on the way may have
// answered for a server that did it.
func turnedAway(ctx context.Context, c *cluster.Client, o Order, a Answer, id string, judged Judge) (steps.Outcome, error) {
	out := steps.Outcome{Result: steps.Refused, Response: fmt.Sprintf("The server refused it (%d): %q. Nothing was changed from here.", a.Code, a.Said())}
	now, err := SightAt(ctx, c, o)
	if err != nil {
		out.After = []steps.KV{{Key: KeyAudit, Value: id}}
		out.Response += fmt.Sprintf(" What is there now could not be read: %v", err)
		return out, nil
	}
	if result, words := judged(o, now); result == steps.Done && !a.aboutState() {
		return steps.Outcome{}, fmt.Errorf("%s: the answer says that it was refused (%d: %q), and it was done: %s Someone else did the same, or something between here and the server answered; the audit log of the server can tell (audit id %s); read it again before anything else",
			o.Object, a.Code, a.Said(), words, id)
	}
	out.After = now.After(id)
	out.Response += " " + o.Moved(now)
	return out, nil
}
