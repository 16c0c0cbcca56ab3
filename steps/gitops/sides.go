package gitops

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"sync"

	"handrail/steps"
	"handrail/steps/cluster"
	"handrail/steps/gitops/app"
	"handrail/steps/gitops/manifests"
	"handrail/steps/kube/report"
)

// mostRead bounds the objects that are read of an application.
const mostRead = 300

// resourceOf is an object as the model names it, and whether its kind is one of the server's.
func (r *desiredRun) resourceOf(o map[string]any) (of app.Resource, kind cluster.Resource, err error) {
	version, _ := o["apiVersion"].(string)
	of.Kind, _ = o["kind"].(string)
	meta, _ := o["metadata"].(map[string]any)
	of.Name, _ = meta["name"].(string)
	of.Namespace, _ = meta["namespace"].(string)
	kind, err = r.c.KindOf(version, of.Kind)
	of.Group = kind.Group
	switch {
	case err != nil:
		of.Group, _, _ = cutVersion(version)
		return of, kind, err
	case !kind.Namespaced:
		of.Namespace = ""
	case of.Namespace == "":
		of.Namespace = r.a.Rendering.Namespace
	}
	if of.Name == "" {
		err = errors.New("it has no name: the server would make one")
	}
	return of, kind, err
}

func cutVersion(apiVersion string) (group, version string, has bool) {
	for i := range apiVersion {
		if apiVersion[i] == '/' {
			return apiVersion[:i], apiVersion[i+1:], true
		}
	}
	return "", apiVersion, false
}

// desired takes what was rendered.
func (r *desiredRun) desired() {
	r.keep()
	brought := definitions(r.wanted.Objects)
	for i, o := range r.wanted.Objects {
		if r.isHook(o) {
			r.hooks = append(r.hooks, i)
			continue
		}
		of, _, err := r.resourceOf(o)
		s := &side3{name: of.String(), of: of}
		if version, _ := o["apiVersion"].(string); err == nil {
			s.version = version
		}
		switch {
		case errors.Is(err, cluster.ErrNoKind) && brought[of.Group+"/"+of.Kind]:
			s.unread = "its definition is in the same commit, and the server does not serve it yet: definitions go first, by a wave or dependsOn"
		case errors.Is(err, cluster.ErrNoKind):
			s.unread, s.unserved = err.Error(), true
		case err != nil:
			s.unread = err.Error()
		case manifests.Encrypted(o):
			r.encrypted = append(r.encrypted, s.name)
		case r.wanted.Unsaid[i] != "":
			s.unsaid = r.wanted.Unsaid[i]
		default:
			s.desired = placed(o, of.Namespace)
			s.plain = s.desired
			if other := r.wanted.Varies[i]; other != nil {
				// As the server keeps a Secret: what is compared below is that.
				other = placed(other, of.Namespace)
				manifests.PlainSecret(s.desired, r.out)
				manifests.PlainSecret(other, steps.SecretsOnly(nil))
				s.varies = apart(s.desired, other)
			}
		}
		s.delivered = slices.ContainsFunc(r.a.Resources, func(has app.Resource) bool { return alikeNamed(has, of) })
		if _, twice := r.sides[s.name]; twice {
			s.unread = "Git has it twice"
		}
		r.sides[s.name] = s
	}
	if n := len(r.hooks); n > 0 {
		r.obs.Gaps = append(r.obs.Gaps, fmt.Sprintf("%d hooks are not compared: they are made anew at each sync", n))
	}
	r.f.Set("objects", steps.IntOf(int64(len(r.sides))))
	for _, of := range r.a.Resources {
		// Argo CD lists hooks as well, and says itself what it would delete.
		if _, has := r.sides[of.String()]; !has && (r.a.Controller == app.Flux || of.Prune) {
			r.sides[of.String()] = &side3{name: of.String(), of: of, delivered: true}
		}
	}
	for name, o := range r.release {
		s, has := r.sides[name]
		if !has {
			of, _, _ := r.resourceOf(o)
			s = &side3{name: name, of: of}
			r.sides[name] = s
		}
		s.delivered = true
	}
}

// definitions are the kinds that objects define, as group/kind.
func definitions(objects []map[string]any) map[string]bool {
	out := map[string]bool{}
	for _, o := range objects {
		if o["kind"] != "CustomResourceDefinition" {
			continue
		}
		spec, _ := o["spec"].(map[string]any)
		names, _ := spec["names"].(map[string]any)
		group, _ := spec["group"].(string)
		kind, _ := names["kind"].(string)
		out[group+"/"+kind] = true
	}
	return out
}

func alikeNamed(a, b app.Resource) bool {
	return a.Group == b.Group && a.Kind == b.Kind && a.Namespace == b.Namespace && a.Name == b.Name
}

// placed is an object with the namespace that it gets.
func placed(o map[string]any, namespace string) map[string]any {
	meta, _ := o["metadata"].(map[string]any)
	if meta == nil {
		return o
	}
	out, md := maps.Clone(o), maps.Clone(meta)
	delete(md, "namespace")
	if namespace != "" {
		md["namespace"] = namespace
	}
	out["metadata"] = md
	return out
}

