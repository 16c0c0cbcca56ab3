package change

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"handrail/steps"
	"handrail/steps/cluster"
	"handrail/steps/kube/act"
	"handrail/steps/kube/alike"
	"handrail/steps/kube/object"
	"handrail/steps/kube/owner"
	"handrail/steps/kube/report"
)

// subject is what the preview of a gate reads of its one object.
type subject struct {
	c       *cluster.Client
	t       cluster.Target
	o       cluster.Object
	moved   cluster.Object // what it was when a rehearsal of it failed, since it was written
	absent  bool
	cluster string
	user    string

	marks  object.Protection // what an object must not bear, here and in what goes with it
	marked []string          // why it is protected
	unseen []unreadObject    // what else could bear a mark, and was not read
}

// look reads the object that a gate is about. That it is not there is a result.
func look(ctx context.Context, env steps.Env, in steps.Params, out steps.Sink) (*subject, error) {
	c, t, err := cluster.Reach(ctx, env, in, out)
	if err != nil {
		return nil, err
	}
	return lookAt(ctx, c, t, out)
}

// lookAt is look where the object is known.
func lookAt(ctx context.Context, c *cluster.Client, t cluster.Target, out steps.Sink) (s *subject, err error) {
	s = &subject{c: c, t: t}
	// They stand in the path of a write.
	for what, word := range map[string][2]string{"name": {s.t.Name, cluster.ObjectName}, "namespace": {s.t.Namespace, cluster.NamespaceName}} {
		if text, grammar := word[0], word[1]; text != "" && !cluster.Matches(grammar, text) {
			return nil, fmt.Errorf("%s: %q is no %s that can be addressed", s.t.Resource, steps.Clip(text, 100), what)
		}
	}
	if s.t.Name == "" || (s.t.Namespaced && s.t.Namespace == "") {
		return nil, fmt.Errorf("%s: name and namespace must be given", s.t.Resource)
	}
	if s.cluster, err = c.UID(ctx); err != nil {
		return nil, fmt.Errorf("which cluster this is: %w", err)
	}
	s.user = c.WhoAmI(ctx)
	s.o, err = c.Get(ctx, s.t.Resource, s.t.Namespace, s.t.Name)
	switch {
	case errors.Is(err, cluster.ErrAbsent):
		s.absent = true
		return s, s.protect(ctx)
	case err != nil:
		return nil, err
	}
	if err := s.protect(ctx); err != nil {
		return nil, err
	}
	if gap := steps.Keep(out, "manifest", steps.MediaKubernetes, func(w io.Writer) error { _, err := w.Write(s.o.Raw); return err }); gap != "" {
		return nil, fmt.Errorf("%s: %s; nothing is changed without its manifest", s.t, gap)
	}
	return s, nil
}

// identity is what must not move between preview and act.
func (s *subject) identity() []steps.KV {
	kvs := []steps.KV{
		{Key: act.KeyServer, Value: s.c.Server},
		{Key: act.KeyCluster, Value: s.cluster},
		{Key: act.KeyObject, Value: s.t.String()},
		{Key: act.KeyPath, Value: s.t.Path(s.t.Namespace, s.t.Name)},
	}
	if s.absent {
		return append(kvs, steps.KV{Key: act.KeyUID, Value: report.Nothing})
	}
	return append(kvs,
		steps.KV{Key: act.KeyUID, Value: string(s.o.GetUID())},
		steps.KV{Key: act.KeyFinalizers, Value: report.OrNothing(strings.Join(s.o.GetFinalizers(), ", "))},
		steps.KV{Key: act.KeyDeletion, Value: act.Stamp(s.o.GetDeletionTimestamp())})
}

// beside is what is worth seeing and free to change.
func (s *subject) beside() []steps.KV {
	var kvs []steps.KV
	if !s.absent {
		kvs = []steps.KV{{Key: act.KeyVersion, Value: s.o.GetResourceVersion()}, {Key: "age", Value: s.since(s.o.GetCreationTimestamp().Time)}}
		if at := s.o.GetDeletionTimestamp(); at != nil {
			kvs = append(kvs, steps.KV{Key: "being deleted for", Value: s.since(at.Time)})
		}
	}
	return append(kvs, steps.KV{Key: "context", Value: report.OrNothing(s.c.Context)}, steps.KV{Key: "user", Value: s.user})
}

func (s *subject) since(at time.Time) string {
	now, why := s.c.Now()
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
	owners, gaps, err := owner.List(ctx, s.c, s.t, s.o)
	if err != nil {
		return fmt.Errorf("owners of %s: %w", s.t, err)
	}
	p.Owners = append(p.Owners, owners...)
	if why, ok := owner.MarkersOf(s.o).Managed(); ok {
		p.Shown = append(p.Shown, steps.KV{Key: "marks", Value: why})
	}
	for _, gap := range gaps {
		p.Shown = append(p.Shown, steps.KV{Key: "not known of owners", Value: gap})
	}
	likes, err := alike.Near(ctx, s.c, s.t, s.o)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	for _, l := range likes {
		p.Shown = append(p.Shown, steps.KV{Key: act.KeyAlike, Value: l.Name + ": " + l.Apart})
	}
	far, unread, turned := alike.Around(ctx, s.c, s.t, s.o, likes)
	if turned != nil {
		return turned
	}
	for _, l := range far[:min(len(far), alike.MostTold)] {
		p.Shown = append(p.Shown, steps.KV{Key: act.KeyAlike, Value: l.Name + ": " + l.Apart})
	}
	if len(far) > alike.MostTold {
		p.Shown = append(p.Shown, steps.KV{Key: "more look-alikes", Value: fmt.Sprintf("%d in other namespaces, API groups and kinds", len(far)-alike.MostTold)})
	}
	switch {
	case err != nil:
		p.Shown = append(p.Shown, steps.KV{Key: act.KeyAlike, Value: "unknown: " + err.Error()})
	case len(likes)+len(far) == 0:
		p.Shown = append(p.Shown, steps.KV{Key: act.KeyAlike, Value: report.Nothing})
	}
	if len(unread) > 0 {
		p.Shown = append(p.Shown, steps.KV{Key: "no look-alikes sought in", Value: steps.Clip(strings.Join(unread, "; "), 600)})
	}
	return nil
}
