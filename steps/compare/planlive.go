package compare

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"handrail/steps"
	"handrail/steps/cluster"
	"handrail/steps/terraform/plan"
	"handrail/steps/terraform/state"
	"handrail/steps/terraform/tfplan"
)

func planFacts() []steps.Field {
	return []steps.Field{
		{Name: "creates", Type: steps.Int, Doc: "objects that the plan would create"},
		{Name: "exists", Type: steps.Strings, Doc: "addresses whose object is there already"},
		{Name: "absent", Type: steps.Strings, Doc: "addresses whose object is not there"},
		{Name: "found", Type: steps.Table, Doc: "address of each that was seen to exist to its id, whatever of the others could not be read"},
		{Name: "seen", Type: steps.Strings, Doc: "the same addresses, in order"},
		{Name: "listed", Type: steps.Strings, Doc: "those of which a list alone says that they exist, or do not"},
		{Name: "origin", Type: steps.Table, Doc: "address of each that exists to who seems to have made it"},
		{Name: "ids", Type: steps.Table, Doc: "address of each that exists to its id, as an import takes it"},
		{Name: "import_blocks", Type: steps.String, Doc: "the import blocks to paste for them, empty for none"},
		{Name: "unread", Type: steps.Table, Doc: "address to why nothing is known of it"},
		{Name: "unchecked", Type: steps.Strings, Doc: "addresses of creates that are not of a cluster"},
		{Name: "server", Type: steps.String, Doc: "cluster that was asked"},
	}
}

type planProbe struct{ env steps.Env }

// Probe implements steps.Prober.
func (p planProbe) Probe(ctx context.Context, in steps.Params, out steps.Sink) (steps.Observation, error) {
	if err := ctx.Err(); err != nil {
		return steps.Observation{}, err
	}
	d, name, err := plan.ReadAny(ctx, p.env, in, out)
	if err != nil {
		return steps.Observation{}, err
	}
	told, err := toldBy(p.env, in.Text("list"), out)
	if err != nil {
		return steps.Observation{}, err
	}
	look, none := cluster.OpenLooker(p.env, out)
	if none != nil && !errors.Is(none, cluster.ErrNoCluster) {
		return steps.Observation{}, none
	}
	obs := steps.Observation{Command: "jq '.resource_changes[] | select(.change.actions == [\"create\"])' " + steps.Quote(name) + " && kubectl get KIND NAME -n NAMESPACE"}
	f := steps.NewFacts(planFacts())
	if none == nil {
		f.Set("server", steps.StringOf(look.Server()))
	} else {
		f.Unknown(none.Error()+", and nothing here needs one", "server")
	}
	v := newInventory(look)
	var exists, absent, unchecked, listed []string
	origins, ids, unread := map[string]string{}, map[string]string{}, map[string]string{}
	var blocks strings.Builder
	creates := 0
	for _, c := range d.Changes {
		if c.Act != tfplan.Create || c.Mode != "managed" {
			continue
		}
		creates++
		id, isTold := told[c.Address]
		take := func() {
			listed = append(listed, c.Address)
			if id == state.Absent {
				absent = append(absent, c.Address)
				return
			}
			exists = append(exists, c.Address)
			origins[c.Address], ids[c.Address] = "by the list, not read by handrail", id
			blocks.WriteString(tfplan.ImportBlock(c.Address, id))
		}
		if !strings.HasPrefix(c.Type, "kubernetes_") {
			if isTold {
				take()
			} else {
				unchecked = append(unchecked, c.Address)
			}
			continue
		}
		if none != nil {
			return steps.Observation{}, none
		}
		if !c.Object.Known() {
			if isTold {
				take()
			} else {
				unread[c.Address] = "the plan does not name its object: the name is known after the apply, or the kind is not known to handrail"
			}
			continue
		}
		_, l := v.in(ctx, c.Object)
		if err := ctx.Err(); err != nil {
			return steps.Observation{}, err
		}
		seen, there := l.byName[c.Object.Name]
		switch {
		case there && isTold && id == state.Absent, !there && l.why == "" && isTold && id != state.Absent, there && isTold && id != c.Object.ID:
			unread[c.Address] = fmt.Sprintf("the list says %s, and the cluster says otherwise", steps.Clip(id, 200))
		case there:
			exists = append(exists, c.Address)
			origins[c.Address], ids[c.Address] = origin(seen), c.Object.ID
			blocks.WriteString(tfplan.ImportBlock(c.Address, c.Object.ID))
		case l.why != "" && isTold:
			take()
		case l.why != "":
			unread[c.Address] = l.why
		default:
			absent = append(absent, c.Address)
		}
	}
	f.Set("creates", steps.IntOf(int64(creates)))
	for name, list := range map[string][]string{"exists": exists, "absent": absent, "unchecked": unchecked, "listed": listed, "seen": exists} {
		slices.Sort(list)
		f.Set(name, steps.StringsOf(list))
	}
	f.Set("origin", steps.TableOf(origins))
	f.Set("ids", steps.TableOf(ids))
	f.Set("found", steps.TableOf(ids))
	f.Set("unread", steps.TableOf(unread))
	f.Set("import_blocks", steps.StringOf(blocks.String()))
	if len(unread) > 0 {
		f.Unknown(fmt.Sprintf("%d creates could not be looked for", len(unread)), "exists", "ids", "import_blocks")
	}
	if d.Cut > 0 {
		f.Unknown(fmt.Sprintf("%d changes of the plan are not listed", d.Cut), "creates", "exists", "ids", "absent", "found", "seen", "listed", "import_blocks", "unchecked")
	}
	describe(&obs, creates, exists, origins, unread, unchecked)
	if len(listed) > 0 {
		obs.Say(steps.Warning, "Of %d creates a list alone says whether they exist, first %s. The import asks the provider for each.", len(listed), listed[0])
	}
	obs.Facts = f.Rest("not read")
	return obs, nil
}

