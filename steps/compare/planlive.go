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
	"handrail/steps/terraform/tfplan"
)

func planFacts() []steps.Field {
	return []steps.Field{
		{Name: "creates", Type: steps.Int, Doc: "objects that the plan would create"},
		{Name: "exists", Type: steps.Strings, Doc: "addresses whose object is there already"},
		{Name: "absent", Type: steps.Strings, Doc: "addresses whose object is not there"},
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
	d, name, err := plan.ReadJSON(ctx, p.env, in, out)
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
	var exists, absent, unchecked []string
	origins, ids, unread := map[string]string{}, map[string]string{}, map[string]string{}
	var blocks strings.Builder
	creates := 0
	for _, c := range d.Changes {
		if c.Act != tfplan.Create || c.Mode != "managed" {
			continue
		}
		creates++
		if !strings.HasPrefix(c.Type, "kubernetes_") {
			unchecked = append(unchecked, c.Address)
			continue
		}
		if none != nil {
			return steps.Observation{}, none
		}
		if !c.Object.Known() {
			unread[c.Address] = "the plan does not name its object: the name is known after the apply, or the kind is not known to handrail"
			continue
		}
		_, l := v.in(ctx, c.Object)
		if err := ctx.Err(); err != nil {
			return steps.Observation{}, err
		}
		seen, there := l.byName[c.Object.Name]
		switch {
		case there:
			exists = append(exists, c.Address)
			origins[c.Address], ids[c.Address] = origin(seen), c.Object.ID
			blocks.WriteString(tfplan.ImportBlock(c.Address, c.Object.ID))
		case l.why != "":
			unread[c.Address] = l.why
		default:
			absent = append(absent, c.Address)
		}
	}
	f.Set("creates", steps.IntOf(int64(creates)))
	for name, list := range map[string][]string{"exists": exists, "absent": absent, "unchecked": unchecked} {
		slices.Sort(list)
		f.Set(name, steps.StringsOf(list))
	}
	f.Set("origin", steps.TableOf(origins))
	f.Set("ids", steps.TableOf(ids))
	f.Set("unread", steps.TableOf(unread))
	f.Set("import_blocks", steps.StringOf(blocks.String()))
	if len(unread) > 0 {
		f.Unknown(fmt.Sprintf("%d creates could not be looked for", len(unread)), "exists", "ids", "import_blocks")
	}
	if d.Cut > 0 {
		f.Unknown(fmt.Sprintf("%d changes of the plan are not listed", d.Cut), "creates", "exists", "ids", "absent", "import_blocks", "unchecked")
	}
	describe(&obs, creates, exists, origins, unread, unchecked)
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
