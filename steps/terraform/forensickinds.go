package terraform

import (
	"handrail/steps"
	"handrail/steps/terraform/configuration"
	"handrail/steps/terraform/plan"
	"handrail/steps/terraform/registry"
	"handrail/steps/terraform/state"
)

// forensicKinds returns the kinds that look at what runs left behind.
func forensicKinds(dir, workspace steps.Field) []steps.Kind {
	return []steps.Kind{
		{
			Name:  "terraform/recorded",
			Doc:   "Reads what the state records of one object of a cluster: which object, which write of it, and of a ConfigMap its texts.",
			Class: steps.Probe,
			Params: []steps.Field{dir, workspace,
				{Name: "address", Type: steps.String, Required: true, Doc: "address of the resource instance, as the state names it"},
			},
			Facts:   state.RecordedFacts(),
			Touches: []string{"reads the backend settings in .terraform", "reads the state file, or gets the Secret, or reads the state from the server of the backend"},
			Reads:   func(e steps.Env) steps.Prober { return state.RecordedProbe{Env: e} },
		},
		{
			Name:  "terraform/state-diff",
			Doc:   "Compares a copy of a state, or a version in the backend, with another copy, or with the present state: what is missing, added, changed or moved, and whether two writers raced.",
			Class: steps.Probe,
			Params: []steps.Field{dir, workspace,
				{Name: "before", Type: steps.Path, Doc: "copy of the state to compare from"},
				{Name: "version", Type: steps.String, Doc: "id of a version in the backend to compare from, instead of a copy"},
				{Name: "after", Type: steps.Path, Doc: "copy to compare with, instead of the present state"},
			},
			Facts:   state.DiffFacts(),
			Touches: []string{"reads the files, or lists the versions of the backend and reads one", "reads the backend settings in .terraform and the present state, unless after is given"},
			Reads:   func(e steps.Env) steps.Prober { return state.DiffProbe{Env: e} },
		},
		{
			Name:    "terraform/state-files",
			Doc:     "Finds errored.tfstate and the copies of the state in the directory, and says how each relates to the recorded state.",
			Class:   steps.Probe,
			Params:  []steps.Field{dir, workspace},
			Facts:   state.FileFacts(),
			Touches: []string{"reads the backend settings in .terraform and the present state", "reads errored.tfstate and *.backup"},
			Reads:   func(e steps.Env) steps.Prober { return state.FilesProbe{Env: e} },
		},
		{
			Name:  "terraform/plan-file",
			Doc:   "Reads a saved plan, or the output of `show -json` of one, without running a program: what it would do and why, what looks only renamed, what a saved plan is bound to and whether that still holds.",
			Class: steps.Probe,
			Params: []steps.Field{dir, workspace,
				{Name: "file", Type: steps.Path, Required: true, Doc: "saved plan, or its JSON"},
				{Name: "tool_version", Type: steps.String, Doc: "version of the tool that would apply it"},
			},
			Facts:   plan.FileFacts(),
			Touches: []string{"reads the file", "reads the backend settings in .terraform and the present state", "reads the configuration and .terraform.lock.hcl"},
			Reads:   func(e steps.Env) steps.Prober { return plan.FileProbe{Env: e} },
		},
		{
			Name:  "terraform/lock-file",
			Doc:   "Reads .terraform.lock.hcl without running a program: which providers it pins, whether the configuration can live with them, whether the mirror has them under the same checksum, and whether the file is the one in Git.",
			Class: steps.Probe,
			Params: []steps.Field{dir,
				{Name: "base", Type: steps.String, Pattern: `[A-Za-z0-9][A-Za-z0-9._/@+-]*`, Default: "HEAD", Doc: "commit, branch or tag whose lock file it is compared with"},
				{Name: "mirror", Type: steps.Path, Doc: "filesystem mirror to compare with, instead of those that the CLI configuration names"},
				{Name: "platform", Type: steps.String, Pattern: `[a-z0-9]+_[a-z0-9]+`, Doc: "os_arch of the machine that initialises, instead of this one"},
			},
			Facts:   configuration.LockFileFacts(),
			Touches: []string{"reads .terraform.lock.hcl, the configuration, and the installed modules", "reads the CLI configuration and the mirrors that it names", "reads the objects of the git clone, without git"},
			Reads:   func(e steps.Env) steps.Prober { return configuration.LockFileProbe{Env: e} },
		},
		{
			Name:  "terraform/plan-record",
			Doc:   "Reads the record of a policy check or of an approval, and says whether it names a plan by its digest.",
			Class: steps.Probe,
			Params: []steps.Field{
				{Name: "file", Type: steps.Path, Required: true, Doc: "the record, in any form"},
				{Name: "digest", Type: steps.Ident, Required: true, Pattern: `[0-9a-f]{64}`, Doc: "SHA-256 of the plan file"},
			},
			Facts:   plan.RecordFacts(),
			Touches: []string{"reads the file"},
			Reads:   func(e steps.Env) steps.Prober { return plan.RecordProbe{Env: e} },
		},
		{
			Name:  "terraform/registry",
			Doc:   "Asks the registries of the pinned providers whether they answer, offer the pinned version for the platform, and name the checksum that is locked. Sends no credential, and nothing before the directory is trusted.",
			Class: steps.Probe,
			Params: []steps.Field{dir,
				{Name: "platform", Type: steps.String, Pattern: `[a-z0-9]+_[a-z0-9]+`, Doc: "os_arch of the machine that initialises, instead of this one"},
			},
			Facts:   registry.Facts(),
			Touches: []string{"reads .terraform.lock.hcl", "GET over verified TLS to the registries that it names, where the directory is trusted: service discovery, versions, and the description of a package"},
			Reads:   func(e steps.Env) steps.Prober { return registry.Probe{Env: e} },
		},
		{
			Name:  "terraform/history",
			Doc:   "Follows the history of a root module in its Git clone, without git: which commits changed its configuration and values, in which of them a key changed, and which resources were declared then and are not now.",
			Class: steps.Probe,
			Params: []steps.Field{dir,
				{Name: "since", Type: steps.Duration, Default: "336h", Doc: "how far back, by the time of the commits"},
				{Name: "key", Type: steps.String, Pattern: `[A-Za-z_][A-Za-z0-9_-]*`, Doc: "key whose lines are followed"},
			},
			Facts:   configuration.HistoryFacts(),
			Touches: []string{"reads the configuration and its files of values", "reads the objects of the git clone, without git"},
			Reads:   func(e steps.Env) steps.Prober { return configuration.HistoryProbe{Env: e} },
		},
		{
			Name:  "terraform/type-check",
			Doc:   "Parses the configuration for inputs that take any type, ranks them by what makes harm likely, and finds every use of one, or of a key, through modules.",
			Class: steps.Probe,
			Params: []steps.Field{dir,
				{Name: "input", Type: steps.String, Doc: "input whose uses are listed, as var.x or module.a.var.x"},
				{Name: "key", Type: steps.String, Doc: "attribute or map key whose uses are listed"},
			},
			Facts:   configuration.TypeFacts(),
			Touches: []string{"reads the configuration, its files of values, and .terraform/modules/modules.json"},
			Reads:   func(e steps.Env) steps.Prober { return configuration.TypeProbe{Env: e} },
		},
	}
}
