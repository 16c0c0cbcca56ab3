package kube

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"handrail/steps"
)

// lookNear lists the objects of the same resource and namespace that share a
// name stem, a label that means something or the kind of a hook with o.
func lookNear(ctx context.Context, c *client, t target, o object) ([]lookalike, error) {
	a := newAlike(o)
	if err := c.sweep(ctx, t.path(t.namespace, ""), asMetaList, nil, a.see); err != nil {
		return nil, err
	}
	return a.found(), nil
}

// alike compares objects with one, as they are listed: of a namespace with many
// only a line each is kept.
type alike struct {
	o    object
	all  int
	bear map[string]int // label of o to how many bear the same pair
	like []resemblance
}

// resemblance is an object that may be taken for another.
type resemblance struct {
	lookalike
	why    []string // beside labels
	shared []string // labels of the same value
}

func newAlike(o object) *alike { return &alike{o: o, bear: map[string]int{}} }

func (a *alike) see(other object) {
	a.all++
	var r resemblance
	theirs := other.GetLabels()
	for key, value := range a.o.GetLabels() {
		if theirs[key] == value {
			a.bear[key]++
			r.shared = append(r.shared, key)
		}
	}
	if other.GetUID() == a.o.GetUID() || other.GetName() == a.o.GetName() {
		return
	}
	if sameStem(a.o.GetName(), other.GetName()) {
		r.why = append(r.why, "alike by name")
	}
	if markersOf(a.o).hook != "" && markersOf(other).hook != "" {
		r.why = append(r.why, "a hook too")
	}
	if len(r.why)+len(r.shared) > 0 {
		r.lookalike = lookalike{name: other.GetName(), uid: string(other.GetUID()), apart: apart(a.o, other)}
		a.like = append(a.like, r)
	}
}

// enoughToTell is how many objects make a label universal when all bear it: of
// a few, a shared label is what makes them alike.
const enoughToTell = 10

// tells reports whether a label of o that others share means something.
func (a *alike) tells(key string) bool { return a.bear[key] < a.all || a.all < enoughToTell }

func (a *alike) found() []lookalike {
	var like []resemblance
	var out []lookalike
	for _, r := range a.like {
		var shared []string
		for _, key := range r.shared {
			if a.tells(key) {
				shared = append(shared, steps.Clip(key+"="+a.o.GetLabels()[key], 150))
			}
		}
		slices.Sort(shared)
		if len(shared) > 0 {
			r.why = append(r.why, "alike by label "+shared[0])
		}
		if len(r.why) > 0 {
			r.shared, r.apart = shared, strings.Join(r.why, ", ")+"; "+r.apart
			like = append(like, r)
		}
	}
	slices.SortFunc(like, closest)
	for _, r := range like {
		out = append(out, r.lookalike)
	}
	return out
}

// closest puts first what is taken for the object most easily.
func closest(a, b resemblance) int {
	return cmp.Or(cmp.Compare(len(b.why), len(a.why)), cmp.Compare(len(b.shared), len(a.shared)), cmp.Compare(a.name, b.name))
}

// apart says what tells other from o.
func apart(o, other object) string {
	var out []string
	differ := func(what, mine, its string) {
		switch {
		case mine == its:
		case its == "":
			out = append(out, "no "+what+" (the object: "+steps.Clip(mine, 100)+")")
		default:
			out = append(out, what+" "+steps.Clip(its, 100))
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

func ownersText(o object) string {
	var out []string
	for _, ref := range o.GetOwnerReferences() {
		out = append(out, strings.ToLower(ref.Kind)+"/"+ref.Name)
	}
	return strings.Join(out, ", ")
}
