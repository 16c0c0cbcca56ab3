package stuck

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"handrail/steps"
	"handrail/steps/cluster"
	"handrail/steps/kube/blame"
)

func finalizersFacts() []steps.Field {
	return []steps.Field{
		{Name: "exists", Type: steps.Bool, Doc: "whether the object is there"},
		{Name: "uid", Type: steps.Ident, Doc: "its UID"},
		{Name: "terminating", Type: steps.Bool, Doc: "whether its deletion was asked for"},
		{Name: "names", Type: steps.Strings, Doc: "finalizers, in order"},
		{Name: "count", Type: steps.Int, Doc: "how many finalizers"},
		{Name: "only", Type: steps.String, Doc: "the finalizer, where there is exactly one"},
		{Name: "keepers", Type: steps.Table, Doc: "finalizer to the controller that must remove it, with its state"},
		{Name: "set_by", Type: steps.Table, Doc: "finalizer to the manager that wrote it and when, by managedFields: a lead, not a proof"},
		{Name: "leaks", Type: steps.Table, Doc: "finalizer to what stays behind when it is stripped"},
		{Name: "keeper_alive", Type: steps.Enum, Values: []string{"alive", "dead"}, Doc: "alive when one keeper is, dead only when each is proven gone"},
		{Name: "keeper_unseen", Type: steps.Bool, Doc: "whether some finalizer has no keeper in this cluster, which was looked through whole: only a person can say where it is"},
		{Name: "children", Type: steps.Strings, Doc: "objects that name it as owner by UID, as kind/name"},
		{Name: "remains", Type: steps.Enum, Values: []string{"none", "some"}, Doc: "whether something would be left behind; none only on proof"},
		{Name: "waits_for", Type: steps.Table, Doc: "what still uses a claim or a volume, so that its protection stays, with its state; empty for other finalizers"},
		{Name: "reclaim_policy", Type: steps.String, Doc: "what becomes of the volume of a claim when the claim is gone, empty without a volume"},
		{Name: "blocker", Type: steps.Enum, Values: []string{"none", "finalizer", "discovery", "webhook", "content"}, Doc: "what holds the deletion"},
	}
}

type finalizersProbe struct{ env steps.Env }

// Probe implements steps.Prober.
func (p finalizersProbe) Probe(ctx context.Context, in steps.Params, out steps.Sink) (steps.Observation, error) {
	c, t, err := cluster.Reach(ctx, p.env, in, out)
	if err != nil {
		return steps.Observation{}, err
	}
	h := finalizersRun{Client: c, Target: t, facts: steps.NewFacts(finalizersFacts())}
	h.obs.Command = c.Kubectl(t.Namespace, "get", t.Resource.String(), t.Name, "-o", "jsonpath={.metadata.finalizers}")
	h.Object, err = c.Get(ctx, t.Resource, t.Namespace, t.Name)
	switch {
	case errors.Is(err, cluster.ErrAbsent):
		h.facts.Set("exists", steps.BoolOf(false))
		h.facts.Set("names", steps.StringsOf(nil))
		h.facts.Set("count", steps.IntOf(0))
		h.facts.Set("keeper_unseen", steps.BoolOf(false))
		h.facts.Set("waits_for", steps.TableOf(nil))
		h.obs.Summary = t.String() + " is not there: nothing holds it."
		h.obs.Facts = h.facts.Rest(t.String() + " is not there")
		return h.obs, nil
	case err != nil:
		return steps.Observation{}, err
	}
	for _, part := range []func(context.Context) error{
		func(context.Context) error { h.named(); return nil },
		func(ctx context.Context) error { return h.keepers(ctx, in.Text("controller")) },
		h.waits, h.ownedObjects, h.apis,
	} {
		if err := part(ctx); err != nil {
			return steps.Observation{}, err
		}
		if err := ctx.Err(); err != nil {
			return steps.Observation{}, fmt.Errorf("finalizers of %s: %w", t, err)
		}
	}
	h.sum()
	h.obs.Findings = append(h.obs.Findings, c.Warnings()...)
	h.obs.Facts = h.facts.Rest("not read")
	return h.obs, nil
}

// finalizersRun fills in the facts on what holds one object.
type finalizersRun struct {
	*cluster.Client
	cluster.Target
	cluster.Object
	facts steps.Facts
	obs   steps.Observation
	kept  map[string]Keeper

	waited []string // what the keeper of storage waits for
}

// named tells what the object itself says.
func (h *finalizersRun) named() {
	f, names := h.facts, h.GetFinalizers()
	f.Set("exists", steps.BoolOf(true))
	f.Set("uid", steps.IdentOf(string(h.GetUID())))
	f.Set("terminating", steps.BoolOf(h.GetDeletionTimestamp() != nil))
	f.Set("names", steps.StringsOf(names))
	f.Set("count", steps.IntOf(int64(len(names))))
	if len(names) == 1 {
		f.Set("only", steps.StringOf(names[0]))
	} else {
		f.Unknown(fmt.Sprintf("there are %d finalizers", len(names)), "only")
	}
	set := map[string]string{}
	for _, name := range names {
		var by []string
		for _, w := range blame.SetBy(h.Object, name) {
			by = append(by, w.String())
		}
		if set[name] = strings.Join(by, ", "); len(by) == 0 {
			set[name] = "no writer is recorded: admission or a controller of the server added it"
		}
	}
	f.Set("set_by", steps.TableOf(set))
	is, why := blocker(h.Target, h.Object)
	if why != "" {
		f.Unknown(why, "blocker")
		h.obs.Gaps = append(h.obs.Gaps, "blocker: "+why)
	} else {
		f.Set("blocker", steps.EnumOf(is))
	}
	if h.Target.Group == "" && h.Target.Kind == "Namespace" {
		h.obs.Findings = append(h.obs.Findings, namespaceSays(h.Object)...)
	}
}

