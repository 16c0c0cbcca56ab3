package policy

import (
	"handrail/steps"
)

// The formats that an output may have.
const (
	opaEval      = "opa"
	conftestJSON = "conftest"
	conftestText = "conftest-text"
	checkovJSON  = "checkov"
	policyReport = "policy-report"
	sentinelJSON = "sentinel"
	sentinelText = "sentinel-text"
	sarifLog     = "sarif"
	junitXML     = "junit"
	failureText  = "failure" // no output of a policy engine, but the error that it ended in
)

func formats() []string {
	return []string{opaEval, conftestJSON, conftestText, checkovJSON, policyReport, sentinelJSON, sentinelText, sarifLog, junitXML}
}

func resultFacts() []steps.Field {
	return []steps.Field{
		{Name: "verdict", Type: steps.Enum, Values: []string{allow, deny, errored}, Doc: "what the engine decided; unknown where the output was not read to its end, or nothing was evaluated"},
		{Name: "engine", Type: steps.String, Doc: "engine that decided, as the output names it"},
		{Name: "engine_up", Type: steps.Bool, Doc: "false where an error says that the engine, or what it asks, was not reached"},
		{Name: "tool_version", Type: steps.String, Doc: "its version"},
		{Name: "format", Type: steps.Enum, Values: append(formats(), failureText), Doc: "format of the output"},
		{Name: "rules", Type: steps.Strings, Doc: "ids of the rules that failed, the first 200"},
		{Name: "denied", Type: steps.Strings, Doc: "addresses of the resources that were denied, or their files, the first 200"},
		{Name: "failed", Type: steps.Int, Doc: "results that deny"},
		{Name: "warned", Type: steps.Int, Doc: "results that warn and do not deny"},
		{Name: "skipped", Type: steps.Int, Doc: "results that were skipped, with those that an exception excuses"},
		{Name: "excused", Type: steps.Int, Doc: "skipped results that an exception excuses"},
		{Name: "passed", Type: steps.Int, Doc: "results that pass"},
		{Name: "exceptions", Type: steps.Strings, Doc: "exceptions that excuse a result, by their ids, where told"},
		{Name: "first", Type: steps.String, Doc: "message of the first result that denies, else of the first error"},
		{Name: "digest", Type: steps.Ident, Doc: "SHA-256 of the file"},
	}
}

func exceptionFacts() []steps.Field {
	return []steps.Field{
		{Name: "exception", Type: steps.Enum, Values: []string{valid, expired, incomplete, absent}, Doc: "what the file has for rule and scope"},
		{Name: "id", Type: steps.Ident, Doc: "id of that exception"},
		{Name: "owner", Type: steps.String, Doc: "its owner"},
		{Name: "expires", Type: steps.Time, Doc: "when it ends; a date ends as it begins, in UTC"},
		{Name: "total", Type: steps.Int, Doc: "exceptions of the file"},
		{Name: "expiring", Type: steps.Strings, Doc: "ids of those that end within `within`"},
		{Name: "expired", Type: steps.Strings, Doc: "ids of those that have ended"},
		{Name: "incomplete", Type: steps.Strings, Doc: "ids of those that lack what an exception must have, each with what it lacks"},
		{Name: "distant", Type: steps.Strings, Doc: "ids of those that end in more than a year"},
		{Name: "digest", Type: steps.Ident, Doc: "SHA-256 of the file"},
	}
}

// Kinds returns the step kinds of this package.
func Kinds() []steps.Kind {
	return []steps.Kind{
		{
			Name:  "policy/result",
			Class: steps.Probe,
			Doc:   "Reads the saved output of a policy gate: what was decided, by which engine, which rules deny which resources. What cannot be read to its end never allows.",
			Params: []steps.Field{
				{Name: "file", Type: steps.Path, Required: true, Doc: "saved output of the gate"},
				{Name: "format", Type: steps.Enum, Values: formats(), Doc: "its format, where it is not to be told from the content"},
				{Name: "query_means", Type: steps.Enum, Values: []string{allow, deny}, Doc: "of opa eval: whether the query asks what is allowed or what is denied, where its text does not end so"},
			},
			Facts:   resultFacts(),
			Touches: []string{"reads the file and keeps it"},
			Reads:   func(e steps.Env) steps.Prober { return resultProbe{e} },
			Covers:  []string{"E5"},
		},
		{
			Name:  "policy/exceptions",
			Class: steps.Probe,
			Doc:   "Reads a file of policy exceptions: whether one holds for a rule and a scope, which end soon, and which lack an owner, an end or another thing that an exception must have.",
			Params: []steps.Field{
				{Name: "file", Type: steps.Path, Required: true, Doc: "the exceptions, in YAML or JSON"},
				{Name: "rule", Type: steps.String, Doc: "id of the rule that is meant"},
				{Name: "scope", Type: steps.String, Doc: "address or file of the resource that is meant"},
				{Name: "within", Type: steps.Duration, Default: "168h", Doc: "how soon an exception ends that counts as expiring"},
			},
			Facts:   exceptionFacts(),
			Touches: []string{"reads the file and keeps it"},
			Reads:   func(e steps.Env) steps.Prober { return exceptionsProbe{e} },
		},
		glassKind(),
		replayKind(),
	}
}
