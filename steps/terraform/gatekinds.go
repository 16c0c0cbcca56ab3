package terraform

import (
	"handrail/steps"
	"handrail/steps/terraform/change"
	"handrail/steps/terraform/plan"
	"handrail/steps/terraform/state"
)

// gateKinds returns the kinds that change a state, or the world through a plan.
// All of them run the program of the root module in a trusted directory, and
// keep a copy of the state as it stood.
func gateKinds(dir, workspace steps.Field, live state.Live) []steps.Kind {
	digest := steps.Field{Name: "digest", Type: steps.Ident, Required: true, Pattern: `[0-9a-f]{64}`, Doc: "SHA-256 of the plan file that was approved"}
	file := steps.Field{Name: "plan", Type: steps.Path, Required: true, Doc: "saved plan to apply"}
	return []steps.Kind{
		{
			Name:  "terraform/state-rm",
			Doc:   "Forgets addresses whose objects are gone. Nothing is destroyed.",
			Class: steps.Repair,
			Params: []steps.Field{dir, workspace,
				{Name: "addresses", Type: steps.Strings, Required: true, Doc: "addresses to forget, each a resource instance as the state names it"},
			},
			Touches: []string{"lists the metadata of recorded kubernetes objects, twice", "lists the workspaces of the backend and reads their states", "runs tofu state rm -dry-run -lock=false for the preview", "runs tofu state rm", "writes a new state with the next serial"},
			Changes: func(e steps.Env) steps.Gater { return change.RemoveGate{Env: e, Live: live} },
		},
		{
			Name:  "terraform/state-mv",
			Doc:   "Gives one recorded object another address. Nothing is destroyed.",
			Class: steps.Repair,
			Params: []steps.Field{dir, workspace,
				{Name: "from", Type: steps.String, Required: true, Doc: "address as the state names it"},
				{Name: "to", Type: steps.String, Required: true, Doc: "address as the configuration names it"},
			},
			Touches: []string{"lists the workspaces of the backend and reads their states", "runs tofu state mv -dry-run -lock=false for the preview", "runs tofu state mv", "writes a new state with the next serial"},
			Changes: func(e steps.Env) steps.Gater { return change.MoveGate{Env: e} },
		},
		{
			Name:  "terraform/import",
			Doc:   "Records one object that exists under one address of the configuration.",
			Class: steps.Repair,
			Params: []steps.Field{dir, workspace,
				{Name: "address", Type: steps.String, Required: true, Doc: "address that the configuration declares and the state does not have"},
				{Name: "id", Type: steps.String, Required: true, Doc: "id of the object, as its provider wants it for an import"},
				{Name: "plan", Type: steps.String, Doc: "what the present plan would do, as a step before this one counted it; it is shown"},
			},
			Touches: []string{"lists the workspaces of the backend and reads their states", "runs tofu import", "asks the provider for the object", "writes a new state with the next serial"},
			Changes: func(e steps.Env) steps.Gater { return change.ImportGate{Env: e} },
		},
		{
			Name:  "terraform/import-batch",
			Doc:   "Records several objects that exist, each under its address and by a run of its own, at most 50 at a time, by one phrase that carries how many they are. Stops at the first surprise.",
			Class: steps.Repair,
			Params: []steps.Field{dir, workspace,
				{Name: "addresses", Type: steps.Strings, Doc: "addresses that the configuration declares and the state does not have"},
				{Name: "ids", Type: steps.Table, Doc: "address to the id of its object, as its provider wants it for an import; more than the addresses are left alone"},
				{Name: "file", Type: steps.Path, Doc: "list of more, for any provider: a line for each, its address, a blank, its id"},
				{Name: "creates", Type: steps.Strings, Doc: "what the present plan would create: nothing else is imported"},
			},
			Touches: []string{"lists the workspaces of the backend and reads their states", "runs tofu import for each", "asks the provider for each object", "writes a new state with the next serial, each time"},
			Changes: func(e steps.Env) steps.Gater { return change.ImportBatchGate{Env: e} },
		},
		{
			Name:  "terraform/restore-state",
			Doc:   "Writes an earlier version of the state as a new one. No version is deleted.",
			Class: steps.Repair,
			Params: []steps.Field{dir, workspace,
				{Name: "version", Type: steps.String, Doc: "id of the version in the backend that is to be the state again"},
				{Name: "file", Type: steps.Path, Doc: "copy of a state to restore, where the backend keeps no versions"},
			},
			Touches: []string{"lists the versions of the backend", "runs tofu state push", "first, where no program can open the state: rewrites the file under its lock, patches the Secret, or puts a version of the object and sets the digest", "writes the old content with a serial above every other, and the digest that the backend keeps of it"},
			Changes: func(e steps.Env) steps.Gater { return change.RestoreGate{Env: e} },
		},
		{
			Name:  "terraform/apply-plan",
			Doc:   "Applies exactly the saved plan that was approved, known by its digest.",
			Class: steps.Rerun,
			Params: []steps.Field{dir, workspace, file, digest,
				{Name: "parallelism", Type: steps.Int, Default: "10", Doc: "operations at once"},
				{Name: "values_of", Type: steps.Path, Doc: "the saved plan that was approved before: each value that is another one in this plan is shown"},
			},
			Touches: []string{"runs tofu apply with the plan file", "changes what the plan says"},
			Changes: func(e steps.Env) steps.Gater { return change.ApplyGate{Env: e, Mode: change.Whole} },
		},
		{
			Name:    "terraform/apply-refresh",
			Doc:     "Applies exactly a saved plan that was made with -refresh-only: it writes the state and changes nothing else.",
			Class:   steps.Repair,
			Params:  []steps.Field{dir, workspace, file, digest},
			Touches: []string{"runs tofu apply with the plan file", "writes a new state with the next serial"},
			Changes: func(e steps.Env) steps.Gater { return change.ApplyGate{Env: e, Mode: change.RefreshOnly} },
		},
		{
			Name:  "terraform/apply-targeted",
			Doc:   "Applies exactly a saved plan that was made for some addresses, and holds it to them.",
			Class: steps.Rerun,
			Params: []steps.Field{dir, workspace, file, digest,
				{Name: "addresses", Type: steps.Strings, Required: true, Doc: "all addresses that the plan may act on"},
			},
			Touches: []string{"runs tofu apply with the plan file", "changes what the plan says"},
			Changes: func(e steps.Env) steps.Gater { return change.ApplyGate{Env: e, Mode: change.Targeted} },
		},
		{
			Name:  "terraform/apply-batches",
			Doc:   "Makes the changes of a saved plan that was approved some at a time, each batch by a plan of its own for these addresses that may do nothing else to them. Stops at the first surprise.",
			Class: steps.Rerun,
			Params: []steps.Field{dir, workspace, file, digest,
				{Name: "size", Type: steps.Int, Default: "10", Doc: "how many addresses at a time, at most 50"},
				{Name: "parallelism", Type: steps.Int, Default: "10", Doc: "operations at once"},
			},
			Touches: []string{"runs tofu plan -lock=false and tofu apply with its file for each batch", "changes what the plan says"},
			Changes: func(e steps.Env) steps.Gater { return change.ApplyBatchGate{Env: e} },
		},
		{
			Name:    "terraform/pause",
			Doc:     "Puts a marker into a root module that tells the team's CI to apply nothing there.",
			Class:   steps.Contain,
			Params:  []steps.Field{dir, {Name: "reason", Type: steps.String, Required: true, Doc: "why, for the person who finds the marker"}},
			Touches: []string{"writes .handrail-pause.json into the directory"},
			Changes: func(e steps.Env) steps.Gater { return change.PauseGate{Env: e} },
		},
		{
			Name:    "terraform/resume",
			Doc:     "Takes the marker of a pause away again.",
			Class:   steps.Repair,
			Params:  []steps.Field{dir},
			Touches: []string{"removes .handrail-pause.json from the directory"},
			Changes: func(e steps.Env) steps.Gater { return change.ResumeGate{Env: e} },
		},
	}
}

