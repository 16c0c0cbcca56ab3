package kube

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

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

// said is what the server answered, in its own words.
func (a answer) said() string {
	var s metav1.Status
	if json.Unmarshal(a.body, &s) == nil && s.Message != "" {
		return steps.Clip(s.Message, 600)
	}
	return steps.Clip(string(a.body), 300)
}

// warned is what the server said beside its answer.
func (a answer) warned() []steps.KV {
	var kvs []steps.KV
	for _, w := range a.warnings {
		kvs = append(kvs, steps.KV{Key: "the server warns", Value: steps.Clip(w, 300)})
	}
	return kvs
}

// cure says what to do about a rehearsal that was refused.
func (a answer) cure(r request) string {
	switch a.code {
	case http.StatusForbidden:
		return "ask for the right to " + verbOf(r.method) + " it, or for somebody who has it"
	case http.StatusUnauthorized:
		return "sign in again"
	case http.StatusTooManyRequests:
		return "wait a little, then preview again"
	}
	return "read the server's words; an admission webhook or a policy may stand behind them"
}

func verbOf(method string) string {
	switch method {
	case http.MethodDelete:
		return "delete"
	case http.MethodPost:
		return "create"
	}
	return "patch"
}

// object reads the answer as an object, ok false for a Status.
func (a answer) object() (metav1.PartialObjectMetadata, bool, error) {
	var m metav1.PartialObjectMetadata
	if err := json.Unmarshal(a.body, &m); err != nil {
		return m, false, fmt.Errorf("the answer of the server cannot be read: %w", err)
	}
	return m, m.Kind != "Status" && m.UID != "", nil
}

// answersOrder reports whether the answer is the API server's own, on the object of an
// order; a delete may be answered with a Status, which names what went by its UID.
func answersOrder(a answer, o order) bool {
	m, is, err := a.object()
	if err != nil {
		return false
	}
	if o.uid == nothing { // what is made has a UID from then on
		return is && strings.HasSuffix(o.path, "/"+m.Name)
	}
	return is && string(m.UID) == o.uid || o.finalizer == "" && len(o.ops) == 0 && a.wentBy(o.uid)
}

// wentBy reports whether the answer is the Status of the deletion of an object.
func (a answer) wentBy(uid string) bool {
	var s metav1.Status
	return json.Unmarshal(a.body, &s) == nil && s.Kind == "Status" && s.Status == metav1.StatusSuccess && s.Details != nil && string(s.Details.UID) == uid
}
