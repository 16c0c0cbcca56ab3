package helm

import (
	"handrail/steps"
	"handrail/steps/cluster"
)

// releaseName is what helm takes as the name of a release (helm.sh/helm/v3,
// pkg/chartutil/validate_name.go).
const releaseName = `[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*`

// Kinds are the step kinds of this package.
func Kinds() []steps.Kind {
	return []steps.Kind{{
		Name: "kube/helm-release", Class: steps.Probe, Facts: facts(),
		Params: []steps.Field{
			{Name: "release", Type: steps.String, Required: true, Pattern: releaseName, Doc: "name of the release, as helm list has it"},
			{Name: "namespace", Type: steps.String, Pattern: cluster.NamespaceName, Doc: "namespace that its records are in, if not that of the context"},
		},
		Doc:     "Reads the revisions of a Helm release from the labels of its records: which is in force, which one hangs in pending, since when, and what was written meanwhile. Values of the release are not read.",
		Touches: []string{"lists the metadata of Secrets and ConfigMaps of the release", "lists the metadata of workloads, Services and ConfigMaps", "lists Jobs", "lists HelmReleases, where Flux is installed"},
		Reads:   func(e steps.Env) steps.Prober { return probe{e} },
	}}
}

func facts() []steps.Field {
	return []steps.Field{
		{Name: "exists", Type: steps.Bool, Doc: "whether any revision is recorded here"},
		{Name: "revision", Type: steps.Int, Doc: "the newest revision"},
		{Name: "status", Type: steps.Enum, Values: statuses(), Doc: "its status"},
		{Name: "pending", Type: steps.Bool, Doc: "whether it is pending-install, pending-upgrade or pending-rollback, so that helm refuses to go on"},
		{Name: "began", Type: steps.Time, Doc: "when its record was made, before anything was changed"},
		{Name: "age", Type: steps.Duration, Ages: true, Doc: "how long ago that is"},
		{Name: "deployed", Type: steps.Int, Doc: "the newest revision that is in force; 0 where there is none"},
		{Name: "history", Type: steps.Strings, Doc: "the revisions, the newest first"},
		{Name: "resource", Type: steps.String, Doc: "kind of the newest record: secrets or configmaps"},
		{Name: "name", Type: steps.String, Doc: "name of that record"},
		{Name: "uid", Type: steps.Ident, Doc: "UID of that record"},
		{Name: "touched", Type: steps.Strings, Doc: "workloads, Services, ConfigMaps and Jobs of the release that helm wrote since the newest revision began"},
		{Name: "hooks", Type: steps.Strings, Doc: "Jobs of hooks that run in the namespace now"},
		{Name: "controller", Type: steps.String, Doc: "HelmRelease of Flux that owns the release, empty where none does"},
		{Name: "suspended", Type: steps.Bool, Doc: "whether that HelmRelease is suspended"},
	}
}
