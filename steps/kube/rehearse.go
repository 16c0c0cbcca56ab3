package kube

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"

	"handrail/steps"
	"handrail/steps/transport"
)

// rehearsals is how often a rehearsal starts again because the object was
// written between its read and its rehearsal: a status that beats every few
// seconds must not close the gate.
const rehearsals = 3

// errMoved says that the object was written since it was read.
var errMoved = errors.New("the object was written since it was read")

// unmoved previews again while the object is written between read and rehearsal.
func unmoved(in steps.Params, preview func() (steps.Preview, error)) (steps.Preview, error) {
	for range rehearsals {
		p, err := preview()
		if !errors.Is(err, errMoved) {
			return p, err
		}
	}
	return steps.Preview{}, fmt.Errorf("%s %q: %w, %d times; look who writes it, then preview again", in.Text("resource"), in.Text("name"), errMoved, rehearsals)
}

// errRefused carries the server's words.
var errRefused = errors.New("the server refused it")

// rehearse sends r with dryRun=All: admission and storage judge it, and nothing
// is stored. The answer is kept as an artifact.
func (s *subject) rehearse(ctx context.Context, r request, out steps.Sink) (answer, error) {
	w, err := newSender(s.c, func(next http.RoundTripper) http.RoundTripper {
		return transport.Rehearse(next, s.c.Server, stamps(s.c.env)...)
	})
	if err != nil {
		return answer{}, err
	}
	a, _, err := w.send(ctx, r.rehearsal())
	if err != nil {
		return answer{}, s.c.explain(r.method, r.path, err)
	}
	if gap := steps.Keep(out, "rehearsal", steps.MediaKubernetes, func(w io.Writer) error { _, err := w.Write(a.body); return err }); gap != "" {
		return answer{}, errors.New(gap)
	}
	if a.ok() {
		return a, nil
	}
	if now, err := s.c.get(ctx, s.t.resource, s.t.namespace, s.t.name); err == nil && now.GetResourceVersion() != s.o.GetResourceVersion() {
		return a, errMoved
	}
	return a, fmt.Errorf("%w (%d): %q", errRefused, a.code, a.said())
}

// tryOut rehearses the request of a preview, and writes into the preview what
// the server said. went is false where the preview is refused: a rehearsal runs
// webhooks, so there is none for what is refused anyway.
func (s *subject) tryOut(ctx context.Context, r request, p *steps.Preview, out steps.Sink) (a answer, went bool, err error) {
	f := floors{&p.Unmet}
	if !f.clear() {
		return answer{}, false, nil
	}
	a, err = s.rehearse(ctx, r, out)
	p.Shown = append(p.Shown, a.warned()...)
	if errors.Is(err, errRefused) {
		f.unmet(a.cure(r), "In the rehearsal %v.", err)
		return a, false, nil
	}
	return a, err == nil, err
}
