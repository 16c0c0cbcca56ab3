package kube

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"handrail/steps"
)

// mostDecoys bounds the look-alikes in a fact; how many more there are is said.
const mostDecoys = 50

func lookalikesFacts() []steps.Field {
	return []steps.Field{
		{Name: "decoys", Type: steps.Strings, Doc: "names of what could be taken for the object"},
		{Name: "apart", Type: steps.Table, Doc: "name of each to what tells it from the object"},
		{Name: "hook", Type: steps.Bool, Doc: "whether the object is a hook of Argo CD or Helm"},
		{Name: "policy", Type: steps.String, Doc: "delete policy of the hook, empty for none"},
		{Name: "owned_by", Type: steps.String, Doc: "value of a label that names an owner, empty for none"},
		{Name: "orphan", Type: steps.Bool, Doc: "held by a finalizer and managed by nobody: no delete policy, no owner label, no controller, no tracking"},
	}
}

// lookalike is an object that could be taken for the target.
type lookalike struct {
	name, uid string
	apart     string // what tells it from the target
}

// lookalikes lists the objects of the same resource and namespace that share a
// name stem, a label that means something or the kind of a hook with o.
func (c *client) lookalikes(ctx context.Context, t target, o object) ([]lookalike, error) {
	var all []object
	if err := c.sweep(ctx, t.path(t.namespace, ""), asMetaList, nil, func(other object) { all = append(all, slim(other)) }); err != nil {
		return nil, err
	}
	meaning := telling(all, o)
	var out []lookalike
	for _, other := range all {
		if other.GetUID() == o.GetUID() || other.GetName() == o.GetName() {
			continue
		}
		if like := resembles(o, other, meaning); like != "" {
			out = append(out, lookalike{name: other.GetName(), uid: string(other.GetUID()), apart: like + "; " + apart(o, other)})
		}
	}
	slices.SortFunc(out, func(a, b lookalike) int { return cmp.Compare(a.name, b.name) })
	return out, nil
}

// slim drops what a look-alike is not told by, to keep a large list small.
func slim(o object) object {
	o.SetManagedFields(nil)
	return o
}

// enoughToTell is how many objects make a label universal when all bear it: of
// a few, a shared label is what makes them alike.
const enoughToTell = 10

// telling returns the label pairs of o that are neither universal among all nor
// made for one object.
func telling(all []object, o object) map[string]string {
	out := map[string]string{}
	for key, value := range o.GetLabels() {
		n := 0
		for _, other := range all {
			if other.GetLabels()[key] == value {
				n++
			}
		}
		if n > 1 && (n < len(all) || n < enoughToTell) {
			out[key] = value
		}
	}
	return out
}

// resembles says why other could be taken for o, empty when it could not.
func resembles(o, other object, meaning map[string]string) string {
	var why []string
	if sameStem(o.GetName(), other.GetName()) {
		why = append(why, "alike by name")
	}
	var shared []string
	for key, value := range meaning {
		if other.GetLabels()[key] == value {
			shared = append(shared, key+"="+value)
		}
	}
	if len(shared) > 0 {
		slices.Sort(shared)
		why = append(why, "alike by label "+clip(shared[0], 150))
	}
	if a, b := markersOf(o).hook, markersOf(other).hook; a != "" && b != "" {
		why = append(why, "a hook too")
	}
	return strings.Join(why, ", ")
}

// apart says what tells other from o.
func apart(o, other object) string {
	var out []string
	differ := func(what, mine, its string) {
		switch {
		case mine == its:
		case its == "":
			out = append(out, "no "+what+" (the object: "+clip(mine, 100)+")")
		default:
			out = append(out, what+" "+clip(its, 100))
		}
	}
	a, b := markersOf(o), markersOf(other)
	differ("hook", a.hook, b.hook)
	differ("delete policy", a.policy, b.policy)
	differ("owner label", pair(a.ownerLabel, a.ownerValue), pair(b.ownerLabel, b.ownerValue))
	differ("finalizer", strings.Join(o.GetFinalizers(), ", "), strings.Join(other.GetFinalizers(), ", "))
	differ("managed-by", a.managedBy, b.managedBy)
	differ("Helm release", a.release, b.release)
	differ("tracking", trackedBy(o), trackedBy(other))
	differ("owner", ownersText(o), ownersText(other))
	if o.GetDeletionTimestamp() != nil && other.GetDeletionTimestamp() == nil {
		out = append(out, "not being deleted")
	}
	if o.GetDeletionTimestamp() == nil && other.GetDeletionTimestamp() != nil {
		out = append(out, "being deleted")
	}
	if d := other.GetCreationTimestamp().Sub(o.GetCreationTimestamp().Time); d != 0 {
		word := "younger"
		if d < 0 {
			word = "older"
		}
		out = append(out, d.Abs().Round(time.Second).String()+" "+word)
	}
	return strings.Join(append(out, "uid "+string(other.GetUID())), "; ")
}

