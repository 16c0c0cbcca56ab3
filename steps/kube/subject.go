package kube

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"handrail/steps"
)

// subject is what the preview of a gate reads of its one object.
type subject struct {
	c       *client
	t       target
	o       object
	absent  bool
	cluster string
	user    string

	marks  protection // what an object must not bear, here and in what goes with it
	marked []string   // why it is protected
	unseen []unseen   // what else could bear a mark, and was not read
}

// look reads the object that a gate is about. That it is not there is a result.
func look(ctx context.Context, env steps.Env, in steps.Params, out steps.Sink) (*subject, error) {
	c, t, err := reach(ctx, env, in, out)
	if err != nil {
		return nil, err
	}
	return lookAt(ctx, c, t, out)
}

// lookAt is look where the object is known.
func lookAt(ctx context.Context, c *client, t target, out steps.Sink) (s *subject, err error) {
	s = &subject{c: c, t: t}
	// They stand in the path of a write.
	for what, word := range map[string][2]string{"name": {s.t.name, objectName}, "namespace": {s.t.namespace, namespaceName}} {
		if text, grammar := word[0], word[1]; text != "" && !matches(grammar, text) {
			return nil, fmt.Errorf("%s: %q is no %s that can be addressed", s.t.resource, steps.Clip(text, 100), what)
		}
	}
	if s.t.name == "" || (s.t.namespaced && s.t.namespace == "") {
		return nil, fmt.Errorf("%s: name and namespace must be given", s.t.resource)
	}
	if s.cluster, err = c.cluster(ctx); err != nil {
		return nil, fmt.Errorf("which cluster this is: %w", err)
	}
	s.user = c.whoami(ctx)
	s.o, err = c.get(ctx, s.t.resource, s.t.namespace, s.t.name)
	switch {
	case errors.Is(err, errAbsent):
		s.absent = true
		return s, s.protect(ctx)
	case err != nil:
		return nil, err
	}
	if err := s.protect(ctx); err != nil {
		return nil, err
	}
	if gap := steps.Keep(out, "manifest", steps.MediaKubernetes, func(w io.Writer) error { _, err := w.Write(s.o.raw); return err }); gap != "" {
		return nil, fmt.Errorf("%s: %s; nothing is changed without its manifest", s.t, gap)
	}
	return s, nil
}

// identity is what must not move between preview and act.
func (s *subject) identity() []steps.KV {
	kvs := []steps.KV{
		{Key: keyServer, Value: s.c.Server},
		{Key: keyCluster, Value: s.cluster},
		{Key: keyObject, Value: s.t.String()},
		{Key: keyPath, Value: s.t.path(s.t.namespace, s.t.name)},
	}
	if s.absent {
		return append(kvs, steps.KV{Key: keyUID, Value: nothing})
	}
	return append(kvs,
		steps.KV{Key: keyUID, Value: string(s.o.GetUID())},
		steps.KV{Key: keyFinalizers, Value: orNothing(strings.Join(s.o.GetFinalizers(), ", "))},
		steps.KV{Key: keyDeletion, Value: stamp(s.o.GetDeletionTimestamp())})
}

// beside is what is worth seeing and free to change.
func (s *subject) beside() []steps.KV {
	var kvs []steps.KV
	if !s.absent {
		kvs = []steps.KV{{Key: keyVersion, Value: s.o.GetResourceVersion()}, {Key: "age", Value: s.since(s.o.GetCreationTimestamp().Time)}}
		if at := s.o.GetDeletionTimestamp(); at != nil {
			kvs = append(kvs, steps.KV{Key: "being deleted for", Value: s.since(at.Time)})
		}
	}
	return append(kvs, steps.KV{Key: "context", Value: orNothing(s.c.Context)}, steps.KV{Key: "user", Value: s.user})
}

func (s *subject) since(at time.Time) string {
	now, why := s.c.now()
	switch {
	case why != "":
		return "unknown: " + why
	case at.After(now):
		return "0s"
	}
	return now.Sub(at).Round(time.Second).String()
}

// deleted says whether the deletion was asked for.
func (s *subject) deleted() bool { return s.o.GetDeletionTimestamp() != nil }

// graceful reports whether a node must still let go of the object: until then
// it stays, finalizers or not.
func (s *subject) graceful() bool {
	n := s.o.GetDeletionGracePeriodSeconds()
	return n != nil && *n > 0
}

// company names who would undo a change, and what could be taken for the
// object.
func (s *subject) company(ctx context.Context, p *steps.Preview) error {
	owners, gaps, err := listOwners(ctx, s.c, s.t, s.o)
	if err != nil {
		return fmt.Errorf("owners of %s: %w", s.t, err)
	}
	p.Owners = append(p.Owners, owners...)
	if why, ok := markersOf(s.o).managed(); ok {
		p.Shown = append(p.Shown, steps.KV{Key: "marks", Value: why})
	}
	for _, gap := range gaps {
		p.Shown = append(p.Shown, steps.KV{Key: "not known of owners", Value: gap})
	}
	likes, err := lookNear(ctx, s.c, s.t, s.o)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	for _, l := range likes {
		p.Shown = append(p.Shown, steps.KV{Key: keyAlike, Value: l.name + ": " + l.apart})
	}
	far, unread, turned := lookAround(ctx, s.c, s.t, s.o)
	if turned != nil {
		return turned
	}
	for _, l := range far[:min(len(far), mostTold)] {
		p.Shown = append(p.Shown, steps.KV{Key: keyAlike, Value: l.name + ": " + l.apart})
	}
	if len(far) > mostTold {
		p.Shown = append(p.Shown, steps.KV{Key: "more look-alikes", Value: fmt.Sprintf("%d in other namespaces, API groups and kinds", len(far)-mostTold)})
	}
	switch {
	case err != nil:
		p.Shown = append(p.Shown, steps.KV{Key: keyAlike, Value: "unknown: " + err.Error()})
	case len(likes)+len(far) == 0:
		p.Shown = append(p.Shown, steps.KV{Key: keyAlike, Value: nothing})
	}
	if len(unread) > 0 {
		p.Shown = append(p.Shown, steps.KV{Key: "no look-alikes sought in", Value: steps.Clip(strings.Join(unread, "; "), 600)})
	}
	return nil
}