// savedPlanKind returns the kind that makes a plan for a gate to apply.
func savedPlanKind(dir, workspace steps.Field) steps.Kind {
	return steps.Kind{
		Name:  "terraform/saved-plan",
		Doc:   "Makes a plan without a lock in a trusted directory and keeps its file outside the directory, for the gate that applies exactly this one.",
		Class: steps.Heavy,
		Params: []steps.Field{dir, workspace,
			{Name: "mode", Type: steps.Enum, Values: []string{"normal", "refresh-only"}, Default: "normal", Doc: "what kind of plan"},
			{Name: "targets", Type: steps.Strings, Doc: "addresses to plan for, instead of all"},
			{Name: "values_of", Type: steps.Path, Doc: "a saved plan: this one is made with the variable values, targets and replacements fixed in it, whatever files and environment say now"},
			{Name: "replaces", Type: steps.Bool, Default: "true", Doc: "false takes over no replacements: a plan made after the act shows what is left, and they are not made twice"},
			{Name: "var_file", Type: steps.Path, Doc: "a file of variable values that are meant to change; they win"},
			{Name: "config_map", Type: steps.String, Doc: "address of a ConfigMap whose entries are told, as found and as wanted"},
		},
		Facts:   plan.SavedFacts(),
		Touches: []string{"runs tofu plan -lock=false", "starts the providers, which read what they manage", "writes the plan into handrail's own directory"},
		Reads:   func(e steps.Env) steps.Prober { return plan.SavedProbe{Env: e} },
	}
}
