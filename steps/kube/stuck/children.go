package stuck

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"handrail/steps"
	"handrail/steps/cluster"
	"handrail/steps/fault"
	"handrail/steps/kube/object"
)

// OwnedObjects is what names an object as its owner by UID.
type OwnedObjects struct {
	Names   []string // kind/name, in order
	Held    []string // those with finalizers of their own, which they are
	missing []string // what could not be read
	Guarded []string // those that are protected, and by what
}

// Children looks through every kind of object in the namespace of o; of a
// cluster-wide owner it sees the cluster-wide children alone. Those that bear a
// mark of p are guarded; nil looks for none.
func Children(ctx context.Context, c *cluster.Client, t cluster.Target, o cluster.Object, p object.Protection) (OwnedObjects, error) {
	var b OwnedObjects
	all, trouble := c.Listable(t.Namespaced)
	if trouble != "" {
		b.missing = append(b.missing, "the kinds of "+trouble+", which discovery failed for")
	}
	if !t.Namespaced {
		b.missing = append(b.missing, "children in namespaces, which are not looked through for a cluster-wide owner")
	}
	var mu sync.Mutex
	seen := map[string]bool{}
	slots := make(chan struct{}, cluster.ListsAtOnce)
	var wait sync.WaitGroup
	for _, r := range all {
		wait.Go(func() {
			defer fault.To(func(err error) {
				mu.Lock()
				defer mu.Unlock()
				b.missing = append(b.missing, r.String()+": "+err.Error())
			})
			slots <- struct{}{}
			defer func() { <-slots }()
			err := c.List(ctx, r.Path(t.Namespace, ""), cluster.AsMetaList, nil, func(child cluster.Object) {
				if !ownedBy(child, string(o.GetUID())) {
					return
				}
				mu.Lock()
				defer mu.Unlock()
				if uid := string(child.GetUID()); !seen[uid] { // one object may be served under two groups
					seen[uid] = true
					b.add(r, child, p)
				}
			})
			if err != nil {
				mu.Lock()
				defer mu.Unlock()
				b.missing = append(b.missing, r.String()+": "+err.Error())
			}
		})
	}
	wait.Wait()
	if ctx.Err() != nil {
		return OwnedObjects{}, fmt.Errorf("children of %s: %w", t, ctx.Err())
	}
	slices.Sort(b.Names)
	slices.Sort(b.Held)
	slices.Sort(b.missing)
	slices.Sort(b.Guarded)
	return b, nil
}

func ownedBy(child cluster.Object, uid string) bool {
	for _, ref := range child.GetOwnerReferences() {
		if string(ref.UID) == uid {
			return true
		}
	}
	return false
}

func (b *OwnedObjects) add(r cluster.Resource, child cluster.Object, p object.Protection) {
	name := strings.ToLower(r.Kind) + "/" + child.GetName()
	if why, is := p.Of(child); is {
		b.Guarded = append(b.Guarded, name+" bears "+why)
	}
	b.Names = append(b.Names, name)
	if held := child.GetFinalizers(); len(held) > 0 {
		b.Held = append(b.Held, name+" ("+steps.Clip(strings.Join(held, ", "), 200)+")")
	}
}

// mostMissing bounds how many unread kinds a reason names.
const mostMissing = 5

// Unread says what of the children could not be read, empty when all was.
func (b OwnedObjects) Unread() string {
	if len(b.missing) > mostMissing {
		return fmt.Sprintf("%s; and %d more", strings.Join(b.missing[:mostMissing], "; "), len(b.missing)-mostMissing)
	}
	return strings.Join(b.missing, "; ")
}

// Lacks says why those of one resource could not be read, empty when they were.
func (b OwnedObjects) Lacks(resource string) string {
	for _, m := range b.missing {
		if strings.HasPrefix(m, resource+": ") {
			return m
		}
	}
	return ""
}

// remains says whether something would be left behind: none only when all was
// read, no child is there, and each finalizer is known to guard nothing.
func remains(b OwnedObjects, keepers map[string]Keeper) (steps.Value, string) {
	if len(b.Names) > 0 {
		return steps.EnumOf("some"), ""
	}
	if why := b.Unread(); why != "" {
		return steps.Value{}, "not all children could be looked for: " + why
	}
	for _, name := range slices.Sorted(maps.Keys(keepers)) {
		if k := keepers[name]; !k.Nothing {
			return steps.Value{}, fmt.Sprintf("no child is left, but what %s guards cannot be seen from the cluster (%s)", steps.Clip(name, 200), k.Leak)
		}
	}
	return steps.EnumOf("none"), ""
}
