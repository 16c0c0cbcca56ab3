// Package compare holds worlds against each other: what a state or a plan of
// tofu says, against what is in the cluster. It reads both sides by the readers
// of their own worlds, which cannot write, and changes nothing.
//
// Vocabulary: a ghost is recorded and not there; an orphan is there, was made by
// the tool and is not recorded; a stranger has the name of what is recorded, and
// is another object.
package compare

import "handrail/steps"

// Kinds returns the step kinds of this package.
func Kinds() []steps.Kind {
	dir := steps.Field{Name: "dir", Type: steps.Path, Default: ".", Doc: "root module whose state is meant"}
	workspace := steps.Field{Name: "workspace", Type: steps.String, Doc: "workspace, instead of TF_WORKSPACE or the selected one", Pattern: `[A-Za-z0-9_.~$&+:=@-]+`}
	// Which kinds are listed, and in which namespaces, the state or the plan says.
	rights := func(steps.Params) []steps.Right { return []steps.Right{{Verbs: []string{"list"}}} }
	return []steps.Kind{
		{
			Name:    "compare/state-live",
			Doc:     "Holds the kubernetes resources of a state against the cluster: ghosts, orphans and strangers, and what keeps those that are there from an end. Other resources are unknown.",
			Class:   steps.Probe,
			Params:  []steps.Field{dir, workspace},
			Facts:   stateFacts(),
			Touches: []string{"reads the backend settings in .terraform and the present state", "lists the metadata of the recorded kinds in their namespaces", "reads recorded volumes, claims and the volumes that these are bound to"},
			Rights: func(in steps.Params) []steps.Right {
				const volumes = "what becomes of the content of volumes that are recorded"
				return append(rights(in), steps.Right{Resource: "persistentvolumeclaims", Verbs: []string{"get"}, For: volumes}, steps.Right{Resource: "persistentvolumes", Verbs: []string{"get"}, Wide: true, For: volumes})
			},
			Reads: func(e steps.Env) steps.Prober { return stateProbe{e} },
		},
		{
			Name:  "compare/plan-live",
			Doc:   "Looks in the cluster for the kubernetes objects that a plan would create: what exists already, who made it, and the import blocks to paste. Of other objects it takes what a list says.",
			Class: steps.Probe,
			Params: []steps.Field{
				{Name: "file", Type: steps.Path, Required: true, Doc: "output of `show -json` of the plan, or the saved plan"},
				{Name: "list", Type: steps.Path, Doc: "what was looked up elsewhere, an address and an id on each line, the id - for what does not exist"},
			},
			Facts:   planFacts(),
			Touches: []string{"reads the files", "lists the metadata of the planned kinds in their namespaces"},
			Rights:  rights,
			Reads:   func(e steps.Env) steps.Prober { return planProbe{e} },
		},
		{
			Name:  "compare/state-list",
			Doc:   "Subtracts the list of what a provider has from the state, by ids: recorded and gone, and there and not recorded. For objects of any provider.",
			Class: steps.Probe,
			Params: []steps.Field{dir, workspace,
				{Name: "list", Type: steps.Path, Required: true, Doc: "ids of all that the provider has of the type, from its own API: one on each line, or as JSON"},
				{Name: "again", Type: steps.Path, Doc: "the same list, taken once more later"},
				{Name: "type", Type: steps.String, Doc: "type of resource that the list is of, where the ids do not tell", Pattern: `[a-z][a-z0-9_]*`},
			},
			Facts:   listFacts(),
			Touches: []string{"reads the backend settings in .terraform and the present state", "reads the lists"},
			Reads:   func(e steps.Env) steps.Prober { return listProbe{e} },
		},
	}
}
