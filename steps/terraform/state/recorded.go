package state

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"handrail/steps"
	"handrail/steps/terraform/tfstate"
)

// RecordedFacts are the facts of terraform/recorded.
func RecordedFacts() []steps.Field {
	return []steps.Field{
		{Name: "recorded", Type: steps.Bool, Doc: "whether the state has the address"},
		{Name: "type", Type: steps.String, Doc: "type of the resource"},
		{Name: "name", Type: steps.String, Doc: "name of the object that it stands for"},
		{Name: "namespace", Type: steps.String, Doc: "namespace of that object, empty for none"},
		{Name: "uid", Type: steps.Ident, Doc: "UID of that object, empty where the state keeps none"},
		{Name: "rv", Type: steps.Ident, Doc: "resourceVersion of the write that was recorded, empty where the state keeps none"},
		{Name: "entries", Type: steps.Table, Doc: "of a ConfigMap, each key of its data to the recorded text; unknown of anything else, and where it is sensitive"},
	}
}

// RecordedProbe is terraform/recorded.
type RecordedProbe struct{ Env steps.Env }

// Probe implements steps.Prober.
func (p RecordedProbe) Probe(ctx context.Context, in steps.Params, out steps.Sink) (steps.Observation, error) {
	address := in.Text("address")
	f := steps.NewFacts(RecordedFacts())
	obs := steps.Observation{}
	found := false
	where, err := Visit(ctx, p.Env, in, out, func(i *tfstate.Instance) error {
		if i.Address != address || i.Mode != "managed" || i.Deposed != "" {
			return nil
		}
		found = true
		o, isObject := i.Kubernetes()
		if i.Type == "" || !isObject {
			f.Unknown("the state names no object of a cluster there", "name", "namespace", "uid", "rv")
		} else {
			f.Set("name", steps.StringOf(o.Name))
			f.Set("namespace", steps.StringOf(o.Namespace))
			f.Set("uid", steps.IdentOf(o.UID))
			f.Set("rv", steps.IdentOf(o.RV))
		}
		f.Set("type", steps.StringOf(i.Type))
		entries, why := i.Entries()
		if why != "" {
			f.Unknown(why, "entries")
			obs.Gaps = append(obs.Gaps, "the recorded values of "+address+": "+why)
		} else {
			f.Set("entries", steps.TableOf(entries))
		}
		obs.Summary = fmt.Sprintf("The state records %s as %s/%s, resourceVersion %s: %s.", address, o.Namespace, o.Name, o.RV, listed(entries))
		return nil
	})
	if err != nil {
		return steps.Observation{}, err
	}
	obs.Command = "tofu state show " + steps.Quote(address)
	f.Set("recorded", steps.BoolOf(found))
	if !found {
		obs.Summary = fmt.Sprintf("The state at %s does not have %s.", where, address)
		f.Set("entries", steps.TableOf(map[string]string{}))
	}
	obs.Facts = f.Rest("the state does not have the address")
	return obs, nil
}

// listed are entries in a line.
func listed(entries map[string]string) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(entries)) {
		parts = append(parts, name+"="+steps.Clip(entries[name], 60))
	}
	return steps.Clip(strings.Join(parts, " "), 300)
}