// inventory takes what the controller applied, where nothing was rendered.
func (r *desiredRun) inventory() {
	for _, of := range r.a.Resources {
		r.sides[of.String()] = &side3{name: of.String(), of: of, delivered: true, unrendered: true}
	}
	for name, o := range r.release {
		of, _, _ := r.resourceOf(o)
		r.sides[name] = &side3{name: name, of: of, delivered: true, unrendered: true}
	}
	r.f.Unknown(r.why, "objects")
}

// actual reads the live side of each object.
func (r *desiredRun) actual(ctx context.Context) error {
	if where := r.a.Elsewhere(r.c.Server); where != "" {
		for _, s := range r.sides {
			s.unread, s.unserved = inOther(where), false
		}
		return nil
	}
	var mu sync.Mutex
	var reads []func(context.Context)
	for _, name := range slices.Sorted(maps.Keys(r.sides)) {
		s := r.sides[name]
		switch {
		case s.unread != "":
		case len(reads) == mostRead:
			s.unread = fmt.Sprintf("only %d objects are read", mostRead)
		default:
			reads = append(reads, func(ctx context.Context) {
				o, err := r.live(ctx, s)
				mu.Lock()
				defer mu.Unlock()
				switch {
				case errors.Is(err, cluster.ErrAbsent):
				case err != nil:
					s.unread = report.Why(err)
				default:
					s.actual, s.live = o.Object, o
				}
			})
		}
	}
	var fell error
	cluster.Together(ctx, reads, func(err error) { fell = err })
	return fell
}

// inOther is why an object of an application is not known here.
func inOther(where string) string {
	return "it is in the cluster " + where + ", which is not read here"
}

// live reads one object, in the version in which Git has it.
func (r *desiredRun) live(ctx context.Context, s *side3) (cluster.Object, error) {
	if where := r.a.Elsewhere(r.c.Server); where != "" {
		return cluster.Object{}, errors.New(inOther(where))
	}
	version := s.version
	if version == "" {
		version = "v1"
		if s.of.Group != "" {
			version = s.of.Group + "/v1"
		}
	}
	_, o, err := r.c.Lookup(ctx, version, s.of.Kind, s.of.Namespace, s.of.Name)
	return o, err
}

// recorded takes what was applied last: as the object keeps it, else as Git has it at the
// revision that was applied.
func (r *desiredRun) recorded(ctx context.Context) error {
	before, err := r.before(ctx)
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(r.sides)) {
		s := r.sides[name]
		if s.unread != "" {
			continue
		}
		if s.unrendered && s.actual != nil && r.isHook(s.actual) {
			delete(r.sides, name) // Argo CD lists what a sync ran, too
			continue
		}
		kept := map[string]any(nil)
		if s.actual != nil {
			if text := s.live.GetAnnotations()[lastApplied]; text != "" {
				o, err := cluster.ParseObject([]byte(text))
				if err != nil {
					s.unread = "what was applied last cannot be read"
					continue
				}
				kept = placed(o.Object, s.of.Namespace)
			}
		}
		if o, has := r.release[name]; has {
			kept = o
		}
		s.kept = kept != nil
		switch {
		case kept != nil:
			s.recorded = kept
		case r.release != nil: // and it is not in it
		case before != nil:
			s.recorded = before[name]
		default:
			s.unrecorded = true
		}
		if s.unsaid != "" && !s.kept {
			s.unread = s.unsaid + ", and nothing keeps what was applied last"
			continue
		}
		if s.unrendered || s.unsaid != "" || slices.Contains(r.encrypted, name) {
			s.desired = s.recorded
			if s.desired == nil {
				s.unread = "its controller keeps no copy of what it applied (server-side apply), and Git was not rendered"
				continue
			}
		}
		for _, o := range []*map[string]any{&s.desired, &s.recorded, &s.actual} {
			if *o, err = manifests.Hidden(*o, r.out); err != nil {
				s.unread = err.Error()
				break
			}
		}
	}
	return nil
}

// before is what Git had at the revision that was applied, by name; nil where that is not
// known.
func (r *desiredRun) before(ctx context.Context) (map[string]map[string]any, error) {
	applied := app.Commit(r.a.Applied)
	if r.why != "" || len(applied) != 40 || r.release != nil {
		return nil, nil
	}
	w := r.wanted
	if applied != w.Revision {
		var err error
		if w, err = manifests.At(ctx, r.env, r.c, r.a, r.from, r.clone, applied); err != nil {
			if errors.Is(err, context.Canceled) {
				return nil, err
			}
			r.obs.Gaps = append(r.obs.Gaps, "what was applied last ("+shortRevision(applied)+") is not rendered: "+steps.OneLine(err.Error(), 300))
			return nil, nil
		}
	}
	out := map[string]map[string]any{}
	for i, o := range w.Objects {
		if of, _, err := r.resourceOf(o); err == nil && !r.isHook(o) && !manifests.Encrypted(o) && w.Unsaid[i] == "" {
			out[of.String()] = placed(o, of.Namespace)
		}
	}
	return out, nil
}

func writeJSON(w io.Writer, v any) error {
	raw, err := json.Marshal(v)
	if err == nil {
		_, err = w.Write(raw)
	}
	return err
}
