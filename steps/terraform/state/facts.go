package state

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"handrail/steps"
	"handrail/steps/terraform/backend"
	"handrail/steps/terraform/prose"
	"handrail/steps/terraform/tfstate"
)

// Facts are the facts of terraform/state.
func Facts() []steps.Field {
	return []steps.Field{
		{Name: "exists", Type: steps.Bool, Doc: "whether there is a recorded state for the workspace"},
		{Name: "serial", Type: steps.Int, Doc: "number of the newest write"},
		{Name: "lineage", Type: steps.Ident, Doc: "identity of the state since it was created"},
		{Name: "resources", Type: steps.Int, Doc: "managed resource instances"},
		{Name: "written", Type: steps.Time, Doc: "when it was last written"},
		{Name: "tool_version", Type: steps.String, Doc: "version of the tool that wrote it"},
		{Name: "backend", Type: steps.Enum, Values: backend.Names(), Doc: "type of the backend"},
		{Name: "encrypted", Type: steps.Bool, Doc: "whether tofu encrypted it"},
		{Name: "addresses", Type: steps.Strings, Doc: "addresses of the managed resource instances, in order"},
		{Name: "objects", Type: steps.Strings, Doc: "the same, each with what it stands for, as `ADDRESS [id=X]`; the address alone where it has neither id nor name"},
		{Name: "condition", Type: steps.Enum, Values: tfstate.Conditions(), Doc: "sound, encrypted, or the first thing that is wrong with it"},
		{Name: "size", Type: steps.Int, Doc: "bytes of it"},
		{Name: "tainted", Type: steps.Int, Doc: "instances that the next apply replaces"},
		{Name: "deposed", Type: steps.Int, Doc: "objects that wait for their deletion"},
		{Name: "marked", Type: steps.Strings, Doc: "the tainted and deposed ones, `tainted ADDRESS` or `deposed ADDRESS (key)`"},
		{Name: "data_sources", Type: steps.Int, Doc: "instances of data sources"},
		{Name: "outputs", Type: steps.Int, Doc: "outputs"},
		{Name: "sensitive", Type: steps.Int, Doc: "values that the state itself marks as sensitive"},
		{Name: "sensitive_paths", Type: steps.Strings, Doc: "where they are, without the values"},
		{Name: "types", Type: steps.Table, Doc: "type of resource to the number of its instances"},
		{Name: "providers", Type: steps.Table, Doc: "source address of each provider to the number of its instances"},
		{Name: "provider_hosts", Type: steps.Strings, Doc: "registries that the providers come from"},
		{Name: "product", Type: steps.Enum, Values: []string{"opentofu", "terraform", "both", "unclear"},
			Doc: "tool that the registries speak for; the version in the state may be of either"},
		{Name: "hollow", Type: steps.Int, Doc: "resources without instances, which the tools drop without a word"},
	}
}

// counts fills what is known of the instances of a sound state.
func (s *tofuState) counts(f steps.Facts, obs *steps.Observation) {
	for name, n := range map[string]int{"resources": s.count, "tainted": s.tainted, "deposed": s.deposed, "data_sources": s.Data,
		"outputs": s.Outputs, "sensitive": s.Sensitive, "hollow": s.Hollow} {
		f.Set(name, steps.IntOf(int64(n)))
	}
	f.Set("addresses", steps.StringsOf(s.sorted()))
	slices.Sort(s.objects)
	f.Set("objects", steps.StringsOf(s.objects))
	if s.unnamed > 0 {
		f.Unknown(fmt.Sprintf("the attributes of %d instances could not be read", s.unnamed), "objects")
	}
	if s.count > tfstate.MaxAddresses {
		f.Unknown(fmt.Sprintf("%d addresses are too many to list; they are in the artifact", s.count), "addresses", "objects")
	}
	slices.Sort(s.Marks)
	f.Set("marked", steps.StringsOf(s.Marks))
	if len(s.Marks) < s.tainted+s.deposed {
		f.Unknown(fmt.Sprintf("%d are too many to list", s.tainted+s.deposed), "marked")
	}
	f.Set("sensitive_paths", steps.StringsOf(s.Paths))
	f.Set("types", steps.TableOf(prose.Counts(s.Types)))
	f.Set("providers", steps.TableOf(prose.Counts(s.Providers)))
	hosts, product := hostsOf(s.Providers)
	f.Set("provider_hosts", steps.StringsOf(hosts))
	f.Set("product", steps.EnumOf(product))
	warn := func(n int, format string) {
		if n > 0 {
			obs.Say(steps.Warning, format, n)
		}
	}
	warn(s.tainted, "%d instances are tainted: the next apply replaces them.")
	warn(s.deposed, "%d deposed objects wait for their deletion.")
	warn(s.Hollow, "%d resources have no instances: the tools drop them at the next write without a word.")
	warn(s.Unread, "%d instances are too large to look for their sensitive values; the artifact is redacted by path all the same.")
	if product == "both" {
		obs.Findings = append(obs.Findings, steps.Finding{Level: steps.Warning,
			Say: "Providers of both registries are in one state: tofu and terraform have both written it, and neither says so. A state by a newer tool is taken without a word; pin one tool and one version."})
	}
}

// hostsOf tells the tools apart by their registries: the version in a state does
// not.
func hostsOf(providers map[string]int) (hosts []string, product string) {
	seen := map[string]bool{}
	for p := range providers {
		if host, _, ok := strings.Cut(p, "/"); ok {
			seen[host] = true
		}
	}
	tofu, terraform := seen["registry.opentofu.org"], seen["registry.terraform.io"]
	switch {
	case tofu && terraform:
		product = "both"
	case tofu:
		product = "opentofu"
	case terraform:
		product = "terraform"
	default:
		product = "unclear"
	}
	return slices.Sorted(maps.Keys(seen)), product
}
