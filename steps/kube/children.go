package kube

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"handrail/steps"
	"handrail/steps/fault"
)

// brood is what names an object as its owner by UID.
type brood struct {
	names   []string // kind/name, in order
	held    []string // those with finalizers of their own, which they are
	missing []string // what could not be read
	guarded []string // those that are protected, and by what
}

// childrenOf looks through every kind of object in the namespace of o; of a
// cluster-wide owner it sees the cluster-wide children alone. Those that bear a
// mark of p are guarded; nil looks for none.
func childrenOf(ctx context.Context, c *client, t target, o object, p protection) (brood, error) {
	var b brood
	all, trouble := c.listable(t.namespaced)
	if trouble != "" {
		b.missing = append(b.missing, "the kinds of "+trouble+", which discovery failed for")
	}
	if !t.namespaced {
		b.missing = append(b.missing, "children in namespaces, which are not looked through for a cluster-wide owner")
	}
	var mu sync.Mutex
	seen := map[string]bool{}
	slots := make(chan struct{}, listsAtOnce)
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
			err := c.sweep(ctx, r.path(t.namespace, ""), asMetaList, nil, func(child object) {
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
		return brood{}, fmt.Errorf("children of %s: %w", t, ctx.Err())
	}
	slices.Sort(b.names)
	slices.Sort(b.held)
	slices.Sort(b.missing)
	slices.Sort(b.guarded)
	return b, nil
}

func ownedBy(child object, uid string) bool {
	for _, ref := range child.GetOwnerReferences() {
		if string(ref.UID) == uid {
			return true
		}
	}
	return false
}

func (b *brood) add(r resource, child object, p protection) {
	name := strings.ToLower(r.kind) + "/" + child.GetName()
	if why, is := p.of(child); is {
		b.guarded = append(b.guarded, name+" bears "+why)
	}
	b.names = append(b.names, name)
	if held := child.GetFinalizers(); len(held) > 0 {
		b.held = append(b.held, name+" ("+steps.Clip(strings.Join(held, ", "), 200)+")")
	}
}

// mostMissing bounds how many unread kinds a reason names.
const mostMissing = 5

// unread says what of the children could not be read, empty when all was.
func (b brood) unread() string {
	if len(b.missing) > mostMissing {
		return fmt.Sprintf("%s; and %d more", strings.Join(b.missing[:mostMissing], "; "), len(b.missing)-mostMissing)
	}
	return strings.Join(b.missing, "; ")
}

// lacks says why those of one resource could not be read, empty when they were.
func (b brood) lacks(resource string) string {
	for _, m := range b.missing {
		if strings.HasPrefix(m, resource+": ") {
			return m
		}
	}
	return ""
}

// remains says whether something would be left behind: none only when all was
// read, no child is there, and each finalizer is known to guard nothing.
func remains(b brood, keepers map[string]keeper) (steps.Value, string) {
	if len(b.names) > 0 {
		return steps.EnumOf("some"), ""
	}
	if why := b.unread(); why != "" {
		return steps.Value{}, "not all children could be looked for: " + why
	}
	for _, name := range slices.Sorted(maps.Keys(keepers)) {
		if k := keepers[name]; !k.nothing {
			return steps.Value{}, fmt.Sprintf("no child is left, but what %s guards cannot be seen from the cluster (%s)", steps.Clip(name, 200), k.leak)
		}
	}
	return steps.EnumOf("none"), ""
}
