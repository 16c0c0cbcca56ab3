package change

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"handrail/steps"
	"handrail/steps/kube/act"
)

// rehearsals is how often a rehearsal starts again because the object was
// written between its read and its rehearsal: a status that beats every few
// seconds must not close the gate. The first pauses are short, since a controller
// often writes a few times in a row.
const rehearsals = 6

// errMoved says that the object was written since it was read.
var errMoved = errors.New("the object was written since it was read")

// unmoved previews again while the object is written between read and rehearsal.
func unmoved(ctx context.Context, in steps.Params, preview func() (steps.Preview, error)) (steps.Preview, error) {
	for try := range rehearsals {
		if try > 0 {
			select {
			case <-ctx.Done():
				return steps.Preview{}, context.Cause(ctx)
			case <-time.After(25 * time.Millisecond << try):
			}
		}
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
func (s *subject) rehearse(ctx context.Context, r act.Request, out steps.Sink) (act.Answer, error) {
	w, err := act.NewRehearser(s.c)
	if err != nil {
		return act.Answer{}, err
	}
	a, _, err := w.Send(ctx, r.Rehearsal())
	if err != nil {
		return act.Answer{}, s.c.Explain(r.Method, r.Path, err)
	}
	if gap := steps.Keep(out, "rehearsal", steps.MediaKubernetes, func(w io.Writer) error { _, err := w.Write(a.Body); return err }); gap != "" {
		return act.Answer{}, errors.New(gap)
	}
	if a.OK() {
		return a, nil
	}
	if now, err := s.c.Get(ctx, s.t.Resource, s.t.Namespace, s.t.Name); err == nil && now.GetResourceVersion() != s.o.GetResourceVersion() {
		s.moved = now
		return a, errMoved
	}
	return a, fmt.Errorf("%w (%d): %q", errRefused, a.Code, a.Said())
}

// tryOut rehearses the request of a preview, and writes into the preview what
// the server said. went is false where the preview is refused: a rehearsal runs
// webhooks, so there is none for what is refused anyway. at makes the request for a version of
// the object: where only its status was written since it was read, the newer version is tried.
func (s *subject) tryOut(ctx context.Context, at func(version string) (act.Request, error), p *steps.Preview, out steps.Sink) (a act.Answer, went bool, err error) {
	f := floors{&p.Unmet}
	if !f.clear() {
		return act.Answer{}, false, nil
	}
	var r act.Request
	for range rehearsals {
		if r, err = at(s.o.GetResourceVersion()); err != nil {
			return act.Answer{}, false, err
		}
		if a, err = s.rehearse(ctx, r, out); !errors.Is(err, errMoved) || !s.reported(p) {
			break
		}
	}
	p.Shown = append(p.Shown, a.Warned()...)
	if errors.Is(err, errRefused) {
		f.unmet(a.Cure(r), "In the rehearsal %v.", err)
		return a, false, nil
	}
	return a, err == nil, err
}

// reported takes over what the object is since its rehearsal, where only its status differs. Of
// an object that is being deleted the status may tell that its clean-up runs.
func (s *subject) reported(p *steps.Preview) bool {
	was, err := act.ContentBut(s.o, s.t.Resource)
	if err != nil || s.deleted() {
		return false
	}
	if is, err := act.ContentBut(s.moved, s.t.Resource); err != nil || is != was {
		return false
	}
	s.o = s.moved
	for i := range p.Shown {
		if p.Shown[i].Key == act.KeyVersion {
			p.Shown[i].Value = s.o.GetResourceVersion()
		}
	}
	return true
}

// Rehearse tries a request of what a plan begins, with dryRun=All, and returns what the
// server answered, whether it took it or not. went is false where the plan is refused
// already: a rehearsal runs webhooks, so there is none for what will not be done.
func (p Plan) Rehearse(ctx context.Context, r act.Request) (a act.Answer, went bool, err error) {
	if !p.pl.clear() {
		return act.Answer{}, false, nil
	}
	c := p.Client()
	w, err := act.NewRehearser(c)
	if err != nil {
		return act.Answer{}, false, err
	}
	if a, _, err = w.Send(ctx, r.Rehearsal()); err != nil {
		return a, false, c.Explain(r.Method, r.Path, err)
	}
	return a, true, nil
}
