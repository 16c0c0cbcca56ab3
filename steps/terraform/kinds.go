// Package terraform is the table of the step kinds that look at a root module of
// OpenTofu or Terraform, and of the gates that change it. The work is in its rooms;
// each imports only those before it:
//
//	prose          words of findings
//	module         the directory, its settings, the marker of a pause
//	tool           the program and how it is run
//	backend        lock, state and versions, one Store for each backend
//	state          what is read there, and what it means
//	holder         the process table
//	configuration  what is declared
//	plan           plans, made and read
//	runlog         logs of runs
//	change         the gates
//
// Beside them stand parsers that know nothing of steps: jsonscan, tfstate, tfplan,
// loosetype, providerlock and closure.
//
// The probes are native: they read files, the process table, the API server and
// the servers of state backends through transports that cannot write. Only the
// heavy ones run a program, because every tofu command that opens an absent state
// creates it, lock and all. What cannot be read is unknown with the reason, never
// a value that would open a gate.
//
// Vocabulary: the holder is the process that took the lock; a leftover is lock
// info that outlived it; a plugin is a provider process.
//
// The tests here are those that need a lab, a server or a real program: they share
// one lab. What needs none is tested in its room.
package terraform

import (
	"handrail/steps"
	"handrail/steps/terraform/change"
	"handrail/steps/terraform/holder"
	"handrail/steps/terraform/module"
	"handrail/steps/terraform/plan"
	"handrail/steps/terraform/runlog"
	"handrail/steps/terraform/state"
)

// readable names the backends for `handrail step show`.
const readable = "Backends local, kubernetes, s3 (lock file, DynamoDB table or both), pg, consul, gcs, azurerm and http (state alone: its lock cannot be read)."

// Kinds returns the step kinds of this package. One may be told how to look for
// the objects that a state records.
func Kinds(live ...state.Live) []steps.Kind {
	var look state.Live
	if len(live) > 0 {
		look = live[0]
	}
	dir := steps.Field{Name: "dir", Type: steps.Path, Default: ".", Doc: "root module whose state is meant"}
	workspace := steps.Field{Name: "workspace", Type: steps.String, Doc: "workspace, instead of TF_WORKSPACE or the selected one", Pattern: module.WorkspaceName.String()}
	kinds := []steps.Kind{
		{
			Name:    "terraform/lock",
			Doc:     "Reads the state lock natively, without taking or breaking it: who holds it, for what, since when. " + readable,
			Class:   steps.Probe,
			Params:  []steps.Field{dir, workspace},
			Facts:   state.LockFacts(),
			Touches: []string{"reads the backend settings in .terraform", "reads the lock file and asks the kernel for its lock, or gets the Lease and the namespace kube-system, or reads the lock from the server of the backend"},
			Reads:   func(e steps.Env) steps.Prober { return state.LockProbe{Env: e} },
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
			Facts:   holder.Facts(),
			Touches: []string{"reads the process table, and which CI run the environment of the processes it finds names"},
			Reads:   func(e steps.Env) steps.Prober { return holder.Probe{Env: e} },
		},
		{
			Name:    "terraform/log",
			Doc:     "Reads the log of an apply, in human or -json form: what it started, what it completed, how it ended.",
			Class:   steps.Probe,
			Params:  []steps.Field{{Name: "file", Type: steps.Path, Required: true, Doc: "log of the run"}},
			Facts:   runlog.Facts(),
			Touches: []string{"reads the file"},
			Reads:   func(e steps.Env) steps.Prober { return runlog.Probe{Env: e} },
		},
		{
			Name:    "terraform/state",
			Doc:     "Reads the recorded state natively: serial, lineage, addresses, and whether it is sound. " + readable,
			Class:   steps.Probe,
			Params:  []steps.Field{dir, workspace, {Name: "digest", Type: steps.String, Pattern: `[0-9A-Fa-f]{32}`, Doc: "MD5 that the backend keeps of the stored bytes, to hold them against"}},
			Facts:   state.Facts(),
			Touches: []string{"reads the backend settings in .terraform", "reads the state file, or gets the Secret, or reads the state from the server of the backend"},
			Reads:   func(e steps.Env) steps.Prober { return state.Probe{Env: e} },
		},
		{
			Name:  "terraform/versions",
			Doc:   "Lists the writes of the state that can still be read, with time, size, serial and lineage, and tells whether the serial moved since it was read. local: backups and errored.tfstate; s3, gcs and azurerm: versions of the object; the others keep none.",
			Class: steps.Probe,
			Params: []steps.Field{
				dir, workspace,
				{Name: "limit", Type: steps.Int, Default: "20", Doc: "how many to list at most, up to 200"},
				{Name: "since", Type: steps.Time, Doc: "count the writes after this, as the time of a lock"},
				{Name: "serial", Type: steps.Int, Doc: "serial of an earlier reading"},
			},
			Facts:   state.VersionFacts(),
			Touches: []string{"reads the backend settings in .terraform", "lists versions of the state and reads the beginning of each"},
			Reads:   func(e steps.Env) steps.Prober { return state.VersionsProbe{Env: e} },
		},
		{
			Name:  "terraform/plan",
			Doc:   "Runs a plan without a lock in a trusted directory and counts what it would do. Never initialises, and never where it would create the state.",
			Class: steps.Heavy,
			Params: []steps.Field{
				dir, workspace,
				{Name: "refresh_only", Type: steps.Bool, Default: "false", Doc: "look for drift alone"},
				{Name: "refresh", Type: steps.Bool, Default: "true", Doc: "false plans by the record alone: no object is read again, so it says what is to be done if the record is right, and nothing of drift"},
				{Name: "accepted", Type: steps.Path, Doc: "differences that people accepted in writing, an address on each line and behind it the attributes as the fact updates names them"},
				{Name: "file", Type: steps.Path, Doc: "a saved plan to open with its values, instead of making one"},
				{Name: "config_map", Type: steps.String, Doc: "address of a ConfigMap whose entries are told, as found and as wanted; the values of anything else stay in the plan"},
			},
			Facts:   plan.Facts(),
			Touches: []string{"runs tofu providers schema, tofu plan -lock=false and tofu show, with their providers", "reads lock and state before and after"},
			Reads:   func(e steps.Env) steps.Prober { return plan.Probe{Env: e} },
		},
		{
			Name:  "terraform/force-unlock",
			Doc:   "Releases the lock of a holder that is gone, where force-unlock can: not on local, pg and http. Refuses young locks, live holders and absent states.",
			Class: steps.Release,
			Params: []steps.Field{
				dir, workspace,
				{Name: "lock_id", Type: steps.Ident, Required: true, Pattern: `[A-Za-z0-9._/@:-]+`, Doc: "id of the lock to release"},
				{Name: "max_apply", Type: steps.Duration, Default: "30m", Doc: "longest plausible apply here; never under 30m"},
			},
			Touches: []string{"runs tofu force-unlock", "clears the holder of the Lease, or deletes the lock on the server of the backend"},
			Changes: func(e steps.Env) steps.Gater { return change.UnlockGate{Env: e} },
		},
	}
	kinds = append(kinds, forensicKinds(dir, workspace)...)
	kinds = append(kinds, savedPlanKind(dir, workspace))
	return append(kinds, gateKinds(dir, workspace, look)...)
}
