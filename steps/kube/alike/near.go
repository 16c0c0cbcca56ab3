package alike

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"handrail/steps"
	"handrail/steps/cluster"
	"handrail/steps/kube/owner"
)

// Near lists the objects of the same resource and namespace that share a
// name stem, a label that means something or the kind of a hook with o.
func Near(ctx context.Context, c *cluster.Client, t cluster.Target, o cluster.Object) ([]Lookalike, error) {
	a := newAlike(o)
	if err := c.List(ctx, t.Path(t.Namespace, ""), cluster.AsMetaList, nil, a.see); err != nil {
		return nil, err
	}
	return a.found(), nil
}

// alike compares objects with one, as they are listed: of a namespace with many
// only a line each is kept.
type alike struct {
	o    cluster.Object
	all  int
	bear map[string]int // label of o to how many bear the same pair
	like []resemblance
}

// resemblance is an object that may be taken for another.
type resemblance struct {
	Lookalike
	why    []string // beside labels
	shared []string // labels of the same value
}

func newAlike(o cluster.Object) *alike { return &alike{o: o, bear: map[string]int{}} }

func (a *alike) see(other cluster.Object) {
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
	if owner.MarkersOf(a.o).Hook != "" && owner.MarkersOf(other).Hook != "" {
		r.why = append(r.why, "a hook too")
	}
	if len(r.why)+len(r.shared) > 0 {
		r.Lookalike = Lookalike{Name: other.GetName(), uid: string(other.GetUID()), Apart: apart(a.o, other)}
		a.like = append(a.like, r)
	}
}

// enoughToTell is how many objects make a label universal when all bear it: of
// a few, a shared label is what makes them alike.
const enoughToTell = 10

// tells reports whether a label of o that others share means something.
func (a *alike) tells(key string) bool { return a.bear[key] < a.all || a.all < enoughToTell }

func (a *alike) found() []Lookalike {
	var like []resemblance
	var out []Lookalike
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
			r.shared, r.Apart = shared, strings.Join(r.why, ", ")+"; "+r.Apart
			like = append(like, r)
		}
	}
	slices.SortFunc(like, closest)
	for _, r := range like {
		out = append(out, r.Lookalike)
	}
	return out
}

// closest puts first what is taken for the object most easily.
func closest(a, b resemblance) int {
	return cmp.Or(cmp.Compare(len(b.why), len(a.why)), cmp.Compare(len(b.shared), len(a.shared)), cmp.Compare(a.Name, b.Name))
}

// apart says what tells other from o.
func apart(o, other cluster.Object) string {
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
	a, b := owner.MarkersOf(o), owner.MarkersOf(other)
	differ("hook", a.Hook, b.Hook)
	differ("delete policy", a.Policy, b.Policy)
	differ("owner label", pair(a.OwnerLabel, a.OwnerValue), pair(b.OwnerLabel, b.OwnerValue))
	differ("finalizer", strings.Join(o.GetFinalizers(), ", "), strings.Join(other.GetFinalizers(), ", "))
	differ("managed-by", a.ManagedBy, b.ManagedBy)
	differ("Helm release", a.Release, b.Release)
	differ("tracking", owner.TrackedBy(o), owner.TrackedBy(other))
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

func ownersText(o cluster.Object) string {
	var out []string
	for _, ref := range o.GetOwnerReferences() {
		out = append(out, strings.ToLower(ref.Kind)+"/"+ref.Name)
	}
	return strings.Join(out, ", ")
}