func describe(obs *steps.Observation, creates int, exists []string, origins, unread map[string]string, unchecked []string) {
	obs.Summary = fmt.Sprintf("Of %d creates, %d exist already.", creates, len(exists))
	for _, a := range exists[:min(len(exists), 25)] {
		obs.Say(steps.Critical, "%s is there already (%s): a create fails, does nothing, or lets its operator make it anew. Import it, one at a time with a plan between, or take it out of the configuration.", a, origins[a])
	}
	if len(exists) > 0 {
		obs.Say(steps.Warning, "An apply without -target would run into all of them at once. The import blocks are in the fact import_blocks; an import shows by its plan what it would change.")
	}
	if n := len(unread); n > 0 {
		obs.Gaps = append(obs.Gaps, fmt.Sprintf("%d creates could not be looked for", n))
	}
	if n := len(unchecked); n > 0 {
		obs.Gaps = append(obs.Gaps, fmt.Sprintf("%d creates are not of a cluster: whether they exist is unknown", n))
	}
}

// toldBy is what a list says of addresses: the id of what exists, - of what does not.
func toldBy(env steps.Env, name string, out steps.Sink) (map[string]string, error) {
	if name == "" {
		return nil, nil
	}
	text, err := state.ReadList(env, name)
	if err != nil {
		return nil, fmt.Errorf("the list: %w", err)
	}
	list, why := state.ParsePairs(text)
	if why != "" {
		return nil, fmt.Errorf("the list %s: %s", name, why)
	}
	told := map[string]string{}
	for _, p := range list {
		if old, twice := told[p.Address]; twice && old != p.ID {
			return nil, fmt.Errorf("the list %s has two ids for %s", name, steps.Clip(p.Address, 300))
		}
		told[p.Address] = p.ID
	}
	if gap := keep(out, "list", text); gap != "" {
		return nil, errors.New(gap)
	}
	return told, nil
}
