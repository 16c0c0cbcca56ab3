// Package terraform reads the state, the lock and the holder of a root module
// of OpenTofu or Terraform, and holds the one gate that releases a lock.
//
// Its probes are native: they read files, the process table and the API server
// through the transport that cannot write. No probe but terraform/plan runs a
// program, because every tofu command that opens an absent state creates it,
// lock and all. What cannot be read is unknown with the reason, never a value
// that would open a gate.
//
// Vocabulary: the holder is the process that took the lock; a leftover is lock
// info that outlived it; a plugin is a provider process.
package terraform

import "handrail/steps"

// Kinds returns the step kinds of this package.
func Kinds() []steps.Kind {
	dir := steps.Field{Name: "dir", Type: steps.Path, Default: ".", Doc: "root module whose state is meant"}
	workspace := steps.Field{Name: "workspace", Type: steps.String, Doc: "workspace, instead of TF_WORKSPACE or the selected one", Pattern: workspaceName.String()}
	return []steps.Kind{
		{
			Name:    "terraform/lock",
			Doc:     "Reads the state lock natively, without taking or breaking it: who holds it, for what, since when. Backends local and kubernetes.",
			Class:   steps.Probe,
			Params:  []steps.Field{dir, workspace},
			Facts:   lockFacts(),
			Touches: []string{"reads the backend settings in .terraform", "reads the lock file and asks the kernel for its lock, or gets the Lease and the namespace kube-system"},
			Reads:   func(e steps.Env) steps.Prober { return lockProbe{e} },
		},
		{
			Name:  "terraform/holder",
			Doc:   "Looks in the process table of this machine for the process that holds the lock, and for plugins and provisioner children that outlived it.",
			Class: steps.Probe,
			Params: []steps.Field{
				dir, workspace,
				{Name: "who", Type: steps.String, Doc: "holder as the lock names it, user@host"},
				{Name: "created", Type: steps.Time, Doc: "when the lock was taken"},
				{Name: "operation", Type: steps.String, Doc: "what the lock was taken for"},
			},
			Facts:   holderFacts(),
			Touches: []string{"reads the process table"},
			Reads:   func(e steps.Env) steps.Prober { return holderProbe{e} },
		},
		{
			Name:    "terraform/log",
			Doc:     "Reads the log of an apply, in human or -json form: what it started, what it completed, how it ended.",
			Class:   steps.Probe,
			Params:  []steps.Field{{Name: "file", Type: steps.Path, Required: true, Doc: "log of the run"}},
			Facts:   logFacts(),
			Touches: []string{"reads the file"},
			Reads:   func(e steps.Env) steps.Prober { return logProbe{e} },
		},
		{
			Name:    "terraform/state",
			Doc:     "Reads the recorded state natively: serial, lineage, addresses, and whether it is sound. Backends local and kubernetes.",
			Class:   steps.Probe,
			Params:  []steps.Field{dir, workspace},
			Facts:   stateFacts(),
			Touches: []string{"reads the backend settings in .terraform", "reads the state file, or gets the Secret"},
			Reads:   func(e steps.Env) steps.Prober { return stateProbe{e} },
		},
		{
			Name:  "terraform/plan",
			Doc:   "Runs a plan without a lock in a trusted directory and counts what it would do. Never initialises, and never runs where no state was seen.",
			Class: steps.Heavy,
			Params: []steps.Field{
				dir, workspace,
				{Name: "refresh_only", Type: steps.Bool, Default: "false", Doc: "look for drift alone"},
			},
			Facts:   planFacts(),
			Touches: []string{"runs tofu plan -lock=false and tofu show, with their providers", "reads lock and state before and after"},
			Reads:   func(e steps.Env) steps.Prober { return planProbe{e} },
		},
		{
			Name:  "terraform/force-unlock",
			Doc:   "Releases the lock of a holder that is gone, on the backend kubernetes. Refuses young locks, live holders and absent states.",
			Class: steps.Release,
			Params: []steps.Field{
				dir, workspace,
				{Name: "lock_id", Type: steps.Ident, Required: true, Pattern: `[A-Za-z0-9._/@:-]+`, Doc: "id of the lock to release"},
				{Name: "max_apply", Type: steps.Duration, Default: "30m", Doc: "longest plausible apply here; never under 30m"},
			},
			Touches: []string{"runs tofu force-unlock", "clears the holder of the Lease"},
			Changes: func(e steps.Env) steps.Gater { return unlockGate{e} },
		},
	}
}