// keepers tells who must remove each finalizer.
func (h *finalizersRun) keepers(ctx context.Context, controller string) error {
	h.kept = map[string]Keeper{}
	states, leaks := map[string]string{}, map[string]string{}
	var seen []Sight
	unseen := false
	for _, name := range h.GetFinalizers() {
		k, err := KeeperOf(ctx, h.Client, h.Target, h.Object, name, controller)
		if err != nil {
			return err
		}
		h.kept[name] = k
		if len(k.Ties) > 0 {
			h.obs.Say(steps.Info, "That %s keeps %s is seen in the cluster: %s.", k.Name, steps.Clip(name, 200), steps.Clip(strings.Join(k.Ties, "; "), 600))
		}
		if k.Leads != "" {
			h.obs.Say(steps.Warning, "Evidence on who keeps %s points to %s.", steps.Clip(name, 200), k.Leads)
		}
		states[name], leaks[name] = k.Name+" ("+k.State+")", k.Leak
		seen = append(seen, Sight{Alive: k.Alive, Why: k.Why})
		unseen = unseen || k.Unseen
		if words := whoKeeps(name, k, controller); words != "" {
			h.obs.Say(steps.Warning, "%s", words)
		}
		if k.Alive == Unknown {
			h.obs.Gaps = append(h.obs.Gaps, fmt.Sprintf("keeper of %s: %s", steps.Clip(name, 200), k.Why))
		}
	}
	h.facts.Set("keeper_unseen", steps.BoolOf(unseen))
	h.facts.Set("keepers", steps.TableOf(states))
	h.facts.Set("leaks", steps.TableOf(leaks))
	if len(seen) == 0 {
		h.facts.Unknown("it has no finalizer", "keeper_alive")
		return nil
	}
	if s := weigh(seen); s.Alive == Unknown {
		h.facts.Unknown(s.Why, "keeper_alive")
	} else {
		h.facts.Set("keeper_alive", steps.EnumOf(string(s.Alive)))
	}
	return nil
}

// whoKeeps says at once that the keeper of a finalizer is not known, and the ways on;
// "" where it is.
func whoKeeps(name string, k Keeper, controller string) string {
	name = steps.Clip(name, 200)
	switch {
	case k.Alive != Unknown:
		return ""
	case controller != "":
		return fmt.Sprintf("Whether %s keeps %s, and lives, is not known: %s.", k.Name, name, steps.Clip(k.Why, 600))
	case k.Unseen:
		return fmt.Sprintf("The controller of %s is not known, and nothing in this cluster is tied to it. Name its workload with the parameter controller, or say that it runs outside this cluster or is not known.", name)
	case k.Name == "unknown":
		return fmt.Sprintf("The controller of %s is not known. Name its workload with the parameter controller.", name)
	}
	return ""
}

// ownedObjects tells what the object owns, and whether something would be left behind.
func (h *finalizersRun) ownedObjects(ctx context.Context) error {
	b, err := Children(ctx, h.Client, h.Target, h.Object, nil)
	if err != nil {
		return err
	}
	if why := b.Unread(); why != "" {
		if len(b.Names) > 0 {
			why += "; seen so far: " + steps.Clip(strings.Join(b.Names, ", "), 1000)
		}
		h.facts.Unknown(why, "children")
		for _, m := range b.missing {
			h.obs.Gaps = append(h.obs.Gaps, "children: "+m)
		}
	} else {
		h.facts.Set("children", steps.StringsOf(b.Names))
	}
	if len(b.Held) > 0 {
		h.obs.Say(steps.Warning, "Children with finalizers of their own may be what holds it: %s.", steps.Clip(strings.Join(b.Held, "; "), 1000))
	}
	if v, why := remains(b, h.kept); why != "" {
		h.facts.Unknown(why, "remains")
	} else {
		h.facts.Set("remains", v)
	}
	return nil
}

// apis tells which API services are dead; they hold namespaces, and blind
// discovery.
func (h *finalizersRun) apis(ctx context.Context) error {
	found, err := deadAPIs(ctx, h.Client)
	if err != nil {
		h.obs.Gaps = append(h.obs.Gaps, "API services: "+err.Error())
	}
	h.obs.Findings = append(h.obs.Findings, found...)
	return nil
}

func (h *finalizersRun) sum() {
	names := h.GetFinalizers()
	state := "is not being deleted"
	if h.GetDeletionTimestamp() != nil {
		state = "is being deleted"
	}
	if len(names) == 0 {
		h.obs.Summary = fmt.Sprintf("%s %s and has no finalizer.", h.Target, state)
		return
	}
	var held []string
	for _, name := range names {
		k := h.kept[name]
		if k.Name == string(Unknown) {
			held = append(held, steps.Clip(name, 200)+", whose controller is not known")
			continue
		}
		held = append(held, fmt.Sprintf("%s, kept by %s (%s)", steps.Clip(name, 200), k.Name, k.Alive))
	}
	h.obs.Summary = fmt.Sprintf("%s %s and is held by %s.", h.Target, state, strings.Join(held, "; "))
	if len(h.waited) > 0 {
		h.obs.Summary += " It waits for " + steps.Clip(strings.Join(h.waited, ", "), 300) + "."
	}
}
