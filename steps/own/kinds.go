// Package own is for what handrail has no probe for: a runbook of a team names a
// program to run, a file to read or an address to get, and declares which facts are
// read from the answer.
//
// An author writes what is run, read and asked, so the rules are those of a guest.
// Nothing of it begins unless the operator trusts the digest of the very runbook
// ([steps.Env.TrustedRunbook]), on a resume and in a bundle from elsewhere too, and
// the sheet on which that is asked tells each step in words (the Tells of its kind).
//
//   - own/exec starts one program by an argument list that no shell reads, in a
//     directory that is trusted or an empty private one, with an environment made from
//     scratch, a deadline at whose end the whole group is killed, and bounded output.
//     Where the kernel can, it is confined (confine): it writes nothing but its private
//     directory, sees neither the home of the operator nor the sockets of other
//     programs, and changes no owner, mode or attribute. Where the kernel cannot, the
//     trust of the person is all that keeps it from writing; the fact sandbox says
//     which it was, and a read-only incident starts nothing that is not confined.
//   - own/file reads one file below a directory that was trusted, through [os.Root].
//   - own/http sends one GET over verified TLS, by [handrail/steps/transport.Fetch].
//
// Facts are read by CEL over a document or by a regular expression, both bounded, from
// what came as its artifact holds it, redacted: no path to a secret makes a fact of it. What
// cannot be read as declared is unknown, with the reason. None of it is ever a gate.
package own

import (
	"time"

	"handrail/steps"
)

// The ways to read what came.
const (
	asJSON = "json"
	asYAML = "yaml"
	asText = "text"
)

// Kinds returns the step kinds of this package.
func Kinds() []steps.Kind {
	as := steps.Field{Name: "as", Type: steps.Enum, Values: []string{asJSON, asYAML, asText}, Default: asJSON, Literal: true, Doc: "what `doc` is in the cel of a fact: a document, or the text itself"}
	outputs := func(reads func(steps.Env, []steps.Output) steps.Prober) *steps.Outputs {
		return &steps.Outputs{Types: outputTypes(), Check: checkOutput, Reads: reads}
	}
	return []steps.Kind{
		{
			Name:  "own/exec",
			Doc:   "Runs one program that reads something, without a shell, and reads from what it prints the facts that the step declares under its facts. Confined to reading where the kernel can do that; where it cannot, nothing but your trust in the runbook keeps the program from writing.",
			Class: steps.Heavy,
			Params: []steps.Field{
				{Name: "argv", Type: steps.Strings, Required: true, Words: true, Vet: vetArgv, Doc: "the program and its arguments, each an item of a list; no shell reads them"},
				{Name: "dir", Type: steps.Path, Doc: "trusted directory in which it runs; without it an empty private one"},
				{Name: "env", Type: steps.Strings, Literal: true, Pattern: `[A-Za-z_][A-Za-z0-9_]*`, Doc: "names of variables of your environment that it gets, credentials only so; HOME lets it read your home"},
				{Name: "timeout", Type: steps.Duration, Default: "30s", Literal: true, Vet: spanUpTo(mostRun), Doc: "when it is killed with all that it started, at most 10m"},
				{Name: "exits", Type: steps.Strings, Literal: true, Pattern: `[0-9]{1,3}`, Doc: "exit codes that are a success, 0 where none are named"},
				{Name: "network", Type: steps.Enum, Values: []string{"open", "none"}, Default: "open", Literal: true, Doc: "none keeps it off the network, and starts nothing where the kernel cannot"},
				as,
			},
			Facts: []steps.Field{
				{Name: "exit", Type: steps.Int, Doc: "its exit code, one of exits"},
				{Name: "sandboxed", Type: steps.Bool, Doc: "whether the kernel kept it from writing"},
				{Name: "sandbox", Type: steps.String, Doc: "what the kernel kept it from, in words, or why it did not"},
			},
			Touches: []string{
				"starts the program of argv, with the environment PATH, LANG, LC_*, TZ, USER and what env names",
				"kept from writing by Landlock and seccomp where the kernel has them, else by your trust alone",
				"reads every file that you can read, but none of your home unless env names HOME",
			},
			Tells:   tellExec,
			Layers:  []string{"argv", "trusted runbook", "sandbox where the kernel has one"},
			Outputs: outputs(func(e steps.Env, outs []steps.Output) steps.Prober { return execProbe{e, outs, kernel} }),
			Reads:   func(e steps.Env) steps.Prober { return execProbe{e, nil, kernel} },
			Takes:   func(in steps.Params) time.Duration { return min(in.Duration("timeout"), mostRun) + 5*time.Second },
		},
		{
			Name:  "own/file",
			Doc:   "Reads one file below a directory that was trusted, and from it the facts that the step declares under its facts. No link leads out of the directory.",
			Class: steps.Probe,
			Params: []steps.Field{
				{Name: "dir", Type: steps.Path, Default: ".", Doc: "directory that was trusted with handrail trust, or one below it"},
				{Name: "path", Type: steps.String, Required: true, Vet: vetPath, Doc: "the file, from there"},
				as,
			},
			Facts: []steps.Field{
				{Name: "exists", Type: steps.Bool, Doc: "whether there is such a file"},
				{Name: "size", Type: steps.Int, Doc: "its bytes"},
				{Name: "changed", Type: steps.Time, Doc: "when it was last written, by the file system"},
			},
			Touches: []string{"reads one file below a trusted directory"},
			Tells:   tellFile,
			Layers:  []string{"rooted read", "trusted runbook"},
			Outputs: outputs(func(e steps.Env, outs []steps.Output) steps.Prober { return fileProbe{e, outs} }),
			Reads:   func(e steps.Env) steps.Prober { return fileProbe{e, nil} },
		},
		{
			Name:  "own/http",
			Doc:   "Sends one GET to the server that the runbook names, and reads from the answer the facts that the step declares under its facts. https alone, but to this machine itself.",
			Class: steps.Probe,
			Params: []steps.Field{
				{Name: "url", Type: steps.String, Required: true, Vet: vetURL, Doc: "the address; what stands up to the first slash of its path is written in the runbook"},
				{Name: "headers", Type: steps.Strings, Literal: true, Pattern: headerForm, Doc: "each NAME: $VARIABLE, or with a word before it as in Authorization: Bearer $TOKEN; the value is never kept"},
				{Name: "statuses", Type: steps.Strings, Literal: true, Pattern: `[2-5][0-9]{2}`, Doc: "statuses that are an answer, 200 where none are named"},
				{Name: "timeout", Type: steps.Duration, Default: "10s", Literal: true, Vet: spanUpTo(mostAsked), Doc: "how long the whole answer may take, at most 50s"},
				as,
			},
			Facts:   []steps.Field{{Name: "status", Type: steps.Int, Doc: "the status of the answer, one of statuses"}},
			Touches: []string{"one GET to the server of url, with the headers that it names", "no redirect to another server, no address at which machines get credentials"},
			Tells:   tellHTTP,
			Layers:  []string{"read-only transport", "trusted runbook"},
			Outputs: outputs(func(e steps.Env, outs []steps.Output) steps.Prober { return httpProbe{env: e, outs: outs} }),
			Reads:   func(e steps.Env) steps.Prober { return httpProbe{env: e} },
		},
	}
}