func pair(key, value string) string {
	if key == "" {
		return ""
	}
	return key + "=" + value
}

func trackedBy(o object) string {
	labels := o.GetLabels()
	return cmp.Or(o.GetAnnotations()[argoTracking], labels[fluxKustomize+"/name"], labels[fluxHelm+"/name"])
}

func ownersText(o object) string {
	var out []string
	for _, ref := range o.GetOwnerReferences() {
		out = append(out, strings.ToLower(ref.Kind)+"/"+ref.Name)
	}
	return strings.Join(out, ", ")
}

type lookalikesProbe struct{ env steps.Env }

// Probe implements steps.Prober.
func (p lookalikesProbe) Probe(ctx context.Context, in steps.Params, out steps.Sink) (steps.Observation, error) {
	c, err := connect(p.env, out)
	if err != nil {
		return steps.Observation{}, err
	}
	t, err := c.target(ctx, in)
	if err != nil {
		return steps.Observation{}, err
	}
	obs := steps.Observation{Command: c.kubectl(t.namespace, "get", t.resource.String(), "--show-labels")}
	f := steps.NewFacts(lookalikesFacts())
	o, err := c.get(ctx, t.resource, t.namespace, t.name)
	if errors.Is(err, errAbsent) {
		obs.Summary = t.String() + " is not there."
		obs.Facts = f.Rest(t.String() + " is not there")
		return obs, nil
	}
	if err != nil {
		return steps.Observation{}, err
	}
	m := markersOf(o)
	f.Set("hook", steps.BoolOf(m.hook != ""))
	f.Set("policy", steps.StringOf(m.policy))
	f.Set("owned_by", steps.StringOf(m.ownerValue))
	w, err := c.ownership(ctx, t, o)
	if err != nil {
		return steps.Observation{}, err
	}
	obs.Findings, obs.Gaps = w.findings, w.gaps
	orphan, whyNot, known := isOrphan(o, m, w)
	switch {
	case known:
		f.Set("orphan", steps.BoolOf(orphan))
	default:
		f.Unknown(whyNot, "orphan")
	}
	say := "It is an orphan: held by a finalizer, managed by nobody that can be seen."
	if !orphan {
		say = "It is no orphan: " + whyNot + "."
	}
	if !known {
		say = "Whether it is an orphan is not known: " + whyNot + "."
	}
	obs.Findings = append(obs.Findings, steps.Finding{Level: steps.Info, Say: say})
	like, err := c.lookalikes(ctx, t, o)
	switch {
	case ctx.Err() != nil:
		return steps.Observation{}, fmt.Errorf("look-alikes of %s: %w", t, ctx.Err())
	case err != nil:
		f.Unknown(err.Error(), "decoys", "apart")
		obs.Gaps = append(obs.Gaps, "look-alikes: "+err.Error())
		obs.Summary = "What could be taken for " + t.String() + " is not known."
	default:
		listDecoys(t, like, f, &obs)
	}
	obs.Findings = append(obs.Findings, c.heard.said()...)
	obs.Facts = f.Rest("not read")
	return obs, nil
}

func listDecoys(t target, like []lookalike, f steps.Facts, obs *steps.Observation) {
	names, tells := []string{}, map[string]string{}
	for _, l := range like {
		names, tells[l.name] = append(names, l.name), l.apart
	}
	obs.Summary = fmt.Sprintf("%d objects could be taken for %s.", len(like), t)
	if len(like) > mostDecoys {
		why := fmt.Sprintf("%d objects look like it, more than the %d that a fact names", len(like), mostDecoys)
		f.Unknown(why, "decoys", "apart")
		obs.Gaps = append(obs.Gaps, why)
		return
	}
	f.Set("decoys", steps.StringsOf(names))
	f.Set("apart", steps.TableOf(tells))
}

// isOrphan says whether o is held by a finalizer and managed by nobody. A
// negative needs one sign of a manager, the positive that each place was read.
func isOrphan(o object, m markers, w *ownership) (orphan bool, why string, known bool) {
	by, managed := m.managed()
	switch {
	case len(o.GetFinalizers()) == 0:
		return false, "it has no finalizer", true
	case managed:
		return false, by, true
	case m.release != "":
		return false, "it belongs to the Helm release " + m.release, true
	case w.confirmed:
		return false, "it is owned by " + w.owners[0].Name, true
	case len(w.doubts) > 0:
		return false, strings.Join(w.doubts, "; "), false
	}
	return true, "", true
}
